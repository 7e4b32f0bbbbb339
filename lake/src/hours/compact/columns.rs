//! The columns of a new run: those of all its inputs, by name, each wide enough for every input.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::instants::{Units, fields, unconvertible, zoned};
use crate::parquet::reader::ParquetFile;
use crate::{Error, Kind, Result};

/// Columns in the making.
#[derive(Debug, Default)]
pub(super) struct Columns {
    fields: Vec<FieldRef>,
    /// The first file that has each.
    origins: Vec<String>,
    /// Schemas that were taken in; files of one writer have one.
    known: Vec<Fields>,
    units: Units,
}

/// Schemas that are remembered.
const KNOWN: usize = 16;

impl Columns {
    /// Takes the columns of a file in; an error names the one that cannot be one column with those
    /// of other files.
    pub(super) fn take(&mut self, key: &str, file: &ParquetFile) -> Result<()> {
        self.units.take(key, file);
        let own = fields(file);
        if self.known.contains(&own) {
            return Ok(());
        }
        let mut names: Vec<String> = own
            .iter()
            .map(|field| field.name().to_lowercase())
            .collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.windows(2).find(|pair| pair.first() == pair.last()) {
            return Err(Error::unsupported(format!(
                "it has two columns `{}`",
                twice.escape_debug()
            )));
        }
        let first = self.known.is_empty();
        let find = |fields: &[FieldRef], name: &str| {
            let name = name.to_lowercase();
            fields
                .iter()
                .position(|field| field.name().to_lowercase() == name)
        };
        for field in &mut self.fields {
            if !field.is_nullable() && find(&own, field.name()).is_none() {
                *field = Arc::new(field.as_ref().clone().with_nullable(true));
            }
        }
        for field in &own {
            let at = find(&self.fields, field.name());
            let Some((known, origin)) =
                at.and_then(|at| Some((self.fields.get_mut(at)?, self.origins.get(at)?)))
            else {
                let nullable = field.is_nullable() || !first;
                let field = field.as_ref().clone().with_nullable(nullable);
                self.fields.push(Arc::new(field));
                self.origins.push(key.to_owned());
                continue;
            };
            let Some(wide) = wide(known.data_type(), field.data_type()) else {
                return Err(Error::unsupported(format!(
                    "its column `{}` is {}, and {} in {origin}: they cannot be one column",
                    field.name().escape_debug(),
                    field.data_type(),
                    known.data_type()
                )));
            };
            let nullable = known.is_nullable() || field.is_nullable();
            let merged = known.as_ref().clone();
            *known = Arc::new(merged.with_data_type(wide).with_nullable(nullable));
        }
        if self.known.len() == KNOWN {
            self.known.remove(0);
        }
        self.known.push(own);
        Ok(())
    }

    /// Why the values of some file do not fit the columns that all files make, with its key.
    pub(super) fn unfit(&self) -> Option<String> {
        self.units.unfit()
    }

    /// All of them.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.fields.clone()))
    }
}

/// The type that holds every value of both, and no value otherwise than it was.
fn wide(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as D;
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (D::Timestamp(a_unit, a_zone), D::Timestamp(b_unit, b_zone)) => {
            // An instant and a reading of some clock are not the same.
            let same = a_zone.is_some() == b_zone.is_some();
            same.then(|| D::Timestamp(*a_unit.max(b_unit), a_zone.clone()))
        }
        (D::Struct(a), D::Struct(b)) => {
            let fields = a.iter().zip(b).map(|(a, b)| one(a, b));
            let fields: Option<Fields> = fields.collect();
            fields.filter(|_| a.len() == b.len()).map(D::Struct)
        }
        (D::List(a), D::List(b)) => Some(D::List(one(a, b)?)),
        (D::Map(a, a_sorted), D::Map(b, b_sorted)) if a_sorted == b_sorted => {
            Some(D::Map(one(a, b)?, *a_sorted))
        }
        (D::Decimal128(a_p, a_s), D::Decimal128(b_p, b_s)) => {
            let scale = *a_s.max(b_s);
            let whole = |p: u8, s: i8| i16::from(p) - i16::from(s);
            let all = whole(*a_p, *a_s).max(whole(*b_p, *b_s)) + i16::from(scale);
            let all = u8::try_from(all).ok().filter(|all| *all <= 38)?;
            Some(D::Decimal128(all, scale))
        }
        _ => widens(a, b).or_else(|| widens(b, a)),
    }
}

