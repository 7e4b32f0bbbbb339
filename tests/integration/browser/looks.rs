//! Every page in light and dark, wide and narrow: a picture of each is kept in `out/shots`, nothing
//! is wider than the window, axe finds no barrier and the console has nothing to say.

use tests::chromium::Look;
use tests::place;

use super::explorer::{Explorer, segment};

/// The pages by name, and where they are.
async fn pages(explorer: &Explorer) -> Vec<(&'static str, String)> {
    let latest = explorer.latest("users").await;
    let delete = explorer.version_of("users", "DELETE").await;
    let file = segment(&explorer.some_file("users", latest).await);
    let day = explorer.day(1).await;
    let diff = format!("/diff/{}..{delete}", delete - 1);
    vec![
        ("lake", "/".to_owned()),
        ("timeline", explorer.at("users", "")),
        ("timeline-long", explorer.at("progress_stream", "")),
        ("commit", explorer.at("users", &format!("/c/{delete}"))),
        ("snapshot", explorer.at("completion", "/v/latest")),
        ("diff", explorer.at("users", &diff)),
        (
            "file",
            explorer.at("users", &format!("/v/{latest}/f/{file}")),
        ),
        ("layout", explorer.at("progress_stream", "/layout")),
        (
            "restore",
            explorer.at("users", &format!("/restore?to={}", delete - 1)),
        ),
        ("restore-gone", explorer.at("users", "/restore?to=5")),
        (
            "commit-newest",
            explorer.at("users", &format!("/c/{latest}")),
        ),
        (
            "quarantine",
            explorer.at("users", "/maintenance?show=quarantine"),
        ),
        ("vacuum", explorer.at("users", "/maintenance")),
        (
            "optimize",
            explorer.at("progress_stream", "/maintenance?show=optimize"),
        ),
        ("pins", explorer.at("users", "/maintenance?show=pins")),
        ("jobs", explorer.at("users", "/maintenance?show=jobs")),
        ("audit", "/audit".to_owned()),
        ("closed", "/hours".to_owned()),
        (
            "hours",
            format!("/d/learning.progress?sel={day}T08..{day}T18"),
        ),
        (
            "hour-mutated",
            format!("/d/learning.progress/{day}/10?act=compact"),
        ),
        (
            "hour-late",
            format!("/d/learning.progress_event/{day}/13?act=empty"),
        ),
        ("hour-day", format!("/d/learning.progress_daily/{day}")),
        ("zones", "/zones".to_owned()),
        ("dataset-layout", "/d/learning.progress/layout".to_owned()),
        ("no-dataset", "/d/nothing/layout".to_owned()),
        ("no-hour", format!("/d/learning.progress/{day}/24")),
        ("no-table", "/t/nothing".to_owned()),
        (
            "no-version",
            explorer.at("users", &format!("/c/{}", latest + 1)),
        ),
        ("no-page", "/nowhere".to_owned()),
    ]
}

/// Texts that end beyond whatever clips them, where nothing can be scrolled and no dots say so.
const CUT: &str = r#"
const cut = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; node = walk.nextNode();) {
  if (!node.data.trim() || node.parentElement.closest(".unseen, [hidden], script")) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const text = range.getBoundingClientRect();
  if (!text.width) continue;
  for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
    const style = getComputedStyle(box);
    if (style.visibility === "hidden" || style.textOverflow === "ellipsis") break;
    if (style.overflowX === "auto" || style.overflowX === "scroll") break;
    if (style.overflowX === "visible") continue;
    const margin = parseFloat(style.overflowClipMargin) || 0;
    if (text.right > box.getBoundingClientRect().right + margin + 1) {
      cut.push(node.data.trim().slice(0, 60));
      break;
    }
  }
}
return cut;
"#;

async fn look_at_every_page(look: Look) {
    let explorer = Explorer::open(look, "/").await;
    let shots = place::out("shots");
    let mut wrong = Vec::new();
    for (page, path) in pages(&explorer).await {
        explorer.go(&path).await;
        let file = shots.join(format!("{page}-{}.png", look.name()));
        explorer.chromium.shoot(&file).await;
        let width = "return document.documentElement.scrollWidth";
        let width = explorer.chromium.web().run(width, &[]).await;
        if width.as_u64() > Some(look.width.into()) {
            wrong.push(format!("{page}: {width} pixels wide"));
        }
        let cut = explorer.chromium.web().run(CUT, &[]).await;
        let cut = cut.as_array().into_iter().flatten();
        wrong.extend(cut.map(|what| format!("{page}: cut off: {what}")));
        let barriers = explorer.chromium.barriers().await;
        wrong.extend(
            barriers
                .into_iter()
                .map(|barrier| format!("{page}: {barrier}")),
        );
        let said = explorer.chromium.complaints().await;
        wrong.extend(
            said.into_iter()
                .map(|line| format!("{page}: console {line}")),
        );
    }
    explorer.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_page_wide_and_light() {
    look_at_every_page(Look::WIDE).await;
}

#[tokio::test]
async fn every_page_wide_and_dark() {
    look_at_every_page(Look::WIDE.dark()).await;
}

#[tokio::test]
async fn every_page_narrow_and_light() {
    look_at_every_page(Look::NARROW).await;
}

#[tokio::test]
async fn every_page_narrow_and_dark() {
    look_at_every_page(Look::NARROW.dark()).await;
}
