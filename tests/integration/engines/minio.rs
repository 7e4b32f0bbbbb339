//! MinIO: another store that speaks S3.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use tempfile::TempDir;
use tests::place;
use tests::process::{Process, free_ports};

use super::reads::Running;

const USER: &str = "tidemark";
const PASSWORD: &str = "a-secret-of-the-tests";

#[tokio::test]
#[ignore = "needs MinIO: make engines"]
async fn minio_serves_as_s3_does() {
    let folder = TempDir::new().unwrap();
    // A folder is a bucket.
    fs::create_dir(folder.path().join("lake")).unwrap();
    let [port, console] = free_ports();
    let program = place::cache().join("engines/bin/minio");
    assert!(program.exists(), "run `scripts/tools.sh minio`");
    let mut process = Process::start(
        Command::new(program)
            .arg("server")
            .arg(folder.path())
            .args(["--address", &format!("127.0.0.1:{port}")])
            .args(["--console-address", &format!("127.0.0.1:{console}")])
            .env("MINIO_ROOT_USER", USER)
            .env("MINIO_ROOT_PASSWORD", PASSWORD)
            .env("MINIO_BROWSER", "off")
            .env("MINIO_UPDATE", "off"),
    );
    process.wait_for_port(port);
    let environment = HashMap::from([
        ("AWS_ACCESS_KEY_ID", USER.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", PASSWORD.to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
    ]);
    let store = Running {
        name: "MinIO",
        url: "s3://lake",
        environment: &environment,
    };
    store.conforms().await;
    store.keeps_conditions().await;
    store.reads_a_table().await;
}
