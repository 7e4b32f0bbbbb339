//! Our restores beside Spark's: the same log, the same target, the commits compared action by action.
//!
//! `TIDEMARK_CORPUS` names the corpus; without it the test says that it was skipped. Where we differ
//! is listed with its reason; anything else is a failure.

#![cfg(feature = "write")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may panic and reads the corpus from disk"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lake::answer::Root;
use lake::delta::restore::{Request, apply, plan};
use lake::delta::vector::{self, Descriptor};
use lake::delta::write::Signature;
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Time, Version};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Table, version of Spark's restore (0 for all of the table), what differs, and why.
const DEVIATIONS: &[(&str, u64, &str, &str)] = &[
    ("C3_rt_recommit", 7, "add.baseRowId", ROW_IDS),
    ("C3_rt_recommit", 7, "add.defaultRowCommitVersion", ROW_IDS),
    ("C3_rt_recommit", 7, "domains", ROW_IDS),
    (
        "D_schema",
        15,
        "configuration.delta.columnMapping.maxColumnId",
        COLUMN_IDS,
    ),
    (
        "S2_replace",
        7,
        "configuration.delta.columnMapping.maxColumnId",
        COLUMN_IDS,
    ),
    (
        "ICT_fix",
        5,
        "configuration.delta.inCommitTimestampEnablementTimestamp",
        OUR_CLOCK,
    ),
    (
        "Q_ict",
        6,
        "configuration.delta.inCommitTimestampEnablementTimestamp",
        OUR_CLOCK,
    ),
    (
        "Q_ict",
        8,
        "configuration.delta.inCommitTimestampEnablement",
        STALE_PAIR,
    ),
];

const ROW_IDS: &str = "a file that comes back keeps the row ids of the last action on its path \
     (PROTOCOL, Row Tracking: an add of a known path keeps its baseRowId); Spark gives fresh ones";
const COLUMN_IDS: &str = "the highest column id never goes back, or an id could be given twice \
     (PROTOCOL, Column Mapping); Spark drops it where the target has no mapping";
const OUR_CLOCK: &str = "in-commit timestamps start with this commit, whose time is ours";
const STALE_PAIR: &str = "in-commit timestamps were on all the time since the head's pair \
     (PROTOCOL, In-Commit Timestamps); with the target's, Spark cannot read its own history";

/// What Spark commits and we refuse.
const REFUSED: &[(&str, &str)] = &[
    (
        "A_noop@6",
        "nothing to do: the table is as it was at version 0",
    ),
    ("F_append@4", APPEND_ONLY),
    ("F_append@6", APPEND_ONLY),
    (
        "ICT_fix@6",
        "nothing to do: the table is as it was at version 3",
    ),
    (
        "L_clustering@9",
        "nothing to do: the table is as it was at version 7",
    ),
];

const APPEND_ONLY: &str =
    "the table is append-only (delta.appendOnly = true): nothing may be removed from it";

struct Restored {
    adds: BTreeMap<String, Value>,
    removes: BTreeMap<String, Value>,
    metadata: Value,
    domains: BTreeMap<String, Value>,
    protocol: Option<Value>,
    info: Value,
}

fn file_key(action: &Value) -> String {
    let vector: Option<Descriptor> = action
        .get("deletionVector")
        .filter(|v| !v.is_null())
        .map(|v| serde_json::from_value(v.clone()).unwrap());
    let id = vector.map(|v| v.unique_id()).unwrap_or_default();
    format!("{} {id}", action["path"].as_str().unwrap())
}

