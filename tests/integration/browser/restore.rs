//! The on-call person's minute: the wrong DELETE of the sample lake undone, and others read it so.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tests::chromium::{Chromium, Look};
use tests::place;
use tests::served::Served;

use super::explorer::Explorer;

/// The field for the reason.
const WHY: &str = "Why? It is written into the table's own log";

/// Gives the reason and restores a version over the newest.
async fn put_back(page: &Chromium, [target, newest]: [u64; 2], reason: &str) {
    page.fill("textbox", WHY, reason).await;
    page.press("button", &format!("Restore version {target} over {newest}"))
        .await;
}

/// Asserts that every peer reads exactly the same rows of both versions; answers how many.
fn assert_same_rows(table: &Path, versions: [u64; 2]) -> u64 {
    let output = Command::new(place::venv("python"))
        .arg(place::repository().join("tests/peers/rows.py"))
        .arg(table)
        .args(versions.map(|v| v.to_string()))
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let text = String::from_utf8(output.stdout).unwrap();
    let facts: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let read: BTreeSet<(&str, u64)> = facts
        .iter()
        .map(|f| (f["peer"].as_str().unwrap(), f["version"].as_u64().unwrap()))
        .collect();
    let [before, after] = versions;
    let mut wanted = BTreeSet::from([("pysail", after)]);
    for peer in ["deltalake", "duckdb"] {
        wanted.extend([(peer, before), (peer, after)]);
    }
    assert_eq!(read, wanted, "{text}");
    for fact in &facts {
        assert_eq!(fact["digest"], facts[0]["digest"], "{text}");
    }
    facts[0]["rows"].as_u64().unwrap()
}

