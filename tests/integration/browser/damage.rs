//! Damaged and hostile tables: what is broken is named with its key, and nothing else breaks.

use std::path::Path;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use serde_json::json;
use tempfile::TempDir;
use tests::chromium::Look;
use tests::served::Served;
use tests::{Hint, TableBuilder};

use super::explorer::Explorer;

const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\">";

/// A server over three tables of five commits each: a whole one, one that lacks version 1, and one
/// whose newest commit is full of markup.
async fn serve(zone: &Path) -> Arc<Served> {
    let store = Arc::new(LocalFileSystem::new_with_prefix(zone).unwrap());
    let whole = TableBuilder::new(5).hint(Hint::Missing);
    whole.build(Arc::clone(&store) as _, "whole").await;
    let gapped = TableBuilder::new(5).hint(Hint::Missing).gap(1);
    gapped.build(Arc::clone(&store) as _, "gapped").await;
    whole.build(Arc::clone(&store) as _, "hostile").await;
    let lines = [
        json!({ "commitInfo": {
            "timestamp": 1_772_964_000_000_i64, "operation": HOSTILE, "userName": HOSTILE,
            "operationParameters": { "predicate": HOSTILE },
        }}),
        json!({ "add": {
            "path": "%3Cimg%20src=x%20onerror=alert(1)%3E.parquet", "partitionValues": {},
            "size": 1, "modificationTime": 1, "dataChange": true,
        }}),
    ];
    let log = zone.join("hostile/_delta_log/00000000000000000004.json");
    std::fs::write(log, lines.map(|line| line.to_string()).join("\n")).unwrap();

    let config = zone.with_extension("toml");
    let url = url::Url::from_directory_path(zone).unwrap();
    let text = format!("[[zone]]\nname = \"raw\"\nurl = \"{url}\"\n");
    std::fs::write(&config, text).unwrap();
    Arc::new(Served::config(&config, []))
}

#[tokio::test]
async fn a_gap_is_named_and_its_neighbours_open() {
    let folder = TempDir::new().unwrap();
    let zone = folder.path().join("zone");
    std::fs::create_dir(&zone).unwrap();
    let explorer = Explorer::over(serve(&zone).await, Look::WIDE, "/").await;
    let page = &explorer.chromium;

    explorer.go(&explorer.at("gapped", "/v/4")).await;
    page.reads("00000000000000000001.json").await;
    explorer.go(&explorer.at("gapped", "")).await;
    page.sees("link", "4").await;
    explorer.go(&explorer.at("whole", "/v/4")).await;
    page.sees("heading", "whole").await;
    explorer.close().await;
}

#[tokio::test]
async fn markup_in_a_log_is_text_on_the_page() {
    let folder = TempDir::new().unwrap();
    let zone = folder.path().join("zone");
    std::fs::create_dir(&zone).unwrap();
    let explorer = Explorer::over(serve(&zone).await, Look::WIDE, "/").await;
    let page = &explorer.chromium;

    for at in ["", "/c/4", "/v/4", "/diff/3..4", "/layout"] {
        explorer.go(&explorer.at("hostile", at)).await;
        let script = "return [document.querySelectorAll('img').length, document.title]";
        let found = page.web().run(script, &[]).await;
        assert_eq!(found[0], 0, "an image on {at}");
        assert_ne!(found[1], "owned", "a script ran on {at}");
    }
    explorer.go(&explorer.at("hostile", "/c/4")).await;
    page.reads("onerror=").await;
    explorer.close().await;
}
