//! A Hive metastore over the bucket of a SeaweedFS.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::place;
use crate::process::{Process, free_ports};
use crate::seaweed::SeaweedFs;

/// Hadoop reaches into Java's own classes.
const OPENS: [&str; 3] = ["java.lang", "java.net", "java.util"];

/// A metastore, which can be ended and started again with what it knows.
#[derive(Debug)]
pub struct Hive {
    port: u16,
    process: Option<Process>,
    folder: TempDir,
}

/// A partition, as another client reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub struct Partition {
    /// Its values.
    pub values: Vec<String>,
    /// Where its rows are.
    pub location: String,
}

impl Hive {
    /// Starts an empty one, which takes a while.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn start(seaweed: &SeaweedFs) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let [port] = free_ports();
        configure(folder.path(), seaweed);
        let mut hive = Self {
            port,
            process: None,
            folder,
        };
        hive.up();
        hive
    }

    /// Its address, as clients are told it.
    pub fn uri(&self) -> String {
        format!("thrift://127.0.0.1:{}", self.port)
    }

    /// Starts it where it was, with what it knew.
    pub fn up(&mut self) {
        let home = home();
        let conf = self.folder.path().join("conf");
        let classes = format!("{}:{}/*", conf.display(), home.join("lib").display());
        let log = self.folder.path().join("derby.log");
        let mut command = Command::new(home.join("java/bin/java"));
        // What starts quickly is quicker here than what runs quickly.
        command
            .args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .args(["-cp", &classes])
            .args(OPENS.map(|package| format!("--add-opens=java.base/{package}=ALL-UNNAMED")))
            .arg(format!("-Dderby.stream.error.file={}", log.display()))
            .arg("org.apache.hadoop.hive.metastore.HiveMetaStore")
            .args(["-p", &self.port.to_string()])
            .env("METASTORE_CONF_DIR", &conf)
            .current_dir(self.folder.path());
        self.process = Some(Process::start(&mut command));
    }

    /// Waits until it listens.
    ///
    /// # Panics
    /// If it does not, or was ended.
    pub fn wait(&mut self) {
        let process = self.process.as_mut().expect("it was started");
        process.wait_for_port(self.port);
    }

    /// Ends it as a power cut does.
    pub fn down(&mut self) {
        self.process = None;
    }

    /// Holds it: connections are taken, and nothing is answered.
    pub fn hold(&self) {
        self.process.as_ref().expect("it runs").signal("STOP");
    }

    /// Lets it go on.
    pub fn release(&self) {
        self.process.as_ref().expect("it runs").signal("CONT");
    }

    /// The partitions of a table, by a client that is not ours, in order of their values.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn partitions(&self, database: &str, table: &str) -> Vec<Partition> {
        let output = Command::new(home().join("venv/bin/python"))
            .arg(place::repository().join("tests/peers/partitions.py"))
            .args([&self.port.to_string(), database, table])
            .output()
            .expect("it can be run");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{database}.{table}: {complaint}");
        let all: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let mut all: Vec<Partition> = serde_json::from_value(all).expect("these are partitions");
        all.sort();
        all
    }
}

fn home() -> PathBuf {
    let home = place::cache().join("engines/hive");
    assert!(home.join("lib").exists(), "run `scripts/tools.sh hive`");
    home
}

fn configure(folder: &Path, seaweed: &SeaweedFs) {
    let lake = seaweed.environment();
    let at = folder.display();
    let database = format!("jdbc:derby:;databaseName={at}/db;create=true");
    let warehouse = format!("file:{at}/warehouse");
    let properties = [
        ("javax.jdo.option.ConnectionURL", database.as_str()),
        (
            "javax.jdo.option.ConnectionDriverName",
            "org.apache.derby.jdbc.EmbeddedDriver",
        ),
        ("datanucleus.schema.autoCreateAll", "true"),
        ("metastore.schema.verification", "false"),
        ("metastore.thrift.bind.host", "127.0.0.1"),
        ("metastore.warehouse.dir", &warehouse),
        ("metastore.warehouse.external.dir", &warehouse),
        (
            "metastore.expression.proxy",
            "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
        ),
        // It looks whether a partition's location is there.
        ("fs.s3.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem"),
        ("fs.s3a.endpoint", seaweed.endpoint()),
        ("fs.s3a.endpoint.region", &lake["AWS_REGION"]),
        ("fs.s3a.access.key", &lake["AWS_ACCESS_KEY_ID"]),
        ("fs.s3a.secret.key", &lake["AWS_SECRET_ACCESS_KEY"]),
        ("fs.s3a.path.style.access", "true"),
        ("fs.s3a.connection.ssl.enabled", "false"),
    ];
    let lines: String = properties
        .iter()
        .map(|(name, value)| {
            format!("<property><name>{name}</name><value>{value}</value></property>\n")
        })
        .collect();
    let conf = folder.join("conf");
    fs::create_dir(&conf).expect("it can be made");
    let write = |name: &str, text: &str| {
        fs::write(conf.join(name), text).expect("it can be written");
    };
    write(
        "metastore-site.xml",
        &format!("<configuration>\n{lines}</configuration>\n"),
    );
    write(
        "log4j2.properties",
        "status=error\nappender.e.type=Console\nappender.e.name=e\nappender.e.target=SYSTEM_ERR\n\
         appender.e.layout.type=PatternLayout\nappender.e.layout.pattern=%d %p %c{1}: %m%n\n\
         rootLogger.level=error\nrootLogger.appenderRef.e.ref=e\n",
    );
}
