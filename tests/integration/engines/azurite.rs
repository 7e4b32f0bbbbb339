//! Azurite: Azure Blob Storage.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tempfile::TempDir;
use tests::place;
use tests::process::{Process, free_ports};

use super::reads::Running;

const ACCOUNT: &str = "tidemark";

#[tokio::test]
#[ignore = "needs Azurite: make engines"]
async fn azurite_serves_as_azure_does() {
    let folder = TempDir::new().unwrap();
    let [port] = free_ports();
    let program = place::cache().join("engines/azurite/node_modules/.bin/azurite-blob");
    assert!(program.exists(), "run `scripts/tools.sh azurite`");
    let key = BASE64_STANDARD.encode("a-secret-of-the-tests");
    let mut process = Process::start(
        Command::new(program)
            .args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()])
            .args(["--skipApiVersionCheck", "--silent", "--location"])
            .arg(folder.path())
            .env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{key}"))
            .current_dir(folder.path()),
    );
    process.wait_for_port(port);
    let endpoint = format!("http://127.0.0.1:{port}/{ACCOUNT}");
    create_container(&endpoint, &key);
    let environment = HashMap::from([
        ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.to_owned()),
        ("AZURE_STORAGE_ACCOUNT_KEY", key),
        ("AZURE_STORAGE_ENDPOINT", endpoint),
        ("AZURE_ALLOW_HTTP", "true".to_owned()),
    ]);
    let store = Running {
        name: "Azurite",
        url: "az://lake",
        environment: &environment,
    };
    store.conforms().await;
    store.keeps_conditions().await;
    store.reads_a_table().await;
}

/// What object_store does not do.
fn create_container(endpoint: &str, key: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("integration/engines/container.py");
    let status = Command::new(place::venv("python"))
        .arg(script)
        .args([endpoint, ACCOUNT, key, "lake"])
        .status()
        .unwrap();
    assert!(status.success(), "no container could be made");
}
