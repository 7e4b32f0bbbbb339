//! Statistics as text a person reads: bounds of chunks and of pages, by the column's logical type.

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use ::parquet::file::statistics::Statistics;
use ::parquet::schema::types::ColumnDescriptor;
use arrow_buffer::i256;

use super::scalar::{self, Unit};

/// Characters of a bound that are shown.
const SHOWN: usize = 120;

/// Smallest and largest value as text, and whether they are known to be values and not bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min: Option<String>,
    pub(crate) max: Option<String>,
    pub(crate) exact: Option<bool>,
}

/// The bounds of a chunk.
pub(crate) fn bounds(statistics: &Statistics, column: &ColumnDescriptor) -> Bounds {
    // The old fields were compared as signed bytes, which says nothing about texts.
    if statistics.is_min_max_deprecated() && is_bytes(column.physical_type()) {
        return Bounds::default();
    }
    let text = |bytes: Option<&[u8]>| bytes.and_then(|bytes| plain(bytes, column));
    let (min, max) = (
        text(statistics.min_bytes_opt()),
        text(statistics.max_bytes_opt()),
    );
    let stated = statistics.min_is_exact() && statistics.max_is_exact();
    let exact = match (&min, &max) {
        (None, None) => None,
        _ if !is_bytes(column.physical_type()) || stated => Some(true),
        // A writer that leaves the mark out may have cut its texts, or not.
        _ => None,
    };
    Bounds { min, max, exact }
}

fn is_bytes(physical: Physical) -> bool {
    matches!(
        physical,
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY
    )
}

/// A value as Parquet's plain encoding has it (texts without their length), as text. `None` where
/// the bytes are no such value.
pub(crate) fn plain(bytes: &[u8], column: &ColumnDescriptor) -> Option<String> {
    let logical = column.logical_type_ref();
    match column.physical_type() {
        Physical::BOOLEAN => Some((*bytes.first()? != 0).to_string()),
        Physical::INT32 => integer(i32::from_le_bytes(first(bytes)?).into(), column),
        Physical::INT64 => integer(i64::from_le_bytes(first(bytes)?), column),
        Physical::INT96 => int96(bytes),
        Physical::FLOAT => Some(scalar::float(f32::from_le_bytes(first(bytes)?))),
        Physical::DOUBLE => Some(scalar::double(f64::from_le_bytes(first(bytes)?))),
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => {
            if let Some(scale) = decimal_scale(column) {
                return big_endian(bytes).map(|digits| scalar::decimal(&digits, scale));
            }
            match logical {
                Some(LogicalType::Uuid) => return Some(scalar::uuid(bytes)),
                Some(LogicalType::Float16) => return float16(bytes),
                _ => {}
            }
            let is_text = matches!(
                logical,
                Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)
            ) || matches!(
                column.converted_type(),
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
            );
            match text(bytes).filter(|_| is_text) {
                Some(text) => Some(text),
                None => Some(shortened(scalar::hex(bytes, SHOWN))),
            }
        }
    }
}

fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.first_chunk::<N>().copied()
}

fn integer(value: i64, column: &ColumnDescriptor) -> Option<String> {
    if let Some(scale) = decimal_scale(column) {
        return Some(scalar::decimal(&value.to_string(), scale));
    }
    Some(match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => scalar::date(value),
        (Some(LogicalType::Timestamp(kind)), _) => {
            scalar::timestamp(value, unit(&kind.unit), kind.is_adjusted_to_u_t_c)
        }
        (None, ConvertedType::TIMESTAMP_MILLIS) => scalar::timestamp(value, Unit::Milli, true),
        (None, ConvertedType::TIMESTAMP_MICROS) => scalar::timestamp(value, Unit::Micro, true),
        (Some(LogicalType::Time(kind)), _) => scalar::time(value, unit(&kind.unit)),
        (None, ConvertedType::TIME_MILLIS) => scalar::time(value, Unit::Milli),
        (None, ConvertedType::TIME_MICROS) => scalar::time(value, Unit::Micro),
        (
            _,
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64,
        ) => match column.physical_type() {
            Physical::INT32 => (value as u32).to_string(),
            _ => (value as u64).to_string(),
        },
        _ => value.to_string(),
    })
}

pub(crate) fn unit(unit: &TimeUnit) -> Unit {
    match unit {
        TimeUnit::MILLIS => Unit::Milli,
        TimeUnit::MICROS => Unit::Micro,
        TimeUnit::NANOS => Unit::Nano,
    }
}

fn decimal_scale(column: &ColumnDescriptor) -> Option<i64> {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Decimal(kind)), _) => Some(kind.scale.into()),
        (None, ConvertedType::DECIMAL) => Some(column.type_scale().into()),
        _ => None,
    }
}

