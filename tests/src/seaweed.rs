//! SeaweedFS: an S3 store that demands signatures and keeps conditional puts.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path as DiskPath;
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};

use object_store::ObjectStoreExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path;
use tempfile::TempDir;

use crate::place;
use crate::process::{Process, free_ports};

const ACCESS_KEY: &str = "tidemark";
const SECRET_KEY: &str = "a-secret-of-the-tests";
/// The bucket that is there from the start.
pub const BUCKET: &str = "lake";

/// A running SeaweedFS, empty but for one bucket.
#[derive(Debug)]
pub struct SeaweedFs {
    endpoint: String,
    /// Whether it asks nobody who he is.
    open: bool,
    _process: Process,
    _folder: TempDir,
}

impl SeaweedFs {
    /// The store that tests running at once share; ended with the last of them.
    pub fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<SeaweedFs>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(|poison| poison.into_inner());
        shared.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Self::start());
            *shared = Arc::downgrade(&started);
            started
        })
    }

    /// Starts one, and waits until it answers for the bucket.
    pub fn start() -> Self {
        Self::start_as(false)
    }

    /// Starts one that takes requests without a signature.
    pub fn start_open() -> Self {
        Self::start_as(true)
    }

    fn start_as(open: bool) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let identities = folder.path().join("identities.json");
        fs::write(
            &identities,
            format!(
                r#"{{"identities":[{{"name":"tests","credentials":[{{"accessKey":"{ACCESS_KEY}","secretKey":"{SECRET_KEY}"}}],"actions":["Admin","Read","Write","List","Tagging"]}}]}}"#
            ),
        )
        .expect("it can be written");
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("it can be made");

        let ports: [u16; 13] = free_ports();
        let [s3, ..] = ports;
        let flags = [
            "s3.port",
            "s3.port.grpc",
            "s3.port.iceberg",
            "s3.port.lance",
            "master.port",
            "master.port.grpc",
            "volume.port",
            "volume.port.grpc",
            "filer.port",
            "filer.port.grpc",
            "admin.port",
            "admin.port.grpc",
            "metricsPort",
        ];
        let mut command = Command::new(place::venv("weed"));
        command
            .arg("mini")
            .args([
                "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1",
                "-metricsIp=127.0.0.1",
            ])
            .args(["-webdav=false", "-admin.ui=false"])
            .arg(format!("-dir={}", data.display()))
            .arg(format!("-bucket={BUCKET}"))
            .args(
                flags
                    .iter()
                    .zip(ports)
                    .map(|(flag, port)| format!("-{flag}={port}")),
            )
            .current_dir(folder.path());
        if !open {
            command.arg(format!("-s3.config={}", identities.display()));
        }
        let mut process = Process::start(&mut command);
        process.wait_for_port(s3);
        let seaweed = Self {
            endpoint: format!("http://127.0.0.1:{s3}"),
            open,
            _process: process,
            _folder: folder,
        };
        seaweed.wait_for_bucket();
        seaweed
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// What a program reads from its environment to reach it.
    pub fn environment(&self) -> HashMap<&'static str, String> {
        self.environment_at(&self.endpoint)
    }

    /// The same for a program that reaches it by another address.
    pub fn environment_at(&self, endpoint: &str) -> HashMap<&'static str, String> {
        let mut environment = HashMap::from([
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ENDPOINT_URL", endpoint.to_owned()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
        ]);
        match self.open {
            true => environment.extend([("AWS_SKIP_SIGNATURE", "true".to_owned())]),
            false => environment.extend([
                ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
                ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
            ]),
        }
        environment
    }

    /// The same as object_store's own keys, as `[zone.store]` takes them.
    pub fn overrides(&self) -> BTreeMap<String, String> {
        let environment = self.environment().into_iter();
        environment
            .map(|(key, value)| (key.to_lowercase(), value))
            .collect()
    }

    /// Puts all files of a folder under a prefix.
    pub async fn put_folder(&self, folder: &DiskPath, prefix: &str) {
        let store = self.store();
        let mut folders = vec![(folder.to_owned(), prefix.to_owned())];
        while let Some((folder, prefix)) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the folder can be listed") {
                let path = entry.expect("the folder can be listed").path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let key = format!("{prefix}/{name}");
                if path.is_dir() {
                    folders.push((path, key));
                    continue;
                }
                let bytes = fs::read(&path).expect("the file can be read");
                let key = Path::parse(&key).expect("its name is a key");
                let put = store.put(&key, bytes.into()).await;
                put.expect("the store takes it");
            }
        }
    }

    /// A client of its bucket that signs, unless nobody has to.
    pub fn store(&self) -> AmazonS3 {
        self.builder().build().expect("the settings are whole")
    }

    /// The same, for a test that sets more.
    pub fn builder(&self) -> AmazonS3Builder {
        server::stores::encryption();
        AmazonS3Builder::new()
            .with_endpoint(&self.endpoint)
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_bucket_name(BUCKET)
            .with_skip_signature(self.open)
            .with_access_key_id(ACCESS_KEY)
            .with_secret_access_key(SECRET_KEY)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
    }

    /// The port answers before the bucket is made.
    fn wait_for_bucket(&self) {
        let store = self.store();
        let probe = async move {
            let key = Path::from("_ready");
            for _ in 0..600 {
                if store.put(&key, "ready".into()).await.is_ok() {
                    return store.delete(&key).await.expect("it was put");
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            panic!("SeaweedFS has no bucket {BUCKET}");
        };
        // A thread of its own: a test's runtime does not let itself be blocked on.
        std::thread::spawn(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime can be made")
                .block_on(probe);
        })
        .join()
        .expect("SeaweedFS became ready");
    }
}
