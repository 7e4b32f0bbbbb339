//! The address is the state: what a person set is in the link, and who gets the link sees the same.

use std::process::Command;

use serde_json::Value;
use tests::chromium::Look;
use tests::place;

use super::explorer::Explorer;

#[tokio::test]
async fn a_filter_lives_in_the_address() {
    let explorer = Explorer::table(Look::WIDE, "users", "").await;
    let page = &explorer.chromium;
    page.fill("searchbox", "Filter commits", "delete").await;
    page.arrives(&explorer.at("users", "?q=delete")).await;
    page.reads("left out").await;
    page.web().reload().await;
    page.settles().await;
    page.reads("left out").await;
    explorer.close().await;
}

#[tokio::test]
async fn the_theme_is_kept_over_pages() {
    let explorer = Explorer::open(Look::WIDE, "/").await;
    let page = &explorer.chromium;
    page.press("button", "Colours: as the system is set").await;
    page.press("button", "Colours: light").await;
    page.sees("button", "Colours: dark").await;
    explorer.go(&explorer.at("users", "")).await;
    page.sees("button", "Colours: dark").await;
    explorer.close().await;
}

#[tokio::test]
async fn the_command_line_shown_gives_the_same_figures() {
    let explorer = Explorer::table(Look::WIDE, "users", "").await;
    let text = explorer.chromium.text().await;
    let line = text
        .lines()
        .find(|line| line.starts_with("tidemark history "));
    let line = line.expect("the page shows a command").to_owned();
    // As a shell would take it apart; the demo's paths hold nothing that needs more.
    let words = line
        .split_whitespace()
        .skip(1)
        .map(|word| word.trim_matches('\''));
    let mut command = Command::new(place::tidemark());
    let output = command
        .args(words)
        .args(["--limit", "1000", "--json"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {errors}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report["commits"].as_array().unwrap(),
        &explorer.history("users").await
    );
    explorer.close().await;
}
