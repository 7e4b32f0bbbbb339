//! Types as a configuration writes them, and what a file's columns read as.

use arrow_schema::DataType;

/// Whether a column of a file reads as the declared type, however it is encoded.
pub(super) fn reads_as(own: &DataType, declared: &str) -> bool {
    use DataType as D;
    let declared: String = declared
        .to_lowercase()
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    let (head, rest) = match declared.find(['(', '<']) {
        Some(at) => declared.split_at(at),
        None => (declared.as_str(), ""),
    };
    match head {
        "string" | "varchar" | "char" | "text" => {
            matches!(own, D::Utf8 | D::LargeUtf8 | D::Utf8View)
        }
        "long" | "bigint" => matches!(own, D::Int64 | D::UInt32),
        "int" | "integer" => matches!(own, D::Int32 | D::Int16 | D::Int8 | D::UInt16 | D::UInt8),
        "short" | "smallint" => matches!(own, D::Int16 | D::Int8 | D::UInt8),
        "byte" | "tinyint" => matches!(own, D::Int8),
        "timestamp" | "timestamp_ntz" | "timestamptz" => matches!(own, D::Timestamp(..)),
        "date" => matches!(own, D::Date32 | D::Date64),
        "time" => matches!(own, D::Time32(_) | D::Time64(_)),
        "double" => matches!(own, D::Float64),
        "float" | "real" => matches!(own, D::Float32),
        "boolean" | "bool" => matches!(own, D::Boolean),
        "binary" => matches!(own, D::Binary | D::LargeBinary | D::FixedSizeBinary(_)),
        "uuid" => matches!(own, D::FixedSizeBinary(16)),
        "decimal" | "numeric" => match own {
            D::Decimal32(p, s) | D::Decimal64(p, s) | D::Decimal128(p, s) | D::Decimal256(p, s) => {
                rest.is_empty()
                    || rest == format!("({p},{s})")
                    || (*s == 0 && rest == format!("({p})"))
            }
            _ => false,
        },
        "struct" => matches!(own, D::Struct(_)),
        "array" | "list" => {
            matches!(own, D::List(_) | D::LargeList(_) | D::FixedSizeList(..))
        }
        "map" => matches!(own, D::Map(..)),
        _ => false,
    }
}

/// A column's type as a configuration would write it.
pub(super) fn name(own: &DataType) -> String {
    use DataType as D;
    let name = match own {
        D::Utf8 | D::LargeUtf8 | D::Utf8View => "string",
        D::Int64 => "long",
        D::Int32 => "int",
        D::Int16 => "short",
        D::Int8 => "byte",
        D::Timestamp(..) => "timestamp",
        D::Date32 | D::Date64 => "date",
        D::Time32(_) | D::Time64(_) => "time",
        D::Float64 => "double",
        D::Float32 => "float",
        D::Boolean => "boolean",
        D::Binary | D::LargeBinary | D::FixedSizeBinary(_) => "binary",
        D::Decimal32(p, s) | D::Decimal64(p, s) | D::Decimal128(p, s) | D::Decimal256(p, s) => {
            return format!("decimal({p},{s})");
        }
        D::Struct(_) => "struct",
        D::List(_) | D::LargeList(_) | D::FixedSizeList(..) => "array",
        D::Map(..) => "map",
        D::UInt8 => "unsigned byte",
        D::UInt16 => "unsigned short",
        D::UInt32 => "unsigned int",
        D::UInt64 => "unsigned long",
        other => return other.to_string(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType as D, TimeUnit};

    use super::reads_as;

    #[test]
    fn a_type_is_what_it_reads_as() {
        let utc = D::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        for (own, declared, right) in [
            (D::Utf8, "string", true),
            (D::Utf8View, "String", true),
            (D::Binary, "string", false),
            (D::FixedSizeBinary(16), "binary", true),
            (D::Int64, "long", true),
            (D::UInt32, "long", true),
            (D::UInt64, "long", false),
            (D::Int32, "long", false),
            (D::Int64, "int", false),
            (D::Int16, "int", true),
            (utc, "timestamp", true),
            (D::Timestamp(TimeUnit::Nanosecond, None), "timestamp", true),
            (D::Int64, "timestamp", false),
            (D::Utf8, "timestamp", false),
            (D::Date32, "date", true),
            (D::Float32, "double", false),
            (D::Decimal128(10, 2), "decimal(10,2)", true),
            (D::Decimal128(10, 2), "decimal(10, 2)", true),
            (D::Decimal128(12, 2), "decimal(10,2)", false),
            (D::Boolean, "boolean", true),
            (D::Boolean, "nonsense", false),
        ] {
            assert_eq!(reads_as(&own, declared), right, "{own} as {declared}");
        }
    }
}
