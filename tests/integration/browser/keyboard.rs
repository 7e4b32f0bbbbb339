//! Everything works without a mouse.

use tests::chromium::Look;

use super::explorer::Explorer;

#[tokio::test]
async fn keys_move_open_and_go() {
    let explorer = Explorer::table(Look::WIDE, "users", "").await;
    let latest = explorer.latest("users").await;
    let page = &explorer.chromium;

    page.key("j").await;
    page.key("j").await;
    page.key("k").await;
    page.key("Enter").await;
    page.arrives(&explorer.at("users", &format!("/c/{latest}")))
        .await;
    page.settles().await;
    page.key("[").await;
    page.arrives(&explorer.at("users", &format!("/c/{}", latest - 1)))
        .await;
    page.settles().await;
    page.key("]").await;
    page.arrives(&explorer.at("users", &format!("/c/{latest}")))
        .await;

    page.key("g").await;
    page.key("l").await;
    let layout = format!("/v/{latest}/layout");
    page.arrives(&explorer.at("users", &layout)).await;
    page.settles().await;
    page.key("g").await;
    page.key("h").await;
    page.arrives(&explorer.at("users", "")).await;
    explorer.close().await;
}

#[tokio::test]
async fn the_search_finds_a_table_and_a_version() {
    let explorer = Explorer::open(Look::WIDE, "/").await;
    let page = &explorer.chromium;

    page.key("/").await;
    page.types("compl").await;
    page.sees("option", "table …").await;
    page.key("Enter").await;
    page.arrives(&explorer.at("completion", "")).await;
    page.settles().await;

    page.key("/").await;
    page.types("3").await;
    page.key("Enter").await;
    page.arrives(&explorer.at("completion", "/c/3")).await;
    explorer.close().await;
}

#[tokio::test]
async fn help_opens_and_closes() {
    let explorer = Explorer::open(Look::WIDE, "/").await;
    let page = &explorer.chromium;
    page.key("?").await;
    page.sees("dialog", "Keys").await;
    page.key("Escape").await;
    page.loses("dialog", "Keys").await;
    explorer.close().await;
}
