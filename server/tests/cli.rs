//! The command line as a script sees it: standard output, standard error and the exit code.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may panic; that is how it fails"
)]

#[path = "cli/hours.rs"]
mod hours;
#[path = "cli/layout.rs"]
mod layout;
#[path = "cli/lint.rs"]
mod lint;
#[path = "cli/optimize.rs"]
mod optimize;
#[path = "cli/publish.rs"]
mod publish;
#[path = "cli/readme.rs"]
mod readme;
#[path = "cli/restore.rs"]
mod restore;
#[path = "cli/vacuum.rs"]
mod vacuum;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a table of three versions in `users`, and a configuration that names it.
struct Folder(TempDir);

const COMMITS: [&str; 3] = [
    concat!(
        r#"{"commitInfo":{"timestamp":1772964000000,"operation":"WRITE","operationParameters":{"mode":"Append","auto":false},"operationMetrics":{"numFiles":"1"},"engineInfo":"test","userName":"ana@tlp"}}"#,
        "\n",
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#,
        "\n",
        r#"{"metaData":{"id":"7d1b2c1e-6c4e-4f0e-9b51-3f1c5d2e8a90","name":"users","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":false,\"metadata\":{}},{\"name\":\"region\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["region"],"configuration":{"delta.appendOnly":"false"},"createdTime":1772964000000}}"#,
        "\n",
        r#"{"add":{"path":"region=US/a.parquet","partitionValues":{"region":"US"},"size":1000,"modificationTime":1772964000000,"dataChange":true,"stats":"{\"numRecords\":10}"}}"#,
        "\n"
    ),
    concat!(
        r#"{"commitInfo":{"timestamp":1772967600000,"operation":"WRITE","operationParameters":{"mode":"Append"}}}"#,
        "\n",
        r#"{"add":{"path":"region=UK/b%20c.parquet","partitionValues":{"region":"UK"},"size":500,"modificationTime":1772967600000,"dataChange":true,"stats":"{\"numRecords\":5}"}}"#,
        "\n"
    ),
    concat!(
        r#"{"commitInfo":{"timestamp":1772971200000,"operation":"DELETE\u001b[2J","operationParameters":{"predicate":"[\"(region = 'US')\"]"},"userMetadata":"wrong region"}}"#,
        "\n",
        r#"{"remove":{"path":"region=US/a.parquet","deletionTimestamp":1772971200000,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"region":"US"},"size":1000,"stats":"{\"numRecords\":10}"}}"#,
        "\n"
    ),
];

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        let log = folder.path("lake/users/_delta_log");
        fs::create_dir_all(&log).unwrap();
        for (version, text) in COMMITS.iter().enumerate() {
            let path = log.join(format!("{version:020}.json"));
            fs::write(&path, text).unwrap();
            let time = UNIX_EPOCH + Duration::from_secs(1_772_964_000 + version as u64 * 3600);
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
        }
        let lake = folder.path("lake").canonicalize().unwrap();
        let config = format!(
            "[[zone]]\nname = \"curated\"\nurl = \"file://{}/\"\n\
             [[table]]\nname = \"people\"\nzone = \"curated\"\nprefix = \"users\"\n",
            lake.display()
        );
        fs::write(folder.path("tidemark.toml"), config).unwrap();
        folder
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    /// Runs `tidemark` in the folder, with nothing in its environment that could lead elsewhere.
    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidemark"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TMPDIR", self.0.path());
        command
    }

    /// The document of a command that ends with `code`.
    fn json_of(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {output:?}"
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        let out = text(&output.stdout);
        assert_eq!(out.lines().count(), 1, "one document on one line: {out}");
        serde_json::from_str(&out).unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Fails with the first place where `wanted` says something else than `got`. Fields that only `got`
/// has are allowed: the contract lets fields be added.
fn holds(got: &Value, wanted: &Value, at: &str) {
    match (got, wanted) {
        (Value::Object(got), Value::Object(wanted)) => {
            for (key, value) in wanted {
                let place = format!("{at}.{key}");
                holds(
                    got.get(key).unwrap_or_else(|| panic!("{place} is missing")),
                    value,
                    &place,
                );
            }
        }
        (Value::Array(got), Value::Array(wanted)) => {
            assert_eq!(got.len(), wanted.len(), "{at}");
            for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                holds(got, wanted, &format!("{at}[{index}]"));
            }
        }
        _ => assert_eq!(got, wanted, "{at}"),
    }
}

fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn reports_have_the_shapes_of_the_contract() {
    let folder = Folder::new();
    let cases: [(&[&str], &str); 5] = [
        (&["history", "people"], "history.json"),
        (
            &["snapshot", "people", "--version", "1", "--files"],
            "snapshot.json",
        ),
        (
            &["snapshot", "people", "--at", "2026-03-08T12:30:00+02:00"],
            "snapshot_at.json",
        ),
        (
            &["diff", "people", "--from", "1", "--to", "2", "--files"],
            "diff.json",
        ),
        (&["layout", "people", "--version", "1"], "layout.json"),
    ];
    for (arguments, name) in cases {
        holds(&folder.json(arguments), &golden(name), name);
    }
}

#[test]
fn a_table_is_found_by_name_path_url_and_zone() {
    let folder = Folder::new();
    let root = folder.path("lake/users").canonicalize().unwrap();
    let url = format!("file://{}", root.display());
    let absolute = root.display().to_string();
    for location in [
        "people",
        "lake/users",
        "./lake/users/",
        &absolute,
        &url,
        "curated/users",
    ] {
        let report = folder.json(&["history", location, "--limit", "1", "--moved"]);
        assert_eq!(report["location"], location);
        assert_eq!(report["latest_version"], "2", "{location}");
    }
    let bare = TempDir::new().unwrap();
    let output = folder
        .command(&["history", &absolute, "--json"])
        .current_dir(bare.path())
        .output();
    assert_eq!(
        output.unwrap().status.code(),
        Some(0),
        "no configuration is needed"
    );
}

