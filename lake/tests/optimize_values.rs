//! Values stay what they are, whatever the files that are packed have them as.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "optimize/table.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, Float32Array, Int32Array, Int64Array, ListArray,
    MapArray, RecordBatch, StringArray, StructArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};
use table::{Table, column, metadata, plain, protocol};

/// The one file that is left: its rows, the text of its Parquet schema, and its statistics.
async fn packed(table: &Table) -> (RecordBatch, String, Value) {
    table.optimized().await;
    let live = table.live().await;
    assert_eq!(live.len(), 1);
    let add = live.values().next().unwrap();
    let key = Path::from(format!("t/{}", add["path"].as_str().unwrap()));
    let bytes: Bytes = table.store.get(&key).await.unwrap().bytes().await.unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let mut text = Vec::new();
    let schema = reader.parquet_schema().root_schema();
    parquet::schema::printer::print_schema(&mut text, schema);
    let stats = serde_json::from_str(add["stats"].as_str().unwrap()).unwrap();
    let schema = Arc::clone(reader.schema());
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let batch = arrow_select::concat::concat_batches(&schema, &batches).unwrap();
    (batch, String::from_utf8(text).unwrap(), stats)
}

async fn table_of(
    fields: Value,
    features: &[&str],
    configuration: Value,
    files: &[RecordBatch],
) -> Table {
    let table = Table::new();
    let mut actions = vec![
        protocol(features),
        metadata(fields, json!([]), configuration),
    ];
    for (at, batch) in files.iter().enumerate() {
        actions.push(table.file(&format!("f{at}"), batch).await);
    }
    table.commit(0, &actions).await;
    table
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .unwrap()
}

#[tokio::test]
async fn a_column_that_a_file_lacks_is_null() {
    let fields = json!([
        plain("a", "long"),
        plain("late", "string"),
        plain("gone", "void")
    ]);
    let old = batch(vec![("a", Arc::new(Int64Array::from(vec![1, 2])))]);
    let new = batch(vec![
        ("late", Arc::new(StringArray::from(vec!["x"]))),
        ("a", Arc::new(Int64Array::from(vec![3]))),
    ]);
    let table = table_of(fields, &[], json!({}), &[new, old]).await;
    let (rows, schema, stats) = packed(&table).await;
    let right = batch(vec![
        ("a", Arc::new(Int64Array::from(vec![3, 1, 2]))),
        (
            "late",
            Arc::new(StringArray::from(vec![Some("x"), None, None])),
        ),
    ]);
    let sorted = |batch: &RecordBatch| {
        let ids = batch
            .column(0)
            .as_primitive::<arrow_array::types::Int64Type>();
        let texts = batch.column(1).as_string::<i32>();
        let mut rows: Vec<_> = (0..batch.num_rows())
            .map(|at| {
                (
                    ids.value(at),
                    texts.is_valid(at).then(|| texts.value(at).to_owned()),
                )
            })
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&rows), sorted(&right));
    assert!(!schema.contains("gone"), "{schema}");
    assert_eq!(stats["nullCount"], json!({ "a": 0, "late": 2 }));
}

/// INT96 of an instant: nanoseconds of the day, and the Julian day.
fn int96(days: i64, nanos: u64) -> Int96 {
    let mut value = Int96::new();
    let day = u32::try_from(days + 2_440_588).unwrap();
    value.set_data(nanos as u32, (nanos >> 32) as u32, day);
    value
}

