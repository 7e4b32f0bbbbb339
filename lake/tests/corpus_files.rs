//! Every data file of every Delta table of the corpus, looked at: footer, pages, and all rows,
//! which are counted and compared with what other readers return.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may panic and reads the corpus from disk"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lake::Kind;
use lake::answer::{Reader, Root, Roots};
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Version};
use lake::wire::file::{FileReport, RowsReport};
use lake::wire::{Answer, Ask, FilesQuery, TableRef};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use serde_json::Value;

/// Tables with files that cannot be read, and why.
const UNREADABLE: &[(&str, &str)] = &[
    ("trino-clone_merge_cloned", "its files lie in another table"),
    (
        "trino-clone_merge_deletion_vector_cloned",
        "its files lie in another table",
    ),
];

/// Tables whose rows others count differently, and why ours are right.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "golden-catalog-owned-preview",
        "the catalog's staged commits are not read, and the snapshot says so",
    ),
    (
        "krs-catalog_managed_0",
        "the catalog's staged commits are not read, and the snapshot says so",
    ),
];

/// Warnings that say something true of the corpus.
const WARNINGS: &[&str] = &[
    "shown as the file has it, not as variant",
    "the log says",
    "long values are cut",
    "the file has no field ids",
];

/// Rows counted of one file at most.
const ROWS: u64 = 50_000;

struct Corpus(Arc<LocalFileSystem>);

impl Roots for Corpus {
    fn root(&self, table: &TableRef) -> lake::Result<Root> {
        Ok(Root {
            store: Arc::clone(&self.0) as _,
            path: Path::parse(&table.prefix).unwrap(),
            location: table.prefix.clone(),
        })
    }
}

#[derive(Default)]
struct Tally {
    files: usize,
    rows: u64,
    compared: usize,
    pages: usize,
    /// Files that the log names and the corpus does not ship.
    absent: usize,
    unreadable: BTreeMap<String, Vec<String>>,
    odd: Vec<String>,
    different: BTreeMap<String, String>,
}

struct Asker {
    reader: Reader,
    host: SharedHost,
    table: TableRef,
    version: Version,
}

impl Asker {
    async fn ask(&self, ask: Ask) -> lake::Result<Answer> {
        self.reader.answer(ask, Arc::clone(&self.host)).await
    }

    async fn file(&self, path: &str) -> lake::Result<FileReport> {
        let (table, version, path) = (self.table.clone(), self.version, path.to_owned());
        match self
            .ask(Ask::File {
                table,
                version,
                path,
            })
            .await?
        {
            Answer::File(report) => Ok(report),
            other => panic!("{other:?}"),
        }
    }

    async fn rows(&self, path: &str, offset: u64) -> lake::Result<RowsReport> {
        let ask = Ask::Rows {
            table: self.table.clone(),
            version: self.version,
            path: path.to_owned(),
            offset,
            limit: 5000,
        };
        match self.ask(ask).await? {
            Answer::Rows(report) => Ok(report),
            other => panic!("{other:?}"),
        }
    }

    /// All rows of a file; `None` where there are too many.
    async fn look(&self, tally: &mut Tally, path: &str) -> lake::Result<Option<u64>> {
        let name = &self.table.prefix;
        let report = self.file(path).await?;
        let json = serde_json::to_string(&report).unwrap();
        assert!(
            json.len() < 2_500_000,
            "{name} {path}: {} bytes",
            json.len()
        );
        tally.files += 1;
        for warning in &report.warnings {
            tally.odd.push(format!("{name}: {warning}"));
        }
        for (group, column) in [(0, 0), (0, report.columns.len().saturating_sub(1))] {
            let ask = Ask::Pages {
                table: self.table.clone(),
                version: self.version,
                path: path.to_owned(),
                row_group: group,
                column: column as u32,
            };
            if report.row_groups.is_empty() {
                continue;
            }
            match self.ask(ask).await? {
                Answer::Pages(pages) => tally.pages += pages.pages.len(),
                other => panic!("{other:?}"),
            }
        }
        let (mut offset, mut count) = (0, 0);
        loop {
            let rows = self.rows(path, offset).await?;
            for warning in &rows.warnings {
                tally.odd.push(format!("{name}: {warning}"));
            }
            assert!(rows.rows.iter().all(|row| row.len() == rows.columns.len()));
            assert_eq!(rows.rows.len(), rows.positions.len());
            count += rows.rows.len() as u64;
            match rows.next {
                Some(next) if count < ROWS => offset = next,
                Some(_) => return Ok(None),
                None => return Ok(Some(count)),
            }
        }
    }
}

