//! Every Delta table of the corpus vacuumed on a copy, with no retention: what goes is what deltalake
//! would delete, less what it should not, and afterwards everybody reads what they read before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use futures::TryStreamExt as _;
use lake::answer::{self, Root};
use lake::delta::vacuum::Request;
use lake::host::{Quiet, SharedHost};
use lake::table::At;
use lake::wire::SnapshotReport;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use serde_json::{Value, json};
use server::acts::{self, Consent};
use server::metrics::Metrics;
use server::stores::{Address, Cache, LocalStore, Opener};
use tests::place;
use tests::seaweed::{BUCKET, SeaweedFs};

/// One table, before it was vacuumed.
struct Copy {
    name: String,
    folder: PathBuf,
    before: SnapshotReport,
    /// What the peers say of it.
    peers: Value,
}

#[tokio::test]
async fn what_goes_is_what_deltalake_lists() {
    let Some(corpus) = std::env::var_os("TIDEMARK_CORPUS") else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let copies = tempfile::tempdir().unwrap();
    let mut tables = Vec::new();
    for table in fs::read_dir(Path::new(&corpus).join("delta")).unwrap() {
        let table = table.unwrap().path();
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        let folder = copies.path().join(&name);
        super::restore::copy_folder(&table, &folder);
        let host: SharedHost = Arc::new(Quiet);
        if let Ok(before) = answer::snapshot(&root(&folder), At::Latest, true, &host).await {
            tables.push((name, folder, before));
        }
    }
    tables.sort_by(|a, b| a.0.cmp(&b.0));
    let facts = peers(tables.iter().map(|(_, folder, _)| folder));
    let copies = tables.into_iter().zip(facts);
    let copies = copies.map(|((name, folder, before), peers)| Copy {
        name,
        folder,
        before,
        peers,
    });
    let mut kept: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut vacuumed = Vec::new();
    let (mut compared, mut deleted) = (0, 0);
    for copy in copies {
        match vacuum(&copy, &mut kept, &mut refused).await {
            Some(gone) => {
                compared += usize::from(!copy.peers["listed"].is_null());
                deleted += gone;
                if gone > 0 {
                    vacuumed.push(copy);
                }
            }
            None => continue,
        }
    }
    let again = peers(vacuumed.iter().map(|copy| &copy.folder));
    let mut read = 0;
    for (copy, after) in vacuumed.iter().zip(again) {
        for figure in ["files", "rows"] {
            if !copy.peers[figure].is_null() {
                assert_eq!(copy.peers[figure], after[figure], "{}: {after}", copy.name);
                read += 1;
            }
        }
    }
    println!(
        "vacuum: {compared} tables compared with deltalake, {} vacuumed, {deleted} objects deleted; \
         {read} figures of peers the same afterwards",
        vacuumed.len()
    );
    for (why, count) in &kept {
        println!("  {count:>5} of deltalake's list kept: {why}");
    }
    for (why, count) in &refused {
        println!("  {count:>5} refused: {why}");
    }
    assert!(
        compared > 250 && vacuumed.len() > 30,
        "{compared}, {}",
        vacuumed.len()
    );
}

fn root(folder: &Path) -> Root {
    Root {
        store: Arc::new(LocalStore::new(folder).unwrap()),
        path: object_store::path::Path::default(),
        location: folder.display().to_string(),
    }
}

/// Plans, compares, deletes, and reads again. How many objects went; `None` where it is refused.
async fn vacuum(
    copy: &Copy,
    kept: &mut BTreeMap<&'static str, usize>,
    refused: &mut BTreeMap<String, usize>,
) -> Option<usize> {
    let host: SharedHost = Arc::new(Quiet);
    let (name, root) = (&copy.name, root(&copy.folder));
    let request = Request {
        retain: Some(0),
        allow_short: true,
        below_an_hour: true,
        quarantine: false,
        as_of: acts::now(),
        expect: None,
    };
    let planned = acts::vacuum(&root, &request, None, &host).await;
    let planned = planned.unwrap_or_else(|e| panic!("{name}: {e}")).plan;
    let nothing = planned
        .refused
        .as_ref()
        .is_some_and(|why| why.contains("nothing to do"));
    if let Some(why) = planned.refused.filter(|_| !nothing) {
        let why = why.split(": ").next().unwrap_or(&why).to_owned();
        *refused.entry(why).or_default() += 1;
        return None;
    }
    let objects = planned.vacuum.unwrap().objects;
    let ours: BTreeSet<String> = objects.into_iter().map(|object| object.key).collect();
    let listed: Option<BTreeSet<String>> =
        serde_json::from_value(copy.peers["listed"].clone()).unwrap();
    let theirs = listed.unwrap_or_else(|| ours.clone());
    let more: Vec<&String> = ours.difference(&theirs).collect();
    assert!(more.is_empty(), "{name}: deltalake would keep {more:?}");
    let mut left = Vec::new();
    for key in theirs.difference(&ours) {
        let why = why_kept(copy, key).unwrap_or_else(|| panic!("{name}: {key} should go"));
        *kept.entry(why).or_default() += 1;
        left.push(key);
    }
    let there: Vec<&&String> = left
        .iter()
        .filter(|key| copy.folder.join(key).exists())
        .collect();
    if nothing {
        assert!(ours.is_empty(), "{name}");
        return Some(0);
    }
    let consent = Consent {
        user: Some("ana".to_owned()),
        reason: Some("a test".to_owned()),
        plan: None,
        over_appends: false,
    };
    let active = |report: &SnapshotReport| -> Vec<String> {
        let paths = report.paths.iter().flatten().map(|file| file.path.clone());
        paths.collect()
    };
    let present: Vec<String> = active(&copy.before)
        .into_iter()
        .filter(|path| copy.folder.join(path).exists())
        .collect();
    let outcome = acts::vacuum(&root, &request, Some(&consent), &host).await;
    let applied = outcome
        .unwrap_or_else(|e| panic!("{name}: {e}"))
        .applied
        .unwrap();
    assert_eq!(applied.deleted as usize, ours.len(), "{name}");
    assert!(applied.failed.is_empty(), "{name}: {:?}", applied.failed);
    for key in &ours {
        assert!(
            !copy.folder.join(key).exists(),
            "{name}: {key} is still there"
        );
    }
    for key in present.iter().chain(there.into_iter().copied()) {
        assert!(copy.folder.join(key).exists(), "{name}: {key} is gone");
    }
    let after = answer::snapshot(&root, At::Latest, true, &host).await;
    let after = after.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(after.version.0, copy.before.version.0 + 2, "{name}");
    assert_eq!(after.paths, copy.before.paths, "{name}");
    Some(ours.len())
}

