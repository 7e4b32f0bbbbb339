//! What one Parquet footer says against a dataset's declaration.

use ::parquet::schema::types::Type;

use super::{Fault, Look, kinds, times};
use crate::Result;
use crate::hours::columns::find;
use crate::hours::dataset::Dataset;
use crate::parquet::reader::ParquetFile;

/// Looks at a file whose footer was read; nothing more is fetched.
pub(super) fn look(dataset: &Dataset, file: &ParquetFile) -> Result<Look> {
    let mut look = Look {
        rows: u64::try_from(file.metadata().file_metadata().num_rows()).ok(),
        ..Look::default()
    };
    let schema = file.metadata().file_metadata().schema_descr();
    let mut path = Vec::new();
    prohibited(dataset, schema.root_schema(), &mut path, &mut look.faults);
    columns(dataset, file, &mut look.faults);
    if let Some(column) = &dataset.event_time {
        look.times = times::of(file, column);
    }
    Ok(look)
}

/// The prohibited name that a column has, by its path: its own name, or the whole path with dots.
pub(super) fn banned<'a>(dataset: &'a Dataset, path: &[&str]) -> Option<&'a str> {
    let name = path.last()?.to_lowercase();
    let whole = path.join(".").to_lowercase();
    let mut all = dataset.prohibited_columns.iter();
    all.find(|banned| {
        let banned = banned.to_lowercase();
        banned == name || banned == whole
    })
    .map(String::as_str)
}

/// That a column is there which no file may have.
pub(super) fn prohibition(path: &[&str]) -> Fault {
    let message = format!(
        "it has the prohibited column `{}`",
        path.join(".").escape_debug()
    );
    Fault::error("prohibited_column", message)
}

fn prohibited<'a>(
    dataset: &Dataset,
    group: &'a Type,
    path: &mut Vec<&'a str>,
    faults: &mut Vec<Fault>,
) {
    if !group.is_group() {
        return;
    }
    for child in group.get_fields() {
        path.push(child.name());
        match banned(dataset, path) {
            // What is below a prohibited column is prohibited with it.
            Some(_) => faults.push(prohibition(path)),
            None => prohibited(dataset, child, path, faults),
        }
        path.pop();
    }
}

/// Columns that are missing, of another type, or not declared.
fn columns(dataset: &Dataset, file: &ParquetFile, faults: &mut Vec<Fault>) {
    if dataset.columns.is_empty() {
        return;
    }
    let own = file.arrow().schema().fields();
    let mut known = vec![false; own.len()];
    for (name, declared) in &dataset.columns {
        let at = find(file, name);
        let Some((at, field)) = at.and_then(|at| Some((at, own.get(at)?))) else {
            // Partition columns are in the key.
            if !dataset.partition.contains(name) {
                let message = format!("it has no column `{name}`, which is declared as {declared}");
                faults.push(Fault::error("missing_column", message));
            }
            continue;
        };
        if let Some(known) = known.get_mut(at) {
            *known = true;
        }
        if !kinds::reads_as(field.data_type(), declared) {
            let message = format!(
                "its column `{name}` is {}, and declared as {declared}",
                kinds::name(field.data_type())
            );
            faults.push(Fault::error("retyped_column", message));
        }
    }
    for (field, known) in own.iter().zip(known) {
        let name = field.name();
        // A prohibited one is said already, and worse.
        let said = banned(dataset, &[name]).is_some() || dataset.partition.contains(name);
        if !known && !said {
            let message = format!(
                "it has a column `{}` ({}) that nobody declared",
                name.escape_debug(),
                kinds::name(field.data_type())
            );
            faults.push(Fault::warning("added_column", message));
        }
    }
}
