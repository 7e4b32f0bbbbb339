//! Files written by the parquet crate, read back as a table's.

use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::Schema as ArrowSchema;
use bytes::Bytes;
use indexmap::IndexMap;
use object_store::memory::InMemory;
use object_store::{ObjectStoreExt, PutPayload};

use super::*;
use crate::schema::Field;

mod damage;
mod mapping;
mod reports;
mod types;

fn field(name: &str, data_type: &str) -> Field {
    Field {
        name: name.to_owned(),
        data_type: data_type.to_owned(),
        nullable: true,
        fields: Vec::new(),
        id: None,
        physical: None,
        notes: Vec::new(),
    }
}

fn nested(name: &str, data_type: &str, fields: Vec<Field>) -> Field {
    Field {
        fields,
        ..field(name, data_type)
    }
}

/// A table of one file with these bytes.
async fn table(bytes: Vec<u8>, fields: Vec<Field>) -> TableFile {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let path = Path::from("t/f.parquet");
    let size = bytes.len() as u64;
    let payload = PutPayload::from_bytes(Bytes::from(bytes));
    store.put(&path, payload).await.unwrap();
    TableFile {
        store,
        path,
        file: DataFile {
            path: "f.parquet".to_owned(),
            bytes: Some(size),
            rows: None,
            deleted_rows: 0,
            partition: IndexMap::new(),
            modified: None,
            deletes: Vec::new(),
        },
        log_stats: None,
        schema: Schema { fields },
        partition_columns: Vec::new(),
        by_id: false,
        masked: None,
    }
}

fn written(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The rows, with `null` for null.
fn texts(report: &RowsReport) -> Vec<Vec<&str>> {
    let rows = report.rows.iter();
    rows.map(|row| row.iter().map(|t| t.as_deref().unwrap_or("null")).collect())
        .collect()
}

fn metadata(bytes: &[u8]) -> ParquetMetaData {
    let bytes = Bytes::copy_from_slice(bytes);
    ParquetMetaDataReader::new()
        .parse_and_finish(&bytes)
        .unwrap()
}

/// The file with another footer, in which `change` was done to one column's chunks.
fn with_chunk(
    bytes: &[u8],
    column: usize,
    change: impl Fn(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) -> Vec<u8> {
    let old = metadata(bytes);
    let groups = old.row_groups().iter().map(|group| {
        let mut chunks = group.columns().to_vec();
        chunks[column] = change(chunks[column].clone().into_builder())
            .build()
            .unwrap();
        group
            .clone()
            .into_builder()
            .set_column_metadata(chunks)
            .build()
            .unwrap()
    });
    let groups = groups.collect();
    let new = old.clone().into_builder().set_row_groups(groups).build();
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap());
    let mut file = bytes[..bytes.len() - 8 - footer as usize].to_vec();
    ParquetMetaDataWriter::new(&mut file, &new)
        .finish()
        .unwrap();
    file
}

fn people() -> Vec<u8> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10));
    let names = (0..10).map(|i| (i % 3 != 0).then(|| format!("n{i}")));
    let names: ArrayRef = Arc::new(StringArray::from_iter(names));
    let three = WriterProperties::builder()
        .set_max_row_group_row_count(Some(4))
        .build();
    written(&batch(vec![("id", ids), ("name", names)]), three)
}

