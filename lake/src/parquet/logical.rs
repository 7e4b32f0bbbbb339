//! Names of logical types.

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use ::parquet::schema::types::ColumnDescriptor;

/// The logical type as the format spells it; empty if there is none.
pub(crate) fn name(column: &ColumnDescriptor) -> String {
    let time = |name: &str, unit: &TimeUnit, utc: bool| {
        let unit = match unit {
            TimeUnit::MILLIS => "MILLIS",
            TimeUnit::MICROS => "MICROS",
            TimeUnit::NANOS => "NANOS",
        };
        format!("{name}({unit}{})", if utc { ", UTC" } else { "" })
    };
    match column.logical_type_ref() {
        Some(LogicalType::String) => "STRING".to_owned(),
        Some(LogicalType::Decimal(kind)) => format!("DECIMAL({},{})", kind.precision, kind.scale),
        Some(LogicalType::Time(kind)) => time("TIME", &kind.unit, kind.is_adjusted_to_u_t_c),
        Some(LogicalType::Timestamp(kind)) => {
            time("TIMESTAMP", &kind.unit, kind.is_adjusted_to_u_t_c)
        }
        Some(LogicalType::Integer(kind)) => {
            let sign = if kind.is_signed { "" } else { ", unsigned" };
            format!("INTEGER({}{sign})", kind.bit_width)
        }
        Some(LogicalType::Variant(_)) => "VARIANT".to_owned(),
        Some(LogicalType::Geometry(_)) => "GEOMETRY".to_owned(),
        Some(LogicalType::Geography(_)) => "GEOGRAPHY".to_owned(),
        Some(other) => {
            let name = format!("{other:?}");
            let end = name.find(|c: char| !c.is_alphanumeric());
            name.get(..end.unwrap_or(name.len()))
                .unwrap_or_default()
                .to_uppercase()
        }
        None => match column.converted_type() {
            ConvertedType::NONE => String::new(),
            ConvertedType::UTF8 => "STRING".to_owned(),
            ConvertedType::DECIMAL => {
                format!(
                    "DECIMAL({},{})",
                    column.type_precision(),
                    column.type_scale()
                )
            }
            other => other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::SchemaDescriptor;

    #[test]
    fn logical_types_by_name() {
        for (column, name) in [
            ("int64 a", ""),
            ("binary a (STRING)", "STRING"),
            ("binary a (UTF8)", "STRING"),
            ("int64 a (TIMESTAMP(MICROS,true))", "TIMESTAMP(MICROS, UTC)"),
            ("int64 a (TIMESTAMP(NANOS,false))", "TIMESTAMP(NANOS)"),
            ("int32 a (DECIMAL(9,2))", "DECIMAL(9,2)"),
            ("int32 a (INTEGER(8,true))", "INTEGER(8)"),
            ("int32 a (DATE)", "DATE"),
            ("fixed_len_byte_array(16) a (UUID)", "UUID"),
        ] {
            let schema = parse_message_type(&format!("message m {{ required {column}; }}"));
            let schema = SchemaDescriptor::new(Arc::new(schema.unwrap()));
            assert_eq!(super::name(&schema.column(0)), name);
        }
    }
}