#[tokio::test]
async fn data_files_of_the_corpus() {
    let Some(corpus) = std::env::var_os("TIDEMARK_CORPUS").map(PathBuf::from) else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let store = LocalFileSystem::new_with_prefix(corpus.join("delta")).unwrap();
    let store = Arc::new(store);
    let mut names: Vec<String> = std::fs::read_dir(corpus.join("delta"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut tally = Tally::default();
    for name in names {
        let mut asker = Asker {
            reader: Reader::new(Arc::new(Corpus(Arc::clone(&store)))),
            host: Arc::new(Quiet),
            table: TableRef {
                zone: "corpus".to_owned(),
                prefix: name.clone(),
            },
            version: Version(0),
        };
        let (table, at) = (asker.table.clone(), At::Latest);
        // What no snapshot can be made of is another test's matter.
        let Ok(Answer::Snapshot(snapshot)) = asker.ask(Ask::Snapshot { table, at }).await else {
            continue;
        };
        asker.version = snapshot.version;
        let expected = corpus.join(format!("expected/delta/{name}.json"));
        let expected: Value = serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap();
        let version = asker.version.to_string();
        let expected = expected["consensus"]["versions"][&version]["row_count"].as_u64();
        look_at_table(&asker, &mut tally, expected).await;
    }
    finish(&tally);
}

async fn look_at_table(asker: &Asker, tally: &mut Tally, expected: Option<u64>) {
    let name = &asker.table.prefix;
    let query = FilesQuery {
        limit: 200,
        ..Default::default()
    };
    let (table, version) = (asker.table.clone(), asker.version);
    let files = match asker
        .ask(Ask::Files {
            table,
            version,
            query,
        })
        .await
    {
        Ok(Answer::Files(files)) => files,
        other => panic!("{name}: {other:?}"),
    };
    let mut whole = files.files.len() as u64 == files.total;
    let mut rows = 0;
    for file in &files.files {
        match asker.look(tally, &file.path).await {
            Ok(Some(count)) => {
                rows += count;
                tally.rows += count;
            }
            Ok(None) => whole = false,
            Err(error) if error.kind() == Kind::NotFound => {
                whole = false;
                tally.absent += 1;
            }
            Err(error) => {
                whole = false;
                let errors = tally.unreadable.entry(name.clone()).or_default();
                errors.push(error.to_string());
            }
        }
    }
    if let Some(expected) = expected.filter(|_| whole) {
        tally.compared += 1;
        if rows != expected {
            let detail = format!("{rows} rows, others have {expected}");
            tally.different.insert(name.clone(), detail);
        }
    }
}

fn finish(tally: &Tally) {
    let mut odd: BTreeMap<&String, usize> = BTreeMap::new();
    for warning in &tally.odd {
        *odd.entry(warning).or_default() += 1;
    }
    for (warning, times) in &odd {
        println!("warned {times} times: {warning}");
    }
    for (name, errors) in &tally.unreadable {
        println!("not read: {} files of {name}: {}", errors.len(), errors[0]);
    }
    for (name, detail) in &tally.different {
        println!("differs: {name}: {detail}");
    }
    println!(
        "data files of the corpus: {} looked at, {} rows and {} pages read, rows of {} tables compared; {} files are not in the corpus, {} tables have unreadable ones",
        tally.files,
        tally.rows,
        tally.pages,
        tally.compared,
        tally.absent,
        tally.unreadable.len()
    );
    let unknown: Vec<_> = odd
        .keys()
        .filter(|warning| !WARNINGS.iter().any(|known| warning.contains(known)))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let found: Vec<&str> = tally.different.keys().map(String::as_str).collect();
    let known: Vec<&str> = DIFFERENT.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, known);
    let found: Vec<&str> = tally.unreadable.keys().map(String::as_str).collect();
    let known: Vec<&str> = UNREADABLE.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, known);
}
