//! Eight writers of deltalake's and four of our acts on one table on S3, all at once: every version
//! has one winner, and everybody was told the truth.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::plan::{Act, Outcome, PlanRequest};
use lake::table::{At, Version};
use lake::wire::HistoryQuery;
use lake::{Error, Kind};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::{Value, json};
use server::acts::{self, Asked, Consent, Limits, Sizes};
use tests::place;
use tests::seaweed::{BUCKET, SeaweedFs};

const TABLE: &str = "race/table";

/// The race ends soon after this version.
const COMMITS: u64 = 500;

/// What one of our acts was told.
struct Told {
    id: String,
    kind: Act,
    /// The newest version that whoever asked had seen.
    confirmed: Version,
    result: Result<Outcome, Error>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_version_has_one_winner() {
    let seaweed = SeaweedFs::shared();
    let store: Arc<dyn ObjectStore> = Arc::new(seaweed.store());
    let root = Root {
        store: Arc::clone(&store),
        path: Path::from(TABLE),
        location: TABLE.to_owned(),
    };
    let (url, settings) = (format!("s3://{BUCKET}/{TABLE}"), settings(&seaweed));
    python("race_begin.py", &[&url], &settings)
        .wait_with_output()
        .map(|out| assert!(out.status.success(), "{out:?}"))
        .unwrap();

    let mut writers = python("race.py", &[&url, &COMMITS.to_string()], &settings);
    let output = writers.stdout.take().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let lines = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        lines.collect::<Vec<Value>>()
    });
    let kinds = [Act::Restore, Act::Optimize, Act::Restore, Act::Optimize];
    let runtime = tokio::runtime::Handle::current();
    let ours: Vec<_> = (0..)
        .zip(kinds)
        .map(|act| {
            let (runtime, root, over) = (runtime.clone(), root.clone(), Arc::clone(&over));
            tokio::task::spawn_blocking(move || runtime.block_on(keep_at_it(root, act, over)))
        })
        .collect();
    let attempts = tokio::task::spawn_blocking(move || reader.join().unwrap())
        .await
        .unwrap();
    assert!(writers.wait().unwrap().success());
    over.store(true, Ordering::Relaxed);
    let mut told = Vec::new();
    for act in ours {
        told.extend(act.await.unwrap());
    }

    let log = read_log(&root).await;
    check_theirs(&attempts, &log);
    check_ours(&told, &log);
    same_for_deltalake(&root, &url, &settings).await;
}

/// Settings of the store, as deltalake takes them.
fn settings(seaweed: &SeaweedFs) -> String {
    let mut settings: HashMap<&str, String> = seaweed.environment();
    settings.insert("conditional_put", "etag".to_owned());
    json!(settings).to_string()
}

fn python(script: &str, arguments: &[&str], settings: &str) -> Child {
    let mut child = Command::new(place::venv("python"))
        .arg(place::repository().join("tests/peers").join(script))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{settings}").unwrap();
    child
}

