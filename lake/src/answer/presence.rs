//! Are a version's files still there?

use std::collections::BTreeSet;

use hashbrown::HashSet;
use object_store::path::Path;

use super::cache::Table;
use crate::delta::path::{Location, locate};
use crate::delta::presence::missing;
use crate::delta::vector;
use crate::table::Version;
use crate::wire::PresenceReport;
use crate::{Kind, Result};

/// Files asked for at most: one HEAD each.
const MOST: usize = 20_000;

/// Missing files that are named.
const NAMED: usize = 1_000;

impl Table {
    pub(super) async fn presence(&self, version: Version) -> Result<PresenceReport> {
        let snapshot = self.pinned(version).await?;
        let mut keys: Vec<Path> = Vec::new();
        let mut of = 0;
        let mut want = |key: Option<Path>| {
            of += 1;
            keys.extend(key.filter(|_| keys.len() < MOST));
        };
        let mut vectors = HashSet::new();
        for file in snapshot.files.iter() {
            want(match locate(&self.root.path, file.raw_path())? {
                Location::Inside(path) => Some(path),
                Location::Outside(_) => None,
            });
            let Some(descriptor) = file.vector() else {
                continue;
            };
            let key = match vector::location(&self.root.path, &descriptor) {
                Ok(None) => continue,
                Ok(key) => key,
                // Outside the table, as a file is.
                Err(error) if error.kind() == Kind::Unsupported => None,
                Err(error) => return Err(error),
            };
            // A file of vectors holds many.
            if vectors.insert(descriptor.path_or_inline_dv) {
                want(key);
            }
        }
        let keys: BTreeSet<Path> = keys.into_iter().collect();
        let checked = keys.len() as u64;
        let missing = missing(&self.root.store, keys, &self.host).await?;
        let missing_total = missing.len() as u64;
        let named = missing.iter().take(NAMED);
        let missing = named.map(ToString::to_string).collect();
        Ok(PresenceReport {
            version,
            checked,
            of,
            missing,
            missing_total,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt};

    use super::*;
    use crate::answer::{Reader, Root, Roots};
    use crate::host::Quiet;
    use crate::wire::{Answer, Ask, TableRef};

    struct One(Arc<dyn ObjectStore>);

    impl Roots for One {
        fn root(&self, _: &TableRef) -> Result<Root> {
            Ok(Root {
                store: Arc::clone(&self.0),
                path: Path::from("t"),
                location: "s3a://bucket/t".to_owned(),
            })
        }
    }

    const LOG: &str = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors"]}}
{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}
{"add":{"path":"there","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}
{"add":{"path":"one%20vector","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":1,"sizeInBytes":34,"cardinality":1}}}
{"add":{"path":"its%20neighbour","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":43,"sizeInBytes":34,"cardinality":1}}}
{"add":{"path":"s3a://bucket/source/file","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"p","pathOrInlineDv":"s3a://bucket/source/vector.bin","offset":1,"sizeInBytes":34,"cardinality":1}}}
"#;

    #[tokio::test]
    async fn what_lies_outside_counts_but_is_not_looked_for() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let log = Path::from("t/_delta_log/00000000000000000000.json");
        store.put(&log, LOG.into()).await.unwrap();
        for key in ["t/there", "t/one vector"] {
            store.put(&Path::from(key), "x".into()).await.unwrap();
        }
        let ask = Ask::Presence {
            table: TableRef {
                zone: "z".to_owned(),
                prefix: "t".to_owned(),
            },
            version: Version(0),
        };
        let reader = Reader::new(Arc::new(One(store)));
        let Answer::Presence(report) = reader.answer(ask, Arc::new(Quiet)).await.unwrap() else {
            panic!("another answer");
        };
        let vector = "t/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";
        assert_eq!(
            report,
            PresenceReport {
                version: Version(0),
                // Three data files, and one file that holds the vectors of two.
                checked: 4,
                of: 6,
                missing: vec![vector.to_owned(), "t/its neighbour".to_owned()],
                missing_total: 2,
            }
        );
    }
}
