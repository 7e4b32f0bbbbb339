//! A table cleaned up, packed and pinned from its page, and what the audit says of it.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tests::chromium::{Chromium, Look};
use tests::place;
use tests::seaweed::{BUCKET, SeaweedFs};
use tests::served::Served;
use tests::wire::Wire;

use super::explorer::Explorer;

const DAY: u64 = 24 * 3600;

/// What a writer left that failed, so many days ago.
fn left_behind(table: &Path, name: &str, days: u64) {
    let path = table.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "half a file").unwrap();
    let then = SystemTime::now() - Duration::from_secs(days * DAY);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(then).unwrap();
}

/// Files and rows of a version as deltalake and DuckDB read them.
fn read_by_others(table: &Path, version: u64) -> (u64, u64) {
    let output = Command::new(place::venv("python"))
        .arg(place::repository().join("tests/peers/readers.py"))
        .arg(table)
        .arg(version.to_string())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let fact: Value = serde_json::from_slice(&output.stdout).unwrap();
    (
        fact["files"].as_u64().unwrap(),
        fact["rows"].as_u64().unwrap(),
    )
}

#[tokio::test]
async fn what_no_version_needs_goes_and_nothing_else() {
    let served = Arc::new(Served::own_demo());
    let table = served.demo_folder().unwrap().join("curated/users");
    let job = "0b0c1d2e-0000-4000-8000-00000000abcd";
    let name = |n: u32| format!("region=DE/part-{n:05}-{job}.c000.snappy.parquet");
    for n in 0..3 {
        left_behind(&table, &name(n), 3);
    }
    left_behind(&table, &name(9), 0);
    left_behind(&table, "region=DE/_hidden/x.parquet", 30);
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/").await;
    let before = explorer.latest("users").await;
    let read = read_by_others(&table, before);

    explorer.go(&explorer.at("users", "/maintenance")).await;
    let page = &explorer.chromium;
    page.reads("Never committed, by writer").await;
    page.reads(job).await;
    page.reads("can be restored now and cannot afterwards")
        .await;
    // The button waits for the table's name.
    page.fill("textbox", "Nothing brings these back…", "users")
        .await;
    page.press("button", "Delete 1…").await;
    page.reads("every file that a version needs is where it was")
        .await;

    for n in 0..3 {
        assert!(!table.join(name(n)).exists(), "{n}");
    }
    assert!(table.join(name(9)).exists(), "too young");
    assert!(table.join("region=DE/_hidden/x.parquet").exists());
    let commits = explorer.history("users").await;
    assert_eq!(commits[0]["operation"], "VACUUM END");
    assert_eq!(commits[1]["operation"], "VACUUM START");
    assert_eq!(read_by_others(&table, before + 2), read);

    page.press("button", "Plan again").await;
    page.reads("Nothing to delete.").await;
    explorer.go("/audit").await;
    page.reads("deleted; 0 were not").await;
    page.sees("link", &format!("version {}", before + 2)).await;
    explorer.close().await;
}

/// What the page says of its width: nothing sticks out of the window.
async fn assert_fits(page: &Chromium, look: Look) {
    let width = page
        .web()
        .run("return document.documentElement.scrollWidth", &[]);
    assert_eq!(width.await.as_u64(), Some(look.width.into()));
}

#[tokio::test]
async fn every_tab_can_be_left_for_every_page() {
    let explorer = Explorer::open(Look::WIDE, "/").await;
    let page = &explorer.chromium;
    let timeline = explorer.at("users", "");
    for tab in [
        "",
        "?show=optimize",
        "?show=quarantine",
        "?show=pins",
        "?show=jobs",
    ] {
        for (link, to) in [
            ("History", timeline.as_str()),
            ("Lake", "/"),
            ("Audit", "/audit"),
        ] {
            let path = explorer.at("users", &format!("/maintenance{tab}"));
            explorer.go(&path).await;
            page.press("link", link).await;
            page.arrives(to).await;
            page.settles().await;
            let said = page.complaints().await;
            assert!(said.is_empty(), "from {tab} to {link}: {said:?}");
        }
    }
    explorer.close().await;
}

