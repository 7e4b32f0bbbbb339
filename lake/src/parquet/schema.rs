//! The Arrow schema of a file: what its columns are decoded to.

use std::sync::Arc;

use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::basic::Type as Physical;
use ::parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use arrow::datatypes::{DataType, FieldRef, Fields, Schema, TimeUnit};

use crate::Result;

/// The Arrow schema of a footer.
pub(crate) fn arrow_metadata(metadata: Arc<ParquetMetaData>) -> Result<ArrowReaderMetadata> {
    let options = || {
        ArrowReaderOptions::new()
            .with_page_index_policy(PageIndexPolicy::Skip)
            .with_skip_arrow_metadata(true)
    };
    let plain = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options())?;
    let columns = metadata.file_metadata().schema_descr().columns();
    if columns.iter().all(|c| c.physical_type() != Physical::INT96) {
        return Ok(plain);
    }
    // Nanoseconds, the default, hold no more than the years 1677 to 2262.
    let mut leaves = columns.iter().map(|c| c.physical_type());
    let fields = widened(plain.schema().fields(), &mut leaves);
    let schema = Arc::new(Schema::new(fields));
    let widened = ArrowReaderMetadata::try_new(metadata, options().with_schema(schema));
    Ok(widened.unwrap_or(plain))
}

/// The fields with microseconds where the leaf is an INT96.
fn widened(fields: &Fields, leaves: &mut impl Iterator<Item = Physical>) -> Fields {
    let widened = fields.iter().map(|field| {
        let data_type = widened_type(field.data_type(), leaves);
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    });
    widened.collect()
}

fn widened_type(data_type: &DataType, leaves: &mut dyn Iterator<Item = Physical>) -> DataType {
    let mut one = |field: &FieldRef| {
        let data_type = widened_type(field.data_type(), leaves);
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(one).collect()),
        DataType::List(field) => DataType::List(one(field)),
        DataType::LargeList(field) => DataType::LargeList(one(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(one(field), *size),
        DataType::Map(field, sorted) => DataType::Map(one(field), *sorted),
        other => match leaves.next() {
            Some(Physical::INT96) => DataType::Timestamp(TimeUnit::Microsecond, None),
            _ => other.clone(),
        },
    }
}
