//! A server that is killed under a job: the table is as it was, what the job left is known for what
//! it is, and another server goes on.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use lake::answer::{self, Root};
use lake::delta::vacuum::Request;
use lake::host::{Quiet, SharedHost};
use lake::plan::{Act, ApplyRequest, Job, JobState, Jobs, Leftover, Origin, Outcome, PlanRequest};
use lake::table::At;
use lake::wire::SnapshotReport;
use object_store::ObjectStore;
use object_store::path::Path;
use reqwest::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use server::acts;
use tests::place;
use tests::seaweed::{BUCKET, SeaweedFs};
use tests::served::Served;
use tests::wire::Wire;

const TABLE: &str = "killed/users";

/// New files that come into the store before the server dies.
const WRITTEN: u32 = 3;

/// A server's answers.
struct Client(Served);

impl Client {
    async fn get<T: DeserializeOwned>(&self, path: &str) -> T {
        let http = tests::http().build().unwrap();
        let answer = http.get(self.0.at(path)).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.unwrap()
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> (StatusCode, Value) {
        let http = tests::http().build().unwrap();
        let answer = http.post(self.0.at(path)).json(body).send().await.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }

    async fn table(&self) -> String {
        let lake: Value = self.get("/api/lake").await;
        lake["tables"][0]["name"].as_str().unwrap().to_owned()
    }

    async fn plan(&self, kind: Act) -> Outcome {
        let request = PlanRequest {
            kind,
            ..Default::default()
        };
        let table = self.table().await.replace('/', "%2F");
        let path = format!("/api/tables/{table}/plans");
        let (status, answer) = self.post(&path, &request).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
        serde_json::from_value(answer).unwrap()
    }

    /// Carries an optimize out; the answer names the job where it takes long.
    async fn optimize(&self) -> (StatusCode, Value) {
        let plan = self.plan(Act::Optimize).await.plan;
        assert_eq!(plan.refused, None);
        assert!(plan.files_to_write > u64::from(WRITTEN), "{plan:?}");
        let inputs = ApplyRequest {
            table: self.table().await,
            dataset: None,
            request: PlanRequest {
                kind: Act::Optimize,
                ..Default::default()
            },
            as_of: plan.as_of,
            base_version: plan.base_version,
            reason: "small files".to_owned(),
        };
        self.post(&format!("/api/plans/{}/apply", plan.id), &inputs)
            .await
    }

    /// Waits until a job stands as wanted.
    async fn until(&self, id: &str, wanted: JobState, patience: Duration) -> Job {
        let start = Instant::now();
        loop {
            let job: Job = self.get(&format!("/api/jobs/{id}")).await;
            if job.state == wanted {
                return job;
            }
            assert!(start.elapsed() < patience, "{job:?}");
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }
}

/// Objects of the table outside its log, as the store lists them.
async fn objects(root: &Root) -> BTreeSet<String> {
    let listed = root.store.list(Some(&root.path));
    let listed: Vec<_> = listed.try_collect().await.unwrap();
    let keys = listed.iter().map(|meta| meta.location.as_ref());
    let below = keys.map(|key| key[TABLE.len() + 1..].to_owned());
    below.filter(|key| !key.starts_with('_')).collect()
}

async fn snapshot(root: &Root) -> SnapshotReport {
    let host: SharedHost = Arc::new(Quiet);
    answer::snapshot(root, At::Latest, true, &host)
        .await
        .unwrap()
}

/// What deltalake reads.
fn deltalake(seaweed: &SeaweedFs) -> Value {
    let mut child = Command::new(place::venv("python"))
        .arg(place::repository().join("tests/peers/read_whole.py"))
        .arg(format!("s3://{BUCKET}/{TABLE}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", json!(seaweed.environment())).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Files that no commit names.
fn uncommitted(leftovers: &[Leftover]) -> BTreeSet<String> {
    let never = leftovers.iter().filter(|l| l.origin == Origin::Uncommitted);
    never.map(|l| l.key.clone()).collect()
}

/// What a vacuum would delete now if it kept nothing for being young.
async fn without_retention(root: &Root) -> BTreeSet<String> {
    let host: SharedHost = Arc::new(Quiet);
    let request = Request {
        retain: Some(0),
        allow_short: true,
        below_an_hour: true,
        quarantine: false,
        as_of: acts::now(),
        expect: None,
    };
    let planned = acts::vacuum(root, &request, None, &host).await.unwrap();
    uncommitted(&planned.plan.vacuum.unwrap().objects)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_under_an_optimize_leaves_the_table_as_it_was() {
    let seaweed = SeaweedFs::shared();
    let demo = Served::demo();
    let users = demo.demo_folder().unwrap().join("curated/users");
    seaweed.put_folder(&users, TABLE).await;
    let root = Root {
        store: Arc::new(seaweed.store()),
        path: Path::from(TABLE),
        location: TABLE.to_owned(),
    };
    let folder = tempfile::tempdir().unwrap();
    let control = folder.path().join("control");
    let config = folder.path().join("tidemark.toml");
    let text = format!(
        "[server]\ncontrol = \"file://{}/\"\n[[zone]]\nname = \"lake\"\nurl = \"s3://{BUCKET}/killed/\"\n",
        control.display()
    );
    fs::write(&config, text).unwrap();
    let before = snapshot(&root).await;
    let (there, theirs) = (objects(&root).await, deltalake(&seaweed));

    // The store takes so many new files of the job's, and the next one never arrives.
    let wire = Wire::holding(seaweed.endpoint(), "/part-", WRITTEN).await;
    let environment = seaweed.environment_at(wire.endpoint());
    let doomed = Client(Served::config(&config, environment));
    let heir = Client(Served::config(&config, seaweed.environment()));
    let (status, answer) = doomed.optimize().await;
    assert_eq!(status, StatusCode::ACCEPTED, "{answer}");
    let job: Job = serde_json::from_value(answer).unwrap();
    wire.comes_to_a_stand().await;
    heir.until(&job.id, JobState::Running, Duration::ZERO).await;
    doomed.0.kill();
    let killed = Instant::now();

    assert_eq!(snapshot(&root).await, before);
    assert_eq!(deltalake(&seaweed), theirs);
    let now = objects(&root).await;
    assert!(now.is_superset(&there));
    let left: BTreeSet<String> = now.difference(&there).cloned().collect();
    assert_eq!(left.len(), WRITTEN as usize, "{left:?}");
    // Whoever cleans up is told which files these are: too young to go now, and to go later.
    let vacuum = heir.plan(Act::Vacuum).await.plan.vacuum.unwrap();
    assert_eq!(uncommitted(&vacuum.waiting), left);
    assert_eq!(uncommitted(&vacuum.objects), BTreeSet::new());

    // The other server does what the first one did not come to do.
    let (status, answer) = heir.optimize().await;
    let made = match status {
        StatusCode::OK => {
            let outcome: Outcome = serde_json::from_value(answer).unwrap();
            outcome.applied.unwrap().version.unwrap()
        }
        _ => {
            let again: Job = serde_json::from_value(answer).unwrap();
            assert_ne!(again.id, job.id);
            let done = heir.until(&again.id, JobState::Done, Duration::from_secs(60));
            done.await.result.unwrap().version.unwrap()
        }
    };
    assert_eq!(made, before.version.next());
    let after = snapshot(&root).await;
    assert_eq!((after.version, after.rows), (made, before.rows));
    let read = deltalake(&seaweed);
    assert_eq!(read["rows"], theirs["rows"]);
    assert_eq!(read["version"], json!(made.0));
    assert_eq!(without_retention(&root).await, left);

    let orphan = heir.until(&job.id, JobState::Orphaned, Duration::from_secs(90));
    let orphan = orphan.await;
    println!(
        "killed: {} files left by the dead job, none of them lost or committed; orphaned {} s later",
        left.len(),
        killed.elapsed().as_secs()
    );
    assert!(orphan.ended.is_some_and(|ended| ended >= job.started));
    assert_eq!((orphan.result, orphan.error), (None, None));
    let listed: Jobs = heir.get("/api/jobs").await;
    let listed = listed.jobs.iter().find(|other| other.id == job.id);
    assert_eq!(listed.map(|job| job.state), Some(JobState::Orphaned));
}
