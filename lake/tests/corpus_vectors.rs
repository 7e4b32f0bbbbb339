//! Every deletion vector of the corpus, read and compared with what other readers say.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic and reads the corpus from disk"
)]

use std::collections::BTreeMap;
use std::path::{Path as Folder, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use lake::delta::vector::{self, Descriptor};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use serde_json::Value;

/// Tables with vectors that cannot be read: how many, and why.
const UNREADABLE: &[(&str, usize, &str)] = &[
    (
        "golden-basic-dv-with-checkpoint",
        1,
        "the text of one was replaced when addresses were taken out of the corpus",
    ),
    (
        "golden-table-with-dv-gigantic",
        1,
        "the corpus has its log only",
    ),
    (
        "krs-cdf-table-with-dv",
        1,
        "its last five characters are more than 32 bits, which is not Z85",
    ),
    (
        "trino-clone_merge_deletion_vector_cloned",
        1,
        "lies in another table, by an absolute URL",
    ),
];

#[tokio::test]
async fn deletion_vectors_of_the_corpus() {
    let Some(corpus) = std::env::var_os("TIDEMARK_CORPUS").map(PathBuf::from) else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let mut tables: Vec<PathBuf> = std::fs::read_dir(corpus.join("delta"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    tables.sort();
    let (mut read, mut compared, mut unreadable) = (0, 0, BTreeMap::new());
    for table in &tables {
        let name = table.file_name().unwrap().to_str().unwrap().to_owned();
        let (all, live) = descriptors(table);
        if all.is_empty() {
            continue;
        }
        let mut rows = BTreeMap::new();
        for descriptor in &all {
            match load(table, descriptor).await {
                Ok(masked) => {
                    read += 1;
                    rows.insert(descriptor.unique_id(), masked);
                }
                Err(error) => {
                    unreadable
                        .entry(name.clone())
                        .or_insert_with(Vec::new)
                        .push(error);
                }
            }
        }
        let expected = corpus.join(format!("expected/delta/{name}.json"));
        let expected: Value = serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap();
        let Some(expected) = expected["consensus"]["deltalake_deletion_vectors"].as_object() else {
            continue;
        };
        let ours: BTreeMap<&String, u64> = live
            .iter()
            .filter_map(|(path, descriptor)| Some((path, *rows.get(&descriptor.unique_id())?)))
            .collect();
        let theirs: BTreeMap<&String, u64> = expected
            .iter()
            .map(|(path, rows)| (path, rows.as_u64().unwrap()))
            .collect();
        assert_eq!(ours, theirs, "{name}");
        compared += theirs.len();
    }
    for (name, errors) in &unreadable {
        let why = UNREADABLE.iter().find(|(known, ..)| known == name);
        let why = why.map_or("", |(.., why)| why);
        println!(
            "not read: {} of {name}, because {why}: {}",
            errors.len(),
            errors[0]
        );
    }
    println!(
        "deletion vectors of the corpus: {read} read, {compared} files compared with other readers, {} tables with unreadable ones",
        unreadable.len()
    );
    let found: Vec<_> = unreadable
        .iter()
        .map(|(n, e)| (n.as_str(), e.len()))
        .collect();
    let known: Vec<_> = UNREADABLE
        .iter()
        .map(|(n, count, _)| (*n, *count))
        .collect();
    assert_eq!(found, known);
    assert!(compared > 0);
}

/// All descriptors in the JSON commits of a table, and those of its newest version by path.
fn descriptors(table: &Folder) -> (Vec<Descriptor>, BTreeMap<String, Descriptor>) {
    let mut commits: Vec<PathBuf> = std::fs::read_dir(table.join("_delta_log"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.len() == 25 && name.ends_with(".json")
        })
        .collect();
    commits.sort();
    let (mut all, mut live) = (Vec::<Descriptor>::new(), BTreeMap::new());
    for commit in commits {
        let text = std::fs::read(commit).unwrap();
        let lines = text.split(|b| *b == b'\n');
        let actions: Vec<Value> = lines
            .filter_map(|l| serde_json::from_slice(l).ok())
            .collect();
        for kind in ["remove", "add"] {
            for action in actions.iter().map(|a| &a[kind]).filter(|a| a.is_object()) {
                let path = action["path"].as_str().unwrap().to_owned();
                live.remove(&path);
                let vector = &action["deletionVector"];
                if vector.is_null() {
                    continue;
                }
                let vector: Descriptor = serde_json::from_value(vector.clone()).unwrap();
                if !all.contains(&vector) {
                    all.push(vector.clone());
                }
                if kind == "add" {
                    live.insert(path, vector);
                }
            }
        }
    }
    (all, live)
}

async fn load(table: &Folder, descriptor: &Descriptor) -> lake::Result<u64> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let root = Path::from("t");
    if let Some(key) = vector::location(&root, descriptor)? {
        let below = key.as_ref().strip_prefix("t/").unwrap();
        // Some tables were written with a prefix that the writer's own tests put before file names.
        let names = [below.to_owned(), format!("test%dv%prefix-{below}")];
        let found = names.iter().find_map(|n| std::fs::read(table.join(n)).ok());
        if let Some(bytes) = found {
            let payload = PutPayload::from_bytes(Bytes::from(bytes));
            store.put(&key, payload).await.unwrap();
        }
    }
    let rows = vector::load(&store, &root, descriptor).await?;
    assert_eq!(rows.len() as i64, descriptor.cardinality);
    Ok(rows.len())
}