/// Acts on whatever is the newest version, again and again.
async fn keep_at_it(root: Root, (nth, kind): (u32, Act), over: Arc<AtomicBool>) -> Vec<Told> {
    let host: SharedHost = Arc::new(Quiet);
    let mut told = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let query = HistoryQuery {
            limit: 1,
            before: None,
        };
        let seen = answer::history(&root, &query, &host).await.unwrap();
        let confirmed = seen.latest_version;
        let Some(before) = confirmed.previous() else {
            continue;
        };
        let id = format!("{kind:?} {nth}-{}", told.len());
        let asked = Asked {
            request: PlanRequest {
                kind,
                version: (kind == Act::Restore).then_some(before),
                ..Default::default()
            },
            as_of: acts::now(),
            expect: (kind == Act::Restore).then_some(confirmed),
            limits: Limits::default(),
            sizes: Sizes {
                min: 1 << 20,
                target: 4 << 20,
            },
        };
        let consent = Consent {
            user: None,
            reason: Some(id.clone()),
            plan: None,
            over_appends: false,
        };
        let result = acts::act(&root, &asked, Some(&consent), &host).await;
        told.push(Told {
            id,
            kind,
            confirmed,
            result,
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    told
}

/// `commitInfo` of every version, by version.
async fn read_log(root: &Root) -> Vec<Value> {
    let mut log = Vec::new();
    for version in 0u64.. {
        let key = Path::from(format!("{TABLE}/_delta_log/{version:020}.json"));
        let bytes = match root.store.get(&key).await {
            Ok(answer) => answer.bytes().await.unwrap(),
            Err(object_store::Error::NotFound { .. }) => break,
            Err(error) => panic!("{error}"),
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let info = lines
            .filter_map(|line| line.get("commitInfo").cloned())
            .next();
        log.push(info.unwrap_or_default());
    }
    log
}

fn versions(log: &[Value], key: &str, id: &str) -> Vec<u64> {
    let all = (0u64..).zip(log);
    all.filter(|(_, info)| info[key] == id)
        .map(|(version, _)| version)
        .collect()
}

fn check_theirs(attempts: &[Value], log: &[Value]) {
    let (mut acknowledged, mut refused) = (0, 0);
    for attempt in attempts {
        let found = versions(log, "race", attempt["id"].as_str().unwrap());
        match attempt["acknowledged"] == true {
            // An update that matched no row commits nothing.
            true if attempt["kind"] == "update" => {
                assert!(found.len() <= 1, "{attempt}: {found:?}")
            }
            true => assert_eq!(found.len(), 1, "{attempt}: {found:?}"),
            false => assert!(found.len() <= 1, "{attempt}: {found:?}"),
        }
        match attempt["acknowledged"] == true {
            true => acknowledged += 1,
            false => refused += 1,
        }
    }
    println!(
        "race: {} versions; of deltalake's {acknowledged} acknowledged writes none is missing, {refused} were refused",
        log.len()
    );
    assert!(log.len() as u64 >= COMMITS, "{}", log.len());
    assert!(acknowledged > 300, "{acknowledged}");
}

fn check_ours(told: &[Told], log: &[Value]) {
    let mut counts: HashMap<(String, &str), u64> = HashMap::new();
    for act in told {
        let found = versions(log, "userMetadata", &act.id);
        let about = format!(
            "{:?} {}: {:?}, in the log as {found:?}",
            act.kind, act.id, act.result
        );
        let came = match &act.result {
            Ok(Outcome {
                applied: Some(applied),
                ..
            }) => {
                assert_eq!(found, [applied.committed().0], "{about}");
                let info = &log[applied.committed().0 as usize];
                assert_eq!(info["readVersion"], applied.committed().0 - 1, "{about}");
                if act.kind == Act::Restore {
                    assert_eq!(applied.committed(), act.confirmed.next(), "{about}");
                }
                "done"
            }
            Ok(_) => {
                assert!(found.is_empty(), "{about}");
                "nothing to do"
            }
            Err(error) if error.kind() == Kind::Conflict => {
                assert!(found.is_empty(), "{about}");
                "too late"
            }
            Err(_) => panic!("{about}"),
        };
        *counts.entry((format!("{:?}", act.kind), came)).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort();
    for ((kind, came), count) in &counts {
        println!("race: {kind}: {count} {came}");
    }
    for kind in ["Restore", "Optimize"] {
        let done = counts
            .iter()
            .any(|((k, came), _)| k == kind && *came == "done");
        assert!(done, "no {kind} was done");
    }
}

async fn same_for_deltalake(root: &Root, url: &str, settings: &str) {
    let host: SharedHost = Arc::new(Quiet);
    let ours = answer::snapshot(root, At::Latest, true, &host)
        .await
        .unwrap();
    let output = python("read_whole.py", &[url], settings)
        .wait_with_output()
        .unwrap();
    assert!(output.status.success());
    let theirs: Value = serde_json::from_slice(&output.stdout).unwrap();
    let paths: Vec<&str> = ours
        .paths
        .iter()
        .flatten()
        .map(|f| f.path.as_str())
        .collect();
    assert_eq!(theirs["version"], ours.version.0);
    assert_eq!(theirs["paths"], json!(paths));
    assert_eq!(theirs["rows"], json!(ours.rows));
}