#[tokio::test]
async fn a_wrong_delete_is_undone_in_two_clicks_and_a_sentence() {
    let served = Arc::new(Served::own_demo());
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/").await;
    let page = &explorer.chromium;
    let delete = explorer.version_of("users", "DELETE").await;
    let (target, made) = (delete - 1, delete + 1);

    page.press("link", "Restore…").await;
    page.reads(&format!("Put back version {target}?")).await;
    page.reads(&format!("Version {target}, committed ")).await;
    page.reads("what was erased for privacy must be erased again")
        .await;
    put_back(page, [target, delete], "the wrong region").await;
    page.reads(&format!("Version {made} is version {target} again."))
        .await;
    page.sees("link", &format!("The way back: version {delete}…"))
        .await;

    // What was asked is over, and the rail knows it.
    let calm = "return !document.querySelector('.rail [aria-current] .dot.attention')";
    while page.web().run(calm, &[]).await != true {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let said = page.text().await;
    assert!(!said.contains("Put back version"), "{said}");
    page.look(Look::NARROW).await;
    let width = "return document.documentElement.scrollWidth";
    assert_eq!(page.web().run(width, &[]).await, 390);
    page.look(Look::WIDE).await;

    let newest = &explorer.history("users").await[0];
    assert_eq!(newest["operation"], "RESTORE");
    assert_eq!(newest["reason"], "the wrong region");
    let lake = served.demo_folder().unwrap();
    let table = lake.join("curated/users");
    let rows = assert_same_rows(&table, [target, made]);
    assert!(rows > 40_000, "{rows}");

    // The way back works too.
    page.press("link", &format!("The way back: version {delete}…"))
        .await;
    page.reads(&format!("Put back version {delete}?")).await;
    put_back(page, [delete, made], "a test").await;
    page.reads(&format!("Version {} is version {delete} again.", made + 1))
        .await;
    let rows = assert_same_rows(&table, [delete, made + 1]);
    assert!((1..40_000).contains(&rows), "{rows}");
    // Both are restores by name, and nobody is called for what was done on purpose.
    page.press("link", "Open the commit").await;
    page.reads(&format!("Restore to version {delete}.")).await;
    explorer.go("/").await;
    page.reads("progress_stream").await;
    let said = page.text().await;
    assert!(!said.contains("% of the rows"), "{said}");
    explorer.close().await;
}

#[tokio::test]
async fn a_head_that_moved_is_said_and_planned_anew() {
    let served = Arc::new(Served::own_demo());
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/").await;
    let delete = explorer.version_of("users", "DELETE").await;
    let target = delete - 1;
    explorer
        .go(&explorer.at("users", &format!("/restore?to={target}")))
        .await;
    let page = &explorer.chromium;
    page.reads(&format!("Put back version {target}?")).await;
    page.fill("textbox", WHY, "it's wrong").await;
    page.reads(&format!(
        "--version {target} --expect {delete} --apply --reason 'it'\\''s wrong'"
    ))
    .await;
    // Somebody commits, even without a file, while the plan is read.
    let log = served
        .demo_folder()
        .unwrap()
        .join("curated/users/_delta_log");
    let line = r#"{"commitInfo":{"timestamp":1,"operation":"VACUUM END","userName":"ben"}}"#;
    std::fs::write(log.join(format!("{:020}.json", delete + 1)), line).unwrap();
    put_back(page, [target, delete], "the wrong region").await;
    page.reads("somebody else was first").await;
    page.reads("VACUUM END by ben").await;
    page.press("button", "Plan again on the newest version")
        .await;
    page.sees(
        "button",
        &format!("Restore version {target} over {}", delete + 1),
    )
    .await;
    assert_eq!(explorer.latest("users").await, delete + 1);
    // The browser itself remarks on an answer of 409.
    let said = page.complaints().await;
    assert!(said.iter().all(|line| line.contains("409")), "{said:?}");
    explorer.close().await;
}

#[tokio::test]
async fn the_newest_commit_is_undone_from_wherever_it_is_seen() {
    let explorer = Explorer::open(Look::WIDE, "/").await;
    let newest = explorer.latest("users").await;
    let before = explorer.at("users", &format!("/restore?to={}", newest - 1));
    let page = &explorer.chromium;
    for path in [
        format!("/c/{newest}"),
        format!("/v/{newest}"),
        "/v/latest".to_owned(),
    ] {
        explorer.go(&explorer.at("users", &path)).await;
        page.key("r").await;
        page.arrives(&before).await;
    }
    explorer
        .go(&explorer.at("users", &format!("/c/{newest}")))
        .await;
    page.press("link", "Undo this commit…").await;
    page.arrives(&before).await;
    // An older one can be gone back to, too.
    explorer
        .go(&explorer.at("users", &format!("/v/{}", newest - 1)))
        .await;
    page.sees("link", &format!("{newest} ›")).await;
    page.press("link", "Restore…").await;
    page.arrives(&before).await;
    explorer.go(&explorer.at("users", "")).await;
    page.press("link", "Restore…").await;
    page.arrives(&before).await;

    // A version that never was is not waited for.
    explorer.go(&explorer.at("users", "/c/99999")).await;
    page.reads("The table's history lists those that there are.")
        .await;
    assert!(!page.has("button", "Try again").await);
    explorer.close().await;
}

#[tokio::test]
async fn what_cannot_come_back_is_listed() {
    let explorer = Explorer::table(Look::WIDE, "users", "/restore?to=5").await;
    let page = &explorer.chromium;
    page.reads("This cannot be done.").await;
    page.reads("no longer in the store").await;
    assert!(!page.has("textbox", WHY).await);
    page.press("button", "Find the nearest later version…")
        .await;
    page.press("link", "Plan version…").await;
    page.sees("textbox", WHY).await;
    explorer.go(&explorer.at("users", "/restore?to=5")).await;
    page.press("link", "Plan it without…").await;
    page.reads("stay lost").await;
    page.sees("textbox", WHY).await;
    explorer.go(&explorer.at("users", "/restore?to=-1")).await;
    page.reads("neither a version nor a time").await;
    page.fill(
        "textbox",
        "Back to version, or to the last version before a time",
        "2026-11-29T03:00",
    )
    .await;
    page.press("button", "Plan it").await;
    page.reads("has no offset").await;
    explorer.close().await;
}
