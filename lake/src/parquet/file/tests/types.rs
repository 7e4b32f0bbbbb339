//! Every type as text.

use ::parquet::data_type::{Int96, Int96Type};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float64Type, Int8Type};
use arrow_array::*;
use arrow_buffer::i256;

use super::*;

/// The texts of one column, under one type of the table.
async fn check(array: impl Array + 'static, data_type: &str, wanted: &[&str]) {
    let properties = WriterProperties::builder().build();
    let column: ArrayRef = Arc::new(array);
    let batch = RecordBatch::try_from_iter_with_nullable([("c", column, true)]);
    let bytes = written(&batch.unwrap(), properties);
    let file = table(bytes, vec![field("c", data_type)]).await;
    let found = rows(&file, 0, 100).await.unwrap();
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    assert_eq!(texts(&found).concat(), wanted, "{data_type}");
}

#[tokio::test]
async fn numbers() {
    check(
        BooleanArray::from(vec![Some(true), None]),
        "boolean",
        &["true", "null"],
    )
    .await;
    check(Int8Array::from(vec![i8::MIN]), "byte", &["-128"]).await;
    check(Int16Array::from(vec![i16::MIN]), "short", &["-32768"]).await;
    check(
        Int32Array::from(vec![i32::MIN]),
        "integer",
        &["-2147483648"],
    )
    .await;
    check(
        Int64Array::from(vec![i64::MIN]),
        "long",
        &["-9223372036854775808"],
    )
    .await;
    check(
        UInt64Array::from(vec![u64::MAX]),
        "decimal(20,0)",
        &["18446744073709551615"],
    )
    .await;
    let half = <Float16Type as ArrowPrimitiveType>::Native::from_f32(1.5);
    check(Float16Array::from(vec![half]), "float", &["1.5"]).await;
    let floats = vec![0.1, f32::NAN, f32::NEG_INFINITY, f32::MIN_POSITIVE];
    let wanted = ["0.1", "NaN", "-Infinity", "1.1754944e-38"];
    check(Float32Array::from(floats), "float", &wanted).await;
    let doubles = vec![0.1 + 0.2, -0.0, 1.0, f64::INFINITY];
    let wanted = ["0.30000000000000004", "-0.0", "1.0", "Infinity"];
    check(Float64Array::from(doubles), "double", &wanted).await;
}

#[tokio::test]
async fn decimals() {
    let narrow = Decimal128Array::from(vec![Some(-5), Some(12345), None]);
    let narrow = narrow.with_precision_and_scale(9, 2).unwrap();
    check(narrow.clone(), "decimal(9,2)", &["-0.05", "123.45", "null"]).await;
    check(narrow, "decimal(12,4)", &["-0.0500", "123.4500", "null"]).await;
    let widest = 99_999_999_999_999_999_999_999_999_999_999_999_999i128;
    let wide = Decimal128Array::from(vec![widest]);
    let wide = wide.with_precision_and_scale(38, 10).unwrap();
    let wanted = ["9999999999999999999999999999.9999999999"];
    check(wide, "decimal(38,10)", &wanted).await;
    let huge = Decimal256Array::from(vec![i256::from_i128(widest)]);
    let huge = huge.with_precision_and_scale(76, 1).unwrap();
    let wanted = ["9999999999999999999999999999999999999.9"];
    check(huge, "decimal(76,1)", &wanted).await;
}

#[tokio::test]
async fn dates_and_times() {
    let dates = vec![0, -719_162, 2_932_896, i32::MAX, i32::MIN];
    let wanted = [
        "1970-01-01",
        "0001-01-01",
        "9999-12-31",
        "+5881580-07-11",
        "-5877641-06-23",
    ];
    check(Date32Array::from(dates), "date", &wanted).await;
    let micros = vec![1_709_210_096_789_000, -62_135_596_800_000_000, i64::MAX];
    let wanted = [
        "2024-02-29T12:34:56.789",
        "0001-01-01T00:00:00",
        "+294247-01-10T04:00:54.775807",
    ];
    let local = TimestampMicrosecondArray::from(micros.clone());
    check(local, "timestamp_ntz", &wanted).await;
    let utc = TimestampMicrosecondArray::from(micros).with_timezone("UTC");
    let wanted = wanted.map(|text| format!("{text}Z"));
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    check(utc, "timestamp", &wanted).await;
    let nanos = TimestampNanosecondArray::from(vec![1, i64::MIN]);
    let wanted = [
        "1970-01-01T00:00:00.000000001",
        "1677-09-21T00:12:43.145224192",
    ];
    check(nanos, "timestamp_ntz", &wanted).await;
    let millis = TimestampMillisecondArray::from(vec![1]).with_timezone("+02:00");
    check(millis, "timestamp", &["1970-01-01T00:00:00.001Z"]).await;
    check(
        Time32MillisecondArray::from(vec![1]),
        "time",
        &["00:00:00.001"],
    )
    .await;
    let last = Time64MicrosecondArray::from(vec![86_399_999_999]);
    check(last, "time", &["23:59:59.999999"]).await;
}

