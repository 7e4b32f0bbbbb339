//! What a new file holds: the table's columns by their physical names, as Arrow and Parquet have
//! them.

use std::collections::HashMap;
use std::sync::Arc;

use ::parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, SchemaRef, TimeUnit};

use crate::delta::action::Metadata;
use crate::delta::schema::Mapping;
use crate::delta::snapshot::State;
use crate::delta::write::is_true;
use crate::schema::Field;
use crate::{Error, Result};

/// Names of the columns that hold row ids once rows were moved (PROTOCOL, "Row Tracking").
const ROW_ID_COLUMN: &str = "delta.rowTracking.materializedRowIdColumnName";
const SINCE_COLUMN: &str = "delta.rowTracking.materializedRowCommitVersionColumnName";

/// The columns of a new file.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The table's columns, those of partitions left out.
    pub(super) fields: Vec<Field>,
    /// Whether files' columns are found by field id.
    pub(super) by_id: bool,
    /// Names of the columns of row ids and of the versions rows came in, where these are kept.
    pub(super) tracked: Option<(String, String)>,
    /// All of them, the row ids' last.
    pub(super) arrow: SchemaRef,
}

impl Columns {
    /// The columns of a table; an error that names what cannot be written.
    pub(super) fn of(state: &State) -> Result<Self> {
        let partitions = &state.metadata.partition_columns;
        let own = state.schema.fields.iter();
        let fields: Vec<Field> = own
            // A column without a type has nothing but nulls, and no place in a file.
            .filter(|f| !partitions.contains(&f.name) && f.data_type != "void")
            .cloned()
            .collect();
        if fields.is_empty() {
            return Err(Error::unsupported("the table has no columns in its files"));
        }
        let ids = state.mapping != Mapping::None;
        let mut arrow: Vec<FieldRef> = fields
            .iter()
            .map(|f| named(f, f.physical_name(), ids))
            .collect::<Result<_>>()?;
        let tracked = tracked(&state.metadata, &state.protocol.writer_features)?;
        if let Some((id, since)) = &tracked {
            for name in [id, since] {
                arrow.push(Arc::new(ArrowField::new(name, DataType::Int64, true)));
            }
        }
        Ok(Self {
            fields,
            by_id: state.mapping == Mapping::Id,
            tracked,
            arrow: Arc::new(arrow_schema::Schema::new(arrow)),
        })
    }
}

/// Names of the columns of row ids, where the table asks that rows keep theirs.
fn tracked(metadata: &Metadata, features: &[String]) -> Result<Option<(String, String)>> {
    let tracks = features.iter().any(|f| f == "rowTracking");
    if !tracks || !is_true(metadata, "delta.enableRowTracking") {
        return Ok(None);
    }
    let name = |key: &str| metadata.configuration.get(key).cloned();
    match (name(ROW_ID_COLUMN), name(SINCE_COLUMN)) {
        (Some(id), Some(since)) => Ok(Some((id, since))),
        _ => Err(Error::unsupported(format!(
            "the table tracks rows (rowTracking) and does not name the columns that keep their ids ({ROW_ID_COLUMN}, {SINCE_COLUMN})"
        ))),
    }
}

/// A field under this name. Nulls are allowed everywhere but in keys: what a file may hold is not
/// what a table promises.
fn named(field: &Field, name: &str, ids: bool) -> Result<FieldRef> {
    let mut arrow = ArrowField::new(name, data_type(field, ids)?, true);
    if let Some(id) = field.id.filter(|_| ids) {
        let note = (PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string());
        arrow.set_metadata(HashMap::from([note]));
    }
    Ok(Arc::new(arrow))
}

fn data_type(field: &Field, ids: bool) -> Result<DataType> {
    Ok(match (field.data_type.as_str(), field.fields.as_slice()) {
        ("boolean", _) => DataType::Boolean,
        ("byte", _) => DataType::Int8,
        ("short", _) => DataType::Int16,
        ("integer", _) => DataType::Int32,
        ("long", _) => DataType::Int64,
        ("float", _) => DataType::Float32,
        ("double", _) => DataType::Float64,
        ("string", _) => DataType::Utf8,
        ("binary", _) => DataType::Binary,
        ("date", _) => DataType::Date32,
        ("timestamp", _) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ("timestamp_ntz", _) => DataType::Timestamp(TimeUnit::Microsecond, None),
        ("struct", fields) if !fields.is_empty() => {
            let one = |f: &Field| named(f, f.physical_name(), ids);
            DataType::Struct(fields.iter().map(one).collect::<Result<Fields>>()?)
        }
        ("array", [element]) => DataType::List(named(element, "element", ids)?),
        ("map", [key, value]) => {
            let key = named(key, "key", ids)?.as_ref().clone();
            let key = Arc::new(key.with_nullable(false));
            let entries = Fields::from(vec![key, named(value, "value", ids)?]);
            let entries = ArrowField::new("key_value", DataType::Struct(entries), false);
            DataType::Map(Arc::new(entries), false)
        }
        (other, _) => match decimal(other) {
            Some((precision, scale)) => DataType::Decimal128(precision, scale),
            None => {
                return Err(Error::unsupported(format!(
                    "the column `{}` has the type {}, which this build does not write",
                    field.name,
                    other.escape_default()
                )));
            }
        },
    })
}

/// Precision and scale of `decimal(p,s)`.
fn decimal(text: &str) -> Option<(u8, i8)> {
    let inner = text.strip_prefix("decimal(")?.strip_suffix(')')?;
    let (precision, scale) = inner.split_once(',')?;
    let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    let fits = (1..=38).contains(&precision) && (0..=38).contains(&scale);
    (fits && u8::try_from(scale).is_ok_and(|scale| scale <= precision))
        .then_some((precision, scale))
}
