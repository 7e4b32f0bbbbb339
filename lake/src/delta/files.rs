//! The active files of a version, held as Arrow arrays: one array a column, a chunk for each piece
//! of the log they came from.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder, UInt32Builder};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array};
use arrow_select::filter::filter;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::key::{Key, key};
use super::vector::{self, Descriptor};
use crate::Result;
use crate::table::{DataFile, Partition, Time};

/// Where a chunk's files came from, for what is read only when asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file of JSON actions.
    Json(object_store::path::Path),
    /// A row group of a Parquet checkpoint or sidecar.
    Parquet {
        /// Key of the file.
        path: object_store::path::Path,
        /// Row group.
        row_group: usize,
    },
}

/// Columns of deletion vector descriptors, null where a file has none.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    pub(crate) storage: StringArray,
    pub(crate) path: StringArray,
    pub(crate) offset: Int64Array,
    pub(crate) size: Int64Array,
    pub(crate) cardinality: Int64Array,
}

impl Vectors {
    /// The deletion vector of a row's file.
    pub(crate) fn descriptor(&self, row: usize) -> Option<Descriptor> {
        if self.path.is_null(row) || self.storage.is_null(row) {
            return None;
        }
        Some(Descriptor {
            storage_type: self.storage.value(row).to_owned(),
            path_or_inline_dv: self.path.value(row).to_owned(),
            offset: value(&self.offset, row),
            size_in_bytes: value(&self.size, row).unwrap_or(0),
            cardinality: value(&self.cardinality, row).unwrap_or(0),
        })
    }
}

/// Files from one place.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// As the log spells it.
    pub(crate) path: StringArray,
    pub(crate) size: Int64Array,
    pub(crate) modified: Int64Array,
    /// `numRecords`.
    pub(crate) records: Int64Array,
    /// Index into the partitions.
    pub(crate) partition: UInt32Array,
    pub(crate) vectors: Option<Vectors>,
    pub(crate) source: Source,
}

impl Chunk {
    /// Keeps the rows where `keep` is true.
    pub(crate) fn filter(&self, keep: &BooleanArray) -> Result<Self> {
        let vectors = match &self.vectors {
            Some(v) => Some(Vectors {
                storage: pick(&v.storage, keep)?,
                path: pick(&v.path, keep)?,
                offset: pick(&v.offset, keep)?,
                size: pick(&v.size, keep)?,
                cardinality: pick(&v.cardinality, keep)?,
            }),
            None => None,
        };
        Ok(Self {
            path: pick(&self.path, keep)?,
            size: pick(&self.size, keep)?,
            modified: pick(&self.modified, keep)?,
            records: pick(&self.records, keep)?,
            partition: pick(&self.partition, keep)?,
            vectors,
            source: self.source.clone(),
        })
    }
}

fn pick<T: Array + Clone + 'static>(array: &T, keep: &BooleanArray) -> Result<T> {
    let kept: ArrayRef = filter(array, keep)?;
    let kept = kept.as_any().downcast_ref::<T>().cloned();
    kept.ok_or_else(|| crate::Error::new(crate::Kind::Internal, "filter changed an array's type"))
}

/// One active file, borrowed from the arrays.
#[derive(Clone, Copy, Debug)]
pub struct FileRef<'a> {
    chunk: &'a Chunk,
    row: usize,
}

