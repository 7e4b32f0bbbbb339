//! A checkpoint file in Parquet: the actions of a log, one column a kind (PROTOCOL, "Checkpoint
//! Schema").

use std::io::Write;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, new_null_array};
use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use serde::Serialize;

use crate::Result;

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

/// How an add states its file's statistics and partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stated {
    /// Statistics as text, as commits have them.
    pub(crate) text: bool,
    /// Statistics as typed columns.
    pub(crate) stats: Option<Fields>,
    /// Partition values as typed columns.
    pub(crate) partition: Option<Fields>,
}

impl Stated {
    /// As commits state them.
    pub(crate) const TEXT: Self = Self {
        text: true,
        stats: None,
        partition: None,
    };
}

/// Writes a checkpoint that does not fit in memory piece by piece.
pub struct CheckpointWriter<W: Write + Send> {
    schema: SchemaRef,
    parquet: ArrowWriter<W>,
}

impl<W: Write + Send> CheckpointWriter<W> {
    /// A writer into `out` that starts a row group every `rows_per_group` actions.
    pub fn new(out: W, columns: Columns, rows_per_group: usize) -> Result<Self> {
        Self::stating(out, columns, &Stated::TEXT, rows_per_group)
    }

    /// The same for adds that state their statistics in some way.
    pub(crate) fn stating(
        out: W,
        columns: Columns,
        stated: &Stated,
        rows_per_group: usize,
    ) -> Result<Self> {
        let schema = schema(columns, stated);
        // No two files share these, so that a dictionary only costs time.
        let distinct = ["add.path", "add.stats", "remove.path"].map(|leaf| {
            let parts = leaf.split('.').map(str::to_owned).collect();
            ColumnPath::new(parts)
        });
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(rows_per_group));
        for leaf in distinct {
            properties = properties.set_column_dictionary_enabled(leaf, false);
        }
        let options = ArrowWriterOptions::new()
            .with_properties(properties.build())
            .with_skip_arrow_metadata(true)
            .with_schema_root("spark_schema".to_owned());
        let parquet = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options)?;
        Ok(Self { schema, parquet })
    }

    /// Adds actions, each of which serialises as a line of a commit does.
    pub fn push<T: Serialize>(&mut self, actions: &[T]) -> Result<()> {
        let mut decoder = ReaderBuilder::new(Arc::clone(&self.schema))
            .with_batch_size(actions.len().max(1))
            .build_decoder()?;
        decoder.serialize(actions)?;
        if let Some(batch) = decoder.flush()? {
            self.parquet.write(&batch)?;
        }
        Ok(())
    }

    /// Adds actions of one kind.
    pub(crate) fn push_column(&mut self, kind: &str, actions: &StructArray) -> Result<()> {
        let rows = actions.len();
        let fields = self.schema.fields().iter();
        let columns = fields.map(|field| -> ArrayRef {
            match field.name() == kind {
                true => Arc::new(actions.clone()),
                false => new_null_array(field.data_type(), rows),
            }
        });
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns.collect())?;
        self.parquet.write(&batch)?;
        Ok(())
    }

    /// Writes the footer.
    pub fn finish(self) -> Result<W> {
        Ok(self.parquet.into_inner()?)
    }
}

fn schema(columns: Columns, stated: &Stated) -> SchemaRef {
    let mut fields = Vec::new();
    let small = columns != Columns::Sidecar;
    if small {
        let txn = [text("appId"), long("version"), long("lastUpdated")];
        fields.push(nested("txn", txn));
    }
    fields.push(nested("add", add(stated)));
    fields.push(nested("remove", remove()));
    if small {
        fields.push(nested("metaData", metadata()));
        fields.push(nested("protocol", protocol()));
        let domain = [text("domain"), text("configuration"), flag("removed")];
        fields.push(nested("domainMetadata", domain));
    }
    if columns == Columns::V2 {
        let metadata = [long("version"), text_map("tags")];
        fields.push(nested("checkpointMetadata", metadata));
        let sidecar = [
            text("path"),
            long("sizeInBytes"),
            long("modificationTime"),
            text_map("tags"),
        ];
        fields.push(nested("sidecar", sidecar));
    }
    Arc::new(Schema::new(fields))
}

/// The fields of an add.
pub(crate) fn add(stated: &Stated) -> Vec<Field> {
    let mut fields = vec![
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
    ];
    if stated.text {
        fields.push(text("stats"));
    }
    let parsed =
        |name: &str, fields: &Fields| Field::new(name, DataType::Struct(fields.clone()), true);
    fields.extend(
        stated
            .partition
            .iter()
            .map(|f| parsed("partitionValues_parsed", f)),
    );
    fields.extend(stated.stats.iter().map(|f| parsed("stats_parsed", f)));
    fields
}

/// The fields of a remove: a tombstone has neither statistics nor tags.
pub(crate) fn remove() -> Vec<Field> {
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
        nested("format", [text("provider"), text_map("options")]),
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
    let fields = [
        text("storageType"),
        text("pathOrInlineDv"),
        Field::new("offset", DataType::Int32, true),
        Field::new("sizeInBytes", DataType::Int32, true),
        long("cardinality"),
        long("maxRowIndex"),
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

fn nested(name: &str, fields: impl IntoIterator<Item = Field>) -> Field {
    Field::new(name, DataType::Struct(Fields::from_iter(fields)), true)
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
