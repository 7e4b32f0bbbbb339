//! The rows of a checkpoint as JSON, from its files and nothing else.

use std::sync::Arc;

use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use arrow_schema::{DataType, FieldRef, Schema};
use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use serde_json::Value;

use super::table::Table;

/// All rows of a version's checkpoint, sorted by their text; what says how it is laid out left out.
pub(crate) async fn rows_of(table: &Table, version: u64) -> Vec<Value> {
    let prefix = format!("{version:020}.checkpoint.");
    let mut rows = Vec::new();
    for name in table.names().await {
        if !name.starts_with(&prefix) {
            continue;
        }
        if name.ends_with(".parquet") {
            rows.extend(parquet_rows(bytes(table, &name).await));
            continue;
        }
        for line in table.text(&name).await.unwrap().lines() {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if line.get("checkpointMetadata").is_some() {
                assert_eq!(line["checkpointMetadata"]["version"], version);
            } else if let Some(sidecar) = line.get("sidecar") {
                let path = sidecar["path"].as_str().unwrap();
                let bytes = bytes(table, &format!("_sidecars/{path}")).await;
                assert_eq!(sidecar["sizeInBytes"], bytes.len());
                rows.extend(parquet_rows(bytes));
            } else {
                lean(&mut line);
                rows.push(line);
            }
        }
    }
    rows.sort_by_key(Value::to_string);
    rows
}

async fn bytes(table: &Table, name: &str) -> Bytes {
    let key = Path::from(format!("t/_delta_log/{name}"));
    table.store.get(&key).await.unwrap().bytes().await.unwrap()
}

pub(crate) fn parquet_rows(bytes: Bytes) -> Vec<Value> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).unwrap();
    // A zone that has a name would have to be looked up.
    let fields: Vec<FieldRef> = reader.schema().fields().iter().map(with_offset).collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options).unwrap();
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, LineDelimited>(Vec::new());
    for batch in reader.build().unwrap() {
        writer.write(&batch.unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let text = String::from_utf8(writer.into_inner()).unwrap();
    let row = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        lean(&mut row);
        row
    };
    text.lines().map(row).collect()
}

fn with_offset(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_offset).collect()),
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(kind))
}

/// Drops nulls, but those that are values of a map.
pub(crate) fn lean(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, value| !value.is_null());
        for (key, value) in map {
            if !matches!(key.as_str(), "partitionValues" | "tags") {
                lean(value);
            }
        }
    }
}
