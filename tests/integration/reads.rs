//! The browser's store, put through its tests in a browser: `app/tests/reads.rs`.

use std::process::Command;
use std::time::{Duration, Instant};

use lake::store::conformance;
use object_store::local::LocalFileSystem;
use tempfile::TempDir;
use tests::chromium::{Chromium, Look};
use tests::place;
use tests::process::{Process, free_ports};
use tests::relay::Relay;
use tests::served::Served;

#[tokio::test]
async fn the_browsers_store_does_what_every_store_must() {
    let folder = TempDir::new().unwrap();
    let zone = folder.path().join("zone");
    std::fs::create_dir(&zone).unwrap();
    let store = LocalFileSystem::new_with_prefix(&zone).unwrap();
    conformance::seed(&store).await.unwrap();
    let config = folder.path().join("tidemark.toml");
    let url = url::Url::from_directory_path(&zone).unwrap();
    std::fs::write(
        &config,
        format!("[[zone]]\nname = \"conformance\"\nurl = \"{url}\"\n"),
    )
    .unwrap();
    let served = Served::config(&config, []);

    let [port] = free_ports();
    let _page = page(port).await;
    let relay = Relay::start(format!("http://127.0.0.1:{port}"), served.at("")).await;
    let chromium = Chromium::start(Look::WIDE).await;
    chromium.web().go(&relay.at("/")).await;
    let output = finished(&chromium).await;
    assert!(output.contains("test result: ok."), "{output}");
    println!("{output}");
    // The faults that were meant are in the console.
    chromium.web().console().await;
    chromium.close().await;
}

/// The page of tests, built and served.
async fn page(port: u16) -> Process {
    let build = cargo().arg("--no-run").output().unwrap();
    let said = String::from_utf8_lossy(&build.stderr).into_owned();
    assert!(build.status.success(), "{said}");
    let runner = place::cache().join("tools/bin/wasm-bindgen-test-runner");
    let mut command = cargo();
    command
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner)
        .env("NO_HEADLESS", "1")
        .env("WASM_BINDGEN_TEST_ADDRESS", format!("127.0.0.1:{port}"));
    let mut process = Process::start(&mut command);
    process.wait_for_port(port);
    process
}

fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(place::repository());
    command.args(["test", "--package", "app", "--test", "reads"]);
    command.args(["--target", "wasm32-unknown-unknown"]);
    command
}

/// What the page says once its tests have ended.
async fn finished(chromium: &Chromium) -> String {
    let start = Instant::now();
    loop {
        let script = "return document.getElementById('output')?.textContent ?? ''";
        let output = chromium.web().run(script, &[]).await;
        let output = output.as_str().unwrap_or_default().to_owned();
        if output.contains("test result:") || start.elapsed() > Duration::from_secs(180) {
            return output;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
