//! A checkpoint file in Parquet: the actions of a log, one column a kind.

use std::io::Write;
use std::sync::Arc;

use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use lake::Result;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::demo::action::Action;

/// Which columns a file of a checkpoint has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// A classic checkpoint, or one part of a multi-part one.
    Classic,
    /// The upper file of a V2 checkpoint.
    V2,
    /// A sidecar: files only.
    Sidecar,
}

/// The actions as one Parquet file.
pub fn parquet_from_actions(columns: Columns, actions: &[Action]) -> Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), columns, actions.len().max(1))?;
    writer.push(actions)?;
    writer.finish()
}

/// Writes a checkpoint that does not fit in memory piece by piece.
pub struct Writer<W: Write + Send> {
    schema: SchemaRef,
    parquet: ArrowWriter<W>,
}

impl<W: Write + Send> Writer<W> {
    /// A writer into `out` that starts a row group every `rows_per_group` actions.
    pub fn new(out: W, columns: Columns, rows_per_group: usize) -> Result<Self> {
        let schema = schema(columns);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(rows_per_group))
            .build();
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(true)
            .with_schema_root("spark_schema".to_owned());
        let parquet = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options)?;
        Ok(Self { schema, parquet })
    }

    /// Adds rows.
    pub fn push(&mut self, actions: &[Action]) -> Result<()> {
        let mut decoder = ReaderBuilder::new(Arc::clone(&self.schema))
            .with_batch_size(actions.len().max(1))
            .build_decoder()?;
        decoder.serialize(actions)?;
        if let Some(batch) = decoder.flush()? {
            self.parquet.write(&batch)?;
        }
        Ok(())
    }

    /// Writes the footer.
    pub fn finish(self) -> Result<W> {
        Ok(self.parquet.into_inner()?)
    }
}

fn schema(columns: Columns) -> SchemaRef {
    let mut fields = Vec::new();
    if columns == Columns::V2 {
        fields.push(nested("checkpointMetadata", vec![long("version")]));
    }
    if columns != Columns::Sidecar {
        let txn = vec![text("appId"), long("version"), long("lastUpdated")];
        fields.push(nested("txn", txn));
    }
    fields.push(nested("add", add()));
    fields.push(nested("remove", remove()));
    if columns != Columns::Sidecar {
        fields.push(nested("metaData", metadata()));
        fields.push(nested("protocol", protocol()));
        let domain = vec![text("domain"), text("configuration"), flag("removed")];
        fields.push(nested("domainMetadata", domain));
    }
    if columns == Columns::V2 {
        let sidecar = vec![text("path"), long("sizeInBytes"), long("modificationTime")];
        fields.push(nested("sidecar", sidecar));
    }
    Arc::new(Schema::new(fields))
}

fn add() -> Vec<Field> {
    vec![
        text("path"),
        text_map("partitionValues"),
        long("size"),
        long("modificationTime"),
        flag("dataChange"),
        text_map("tags"),
        deletion_vector(),
        long("baseRowId"),
        long("defaultRowCommitVersion"),
        text("clusteringProvider"),
        text("stats"),
    ]
}

fn remove() -> Vec<Field> {
    vec![
        text("path"),
        long("deletionTimestamp"),
        flag("dataChange"),
        flag("extendedFileMetadata"),
        text_map("partitionValues"),
        long("size"),
        deletion_vector(),
        long("baseRowId"),
        long("defaultRowCommitVersion"),
    ]
}

fn metadata() -> Vec<Field> {
    vec![
        text("id"),
        text("name"),
        text("description"),
        nested("format", vec![text("provider"), text_map("options")]),
        text("schemaString"),
        text_list("partitionColumns"),
        text_map("configuration"),
        long("createdTime"),
    ]
}

fn protocol() -> Vec<Field> {
    vec![
        Field::new("minReaderVersion", DataType::Int32, true),
        Field::new("minWriterVersion", DataType::Int32, true),
        text_list("readerFeatures"),
        text_list("writerFeatures"),
    ]
}

fn deletion_vector() -> Field {
    let fields = vec![
        text("storageType"),
        text("pathOrInlineDv"),
        Field::new("offset", DataType::Int32, true),
        Field::new("sizeInBytes", DataType::Int32, true),
        long("cardinality"),
    ];
    nested("deletionVector", fields)
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

fn long(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

fn flag(name: &str) -> Field {
    Field::new(name, DataType::Boolean, true)
}

fn nested(name: &str, fields: Vec<Field>) -> Field {
    Field::new(name, DataType::Struct(Fields::from(fields)), true)
}

fn text_list(name: &str) -> Field {
    Field::new(name, DataType::List(Arc::new(text("element"))), true)
}

fn text_map(name: &str) -> Field {
    let entries = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        text("value"),
    ]);
    let entries = Field::new("key_value", DataType::Struct(entries), false);
    Field::new(name, DataType::Map(Arc::new(entries), false), true)
}