fn read(text: &str) -> Restored {
    let mut read = Restored {
        adds: BTreeMap::new(),
        removes: BTreeMap::new(),
        metadata: Value::Null,
        domains: BTreeMap::new(),
        protocol: None,
        info: Value::Null,
    };
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let line: Map<String, Value> = serde_json::from_str(line).unwrap();
        for (name, mut action) in line {
            match name.as_str() {
                "add" => {
                    read.adds.insert(file_key(&action), action);
                }
                "remove" => {
                    action.as_object_mut().unwrap().remove("deletionTimestamp");
                    read.removes.insert(file_key(&action), action);
                }
                "metaData" => read.metadata = action,
                "domainMetadata" => {
                    let domain = action["domain"].as_str().unwrap().to_owned();
                    let text = action["configuration"].as_str().unwrap();
                    read.domains
                        .insert(domain, serde_json::from_str(text).unwrap());
                }
                "protocol" => {
                    for features in ["readerFeatures", "writerFeatures"] {
                        if let Some(Value::Array(names)) = action.get_mut(features) {
                            names.sort_by_key(|n| n.as_str().unwrap().to_owned());
                        }
                    }
                    read.protocol = Some(action);
                }
                "commitInfo" => read.info = action,
                other => panic!("{other}"),
            }
        }
    }
    read
}

/// The figures in which two restores differ, as `what: ours | theirs`.
fn differences(ours: &Restored, theirs: &Restored, head_protocol: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, a: &Value, b: &Value| {
        if a != b {
            found.push(format!("{what}: ours {a} | Spark's {b}"));
        }
    };
    let keys = |map: &BTreeMap<String, Value>| -> Value { map.keys().cloned().collect() };
    differ("adds", &keys(&ours.adds), &keys(&theirs.adds));
    differ("removes", &keys(&ours.removes), &keys(&theirs.removes));
    for (what, a, b) in [
        ("add", &ours.adds, &theirs.adds),
        ("remove", &ours.removes, &theirs.removes),
    ] {
        for (key, action) in a {
            let Some(Value::Object(spark)) = b.get(key) else {
                continue;
            };
            let own = action.as_object().unwrap();
            for field in own
                .keys()
                .chain(spark.keys().filter(|k| !own.contains_key(*k)))
            {
                let value = |map: &Map<String, Value>| map.get(field).cloned().unwrap_or_default();
                differ(&format!("{what}.{field}"), &value(own), &value(spark));
            }
        }
    }
    for part in [
        "id",
        "name",
        "description",
        "format",
        "partitionColumns",
        "createdTime",
    ] {
        let value = |m: &Value| m.get(part).cloned().unwrap_or_default();
        differ(
            &format!("metaData.{part}"),
            &value(&ours.metadata),
            &value(&theirs.metadata),
        );
    }
    let schema = |m: &Value| -> Value {
        serde_json::from_str(m["schemaString"].as_str().unwrap_or("null")).unwrap()
    };
    differ("schema", &schema(&ours.metadata), &schema(&theirs.metadata));
    let settings = |m: &Value| m["configuration"].as_object().cloned().unwrap_or_default();
    let (a, b) = (settings(&ours.metadata), settings(&theirs.metadata));
    for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
        let value = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or_default();
        differ(&format!("configuration.{key}"), &value(&a), &value(&b));
    }
    let domains = |map: &BTreeMap<String, Value>| -> Value {
        map.iter().map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    differ(
        "domains",
        &domains(&ours.domains),
        &domains(&theirs.domains),
    );
    // An unchanged protocol may be left out.
    let protocol = |r: &Restored| r.protocol.clone().unwrap_or_else(|| head_protocol.clone());
    differ("protocol", &protocol(ours), &protocol(theirs));
    for part in [
        "operation",
        "operationParameters",
        "readVersion",
        "isolationLevel",
        "isBlindAppend",
        "operationMetrics",
    ] {
        differ(
            &format!("commitInfo.{part}"),
            &ours.info[part],
            &theirs.info[part],
        );
    }
    found
}