#[tokio::test]
async fn what_is_moved_aside_is_freed_only_in_the_quarantine() {
    let served = Arc::new(Served::own_demo());
    let table = served.demo_folder().unwrap().join("curated/users");
    let leftover = "region=DE/part-00000-0b0c1d2e-0000-4000-8000-00000000abcd.c000.parquet";
    left_behind(&table, leftover, 3);
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/").await;
    let page = &explorer.chromium;
    explorer
        .go(&explorer.at("users", "/maintenance?aside=1"))
        .await;
    page.reads("That frees nothing yet").await;
    page.reads("To move aside").await;
    page.press("button", "Move…").await;
    page.reads("nothing is freed until they are deleted there")
        .await;
    let said = page.text().await;
    assert!(said.contains("moved aside."), "{said}");
    assert!(!said.contains("deleted."), "{said}");
    // The plan and its question are over.
    assert!(!said.contains("To move aside"), "{said}");
    assert!(!table.join(leftover).exists());

    page.press("link", "Open the quarantine").await;
    page.reads("in the quarantine and take").await;
    // Nothing lies there for seven days yet.
    page.sees("button", "Nothing is that old").await;
    page.press("radio", "at any time").await;
    page.arrives(&explorer.at("users", "/maintenance?show=quarantine&age=0s"))
        .await;
    page.fill("textbox", "Nothing brings these back…", "users")
        .await;
    page.look(Look::NARROW).await;
    assert_fits(page, Look::NARROW).await;
    page.look(Look::WIDE).await;
    page.press("button", "Delete…").await;
    page.reads("deleted for good.").await;
    page.reads("Nothing lies there").await;
    explorer.close().await;
}

#[tokio::test]
async fn a_plan_that_cannot_be_meant_leaves_no_button() {
    let explorer = Explorer::table(Look::WIDE, "users", "/maintenance?retain=banana").await;
    let page = &explorer.chromium;
    page.reads("`banana` is not a duration").await;
    explorer
        .go(&explorer.at("users", "/maintenance?retain=1h"))
        .await;
    page.reads("shorter than the table's own").await;
    assert!(!page.has("button", "Delete…").await);
    // Whether it may be is the configuration's to say, which the sample lake leaves out.
    page.press("button", "Plan it all the same").await;
    page.reads("`[vacuum] allow_short = true` in the configuration allows it")
        .await;
    assert!(!page.has("button", "Delete…").await);

    let path = explorer.at("users", "/maintenance?show=optimize");
    explorer.go(&path).await;
    let field = "How large a packed file should be…";
    page.fill("textbox", field, "0.5").await;
    page.press("button", "Plan it").await;
    page.reads("`0.5` is not a size").await;
    assert!(!page.has("button", "Pack…").await);
    page.fill("textbox", field, "1GiB").await;
    page.press("button", "Plan it").await;
    page.arrives(&format!("{path}&target=1GiB")).await;
    page.reads("1.0 GiB").await;
    // The browser itself remarks on the answer of 400 to what is no duration.
    let said = page.complaints().await;
    assert!(said.iter().all(|line| line.contains("400")), "{said:?}");
    explorer.close().await;
}

#[tokio::test]
async fn small_files_are_packed_and_no_row_changes() {
    let served = Arc::new(Served::own_demo());
    let table = served
        .demo_folder()
        .unwrap()
        .join("curated/progress_stream");
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/").await;
    let before = explorer.latest("progress_stream").await;
    let (files, rows) = read_by_others(&table, before);

    let path = explorer.at("progress_stream", "/maintenance?show=optimize");
    explorer.go(&path).await;
    let page = &explorer.chromium;
    page.reads("No row changes; readers go on undisturbed.")
        .await;
    page.press("button", "Pack…").await;
    page.reads("hold the same rows as before").await;

    let (packed, same) = read_by_others(&table, before + 1);
    assert_eq!(same, rows);
    assert!(packed * 10 < files, "{files} became {packed}");
    let commits = explorer.history("progress_stream").await;
    assert_eq!(commits[0]["operation"], "OPTIMIZE");
    assert_eq!(commits[0]["data_change"], false);
    // Whoever comes back finds what was done.
    explorer
        .go(&explorer.at("progress_stream", "/maintenance?show=jobs"))
        .await;
    page.reads(&format!("version {}", before + 1)).await;
    explorer.close().await;
}

