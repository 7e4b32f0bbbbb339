//! A few columns of many files, read side by side: nothing else of them is fetched.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use futures::{Stream, StreamExt, stream};
use object_store::ObjectStore;

use super::listing::{Object, path};
use crate::parquet::batches::Batches;
use crate::parquet::reader::ParquetFile;
use crate::{Error, Kind, Result};

/// Footers read at once.
pub(super) const FOOTERS: usize = 16;

/// Row groups whose columns are held at once.
pub(super) const GROUPS: usize = 4;

/// Rows decoded at once.
const ROWS: usize = 8192;

/// A row group's chosen columns, fetched and not yet decoded.
pub(super) struct Part<'a> {
    /// The file.
    pub(super) object: &'a Object,
    /// Position in the file of the first row.
    pub(super) first: u64,
    /// The rows; an array for each column that the file has, in the order of `places`.
    pub(super) batches: Batches,
    /// For each column that was asked for, its place among the arrays.
    pub(super) places: Vec<usize>,
    /// Whether it is the file's last.
    pub(super) last: bool,
}

/// A file or a row group of one that cannot be read, and why.
pub(super) struct Unread<'a> {
    pub(super) object: &'a Object,
    /// Whether nothing more comes of the file.
    pub(super) last: bool,
    pub(super) error: Error,
}

/// Whether an error is about a file, and not about the store that could not be asked.
pub(super) fn of_file(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::NotFound | Kind::Damaged | Kind::Unsupported | Kind::TooLarge | Kind::Invalid
    )
}

/// Opens files, several at once, in their order.
pub(super) fn opened<'a>(
    store: &'a Arc<dyn ObjectStore>,
    objects: impl IntoIterator<Item = &'a Object> + 'a,
) -> impl Stream<Item = (&'a Object, Result<ParquetFile>)> + 'a {
    stream::iter(objects)
        .map(move |object| async move {
            let file = async { ParquetFile::open(store, &path(&object.key)?).await };
            (object, file.await)
        })
        .buffered(FOOTERS)
}

/// Root column of a file by its name; in any case where no other is alike.
pub(super) fn find(file: &ParquetFile, name: &str) -> Option<usize> {
    let fields = file.arrow().schema().fields();
    if let Some(exact) = fields.iter().position(|field| field.name() == name) {
        return Some(exact);
    }
    let mut alike = fields
        .iter()
        .enumerate()
        .filter(|(_, field)| field.name().to_lowercase() == name.to_lowercase());
    match (alike.next(), alike.next()) {
        (Some((at, _)), None) => Some(at),
        _ => None,
    }
}

/// The columns `names` of each file, row group by row group, in order. Texts come as views.
pub(super) fn parts<'a>(
    store: &'a Arc<dyn ObjectStore>,
    objects: &'a [Object],
    names: &'a [&'a str],
) -> impl Stream<Item = Result<Part<'a>, Unread<'a>>> + 'a {
    opened(store, objects)
        .flat_map(move |(object, file)| {
            let split = file.and_then(|file| split(file, names));
            stream::iter(match split {
                Ok((file, roots)) => {
                    let groups = file.metadata().num_row_groups();
                    let all = (0..groups).map(|group| {
                        let (file, roots) = (file.clone(), roots.clone());
                        (object, Ok((file, roots, group)))
                    });
                    all.collect::<Vec<_>>()
                }
                Err(error) => vec![(object, Err(error))],
            })
        })
        .map(move |(object, group)| async move {
            let unread = |last| {
                move |error| Unread {
                    object,
                    last,
                    error,
                }
            };
            let (file, roots, group) = group.map_err(unread(true))?;
            let last = group + 1 == file.metadata().num_row_groups();
            let part = part(object, &file, &roots, group).await;
            part.map_err(unread(last))
        })
        .buffered(GROUPS)
}

/// Where the columns of a file are.
fn split(mut file: ParquetFile, names: &[&str]) -> Result<(ParquetFile, Vec<usize>)> {
    let mut roots = Vec::with_capacity(names.len());
    for name in names {
        let Some(root) = find(&file, name) else {
            return Err(Error::damaged(format!("it has no column `{name}`")));
        };
        let own = file.arrow().schema().fields();
        let own = own.get(root).map(|field| field.name().clone());
        file = file.viewing(&own.unwrap_or_default())?;
        roots.push(root);
    }
    Ok((file, roots))
}

async fn part<'a>(
    object: &'a Object,
    file: &ParquetFile,
    roots: &[usize],
    group: usize,
) -> Result<Part<'a>> {
    let metadata = file.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let mask = ProjectionMask::roots(schema, roots.iter().copied());
    let mut order = roots.to_vec();
    order.sort_unstable();
    order.dedup();
    let place = |root: &usize| order.binary_search(root).unwrap_or(usize::MAX);
    let before = metadata.row_groups().iter().take(group);
    let rows = before.map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
    Ok(Part {
        object,
        first: rows.fold(0, u64::saturating_add),
        batches: file.row_group(group, &mask, ROWS).await?,
        places: roots.iter().map(place).collect(),
        last: group + 1 == metadata.num_row_groups(),
    })
}
