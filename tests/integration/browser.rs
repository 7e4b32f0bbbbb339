//! Each page as a person uses it, in a real browser against the real server.

use tests::chromium::{Chromium, Look};

#[tokio::test]
async fn the_browser_is_driven_by_what_the_page_calls_its_parts() {
    let chromium = Chromium::start(Look::NARROW).await;
    let page = "data:text/html,<meta name=viewport content=width=device-width><title>T</title><main><button onclick=\"this.textContent='Done'\">Press</button>\
        <label>Name <input></label></main>";
    chromium.web().go(page).await;
    chromium.press("button", "Press").await;
    chromium.sees("button", "Done").await;
    chromium.fill("textbox", "Name", "users").await;
    chromium.settles().await;
    let value = chromium
        .web()
        .run(
            "return document.querySelector('input').value + innerWidth",
            &[],
        )
        .await;
    assert_eq!(value, "users390");
    chromium.close().await;
}