impl<'a> FileRef<'a> {
    /// The path as the log spells it.
    pub fn raw_path(self) -> &'a str {
        self.chunk.path.value(self.row)
    }

    /// Bytes; 0 where the log holds a negative number.
    pub fn bytes(self) -> u64 {
        u64::try_from(self.chunk.size.value(self.row)).unwrap_or(0)
    }

    /// When the file was written, as the log states it.
    pub fn modified(self) -> Option<Time> {
        value(&self.chunk.modified, self.row).map(Time)
    }

    /// Records in the file, masked ones included.
    pub fn records(self) -> Option<u64> {
        value(&self.chunk.records, self.row).and_then(|n| u64::try_from(n).ok())
    }

    /// Rows masked by the deletion vector.
    pub fn deleted_rows(self) -> u64 {
        let vectors = self.chunk.vectors.as_ref();
        let masked = vectors.and_then(|v| value(&v.cardinality, self.row));
        masked.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
    }

    /// Rows a reader gets; `None` where the deletion vector cannot be what it says.
    pub fn rows(self) -> Option<u64> {
        match self.vector_is_sound() {
            true => self.records()?.checked_sub(self.deleted_rows()),
            false => None,
        }
    }

    /// Whether the deletion vector, if there is one, is of a kind that there is and masks no more
    /// rows than there are.
    pub(crate) fn vector_is_sound(self) -> bool {
        let Some(v) = self.chunk.vectors.as_ref() else {
            return true;
        };
        if v.storage.is_null(self.row) {
            return true;
        }
        let masked = value(&v.cardinality, self.row).unwrap_or(0);
        let records = value(&self.chunk.records, self.row).unwrap_or(i64::MAX);
        vector::is_known(v.storage.value(self.row)) && (0..=records).contains(&masked)
    }

    /// Index of the partition in [`Files::partitions`].
    pub fn partition(self) -> usize {
        self.chunk.partition.value(self.row) as usize
    }

    /// The deletion vector.
    pub fn vector(self) -> Option<Descriptor> {
        self.chunk.vectors.as_ref()?.descriptor(self.row)
    }

    /// What tells the file from every other of its version.
    pub(crate) fn key(self) -> Key {
        key(self.raw_path(), self.vector().as_ref())
    }

    /// Where the file's action stands.
    pub fn source(self) -> &'a Source {
        &self.chunk.source
    }
}

fn value(array: &Int64Array, row: usize) -> Option<i64> {
    array.is_valid(row).then(|| array.value(row))
}

/// The active files of a version.
#[derive(Clone, Debug, Default)]
pub struct Files {
    chunks: Vec<Chunk>,
    partitions: Arc<Vec<Partition>>,
    length: usize,
}

impl Files {
    pub(crate) fn new(chunks: Vec<Chunk>, partitions: Vec<Partition>) -> Self {
        let chunks: Vec<Chunk> = chunks.into_iter().filter(|c| !c.path.is_empty()).collect();
        let length = chunks.iter().map(|c| c.path.len()).sum();
        Self {
            chunks,
            partitions: Arc::new(partitions),
            length,
        }
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// All files, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = FileRef<'_>> {
        self.chunks
            .iter()
            .flat_map(|chunk| (0..chunk.path.len()).map(move |row| FileRef { chunk, row }))
    }

    /// Distinct partitions: logical names in the table's order. Not every one need have a file.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// A file with its names put right, as reports show it.
    pub fn data_file(&self, file: FileRef<'_>) -> DataFile {
        DataFile {
            path: super::path::shown(file.raw_path()),
            bytes: Some(file.bytes()),
            rows: file.rows(),
            deleted_rows: file.deleted_rows(),
            partition: self
                .partitions
                .get(file.partition())
                .cloned()
                .unwrap_or_default(),
            modified: file.modified(),
            deletes: file.vector().map(|v| v.unique_id()).into_iter().collect(),
        }
    }
}

/// Collects files one by one, for logs of JSON.
#[derive(Default)]
pub(crate) struct ChunkBuilder {
    path: StringBuilder,
    size: Int64Builder,
    modified: Int64Builder,
    records: Int64Builder,
    partition: UInt32Builder,
    vectors: VectorsBuilder,
    any_vector: bool,
}

#[derive(Default)]
struct VectorsBuilder {
    storage: StringBuilder,
    path: StringBuilder,
    offset: Int64Builder,
    size: Int64Builder,
    cardinality: Int64Builder,
}

