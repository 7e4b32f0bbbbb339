//! Columns found by name and by id, at every depth.

use std::collections::HashMap;

use ::parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use arrow_array::{Array, ListArray, MapArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field as ArrowField, Fields};

use super::*;

fn with_id(name: &str, data_type: DataType, id: i32) -> ArrowField {
    let id = (PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string());
    ArrowField::new(name, data_type, true).with_metadata(HashMap::from([id]))
}

/// `col-1: struct<col-3: int, col-2: string>`, `col-4: list<struct<col-5: long>>`,
/// `col-6: map<string, struct<col-7: int>>`.
fn mapped_file() -> Vec<u8> {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a\"b", "c"]));
    let fields = Fields::from(vec![
        with_id("col-3", DataType::Int32, 3),
        with_id("col-2", DataType::Utf8, 2),
    ]);
    let parts = StructArray::new(fields, vec![ints, texts], None);

    let longs: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 9]));
    let fields = Fields::from(vec![with_id("col-5", DataType::Int64, 5)]);
    let items = StructArray::new(fields, vec![longs], None);
    let item = Arc::new(ArrowField::new("element", items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([2, 1]);
    let lists = ListArray::new(item, offsets, Arc::new(items), None);

    let keys: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let fields = Fields::from(vec![with_id("col-7", DataType::Int32, 7)]);
    let values = StructArray::new(fields, vec![ints], None);
    let value_field = ArrowField::new("value", values.data_type().clone(), true);
    let entries = StructArray::new(
        Fields::from(vec![
            ArrowField::new("key", DataType::Utf8, false),
            value_field,
        ]),
        vec![keys, Arc::new(values)],
        None,
    );
    let entry = Arc::new(ArrowField::new(
        "key_value",
        entries.data_type().clone(),
        false,
    ));
    let offsets = OffsetBuffer::from_lengths([2, 0]);
    let maps = MapArray::new(entry, offsets, entries, None, false);

    let schema = ArrowSchema::new(vec![
        with_id("col-1", parts.data_type().clone(), 1),
        with_id("col-4", lists.data_type().clone(), 4),
        with_id("col-6", maps.data_type().clone(), 6),
    ]);
    let columns: Vec<ArrayRef> = vec![Arc::new(parts), Arc::new(lists), Arc::new(maps)];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    written(&batch, WriterProperties::builder().build())
}

/// The same table's fields; `by_id` keeps wrong physical names, by name keeps wrong ids.
fn fields(by_id: bool) -> Vec<Field> {
    let mapped = |mut field: Field, number: i64| {
        field.id = Some(if by_id { number } else { 100 + number });
        field.physical = Some(format!("{}{number}", if by_id { "wrong-" } else { "col-" }));
        field
    };
    let person = vec![
        mapped(field("name", "string"), 2),
        mapped(field("age", "long"), 3),
        mapped(field("since", "date"), 9),
    ];
    let item = nested("element", "struct", vec![mapped(field("value", "long"), 5)]);
    let value = nested("value", "struct", vec![mapped(field("n", "integer"), 7)]);
    vec![
        mapped(nested("map", "map", vec![field("key", "string"), value]), 6),
        mapped(nested("person", "struct", person), 1),
        mapped(nested("list", "array", vec![item]), 4),
    ]
}

#[tokio::test]
async fn nested_columns_by_name_and_by_id() {
    for by_id in [false, true] {
        let mut file = table(mapped_file(), fields(by_id)).await;
        file.by_id = by_id;
        let found = rows(&file, 0, 10).await.unwrap();
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        assert_eq!(
            texts(&found),
            [
                [
                    r#"{"x": {"n": 1}, "y": {"n": 2}}"#,
                    r#"{"name": "a\"b", "age": 1, "since": null}"#,
                    r#"[{"value": 7}, {"value": 8}]"#,
                ],
                [
                    "{}",
                    r#"{"name": "c", "age": null, "since": null}"#,
                    r#"[{"value": 9}]"#
                ],
            ]
        );
        for text in found.rows.iter().flatten().flatten() {
            let _: serde_json::Value = serde_json::from_str(text).unwrap();
        }
        let report = report(&file).await.unwrap();
        let logical = report.columns.iter().map(|c| c.logical.as_deref().unwrap());
        assert_eq!(
            logical.collect::<Vec<_>>(),
            [
                "person.age",
                "person.name",
                "list.element.value",
                "map.key",
                "map.value.n"
            ]
        );
        assert_eq!(report.columns[0].field_id, Some(3));
        assert_eq!(report.columns[2].path, "col-4.list.element.col-5");
    }
}

#[tokio::test]
async fn a_file_without_ids_is_null_by_id_and_says_so() {
    let mut wanted = field("id", "long");
    wanted.id = Some(1);
    let mut file = table(people(), vec![wanted]).await;
    file.by_id = true;
    let found = rows(&file, 0, 1).await.unwrap();
    assert_eq!(texts(&found), [["null"]]);
    assert!(
        found.warnings[0].contains("no field ids"),
        "{:?}",
        found.warnings
    );
}

#[tokio::test]
async fn names_in_another_case_are_found_where_that_is_clear() {
    let file = table(people(), vec![field("ID", "long"), field("Nam", "string")]).await;
    assert_eq!(texts(&rows(&file, 4, 1).await.unwrap()), [["4", "null"]]);
}

#[tokio::test]
async fn shapes_that_do_not_fit_are_shown_as_they_are() {
    let fields = vec![field("col-1", "variant"), field("col-4", "string")];
    let file = table(mapped_file(), fields).await;
    let found = rows(&file, 0, 1).await.unwrap();
    assert_eq!(
        texts(&found),
        [[
            r#"{"col-3": 1, "col-2": "a\"b"}"#,
            r#"[{"col-5": 7}, {"col-5": 8}]"#
        ]]
    );
    assert_eq!(found.warnings.len(), 2);
    assert!(
        found.warnings[0].contains("not as variant"),
        "{:?}",
        found.warnings
    );
}