/// The rule by which something that deltalake lists stays; `None` where there is none.
fn why_kept(copy: &Copy, key: &str) -> Option<&'static str> {
    if !copy.folder.join(key).exists() {
        return Some("it is not there");
    }
    let columns = &copy.before.partition_columns;
    let hidden = |part: &str| {
        part.starts_with(['_', '.'])
            && !["_change_data", "_delta_index"].contains(&part)
            && !columns.iter().any(|c| part.starts_with(&format!("{c}=")))
    };
    if key.split('/').any(hidden) {
        return Some("a name on the way is hidden");
    }
    let uniform = copy
        .before
        .properties
        .get("delta.universalFormat.enabledFormats");
    if key.starts_with("metadata/") && uniform.is_some_and(|formats| formats.contains("iceberg")) {
        return Some("it is UniForm's");
    }
    let is_vector = key.rsplit('/').next()?.starts_with("deletion_vector_");
    let on_disk = |file: &lake::table::DataFile| file.deletes.iter().any(|id| id.starts_with('u'));
    let needed = copy.before.paths.iter().flatten().any(on_disk);
    (is_vector && needed).then_some("it is the deletion vector of an active file")
}

/// What the peers say of these tables, in their order.
fn peers<'a>(folders: impl Iterator<Item = &'a PathBuf>) -> Vec<Value> {
    let mut python = Command::new(place::venv("python"))
        .arg(place::repository().join("tests/peers/vacuumed.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    let asked: Vec<String> = folders
        .map(|folder| json!({ "table": folder.display().to_string() }).to_string())
        .collect();
    let of = asked.len();
    let writer = std::thread::spawn(move || {
        for line in asked {
            writeln!(input, "{line}").unwrap();
        }
    });
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let facts: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(facts.len(), of);
    facts
}

/// Keys with escapes and with what XML cannot hold plainly, in bulk and one by one, in a real store.
#[tokio::test]
async fn objects_of_a_bucket_go_under_their_own_names() {
    let seaweed = SeaweedFs::shared();
    let metrics = Arc::new(Metrics::default());
    let cache = Arc::new(Cache::new(0, Arc::clone(&metrics)));
    let address = Address::parse(&format!("s3://{BUCKET}/vacuumed/")).unwrap();
    let opener = Opener { metrics, cache };
    let bucket = opener.open(&address, &seaweed.overrides()).unwrap();
    let host: SharedHost = Arc::new(Quiet);
    let root = Root {
        store: Arc::clone(&bucket.store),
        path: object_store::path::Path::from("t"),
        location: address.to_string(),
    };
    let put = async |key: &str, text: &str| {
        let key = object_store::path::Path::parse(format!("t/{key}")).unwrap();
        bucket
            .store
            .put(&key, text.to_owned().into())
            .await
            .unwrap();
    };
    let log = concat!(
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#,
        "\n",
        r#"{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"ts\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["ts"],"configuration":{}}}"#,
        "\n",
        r#"{"add":{"path":"ts=2024-01-01%252010%253A00/live","partitionValues":{"ts":"2024-01-01 10:00"},"size":1,"modificationTime":1,"dataChange":true}}"#,
        "\n",
    );
    put("_delta_log/00000000000000000000.json", log).await;
    let live = "ts=2024-01-01%2010%3A00/live";
    put(live, "x").await;
    let vacuum = async |retain: i64, consent: Option<&Consent>| {
        let request = Request {
            retain: Some(retain),
            allow_short: true,
            below_an_hour: true,
            quarantine: false,
            as_of: acts::now(),
            expect: None,
        };
        acts::vacuum(&root, &request, consent, &host).await.unwrap()
    };
    let consent = Consent {
        user: None,
        reason: None,
        plan: None,
        over_appends: false,
    };
    // Together, then one by itself.
    for round in [
        &[
            "ts=2024-01-01%2010%3A00/dead",
            "ts=a b/dead",
            "ts=a~b/dead",
            "ts=<&>/dead",
        ][..],
        &["ts=a%25b/dead"],
    ] {
        for key in round {
            put(key, "gone").await;
        }
        // The store's clock tells seconds.
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        let done = vacuum(0, Some(&consent)).await;
        let applied = done
            .applied
            .unwrap_or_else(|| panic!("{:?}", done.plan.refused));
        assert_eq!(applied.deleted as usize, round.len(), "{applied:?}");
        assert_eq!(
            (applied.bytes_deleted as usize, applied.failed.len()),
            (4 * round.len(), 0)
        );
        let listed: Vec<_> = bucket
            .store
            .list(Some(&root.path))
            .try_collect()
            .await
            .unwrap();
        let data = listed.iter().map(|meta| meta.location.to_string());
        let data: Vec<String> = data.filter(|key| !key.contains("/_")).collect();
        assert_eq!(data, [format!("t/{live}")]);
    }
}
