//! The engineer's first minute, and the on-call's: what did it change, and what was it like before?

use serde_json::json;
use tests::chromium::Look;

use super::explorer::Explorer;

#[tokio::test]
async fn from_the_lake_to_the_delete_and_what_it_took() {
    let explorer = Explorer::open(Look::WIDE, "/").await;
    let delete = explorer.version_of("users", "DELETE").await;
    let page = &explorer.chromium;

    page.press("link", "users").await;
    page.arrives(&explorer.at("users", "")).await;
    page.settles().await;
    page.press("link", &delete.to_string()).await;
    let commit = explorer.at("users", &format!("/c/{delete}"));
    page.arrives(&commit).await;
    page.reads("DELETE").await;
    // The region that the predicate named by mistake.
    page.reads("US").await;

    page.key("d").await;
    let diff = format!("/diff/{}..{delete}", delete - 1);
    page.arrives(&explorer.at("users", &diff)).await;
    page.settles().await;

    page.web().back().await;
    page.arrives(&commit).await;
    page.web().back().await;
    page.arrives(&explorer.at("users", "")).await;
    explorer.close().await;
}

#[tokio::test]
async fn a_time_leads_to_the_version_that_held_then() {
    let explorer = Explorer::table(Look::WIDE, "users", "").await;
    let commits = explorer.history("users").await;
    let third = &commits[2];
    let version = third["version"].as_str().unwrap();
    let time = third["timestamp"].as_str().unwrap();
    let page = &explorer.chromium;

    page.press("button", "Go to time…").await;
    page.sees("dialog", "Go to a time or a version").await;
    let field = "RFC 3339 with an offset, or a version";
    page.fill("textbox", field, time).await;
    page.key("Enter").await;
    page.reads(&format!("Version {version}")).await;
    page.press("link", "Open the table as of it").await;
    page.arrives(&explorer.at("users", &format!("/v/{version}")))
        .await;
    page.settles().await;
    explorer.close().await;
}

#[tokio::test]
async fn paper_has_every_row_of_a_list() {
    let explorer = Explorer::table(Look::WIDE, "users", "?fold=off").await;
    let page = &explorer.chromium;
    page.reads("fold small commits").await;
    page.settles().await;
    let print = json!({ "media": "print" });
    page.web().cdp("Emulation.setEmulatedMedia", print).await;
    let printed = "return [document.querySelectorAll('.grid-body .row').length,
        +document.querySelector('.grid').getAttribute('aria-rowcount') - 1]";
    let before = page.web().run(printed, &[]).await;
    assert!(before[0].as_u64() < before[1].as_u64(), "{before}");
    let prints = "window.dispatchEvent(new Event('beforeprint'))";
    page.web().run(prints, &[]).await;
    let paper = page.web().run(printed, &[]).await;
    assert_eq!(paper[0], paper[1], "{paper}");
    assert!(!page.text().await.contains("printed"));
    // Back on the screen, only what is near the viewport exists again.
    let over = "window.dispatchEvent(new Event('afterprint'))";
    page.web().run(over, &[]).await;
    let after = page.web().run(printed, &[]).await;
    assert!(after[0].as_u64() < after[1].as_u64(), "{after}");
    explorer.close().await;
}
