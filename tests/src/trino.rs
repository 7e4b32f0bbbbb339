//! Trino over the tables of a SeaweedFS, those with a log and those of a Hive metastore.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::hive::Hive;
use crate::process::{Process, free_ports};
use crate::seaweed::SeaweedFs;
use crate::{http, place};

/// No answer takes so long, not even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A running Trino with one catalog.
#[derive(Debug)]
pub struct Trino {
    url: String,
    catalog: &'static str,
    client: reqwest::Client,
    process: Process,
    _folder: TempDir,
}

/// The rows of an answer.
pub type Rows = Vec<Vec<Value>>;

impl Trino {
    /// Starts one over Delta tables, its catalog `delta` with one schema, `default`; and waits until
    /// it answers.
    ///
    /// # Panics
    /// If it is not installed, or does not become ready.
    pub async fn start(seaweed: &SeaweedFs) -> Self {
        let trino = Self::with("delta", |folder| delta(folder, seaweed)).await;
        trino.run("create schema delta.default").await;
        trino
    }

    /// Starts one over the tables of a metastore, its catalog `hive`; and waits until it answers.
    ///
    /// # Panics
    /// As [`Self::start`].
    pub async fn over(hive: &Hive, seaweed: &SeaweedFs) -> Self {
        Self::with("hive", |_| tables_of(hive, seaweed)).await
    }