#[tokio::test]
async fn times_of_every_kind_become_microseconds() {
    const DAY: i64 = 86_400_000_000;
    let schema = parse_message_type("message m { optional int96 t; }").unwrap();
    let first = (-719_162i64, 0u64);
    let last = (2_932_896i64, 86_399_999_000_000u64);
    let odd = (0i64, 1_234_567_891u64);
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<Int96> = [first, last, odd].map(|(d, n)| int96(d, n)).to_vec();
    column
        .typed::<Int96Type>()
        .write_batch(&values, Some(&[1, 1, 1, 0]), None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();

    for (kind, zone) in [("timestamp", Some("UTC")), ("timestamp_ntz", None)] {
        let table = Table::new();
        let fields = json!([plain("t", kind)]);
        let others: Vec<ArrayRef> = vec![
            Arc::new(TimestampMillisecondArray::from(vec![Some(-1), None])),
            Arc::new(TimestampNanosecondArray::from(vec![-1, 2_999]).with_timezone("UTC")),
        ];
        let mut actions = vec![
            protocol(&["timestampNtz"]),
            metadata(fields, json!([]), json!({})),
        ];
        actions.push(table.put("f0", bytes.clone(), 4).await);
        for (at, array) in others.into_iter().enumerate() {
            actions.push(
                table
                    .file(&format!("g{at}"), &batch(vec![("t", array)]))
                    .await,
            );
        }
        table.commit(0, &actions).await;
        let (rows, schema, stats) = packed(&table).await;
        let times = rows.column(0).as_primitive::<TimestampMicrosecondType>();
        let mut found: Vec<Option<i64>> = times.iter().collect();
        found.sort();
        let micros =
            |(day, nanos): (i64, u64)| Some(day * DAY + i64::try_from(nanos / 1_000).unwrap());
        let mut right = vec![
            None,
            None,
            micros(first),
            micros(last),
            micros(odd),
            Some(-1_000),
            Some(-1),
            Some(2),
        ];
        right.sort();
        assert_eq!(found, right);
        let adjusted = format!("TIMESTAMP(MICROS,{})", zone.is_some());
        assert!(schema.contains(&adjusted), "{schema}");
        let z = if zone.is_some() { "Z" } else { "" };
        assert_eq!(
            stats["minValues"],
            json!({ "t": format!("0001-01-01T00:00:00.000{z}") })
        );
        assert_eq!(
            stats["maxValues"],
            json!({ "t": format!("9999-12-31T23:59:59.999{z}") })
        );
        assert_eq!(stats["nullCount"], json!({ "t": 2 }));
    }
}

/// A list of structs whose element has this name, from `first` on.
fn lists(element: &str, first: i32) -> ArrayRef {
    let fields = Fields::from(vec![
        Field::new("x", DataType::Int32, true),
        Field::new("d", DataType::Decimal128(38, 10), true),
    ]);
    let x: Int32Array = (first..first + 4)
        .map(|n| (n % 3 > 0).then_some(n))
        .collect();
    let digits = (first..first + 4).map(|n| Some(i128::from(n) * 10i128.pow(27) - 1));
    let d: Decimal128Array = digits.collect();
    let d = d.with_precision_and_scale(38, 10).unwrap();
    let nulls = Some(NullBuffer::from(vec![true, false, true, true]));
    let structs = StructArray::new(fields.clone(), vec![Arc::new(x), Arc::new(d)], nulls);
    let item = Arc::new(Field::new(element, DataType::Struct(fields), true));
    let offsets = OffsetBuffer::from_lengths([2, 0, 0, 2]);
    let nulls = Some(NullBuffer::from(vec![true, false, true, true]));
    Arc::new(ListArray::new(item, offsets, Arc::new(structs), nulls))
}

#[tokio::test]
async fn what_is_nested_stays_nested() {
    let element = json!({ "type": "struct", "fields": [
        plain("x", "integer"), plain("d", "decimal(38,10)"), plain("new", "string"),
    ]});
    let list = json!({ "type": "array", "elementType": element, "containsNull": true });
    let map = json!({ "type": "map", "keyType": "string", "valueType": "integer", "valueContainsNull": true });
    let fields = json!([column("l", list, json!({})), column("m", map, json!({}))]);
    let maps = |first: i32| -> ArrayRef {
        let entries = Fields::from(vec![
            Field::new("keys", DataType::Utf8, false),
            Field::new("values", DataType::Int32, true),
        ]);
        let keys = StringArray::from(vec!["p", "q"]);
        let values = Int32Array::from(vec![Some(first), None]);
        let entries = StructArray::new(entries, vec![Arc::new(keys), Arc::new(values)], None);
        let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        let nulls = Some(NullBuffer::from(vec![true, true, false, true]));
        Arc::new(MapArray::new(
            field,
            OffsetBuffer::from_lengths([1, 0, 0, 1]),
            entries,
            nulls,
            false,
        ))
    };
    let files = [("array", 0), ("element", 10), ("item", 20)]
        .map(|(name, first)| batch(vec![("l", lists(name, first)), ("m", maps(first))]));
    let table = table_of(fields, &[], json!({}), &files).await;
    let before = table.rows().await;
    let (rows, schema, stats) = packed(&table).await;
    assert_eq!(rows.num_rows(), 12);
    // The element of the struct that the files lack is the only difference.
    let after: Vec<String> = table
        .rows()
        .await
        .iter()
        .map(|r| r.replace(", new: ", ""))
        .collect();
    assert_eq!(after, before);
    for part in [
        "(LIST)",
        "list {",
        "element {",
        "(MAP)",
        "key_value {",
        "BYTE_ARRAY key",
        "INT32 value",
    ] {
        assert!(schema.contains(part), "{part}: {schema}");
    }
    assert_eq!(stats["nullCount"], json!({ "l": 3, "m": 3 }));
    assert_eq!(stats["minValues"], json!({}));
}

#[tokio::test]
async fn columns_are_found_and_named_by_their_mapping() {
    let with = |id: i64, physical: &str| json!({ "delta.columnMapping.id": id, "delta.columnMapping.physicalName": physical });
    let inner =
        json!({ "type": "struct", "fields": [column("x", json!("integer"), with(3, "col-x"))] });
    let fields = json!([
        column("a", json!("long"), with(1, "col-a")),
        column("s", inner, with(2, "col-s")),
    ]);
    let file = |names: [&str; 3], ids: bool, first: i64| {
        let noted = |field: Field, id: i64| match ids {
            true => field.with_metadata(HashMap::from([(
                PARQUET_FIELD_ID_META_KEY.to_owned(),
                id.to_string(),
            )])),
            false => field,
        };
        let x = Fields::from(vec![noted(Field::new(names[2], DataType::Int32, true), 3)]);
        let s = StructArray::new(
            x.clone(),
            vec![Arc::new(Int32Array::from(vec![first as i32]))],
            None,
        );
        let schema = Schema::new(vec![
            noted(Field::new(names[1], DataType::Struct(x), true), 2),
            noted(Field::new(names[0], DataType::Int64, true), 1),
        ]);
        RecordBatch::try_new(
            Arc::new(schema),
            vec![Arc::new(s), Arc::new(Int64Array::from(vec![first]))],
        )
        .unwrap()
    };
    let physical = ["col-a", "col-s", "col-x"];
    for (mode, other) in [
        ("name", file(physical, false, 7)),
        // By id the names in a file do not count, even where they are those of others.
        ("id", file(["col-s", "col-a", "z"], true, 7)),
    ] {
        let configuration =
            json!({ "delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "3" });
        let files = [file(physical, true, 1), other];
        let table = table_of(fields.clone(), &["columnMapping"], configuration, &files).await;
        let (rows, schema, stats) = packed(&table).await;
        assert_eq!(
            schema.matches("[1]").count()
                + schema.matches("[2]").count()
                + schema.matches("[3]").count(),
            3,
            "{schema}"
        );
        let names: Vec<String> = rows
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect();
        assert_eq!(names, ["col-a", "col-s"]);
        let mut ids: Vec<i64> = rows
            .column(0)
            .as_primitive::<arrow_array::types::Int64Type>()
            .values()
            .to_vec();
        ids.sort_unstable();
        let mut inner: Vec<i32> = rows
            .column(1)
            .as_struct()
            .column(0)
            .as_primitive::<Int32Type>()
            .values()
            .to_vec();
        inner.sort_unstable();
        assert_eq!((ids, inner), (vec![1, 7], vec![1, 7]), "{mode}");
        assert_eq!(
            stats["maxValues"],
            json!({ "col-a": 7, "col-s": { "col-x": 7 } })
        );
    }
    // By id, a file without ids has none of the columns.
    let configuration = json!({ "delta.columnMapping.mode": "id" });
    let files = [file(physical, false, 1), file(physical, false, 2)];
    let table = table_of(fields, &["columnMapping"], configuration, &files).await;
    let plan = table.plan().await.plan;
    assert!(plan.refused.unwrap().starts_with("nothing to do"));
    assert_eq!(
        plan.optimize.unwrap().passed[0].why,
        "none of its columns is the table's"
    );
}

#[tokio::test]
async fn widened_columns_are_widened() {
    let fields = json!([
        plain("n", "long"),
        plain("f", "double"),
        plain("d", "decimal(12,4)"),
        plain("t", "timestamp_ntz"),
    ]);
    let old = batch(vec![
        ("n", Arc::new(Int32Array::from(vec![Some(i32::MIN), None]))),
        ("f", Arc::new(Float32Array::from(vec![0.5, -1.25]))),
        (
            "d",
            Arc::new(
                Decimal128Array::from(vec![150, -7])
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
        ),
        ("t", Arc::new(Date32Array::from(vec![0, -1]))),
    ]);
    let new = batch(vec![
        ("n", Arc::new(Int64Array::from(vec![i64::MAX]))),
        (
            "d",
            Arc::new(
                Decimal128Array::from(vec![1])
                    .with_precision_and_scale(12, 4)
                    .unwrap(),
            ),
        ),
    ]);
    let features = ["typeWidening", "timestampNtz"];
    let table = table_of(
        fields,
        &features,
        json!({ "delta.enableTypeWidening": "true" }),
        &[old, new],
    )
    .await;
    let (rows, _, stats) = packed(&table).await;
    let times = DataType::Timestamp(TimeUnit::Microsecond, None);
    let types: Vec<DataType> = rows
        .schema()
        .fields()
        .iter()
        .map(|f| f.data_type().clone())
        .collect();
    assert_eq!(
        types,
        [
            DataType::Int64,
            DataType::Float64,
            DataType::Decimal128(12, 4),
            times
        ]
    );
    assert_eq!(
        stats["minValues"],
        json!({ "n": i64::from(i32::MIN), "f": -1.25, "d": -0.07, "t": "1969-12-31T00:00:00.000" })
    );
    assert_eq!(
        stats["maxValues"],
        json!({ "n": i64::MAX, "f": 0.5, "d": 1.5, "t": "1970-01-01T00:00:00.000" })
    );
    assert_eq!(
        stats["nullCount"],
        json!({ "n": 1, "f": 1, "d": 0, "t": 1 })
    );
}

#[tokio::test]
async fn statistics_are_of_the_columns_that_the_table_asks_for() {
    let inner = json!({ "type": "struct", "fields": [plain("x", "long"), plain("y", "long")] });
    let fields = json!([
        column("s", inner, json!({})),
        plain("a", "long"),
        plain("b", "long")
    ]);
    let cases = [
        (
            json!({ "delta.dataSkippingNumIndexedCols": "2" }),
            json!({ "s": { "x": 1, "y": 1 } }),
        ),
        (
            json!({ "delta.dataSkippingNumIndexedCols": "0" }),
            json!({}),
        ),
        (
            json!({ "delta.dataSkippingNumIndexedCols": "-1" }),
            json!({ "s": { "x": 1, "y": 1 }, "a": 1, "b": 1 }),
        ),
        (
            json!({ "delta.dataSkippingStatsColumns": "b, s.y" }),
            json!({ "s": { "y": 1 }, "b": 1 }),
        ),
        (
            json!({ "delta.dataSkippingStatsColumns": "S" }),
            json!({ "s": { "x": 1, "y": 1 } }),
        ),
    ];
    let x = Fields::from(vec![
        Field::new("x", DataType::Int64, true),
        Field::new("y", DataType::Int64, true),
    ]);
    let one: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let s = StructArray::new(x, vec![Arc::clone(&one), Arc::clone(&one)], None);
    let file = batch(vec![
        ("s", Arc::new(s)),
        ("a", Arc::clone(&one)),
        ("b", one),
    ]);
    for (configuration, right) in cases {
        let files = [file.clone(), file.clone()];
        let table = table_of(fields.clone(), &[], configuration.clone(), &files).await;
        let (_, _, stats) = packed(&table).await;
        assert_eq!(stats["minValues"], right, "{configuration}");
        assert_eq!(stats["numRecords"], json!(2));
    }
}

#[tokio::test]
async fn packed_files_are_as_dense_as_what_they_replace() {
    use parquet::basic::Compression;
    for (codec, name) in [
        (
            Compression::ZSTD(parquet::basic::ZstdLevel::default()),
            "zstd",
        ),
        (
            Compression::GZIP(parquet::basic::GzipLevel::default()),
            "zstd",
        ),
        (Compression::SNAPPY, "snappy"),
        (Compression::UNCOMPRESSED, "snappy"),
    ] {
        let table = Table::new();
        let mut actions = vec![
            protocol(&[]),
            metadata(json!([plain("a", "long")]), json!([]), json!({})),
        ];
        for n in 0..2 {
            let rows = batch(vec![("a", Arc::new(Int64Array::from(vec![n])))]);
            let how = WriterProperties::builder().set_compression(if n == 0 {
                codec
            } else {
                Compression::SNAPPY
            });
            actions.push(table.file_of(&format!("f{n}"), &rows, how.build()).await);
        }
        table.commit(0, &actions).await;
        table.optimized().await;
        let path = table.live().await.into_keys().next().unwrap();
        assert!(path.contains(&format!("-c000.{name}.parquet")), "{path}");
    }
}
