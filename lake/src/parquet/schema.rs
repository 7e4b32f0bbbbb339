//! The Arrow schema of a file: what its columns are decoded to.

use std::sync::Arc;

use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::basic::Type as Physical;
use ::parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use ::parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use arrow_schema::{DataType, FieldRef, Fields, Schema, TimeUnit};

use crate::Result;

/// The Arrow schema of a footer. INT96 are microseconds: nanoseconds, the default, hold no more
/// than the years 1677 to 2262.
pub(crate) fn arrow_metadata(metadata: Arc<ParquetMetaData>) -> Result<ArrowReaderMetadata> {
    let plain = ArrowReaderMetadata::try_new(metadata, options())?;
    let microseconds = DataType::Timestamp(TimeUnit::Microsecond, None);
    Ok(retyped(plain, |leaf, _| {
        (leaf.physical_type() == Physical::INT96).then(|| microseconds.clone())
    }))
}

/// The same with INT96 as nanoseconds, which wrap in years that they do not hold.
#[cfg(feature = "write")]
pub(crate) fn nanoseconds(metadata: &Arc<ParquetMetaData>) -> Result<ArrowReaderMetadata> {
    Ok(ArrowReaderMetadata::try_new(
        Arc::clone(metadata),
        options(),
    )?)
}

/// The same with the texts of one leaf as views of decoded pages, which copies none of them: for a
/// column that is looked at and not kept.
pub(crate) fn viewing(metadata: ArrowReaderMetadata, path: &str) -> ArrowReaderMetadata {
    retyped(metadata, |leaf, now| {
        let text = *now == DataType::Utf8 && leaf.path().string() == path;
        text.then_some(DataType::Utf8View)
    })
}

fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new()
        .with_page_index_policy(PageIndexPolicy::Skip)
        .with_skip_arrow_metadata(true)
}

/// What `choose` makes of the leaves; as it was where it chooses none, or what no leaf can be.
fn retyped(
    plain: ArrowReaderMetadata,
    choose: impl Fn(&ColumnDescriptor, &DataType) -> Option<DataType>,
) -> ArrowReaderMetadata {
    let metadata = Arc::clone(plain.metadata());
    let fields = retyped_fields(
        plain.schema().fields(),
        metadata.file_metadata().schema_descr(),
        choose,
    );
    if fields == *plain.schema().fields() {
        return plain;
    }
    let options = options().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(Arc::clone(&metadata), options).unwrap_or(plain)
}

/// Fields with what `choose` makes of their leaves, which it is asked about in their order; as they
/// were where it chooses none.
pub(crate) fn retyped_fields(
    fields: &Fields,
    schema: &SchemaDescriptor,
    mut choose: impl FnMut(&ColumnDescriptor, &DataType) -> Option<DataType>,
) -> Fields {
    let mut leaves = schema.columns().iter();
    let mut choose = |now: &DataType| {
        let chosen = leaves.next().and_then(|leaf| choose(leaf, now));
        chosen.unwrap_or_else(|| now.clone())
    };
    let fields = fields.iter();
    fields
        .map(|field| retyped_field(field, &mut choose))
        .collect()
}

fn retyped_field(field: &FieldRef, choose: &mut dyn FnMut(&DataType) -> DataType) -> FieldRef {
    let mut one = |field: &FieldRef| retyped_field(field, choose);
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(one).collect()),
        DataType::List(field) => DataType::List(one(field)),
        DataType::LargeList(field) => DataType::LargeList(one(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(one(field), *size),
        DataType::Map(field, sorted) => DataType::Map(one(field), *sorted),
        leaf => choose(leaf),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}