impl ChunkBuilder {
    pub(crate) fn push(&mut self, add: &super::action::Add<'_>, partition: u32) {
        self.path.append_value(&add.path);
        self.size.append_value(add.size);
        self.modified.append_option(add.modification_time);
        self.records
            .append_option(add.stats.as_deref().and_then(super::stats::num_records));
        self.partition.append_value(partition);
        let vector = add.deletion_vector.as_ref();
        self.any_vector |= vector.is_some();
        let v = &mut self.vectors;
        v.storage.append_option(vector.map(|d| &d.storage_type));
        v.path.append_option(vector.map(|d| &d.path_or_inline_dv));
        v.offset.append_option(vector.and_then(|d| d.offset));
        v.size.append_option(vector.map(|d| d.size_in_bytes));
        v.cardinality.append_option(vector.map(|d| d.cardinality));
    }

    pub(crate) fn len(&self) -> usize {
        arrow_array::builder::ArrayBuilder::len(&self.path)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn finish(&mut self, source: Source) -> Chunk {
        let v = &mut self.vectors;
        let vectors = Vectors {
            storage: v.storage.finish(),
            path: v.path.finish(),
            offset: v.offset.finish(),
            size: v.size.finish(),
            cardinality: v.cardinality.finish(),
        };
        Chunk {
            path: self.path.finish(),
            size: self.size.finish(),
            modified: self.modified.finish(),
            records: self.records.finish(),
            partition: self.partition.finish(),
            vectors: std::mem::take(&mut self.any_vector).then_some(vectors),
            source,
        }
    }
}

/// Partition values as a log spells them: physical name and value.
pub(crate) type RawPartition = Vec<(String, Option<String>)>;

/// Gives each distinct set of partition values a number, so that a file carries four bytes.
#[derive(Default)]
pub(crate) struct Interner {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    pub(crate) values: Vec<RawPartition>,
    last: Option<u32>,
}

impl Interner {
    /// The number of these values. The caller gives them in any order; two orders are two numbers.
    pub(crate) fn intern<'a, I>(&mut self, pairs: I) -> u32
    where
        I: Iterator<Item = (&'a str, Option<&'a str>)> + Clone,
    {
        // Files of one partition mostly stand together.
        if let Some(last) = self.last
            && self
                .values
                .get(last as usize)
                .is_some_and(|known| same(known, pairs.clone()))
        {
            return last;
        }
        let mut hash = 0u64;
        for (key, value) in pairs.clone() {
            hash = hash.rotate_left(7) ^ self.hasher.hash_one((key, value));
        }
        let values = &mut self.values;
        let found = self.table.find(hash, |at| {
            values
                .get(*at as usize)
                .is_some_and(|known| same(known, pairs.clone()))
        });
        let number = match found {
            Some(at) => *at,
            None => {
                let number = values.len() as u32;
                values.push(
                    pairs
                        .map(|(k, v)| (k.to_owned(), v.map(str::to_owned)))
                        .collect(),
                );
                let hasher = &self.hasher;
                let rehash = |at: &u32| {
                    values.get(*at as usize).map_or(0, |known| {
                        known.iter().fold(0u64, |hash, (k, v)| {
                            hash.rotate_left(7) ^ hasher.hash_one((k.as_str(), v.as_deref()))
                        })
                    })
                };
                self.table.insert_unique(hash, number, rehash);
                number
            }
        };
        self.last = Some(number);
        number
    }
}

impl Chunk {
    /// Takes a chunk whose partitions were numbered apart into the numbers of `all`.
    pub(crate) fn renumber(&mut self, own: &Interner, all: &mut Interner) {
        let number =
            |raw: &RawPartition| all.intern(raw.iter().map(|(k, v)| (k.as_str(), v.as_deref())));
        let numbers: Vec<u32> = own.values.iter().map(number).collect();
        self.partition = self
            .partition
            .unary(|n| numbers.get(n as usize).copied().unwrap_or(0));
    }
}

fn same<'a>(known: &RawPartition, pairs: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> bool {
    let mut known = known.iter();
    for (key, value) in pairs {
        match known.next() {
            Some((k, v)) if k == key && v.as_deref() == value => {}
            _ => return false,
        }
    }
    known.next().is_none()
}