#[tokio::test]
async fn our_restores_beside_sparks() {
    let Some(corpus) = std::env::var_os("TIDEMARK_CORPUS") else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let folder = PathBuf::from(corpus).join("spark-restore");
    let mut tables: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_dir())
        .collect();
    tables.sort();
    let mut compared = 0;
    let mut refused = Vec::new();
    let mut wrong = Vec::new();
    let mut known = 0;
    for table in &tables {
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        let commits: Vec<String> = (0u64..)
            .map_while(|v| std::fs::read_to_string(table.join(format!("{v:020}.json"))).ok())
            .collect();
        for (version, spark) in commits.iter().enumerate() {
            let Some(first) = spark.lines().next() else {
                continue;
            };
            let first: Value = serde_json::from_str(first).unwrap();
            let info = &first["commitInfo"];
            let by_spark = info["engineInfo"]
                .as_str()
                .is_some_and(|e| e.contains("Spark"));
            let target = info["operationParameters"]["version"].as_u64();
            let (true, Some(target)) = (info["operation"] == "RESTORE" && by_spark, target) else {
                continue;
            };
            compared += 1;
            let theirs = read(spark);
            let ours = match restore(&commits[..version], target, version as u64).await {
                Ok(text) => read(&text),
                Err(why) => {
                    refused.push((format!("{name}@{version}"), why));
                    continue;
                }
            };
            let head_protocol = commits[..version]
                .iter()
                .rev()
                .find_map(|text| read_protocol(text))
                .unwrap();
            for difference in differences(&ours, &theirs, &head_protocol) {
                let listed = DEVIATIONS.iter().any(|(table, at, what, _)| {
                    *table == name
                        && (*at == 0 || *at == version as u64)
                        && difference.starts_with(what)
                });
                match listed {
                    true => known += 1,
                    false => wrong.push(format!("{name}@{version} {difference}")),
                }
            }
        }
    }
    println!(
        "spark restores: {compared} compared, {known} deviations, {} refused by us",
        refused.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = REFUSED
        .iter()
        .map(|(at, why)| ((*at).to_owned(), (*why).to_owned()));
    assert_eq!(refused, listed.collect::<Vec<_>>());
    assert!(compared > 60);
}

fn read_protocol(text: &str) -> Option<Value> {
    let mut found = None;
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(protocol) = line.get("protocol") {
            found = read(&serde_json::json!({ "protocol": protocol }).to_string()).protocol;
        }
    }
    found
}

/// What we commit over these commits for this target; why not, where it is refused.
async fn restore(commits: &[String], target: u64, version: u64) -> Result<String, String> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let root = Path::from("t");
    for (at, text) in commits.iter().enumerate() {
        let key = Path::from(format!("t/_delta_log/{at:020}.json"));
        store.put(&key, text.clone().into()).await.unwrap();
        for line in text.lines().filter(|l| l.contains("\"add\"")) {
            let line: Value = serde_json::from_str(line).unwrap();
            let Some(add) = line.get("add") else { continue };
            let raw = add["path"].as_str().unwrap();
            if !raw.contains(':') && !raw.starts_with('/') {
                let path = percent_decode_str(raw).decode_utf8().unwrap();
                let key = Path::parse(format!("t/{path}")).unwrap();
                store.put(&key, "x".into()).await.unwrap();
            }
            if let Some(vector) = add.get("deletionVector").filter(|v| !v.is_null()) {
                let descriptor: Descriptor = serde_json::from_value(vector.clone()).unwrap();
                if let Ok(Some(key)) = vector::location(&root, &descriptor) {
                    store.put(&key, "x".into()).await.unwrap();
                }
            }
        }
    }
    let host: SharedHost = Arc::new(Quiet);
    let at = Root {
        store: Arc::clone(&store),
        path: root,
        location: "t".to_owned(),
    };
    let request = Request {
        at: At::Version(Version(target)),
        partitions: Vec::new(),
        allow_missing: false,
        as_of: Time(1_795_970_000_000),
        expect: None,
    };
    let planned = plan(&at, &request, &host)
        .await
        .map_err(|e| e.to_string())?;
    if let Some(why) = &planned.plan.refused {
        return Err(why.clone());
    }
    let signature = Signature {
        now: Time(1_795_970_000_000),
        txn_id: "00000000-0000-4000-8000-000000000000".to_owned(),
        user: None,
        reason: None,
        engine: "tidemark/test".to_owned(),
    };
    let committed = apply(&planned, &signature, &host)
        .await
        .map_err(|e| e.to_string())?;
    assert_eq!(committed.version, Version(version));
    let key = Path::from(format!("t/_delta_log/{version:020}.json"));
    let bytes = store.get(&key).await.unwrap().bytes().await.unwrap();
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}