#[test]
fn people_get_tables_and_no_surprises() {
    let folder = Folder::new();
    let history = text(&folder.run(&["history", "people"]).stdout);
    assert!(
        history.starts_with("people: delta, newest version 2"),
        "{history}"
    );
    assert!(history.contains("2026-03-08 12:00:00Z"), "{history}");
    assert!(history.contains("wrong region"), "{history}");
    assert!(
        history.contains("DELETE\\u{1b}[2J") && !history.contains('\u{1b}'),
        "{history}"
    );
    let snapshot = text(&folder.run(&["snapshot", "people", "--files"]).stdout);
    assert!(snapshot.contains("500 B (500 bytes)"), "{snapshot}");
    assert!(snapshot.contains("region=UK/b c.parquet"), "{snapshot}");
    let diff = text(
        &folder
            .run(&["diff", "people", "--from", "0", "--to", "1"])
            .stdout,
    );
    assert!(diff.contains("append: files only came"), "{diff}");
    let layout = text(&folder.run(&["layout", "people"]).stdout);
    assert!(layout.contains("region=UK"), "{layout}");
    let help = folder.run(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    for command in ["serve", "demo", "history", "snapshot", "diff", "layout"] {
        assert!(text(&help.stdout).contains(command), "{command}");
    }
}

#[test]
fn failures_have_a_line_a_document_and_a_code() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("damaged/_delta_log")).unwrap();
    fs::write(
        folder.path("damaged/_delta_log/00000000000000000000.json"),
        "{\"add\":",
    )
    .unwrap();
    fs::write(
        folder.path("wrong.toml"),
        "[server]\nlisten = \"127.0.0.1:4800\"\nprot = 1\n",
    )
    .unwrap();
    let cases: [(&[&str], i32, &str, &str); 14] = [
        (&["history", "nobody"], 2, "invalid", "nobody"),
        (&["history"], 2, "invalid", "<LOCATION>"),
        (&["tide"], 2, "invalid", "tide"),
        (&[], 2, "invalid", "--help"),
        (
            &["history", "people", "--limit", "0"],
            2,
            "invalid",
            "--limit",
        ),
        (
            &["snapshot", "people", "--version", "-1"],
            2,
            "invalid",
            "-1",
        ),
        (
            &["snapshot", "people", "--at", "2026-03-08T10:00"],
            2,
            "invalid",
            "10:00:00+01:00",
        ),
        (
            &[
                "snapshot",
                "people",
                "--at",
                "2026-03-08T10:00:00Z",
                "--version",
                "1",
            ],
            2,
            "invalid",
            "--version",
        ),
        (&["diff", "people", "--from", "1"], 2, "invalid", "--to"),
        (
            &["snapshot", "people", "--version", "9"],
            1,
            "not_found",
            "9",
        ),
        (&["snapshot", "lake"], 1, "not_found", "lake"),
        (
            &["snapshot", "damaged"],
            5,
            "damaged",
            "00000000000000000000.json",
        ),
        (
            &["history", "people", "--config", "wrong.toml"],
            2,
            "invalid",
            "wrong.toml, line 3",
        ),
        (
            &["serve", "--listen", "0.0.0.0:0"],
            2,
            "invalid",
            "loopback",
        ),
    ];
    for (arguments, code, kind, says) in cases {
        let people = folder.run(arguments);
        assert_eq!(
            people.status.code(),
            Some(code),
            "{arguments:?}: {people:?}"
        );
        let line = text(&people.stderr);
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(
            line.starts_with("tidemark: ") && line.contains(says),
            "{line}"
        );
        assert_eq!(text(&people.stdout), "", "{arguments:?}");

        let program = folder.run(&[arguments, &["--json"]].concat());
        assert_eq!(program.status.code(), Some(code), "{arguments:?}");
        assert!(text(&program.stderr).starts_with("tidemark: "));
        let document: Value = serde_json::from_slice(&program.stdout).unwrap();
        assert_eq!(document["error"]["kind"], kind, "{document}");
        assert!(document["error"]["message"].is_string());
        assert!(document["error"].get("location").is_some());
    }
}

#[test]
fn a_store_that_does_not_answer_is_a_code_of_its_own() {
    let folder = Folder::new();
    let output = folder
        .command(&["history", "s3://bucket/users", "--json"])
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        .env("AWS_ALLOW_HTTP", "true")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["error"]["kind"], "unreachable");
    assert!(!text(&output.stderr).contains("secret"));
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["snapshot", "people", "--files"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(said, "");
}

#[test]
fn the_sample_lake_is_written_with_its_configuration() {
    let folder = Folder::new();
    let told = folder.json(&["demo", "--dir", "sample", "--no-serve"]);
    let config = told["config"].as_str().unwrap().to_owned();
    let users = folder.json(&["history", "users", "--config", &config, "--limit", "1"]);
    assert_eq!(users["commits"][0]["operation"], "DELETE");
    let tables: Vec<&str> = told["tables"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for table in &tables {
        folder.json(&["snapshot", table, "--config", &config]);
        folder.json(&["layout", table, "--config", &config]);
    }
    assert_eq!(
        json!(tables),
        json!(["users", "completion", "progress_stream"])
    );
    let again = folder.run(&["demo", "--dir", "sample", "--no-serve"]);
    assert_eq!(
        again.status.code(),
        Some(2),
        "a folder in use is left alone"
    );
}