/// Nanoseconds of a day and a Julian day, as Impala and old Sparks write instants.
fn int96(bytes: &[u8]) -> Option<String> {
    const JULIAN_1970: i64 = 2_440_588;
    let nanos = i64::from_le_bytes(first(bytes)?);
    let day = u32::from_le_bytes(first(bytes.get(8..)?)?);
    let seconds = (i64::from(day) - JULIAN_1970)
        .checked_mul(86_400)?
        .checked_add(nanos.div_euclid(1_000_000_000))?;
    let whole = scalar::timestamp(seconds, Unit::Second, false);
    let fraction = scalar::timestamp(nanos.rem_euclid(1_000_000_000), Unit::Nano, false);
    let fraction = fraction
        .split_once('.')
        .map_or(String::new(), |(_, f)| format!(".{f}"));
    Some(format!("{whole}{fraction}Z"))
}

/// A number in two's complement, most significant byte first.
fn big_endian(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() || bytes.len() > 32 {
        return None;
    }
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 32];
    wide.get_mut(32 - bytes.len()..)?.copy_from_slice(bytes);
    Some(i256::from_be_bytes(wide).to_string())
}

fn float16(bytes: &[u8]) -> Option<String> {
    let bits = u16::from_le_bytes(first(bytes)?);
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 0x1f), bits & 0x3ff);
    let fraction = f32::from(fraction);
    let value = match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    Some(scalar::float(if sign == 1 { -value } else { value }))
}

/// Text that may have been cut inside a character; `None` where it is no text.
fn text(bytes: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    Some(shortened(text.to_owned()))
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::SchemaDescriptor;

    use super::*;

    fn shown(column: &str, bytes: &[u8]) -> Option<String> {
        let schema = parse_message_type(&format!("message m {{ required {column}; }}"));
        let schema = SchemaDescriptor::new(Arc::new(schema.unwrap()));
        plain(bytes, &schema.column(0))
    }

    #[test]
    fn bounds_read_by_their_logical_type() {
        let hundred = 100i32.to_le_bytes();
        let micros = 1_709_210_096_789_000i64.to_le_bytes();
        let cases: &[(&str, &[u8], &str)] = &[
            ("boolean a", &[1], "true"),
            ("int32 a", &hundred, "100"),
            ("int32 a (DATE)", &hundred, "1970-04-11"),
            ("int32 a (DECIMAL(9,2))", &hundred, "1.00"),
            ("int32 a (INTEGER(32,false))", &[0xff; 4], "4294967295"),
            (
                "int64 a (INTEGER(64,false))",
                &[0xff; 8],
                "18446744073709551615",
            ),
            (
                "int64 a (TIMESTAMP(MICROS,true))",
                &micros,
                "2024-02-29T12:34:56.789Z",
            ),
            (
                "int64 a (TIMESTAMP(MICROS,false))",
                &micros,
                "2024-02-29T12:34:56.789",
            ),
            (
                "int64 a (TIMESTAMP_MICROS)",
                &micros,
                "2024-02-29T12:34:56.789Z",
            ),
            ("double a", &f64::NAN.to_le_bytes(), "NaN"),
            ("binary a (STRING)", "naïve".as_bytes(), "naïve"),
            ("binary a (STRING)", &"naï".as_bytes()[..3], "na"),
            ("binary a", &[0, 0xff], "00ff"),
            (
                "fixed_len_byte_array(3) a (DECIMAL(5,2))",
                &[0xff, 0xff, 0x85],
                "-1.23",
            ),
            ("fixed_len_byte_array(2) a (FLOAT16)", &[0x00, 0xc0], "-2.0"),
            (
                "fixed_len_byte_array(2) a (FLOAT16)",
                &[0x01, 0x00],
                "5.9604645e-8",
            ),
            (
                "fixed_len_byte_array(16) a (UUID)",
                &[0xab; 16],
                "abababab-abab-abab-abab-abababababab",
            ),
        ];
        for (column, bytes, text) in cases {
            assert_eq!(shown(column, bytes).as_deref(), Some(*text), "{column}");
        }
        assert_eq!(shown("int64 a", &[0; 7]), None);
        assert_eq!(shown("int32 a", &[]), None);
    }

    #[test]
    fn old_instants_keep_their_nanoseconds() {
        let mut bytes = 1_000_000_001i64.to_le_bytes().to_vec();
        bytes.extend_from_slice(&2_440_588u32.to_le_bytes());
        let text = shown("int96 a", &bytes).unwrap();
        assert_eq!(text, "1970-01-01T00:00:01.000000001Z");
        // 0001-01-01, long before what nanoseconds since 1970 can hold.
        let mut bytes = 0i64.to_le_bytes().to_vec();
        bytes.extend_from_slice(&1_721_426u32.to_le_bytes());
        assert_eq!(shown("int96 a", &bytes).unwrap(), "0001-01-01T00:00:00Z");
    }

    #[test]
    fn long_texts_are_cut() {
        let text = shown("binary a (STRING)", "é".repeat(500).as_bytes()).unwrap();
        assert_eq!(text.chars().count(), SHOWN + 1);
        assert!(text.ends_with('…'));
    }
}