/// The wider one, where it is `to`.
fn widens(from: &DataType, to: &DataType) -> Option<DataType> {
    use DataType as D;
    let fits = match (from, to) {
        (D::Int8, D::Int16 | D::Int32 | D::Int64)
        | (D::Int16, D::Int32 | D::Int64)
        | (D::Int32, D::Int64)
        | (D::UInt8, D::UInt16 | D::UInt32 | D::UInt64 | D::Int16 | D::Int32 | D::Int64)
        | (D::UInt16, D::UInt32 | D::UInt64 | D::Int32 | D::Int64)
        | (D::UInt32, D::UInt64 | D::Int64)
        | (D::Int8 | D::Int16 | D::Int32, D::Float64)
        | (D::Float32, D::Float64) => true,
        (D::Int8 | D::Int16 | D::Int32, D::Decimal128(p, s)) => i16::from(*p) - i16::from(*s) >= 10,
        (D::Int64, D::Decimal128(p, s)) => i16::from(*p) - i16::from(*s) >= 19,
        _ => false,
    };
    fits.then(|| to.clone())
}

/// Two fields of a nested type as one.
fn one(a: &FieldRef, b: &FieldRef) -> Option<FieldRef> {
    if a.name() != b.name() {
        return None;
    }
    let field: Field = a.as_ref().clone();
    let nullable = a.is_nullable() || b.is_nullable();
    let field = field.with_data_type(wide(a.data_type(), b.data_type())?);
    Some(Arc::new(field.with_nullable(nullable)))
}

/// How the columns of one file become those of the run.
pub(super) struct Binding {
    schema: SchemaRef,
    /// The columns of the file, old instants as instants.
    own: Fields,
    /// For each column of the run, its place in the file.
    places: Vec<Option<usize>>,
}

impl Binding {
    pub(super) fn of(file: &ParquetFile, schema: &SchemaRef) -> Self {
        let own = fields(file);
        let place = |field: &FieldRef| {
            let name = field.name().to_lowercase();
            own.iter().position(|own| own.name().to_lowercase() == name)
        };
        Self {
            places: schema.fields().iter().map(place).collect(),
            schema: Arc::clone(schema),
            own,
        }
    }

    /// Rows of the file, all of its root columns in their order, as rows of the run.
    pub(super) fn convert(&self, arrays: &[ArrayRef]) -> Result<RecordBatch> {
        let rows = arrays.first().map_or(0, |array| array.len());
        // A value that does not fit is an error, and no null.
        let strict = CastOptions {
            safe: false,
            ..CastOptions::default()
        };
        let columns = self.schema.fields().iter().zip(&self.places);
        let columns = columns.map(|(field, place)| match place {
            None => Ok(new_null_array(field.data_type(), rows)),
            Some(at) => {
                let array = arrays.get(*at);
                let (array, own) = array
                    .zip(self.own.get(*at))
                    .ok_or_else(|| Error::new(Kind::Internal, "a column that was not read"))?;
                let array = zoned(array, own.data_type())?;
                if array.data_type() == field.data_type() {
                    return Ok(array);
                }
                cast_with_options(&array, field.data_type(), &strict)
                    .map_err(|error| unconvertible(field.name(), error))
            }
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType as D, TimeUnit as U};

    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_widest_and_never_another() {
        let time = |unit, utc: bool| D::Timestamp(unit, utc.then(|| "UTC".into()));
        let list = |item: D, nullable| D::List(Arc::new(Field::new("element", item, nullable)));
        for (a, b, right) in [
            (D::Int32, D::Int64, Some(D::Int64)),
            (D::Int64, D::Float64, None),
            (D::Int32, D::Float64, Some(D::Float64)),
            (D::UInt32, D::Int64, Some(D::Int64)),
            (D::UInt64, D::Int64, None),
            (D::Utf8, D::Int64, None),
            (D::Utf8, D::Binary, None),
            (
                D::Decimal128(10, 2),
                D::Decimal128(12, 1),
                Some(D::Decimal128(13, 2)),
            ),
            (D::Decimal128(38, 0), D::Decimal128(38, 1), None),
            (D::Int64, D::Decimal128(19, 0), Some(D::Decimal128(19, 0))),
            (D::Int64, D::Decimal128(18, 0), None),
            (
                time(U::Millisecond, true),
                time(U::Nanosecond, true),
                Some(time(U::Nanosecond, true)),
            ),
            (
                time(U::Microsecond, true),
                time(U::Microsecond, false),
                None,
            ),
            (D::Date32, time(U::Microsecond, false), None),
            (
                list(D::Int32, false),
                list(D::Int64, true),
                Some(list(D::Int64, true)),
            ),
            (list(D::Int32, false), list(D::Utf8, false), None),
        ] {
            assert_eq!(wide(&a, &b), right, "{a} and {b}");
            assert_eq!(wide(&b, &a), right, "{b} and {a}");
        }
    }
}
