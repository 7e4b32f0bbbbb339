//! Spark's process, and what it says.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tests::place;
use tests::seaweed::SeaweedFs;

use super::streams::Ends;

/// No statement takes so long, not even the first one on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// What Spark says of a table after a statement.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) table: String,
    pub(super) statement: String,
    pub(super) version: u64,
    pub(super) rows: u64,
    /// Of all values, in whatever order.
    pub(super) digest: String,
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Full URLs, decoded.
    pub(super) paths: Vec<String>,
    pub(super) id: String,
    pub(super) schema: Value,
    pub(super) partition_columns: Vec<String>,
    pub(super) clustering_columns: Vec<String>,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) reader_version: u64,
    pub(super) writer_version: u64,
    pub(super) features: Vec<String>,
    pub(super) history: Vec<Value>,
}

/// One line of Spark's.
pub(super) enum Said {
    Facts(Box<Facts>),
    /// A table is as Spark left it; the next word on it is ours.
    Act {
        table: String,
        act: String,
    },
    /// A table that readers stream is to be restored to a version.
    Streams {
        case: String,
        table: String,
        target: u64,
    },
    /// How those readers ended.
    Ended {
        case: String,
        ends: Ends,
    },
    /// No more comes of a table, for a reason where that is too early.
    Whole {
        table: String,
        failed: Option<String>,
    },
}

/// The process. It waits after each statement until it is told to go on with the table.
pub(super) struct Driver {
    process: Child,
    lines: Receiver<String>,
    scratch: TempDir,
}

/// Whether `ENGINES_TABLES` names the tables to be written, for a person at work on one of them.
pub(super) fn only_some() -> bool {
    env::var_os("ENGINES_TABLES").is_some()
}

impl Driver {
    pub(super) fn start(seaweed: &SeaweedFs, url: &str) -> Self {
        let home = place::cache().join("engines/spark");
        let python = installed(home.join("bin/python"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("integration/engines/spark.py");
        let scratch = TempDir::new().unwrap();
        let stderr = File::create(scratch.path().join("stderr")).unwrap();
        let tables = env::var("ENGINES_TABLES").unwrap_or_default();
        let mut process = Command::new(python)
            .arg(script)
            .arg(url)
            .args(tables.split_whitespace())
            .envs(seaweed.environment())
            .env("SPARK_JARS", installed(home.join("ivy/jars")))
            .env("SPARK_SCRATCH", scratch.path())
            .env("SPARK_LOCAL_IP", "127.0.0.1")
            // Python's times are Spark's.
            .env("TZ", "UTC")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            // With its JVM, which must not outlive it.
            .process_group(0)
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Delta itself says a word there when it upgrades a table.
            let said = |line: &String| line.starts_with('{');
            for line in output.lines().map_while(Result::ok).filter(said) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut driver = Self {
            process,
            lines,
            scratch,
        };
        let started = driver.line();
        println!("engines: Spark: {}", started.unwrap_or_default());
        driver
    }

    /// Lets it execute the next statement of a table.
    pub(super) fn go_on(&mut self, table: &str) {
        let input = self.process.stdin.as_mut().unwrap();
        writeln!(input, "{table}").unwrap();
    }

    /// The same, after an act of ours.
    pub(super) fn go_on_after_act(&mut self, table: &str) {
        let input = self.process.stdin.as_mut().unwrap();
        writeln!(input, "{table} done").unwrap();
    }

    /// What it says of a next statement; `None` after the last one.
    pub(super) fn next(&mut self) -> Option<Said> {
        let Some(line) = self.line() else {
            let status = self.process.wait().unwrap();
            assert!(status.success(), "Spark failed: {status}\n{}", self.log());
            return None;
        };
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        if let Some(act) = value["act"].as_str() {
            return Some(Said::Act {
                table: text(&value["table"]),
                act: act.to_owned(),
            });
        }
        if let Some(target) = value["target"].as_u64() {
            return Some(Said::Streams {
                case: text(&value["table"]),
                table: text(&value["streams"]),
                target,
            });
        }
        if value["ends"].is_object() {
            return Some(Said::Ended {
                case: text(&value["table"]),
                ends: serde_json::from_value(value["ends"].clone()).unwrap(),
            });
        }
        let failed = value["failed"].as_str().map(str::to_owned);
        if failed.is_some() || value["whole"] == true {
            let table = text(&value["table"]);
            return Some(Said::Whole { table, failed });
        }
        Some(Said::Facts(Box::new(facts(&value))))
    }

    fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("Spark has said nothing for {PATIENCE:?}\n{}", self.log())
            }
        }
    }

    /// The end of what it wrote to standard error.
    fn log(&self) -> String {
        let log = fs::read_to_string(self.scratch.path().join("stderr")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Only a failed test gets here with Spark still at work.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill")
            .args(["-KILL", "--", &group])
            .stderr(Stdio::null())
            .status();
        let _ = self.process.wait();
    }
}

fn facts(value: &Value) -> Facts {
    let number = |key: &str| {
        value[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key}: {value}"))
    };
    let texts = |key: &str| serde_json::from_value(value[key].clone()).unwrap();
    Facts {
        table: text(&value["table"]),
        statement: text(&value["statement"]),
        version: number("version"),
        rows: number("rows"),
        digest: text(&value["digest"]),
        files: number("files"),
        bytes: number("bytes"),
        paths: texts("paths"),
        id: text(&value["id"]),
        schema: value["schema"].clone(),
        partition_columns: texts("partition_columns"),
        clustering_columns: texts("clustering_columns"),
        properties: serde_json::from_value(value["properties"].clone()).unwrap(),
        reader_version: number("min_reader_version"),
        writer_version: number("min_writer_version"),
        features: texts("features"),
        history: value["history"].as_array().unwrap().clone(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn installed(path: PathBuf) -> PathBuf {
    let shown = path.display();
    assert!(
        path.exists(),
        "{shown} is missing: run `scripts/tools.sh spark`"
    );
    path
}