#[tokio::test]
async fn texts_and_binaries() {
    let hostile = "a\u{202e}b\0<b>";
    check(
        StringArray::from(vec![hostile, ""]),
        "string",
        &[hostile, ""],
    )
    .await;
    check(LargeStringArray::from(vec!["x"]), "string", &["x"]).await;
    check(StringViewArray::from(vec!["x"]), "string", &["x"]).await;
    let bytes = BinaryArray::from(vec![&[0u8, 0xab][..], b"ok"]);
    check(bytes.clone(), "binary", &["00ab", "6f6b"]).await;
    // Old writers leave the mark of a text out.
    check(bytes, "string", &["00ab", "ok"]).await;
    let fixed = FixedSizeBinaryArray::try_from_iter([[0xabu8; 16]].into_iter()).unwrap();
    let wanted = ["abababab-abab-abab-abab-abababababab"];
    check(fixed, "uuid", &wanted).await;
    let dictionary: DictionaryArray<Int8Type> = ["p", "q", "p"].into_iter().collect();
    check(dictionary, "string", &["p", "q", "p"]).await;
    check(NullArray::new(2), "void", &["null", "null"]).await;
}

#[tokio::test]
async fn nested_values_are_json() {
    let lists = ListArray::from_iter_primitive::<Float64Type, _, _>(vec![
        Some(vec![Some(1.0), None, Some(f64::NAN)]),
        None,
        Some(vec![]),
    ]);
    let properties = WriterProperties::builder().build();
    let bytes = written(&batch(vec![("c", Arc::new(lists))]), properties);
    let own = nested("c", "array", vec![field("element", "double")]);
    let file = table(bytes, vec![own]).await;
    let found = rows(&file, 0, 9).await.unwrap();
    assert_eq!(texts(&found), [[r#"[1.0, null, "NaN"]"#], ["null"], ["[]"]]);
}

#[tokio::test]
async fn widened_types_show_as_the_tables_type() {
    let ints = || Int32Array::from(vec![Some(5), None]);
    check(ints(), "long", &["5", "null"]).await;
    check(ints(), "double", &["5.0", "null"]).await;
    check(ints(), "decimal(12,2)", &["5.00", "null"]).await;
    check(Int8Array::from(vec![5]), "integer", &["5"]).await;
    check(
        Float32Array::from(vec![0.1]),
        "double",
        &["0.10000000149011612"],
    )
    .await;
    let date = Date32Array::from(vec![1]);
    check(date, "timestamp_ntz", &["1970-01-02T00:00:00"]).await;
}

#[tokio::test]
async fn old_instants_of_every_year() {
    let schema = parse_message_type("message m { optional int96 c; }").unwrap();
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let instant = |day: u32, nanos: u64| {
        let mut value = Int96::new();
        value.set_data(nanos as u32, (nanos >> 32) as u32, day);
        value
    };
    let values = [
        instant(2_440_588, 0),
        instant(1_721_426, 0),
        instant(5_373_484, 86_399_999_999_000),
    ];
    let typed = column.typed::<Int96Type>();
    let levels = [1, 1, 0, 1];
    typed.write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let file = table(bytes, vec![field("c", "timestamp")]).await;
    let found = rows(&file, 0, 9).await.unwrap();
    assert_eq!(
        texts(&found).concat(),
        [
            "1970-01-01T00:00:00Z",
            "0001-01-01T00:00:00Z",
            "null",
            "9999-12-31T23:59:59.999999Z",
        ]
    );
}

#[tokio::test]
async fn long_values_are_cut_and_say_so() {
    let long = "é".repeat(400_000);
    let array: ArrayRef = Arc::new(StringArray::from(vec![long.as_str()]));
    let properties = WriterProperties::builder().build();
    let bytes = written(&batch(vec![("c", array)]), properties);
    let file = table(bytes, vec![field("c", "string")]).await;
    let found = rows(&file, 0, 1).await.unwrap();
    let text = found.rows[0][0].as_deref().unwrap();
    assert!(text.len() < 300_000 && text.ends_with('…'));
    assert!(found.warnings[0].contains("cut"), "{:?}", found.warnings);
}