    async fn with(
        catalog: &'static str,
        properties: impl Fn(&Path) -> Vec<(&'static str, String)>,
    ) -> Self {
        let home = place::cache().join("engines/trino");
        let launcher = home.join("bin/launcher");
        assert!(launcher.exists(), "run `scripts/tools.sh trino`");
        let folder = TempDir::new().expect("a temporary folder can be made");
        let [port] = free_ports();
        configure(folder.path(), port, catalog, properties(folder.path()));
        let mut process = Process::start(
            Command::new(launcher)
                .arg("run")
                .arg(flag("etc-dir", &folder.path().join("etc")))
                .arg(flag("data-dir", &folder.path().join("data")))
                .env("JAVA_HOME", place::cache().join("engines/trino-java"))
                .current_dir(folder.path()),
        );
        process.wait_for_port(port);
        let trino = Self {
            url: format!("http://127.0.0.1:{port}"),
            catalog,
            client: http()
                .timeout(PATIENCE)
                .build()
                .expect("a client can be made"),
            process,
            _folder: folder,
        };
        trino.wait().await;
        trino
    }

    /// It listens before it knows its catalogs.
    async fn wait(&self) {
        for _ in 0..1_200 {
            let info = self.client.get(format!("{}/v1/info", self.url)).send();
            if let Ok(info) = info.await
                && let Ok(info) = info.json::<Value>().await
                && info["starting"] == false
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("Trino does not become ready\n{}", self.process.stderr());
    }

    /// What a statement answers.
    ///
    /// # Panics
    /// If it fails.
    pub async fn run(&self, statement: &str) -> Rows {
        let rows = self.try_run(statement).await;
        rows.unwrap_or_else(|why| panic!("Trino: {statement}: {why}"))
    }

    /// What a statement answers, or the error in Trino's words.
    pub async fn try_run(&self, statement: &str) -> Result<Rows, String> {
        // In its first seconds it does not know itself, and has done nothing when it says so.
        for _ in 0..100 {
            match self.ask(statement).await {
                Err(why) if why == "No nodes available to run query" => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                answer => return answer,
            }
        }
        self.ask(statement).await
    }

    /// An answer comes in pages, each of which names the next one.
    async fn ask(&self, statement: &str) -> Result<Rows, String> {
        let first = self
            .client
            .post(format!("{}/v1/statement", self.url))
            .header("X-Trino-User", "tests")
            .header("X-Trino-Catalog", self.catalog)
            .header("X-Trino-Schema", "default")
            .header("X-Trino-Time-Zone", "UTC")
            .body(statement.to_owned());
        let mut rows = Rows::new();
        let mut request = first;
        loop {
            let said = |error: reqwest::Error| error.to_string();
            let page = request.send().await.map_err(said)?;
            let page: Value = page.json().await.map_err(said)?;
            if let Some(why) = page["error"]["message"].as_str() {
                return Err(why.to_owned());
            }
            for row in page["data"].as_array().into_iter().flatten() {
                rows.push(row.as_array().cloned().unwrap_or_default());
            }
            let Some(next) = page["nextUri"].as_str() else {
                return Ok(rows);
            };
            request = self.client.get(next);
        }
    }
}

fn flag(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

fn configure(folder: &Path, port: u16, catalog: &str, properties: Vec<(&str, String)>) {
    let write = |file: &str, lines: &[(&str, &str)]| {
        let mut text = String::new();
        for (key, value) in lines {
            writeln!(text, "{key}={value}").expect("a string takes it");
        }
        let file = folder.join("etc").join(file);
        fs::create_dir_all(file.parent().expect("it lies in a folder")).expect("it can be made");
        fs::write(file, text).expect("it can be written");
    };
    write(
        "node.properties",
        &[
            ("node.environment", "tests"),
            ("node.id", "tests"),
            ("node.bind-ip", "127.0.0.1"),
            ("node.internal-address", "127.0.0.1"),
        ],
    );
    let port = port.to_string();
    write(
        "config.properties",
        &[
            ("coordinator", "true"),
            ("node-scheduler.include-coordinator", "true"),
            ("http-server.http.port", &port),
            ("discovery.uri", &format!("http://127.0.0.1:{port}")),
            ("query.max-memory-per-node", "512MB"),
            ("memory.heap-headroom-per-node", "256MB"),
        ],
    );
    write("log.properties", &[("io.trino", "WARN")]);
    // What starts quickly is quicker here than what runs quickly.
    let java = "-server\n-Xmx2G\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n-XX:ReservedCodeCacheSize=256M\n\
                -Djdk.attach.allowAttachSelf=true\n-Duser.timezone=UTC\n--enable-native-access=ALL-UNNAMED\n";
    fs::write(folder.join("etc/jvm.config"), java).expect("it can be written");
    let properties: Vec<(&str, &str)> = properties
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    write(&format!("catalog/{catalog}.properties"), &properties);
}

fn store(seaweed: &SeaweedFs) -> [(&'static str, String); 6] {
    let mut lake = seaweed.environment();
    let mut of = |name| lake.remove(name).unwrap_or_default();
    [
        ("fs.native-s3.enabled", "true".to_owned()),
        ("s3.endpoint", seaweed.endpoint().to_owned()),
        ("s3.region", of("AWS_REGION")),
        ("s3.aws-access-key", of("AWS_ACCESS_KEY_ID")),
        ("s3.aws-secret-key", of("AWS_SECRET_ACCESS_KEY")),
        ("s3.path-style-access", "true".to_owned()),
    ]
}

fn delta(folder: &Path, seaweed: &SeaweedFs) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("connector.name", "delta_lake".to_owned()),
        ("hive.metastore", "file".to_owned()),
        (
            "hive.metastore.catalog.dir",
            "local:///metastore".to_owned(),
        ),
        ("fs.native-local.enabled", "true".to_owned()),
        ("local.location", folder.display().to_string()),
        ("delta.register-table-procedure.enabled", "true".to_owned()),
    ];
    properties.extend(store(seaweed));
    properties
}

fn tables_of(hive: &Hive, seaweed: &SeaweedFs) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("connector.name", "hive".to_owned()),
        ("hive.metastore.uri", hive.uri()),
        // What a partition is and which files it has is asked for each statement, and never
        // remembered: a partition may be read from elsewhere a moment later.
        ("hive.metastore-cache-ttl", "0s".to_owned()),
        ("hive.file-status-cache-tables", String::new()),
        ("hive.allow-register-partition-procedure", "true".to_owned()),
    ];
    properties.extend(store(seaweed));
    properties
}
