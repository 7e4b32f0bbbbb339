//! The server in process, for tests: a router over folders that a test fills.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::app::App;
use crate::config::Config;
use crate::{routes, setup};

/// A server over a folder with two zones, `one` and `two`, and files outside both.
pub(crate) struct TestApp {
    pub(crate) folder: TempDir,
    pub(crate) app: Arc<App>,
    router: Router,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A header's text; empty where it is absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl TestApp {
    /// Files by their path in the folder, each holding its own path.
    pub(crate) async fn new(files: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        for zone in ["one", "two"] {
            fs::create_dir(folder.path().join(zone)).unwrap();
        }
        for file in files {
            write(&folder, file, file);
        }
        Self::over(folder, "").await
    }

    /// The same over a folder that is filled, with more of a configuration.
    pub(crate) async fn over(folder: TempDir, more: &str) -> Self {
        let root = folder.path().canonicalize().unwrap();
        let root = root.display();
        let text = format!(
            "[[zone]]\nname = \"one\"\nurl = \"file://{root}/one/\"\n\
             [[zone]]\nname = \"two\"\nurl = \"file://{root}/two/\"\n{more}"
        );
        Self::configured(folder, &text).await
    }

    /// A server of a configuration.
    pub(crate) async fn configured(folder: TempDir, text: &str) -> Self {
        let config = Config::parse("tidemark.toml", text, &|_| None).unwrap();
        let app = Arc::new(setup::app_of(&config, |_| None).await.unwrap());
        Self {
            folder,
            router: routes::router(Arc::clone(&app)),
            app,
        }
    }

    /// `GET` with no headers but the host's.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    /// `GET` with headers.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(Method::GET, path, headers, "").await
    }

    /// `POST` of JSON.
    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        let headers = [("content-type", "application/json")];
        self.send(Method::POST, path, &headers, body).await
    }

    /// Any request. A `host` among the headers takes the place of the usual one.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost:4800");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.into(),
        }
    }
}

/// Puts a file into a folder.
pub(crate) fn write(folder: &TempDir, file: &str, text: &str) {
    let path = folder.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Puts a Delta table of three versions: two files come, then one goes. Times are given.
pub(crate) fn delta_table(root: &Path) {
    use std::time::{Duration, UNIX_EPOCH};
    let log = root.join("_delta_log");
    fs::create_dir_all(&log).unwrap();
    let commits = [
        concat!(
            r#"{"commitInfo":{"timestamp":1772964000000,"operation":"WRITE","operationParameters":{"mode":"Append"},"operationMetrics":{"numFiles":"1"},"engineInfo":"test","userName":"ana@tlp"}}"#,
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
            r#"{"commitInfo":{"timestamp":1772971200000,"operation":"DELETE","operationParameters":{"predicate":"[\"(region = 'US')\"]"},"userMetadata":"wrong region"}}"#,
            "\n",
            r#"{"remove":{"path":"region=US/a.parquet","deletionTimestamp":1772971200000,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"region":"US"},"size":1000,"stats":"{\"numRecords\":10}"}}"#,
            "\n"
        ),
    ];
    for (version, text) in commits.iter().enumerate() {
        let path = log.join(format!("{version:020}.json"));
        fs::write(&path, text).unwrap();
        let hours = version as u64 * 3600;
        let time = UNIX_EPOCH + Duration::from_secs(1_772_964_000 + hours);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    }
}

/// A status of an answer to be given: tests read better with numbers.
pub(crate) fn is_ok(status: u16) -> bool {
    StatusCode::from_u16(status).is_ok_and(|status| status.is_success())
}