#[tokio::test]
async fn rows_with_masks_partitions_and_missing_columns() {
    let fields = vec![
        field("name", "string"),
        field("region", "string"),
        field("later", "long"),
        field("id", "long"),
    ];
    let mut file = table(people(), fields).await;
    file.partition_columns = vec!["region".to_owned()];
    file.file.partition = IndexMap::from([("region".to_owned(), Some("a=b".to_owned()))]);
    file.masked = Some(Arc::new([1, 3, 4, 9].into_iter().collect()));

    let first = rows(&file, 0, 4).await.unwrap();
    assert_eq!(
        texts(&first),
        [
            ["null", "a=b", "null", "0"],
            ["n2", "a=b", "null", "2"],
            ["n5", "a=b", "null", "5"],
            ["null", "a=b", "null", "6"],
        ]
    );
    assert_eq!(first.positions, [0, 2, 5, 6]);
    assert_eq!((first.next, first.masked), (Some(7), 3));
    assert!(first.warnings.is_empty(), "{:?}", first.warnings);
    let columns: Vec<_> = first
        .columns
        .iter()
        .map(|c| (c.partition, c.numeric))
        .collect();
    assert_eq!(
        columns,
        [(false, false), (true, false), (false, true), (false, true)]
    );

    let second = rows(&file, first.next.unwrap(), 4).await.unwrap();
    assert_eq!(second.positions, [7, 8]);
    assert_eq!((second.next, second.masked), (None, 1));
    let past = rows(&file, 99, 4).await.unwrap();
    assert_eq!((past.rows.len(), past.next, past.masked), (0, None, 0));
}

#[tokio::test]
async fn a_null_partition_is_null() {
    let mut file = table(people(), vec![field("p", "string")]).await;
    file.partition_columns = vec!["p".to_owned()];
    file.file.partition = IndexMap::from([("p".to_owned(), None)]);
    let report = rows(&file, 8, 5).await.unwrap();
    assert_eq!(texts(&report), [["null"], ["null"]]);
}

#[tokio::test]
async fn a_file_without_rows() {
    let empty = RecordBatch::new_empty(Arc::new(ArrowSchema::new(vec![arrow_schema::Field::new(
        "id",
        arrow_schema::DataType::Int64,
        true,
    )])));
    let file = table(
        written(&empty, WriterProperties::builder().build()),
        vec![field("id", "long")],
    )
    .await;
    let found = rows(&file, 0, 10).await.unwrap();
    assert_eq!((found.rows.len(), found.next), (0, None));
    assert_eq!(report(&file).await.unwrap().rows, 0);
}

/// A wide row group: a million numbers that do not compress, and texts.
fn large(index: bool) -> Vec<u8> {
    let mut state = 1u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 16) as i64
    };
    let numbers: Vec<i64> = (0..1_000_000).map(|_| random()).collect();
    let texts = numbers.iter().map(|n| format!("text {n}"));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let numbers: ArrayRef = Arc::new(Int64Array::from(numbers));
    let small: ArrayRef = Arc::new(Int32Array::from_iter_values(0..1_000_000));
    let columns = batch(vec![("n", numbers), ("t", texts), ("s", small)]);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_offset_index_disabled(!index)
        .set_statistics_enabled(::parquet::file::properties::EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(1_000_000))
        .build();
    written(&columns, properties)
}

#[tokio::test]
async fn a_preview_reads_pages_and_not_files() {
    for index in [true, false] {
        let bytes = large(index);
        let size = bytes.len() as u64;
        assert!(size > 30_000_000, "{size}");
        let fields = vec![
            field("t", "string"),
            field("s", "integer"),
            field("n", "long"),
        ];
        let file = table(bytes, fields).await;
        for offset in [0, 25_000, 999_990] {
            let report = rows(&file, offset, 10).await.unwrap();
            assert!(report.warnings.is_empty(), "{:?}", report.warnings);
            assert_eq!(report.positions.len(), 10);
            for (row, position) in report.rows.iter().zip(&report.positions) {
                let [Some(t), Some(s), Some(n)] = row.as_slice() else {
                    panic!("{row:?}");
                };
                assert_eq!(*s, position.to_string());
                assert_eq!(*t, format!("text {n}"));
            }
            // Without an index, pages far from the start are not looked for.
            if index || offset < 999_990 {
                assert!(
                    report.bytes_read < 8_000_000,
                    "{index} {offset}: {}",
                    report.bytes_read
                );
            }
        }
    }
}