#[tokio::test]
async fn a_pin_keeps_a_version_and_the_timeline_shows_it() {
    let served = Arc::new(Served::own_demo());
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/").await;
    let page = &explorer.chromium;
    explorer.go(&explorer.at("users", "/c/45")).await;
    page.press("link", "Pin…").await;
    page.fill("textbox", "Name", "quarter 3").await;
    page.fill("textbox", "Why", "the books").await;
    page.press("button", "Pin it").await;
    page.sees("button", "Unpin quarter 3").await;
    page.look(Look::NARROW).await;
    assert_fits(page, Look::NARROW).await;
    page.look(Look::WIDE).await;
    for version in ["/c/45", "/v/45"] {
        explorer.go(&explorer.at("users", version)).await;
        page.reads("pinned as quarter 3").await;
    }
    explorer.go(&explorer.at("users", "")).await;
    page.reads("quarter 3").await;

    // What it needs is no longer to be deleted.
    explorer.go(&explorer.at("users", "/maintenance")).await;
    page.reads("Kept by name: quarter 3 (version 45)").await;
    let path = explorer.at("users", "/maintenance?show=pins&pin=45");
    explorer.go(&path).await;
    page.fill("textbox", "Name", "quarter 3").await;
    page.press("button", "Pin it").await;
    page.reads("pins version 45 already").await;
    page.press("button", "Unpin quarter 3").await;
    page.reads("Nothing is kept by name").await;
    // The browser itself remarks on an answer of 409.
    let said = page.complaints().await;
    assert!(said.iter().all(|line| line.contains("409")), "{said:?}");
    explorer.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_ignores_conditions_is_said_before_the_click() {
    let seaweed = SeaweedFs::start_open();
    let demo = Served::demo();
    let users = demo.demo_folder().unwrap().join("curated/users");
    seaweed.put_folder(&users, "careless/users").await;
    let wire = Wire::careless(seaweed.endpoint()).await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("tidemark.toml");
    let zone = format!("[[zone]]\nname = \"lake\"\nurl = \"s3://{BUCKET}/careless/\"\n");
    fs::write(&config, zone).unwrap();
    let (way, direct) = (wire.endpoint(), seaweed.endpoint());

    // The same table, first by the wire and then without it: the store is the only difference.
    for (endpoint, writable) in [(way, false), (direct, true)] {
        let environment = seaweed.environment_at(endpoint);
        let served = Arc::new(Served::config(&config, environment));
        let explorer = Explorer::over(served, Look::WIDE, "/").await;
        let page = &explorer.chromium;
        let newest = explorer.latest("users").await;
        let acts = [
            (
                format!("/restore?to={}", newest - 1),
                "Put back version",
                "Restore version…",
            ),
            ("/maintenance?show=optimize".to_owned(), "Pack ", "Pack…"),
        ];
        for (path, question, button) in acts {
            explorer.go(&explorer.at("users", &path)).await;
            page.reads(question).await;
            if writable {
                page.sees("button", button).await;
                assert!(!page.text().await.contains("If-None-Match"), "{path}");
                continue;
            }
            page.reads("his store is read-only here").await;
            page.reads("(If-None-Match), so two writers could both win one version")
                .await;
            assert!(!page.has("button", button).await, "{path}");
        }
        assert_eq!(explorer.latest("users").await, newest);
        explorer.close().await;
    }
}
