//! A lake whose closed hours a metastore is told of: its objects, and what the built binary says.

use std::fs;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, TimestampMillisecondArray};
use lake::hours::{Day, Slot};
use lake::plan::{ApplyRequest, PlanRequest};
use object_store::ObjectStoreExt as _;
use object_store::aws::AmazonS3;
use object_store::path::Path;
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use server::acts;
use tempfile::TempDir;
use tests::place;
use tests::seaweed::{BUCKET, SeaweedFs};
use tests::served::Served;

/// Below it lies everything, in the bucket.
const FOLDER: &str = "hive";

/// A dataset's prefix, as URL.
pub(super) fn url(dataset: &str) -> String {
    format!("s3://{BUCKET}/{FOLDER}/{dataset}/")
}

/// Datasets, each with a table of a metastore.
pub(super) struct Lake {
    seaweed: Arc<SeaweedFs>,
    store: AmazonS3,
    folder: TempDir,
    /// A day that is over.
    pub(super) day: Day,
}

/// What the binary answered.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) json: Value,
}

impl Lake {
    /// `tables`: a dataset, its partition columns, and the table that is told.
    pub(super) fn new(seaweed: &Arc<SeaweedFs>, uri: &str, tables: &[(&str, &str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut text = format!(
            "[server]\ncontrol = \"file://{}/control/\"\n\
             [[zone]]\nname = \"raw\"\nurl = \"s3://{BUCKET}/{FOLDER}/\"\n",
            folder.path().display()
        );
        for (dataset, partition, table) in tables {
            text.push_str(&format!(
                "[[dataset]]\nname = \"{dataset}\"\nzone = \"raw\"\nprefix = \"{dataset}/\"\n\
                 partition = [{partition}]\ndefinition_version = \"1\"\n\
                 event_time = \"event_time\"\nclose_after = \"1s\"\n\
                 [dataset.metastore]\nuri = \"{uri}\"\ntable = \"{table}\"\n"
            ));
        }
        fs::write(folder.path().join("tidemark.toml"), text).unwrap();
        Self {
            store: seaweed.store(),
            seaweed: Arc::clone(seaweed),
            folder,
            day: Day::of(acts::now()).plus(-2),
        }
    }

    pub(super) fn slot(&self, hour: u8) -> Slot {
        Slot::hour(self.day, hour)
    }

    /// Where the keys of an hour lie, as URL.
    pub(super) fn hour(&self, dataset: &str, hour: u8) -> String {
        format!("{}event_date={}/hour={hour:02}/", url(dataset), self.day)
    }

    /// Where a run of an hour lies, as URL.
    pub(super) fn run(&self, dataset: &str, hour: u8, run: &str) -> String {
        format!("{}run_id={run}/", self.hour(dataset, hour))
    }

    /// Puts a file of rows at a URL.
    pub(super) async fn put(&self, slot: Slot, url: &str, ids: Range<i64>) {
        let times = ids.clone().map(|id| slot.start().0 + id);
        let times = TimestampMillisecondArray::from_iter_values(times).with_timezone("UTC");
        let columns: [(&str, ArrayRef); 2] = [
            ("id", Arc::new(Int64Array::from_iter_values(ids))),
            ("event_time", Arc::new(times)),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let key = url.strip_prefix(&format!("s3://{BUCKET}/")).unwrap();
        let key = Path::parse(key).unwrap();
        self.store.put(&key, bytes.into()).await.unwrap();
    }

    /// Puts files of ten rows below a URL, their ids from `first` on.
    pub(super) async fn put_files(&self, slot: Slot, url: &str, files: i64, first: i64) {
        for file in 0..files {
            let first = first + 10 * file;
            let url = format!("{url}part-{file}.parquet");
            self.put(slot, &url, first..first + 10).await;
        }
    }

    /// Asks the binary, in JSON. Where it does not end well, it says so in a line.
    pub(super) fn tidemark(&self, words: &[&str]) -> Said {
        let (code, stdout, stderr) = self.run_it(&[words, &["--json"]].concat());
        let json = serde_json::from_str(&stdout);
        let json = json.unwrap_or_else(|e| panic!("{words:?}: {e}: {stdout}{stderr}"));
        let line = stderr.lines().any(|line| line.starts_with("tidemark: "));
        assert_eq!(line, code != Some(0), "{words:?}: {stderr}");
        Said { code, json }
    }

    /// What the binary prints for people.
    pub(super) fn printed(&self, words: &[&str]) -> String {
        self.run_it(words).1
    }

    fn run_it(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(place::tidemark())
            .args(words)
            .arg("--config")
            .arg(self.folder.path().join("tidemark.toml"))
            .envs(self.seaweed.environment())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        (output.status.code(), stdout, stderr)
    }

    /// An act on an hour: its verb, the dataset, and what else is said.
    pub(super) fn act(&self, verb: &str, dataset: &str, hour: u8, words: &[&str]) -> Said {
        let (day, hour) = (self.day.to_string(), hour.to_string());
        let which = [verb, dataset, "--date", &day, "--hour", &hour];
        self.tidemark(&[&which, words].concat())
    }

    /// Publishes a run.
    pub(super) fn publish(&self, dataset: &str, hour: u8, run: &str, count: &str) -> Said {
        self.act("publish", dataset, hour, &["--run", run, "--count", count])
    }

    /// What `check` says an hour is, and the prefix to scan.
    pub(super) fn check(&self, dataset: &str, hour: u8) -> (Option<i32>, Value) {
        let said = self.act("check", dataset, hour, &[]);
        (said.code, said.json["prefix"].clone())
    }

    /// The same lake served.
    pub(super) fn served(&self) -> Served {
        let config = self.folder.path().join("tidemark.toml");
        Served::config(&config, self.seaweed.environment())
    }

    /// Plans an act and carries it out, as the page does: what became of the hour.
    pub(super) async fn by_page(&self, served: &Served, dataset: &str, act: PlanRequest) -> Value {
        let http = tests::http().build().unwrap();
        let post = |path: String, body: Value| {
            let sent = http.post(served.at(&path)).json(&body).send();
            async move {
                let answer = sent.await.unwrap();
                let status = answer.status();
                let json: Value = answer.json().await.unwrap();
                assert!(status.is_success(), "{path}: {status}: {json}");
                json
            }
        };
        let body = serde_json::to_value(&act).unwrap();
        let planned = post(format!("/api/datasets/{dataset}/plans"), body).await;
        let plan = &planned["plan"];
        let inputs = ApplyRequest {
            table: String::new(),
            dataset: Some(dataset.to_owned()),
            request: act,
            as_of: serde_json::from_value(plan["as_of"].clone()).unwrap(),
            base_version: None,
            reason: "a test".to_owned(),
        };
        let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
        let mut told = post(path, serde_json::to_value(inputs).unwrap()).await;
        // What takes longer goes on as a job.
        for _ in 0..300 {
            let applied = match told["state"].as_str() {
                None => &told["applied"],
                Some("done") => &told["result"],
                Some(_) => {
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    let job = format!("/api/jobs/{}", told["id"].as_str().unwrap());
                    let answer = http.get(served.at(&job)).send().await.unwrap();
                    told = answer.json().await.unwrap();
                    continue;
                }
            };
            return applied["hours"].clone();
        }
        panic!("the job does not end: {told}");
    }

    /// What the audit says of acts on a dataset, newest first.
    pub(super) async fn audit(&self, served: &Served) -> Vec<String> {
        let http = tests::http().build().unwrap();
        let answer = http.get(served.at("/api/audit")).send().await.unwrap();
        let page: Value = answer.json().await.unwrap();
        let records = page["records"].as_array().unwrap().iter();
        records
            .map(|record| record["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}
