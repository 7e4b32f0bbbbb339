//! What a year of hours costs whoever looks at it: when the first cells are there, what is asked
//! for, and how smoothly the grid scrolls.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::blocked::{telling, wait};
use crate::chromium::{Chromium, Look};
use crate::closed_hours::{Meter, NAME};
use crate::place;
use crate::served::Served;

/// Runs in the page before anything of its own.
const WATCH: &str = r#"
window.watched = { first: null, listed: null, channel: new BroadcastChannel("watched") };
watched.channel.onmessage = event => { watched.listed = event.data; };
new MutationObserver(() => {
  if (watched.first === null && document.querySelector(".hours-row .cell"))
    requestAnimationFrame(() => { watched.first ??= performance.timeOrigin + performance.now(); });
}).observe(document, { childList: true, subtree: true });
watched.frames = () => {
  const seen = { gaps: [], elements: 0, over: false };
  let before = performance.now();
  const frame = now => {
    if (seen.over) return;
    seen.gaps.push(now - before);
    before = now;
    seen.elements = Math.max(seen.elements, document.getElementsByTagName("*").length);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(now => { before = now; requestAnimationFrame(frame); });
  return seen;
};
"#;

/// Runs in the worker after its own code.
const TELL: &str = r#"
performance.setResourceTimingBufferSize(100000);
const watched = new BroadcastChannel("watched");
watched.onmessage = () => {
  const lists = performance.getEntriesByType("resource").filter(e => e.name.includes("/list?"));
  watched.postMessage(performance.timeOrigin + Math.max(...lists.map(e => e.responseEnd)));
};
"#;

/// Pixels that a turn of the wheel scrolls in a second.
const SPEED: u32 = 1_800;

/// What it cost.
#[derive(Clone, Debug, Serialize)]
pub struct Year {
    /// Requests of the browser, from the first one for the page on.
    pub requests: u64,
    /// Seconds by which the first cells were there before the last listing had ended.
    pub cells_before_last_list: f64,
    /// Seconds from the start of the navigation until the year is whole.
    pub seconds: f64,
    /// Scrolled by the wheel, from the newest day to the oldest.
    pub wheel: Frames,
    /// Gone through by the arrow key that is held.
    pub keys: Frames,
    /// A page of the same height with nothing on it, scrolled as by the wheel: what the machine can.
    pub bare: Frames,
}

/// How smooth it was.
#[derive(Clone, Debug, Serialize)]
pub struct Frames {
    /// Frames a second.
    pub per_second: f64,
    /// Milliseconds of the longest one.
    pub longest: f64,
    /// Elements of the document, at most.
    pub elements: u64,
}

/// Opens the year in a fresh browser and scrolls through it. `dist` is the page, `text` is shown
/// once all of it has come.
pub async fn year(config: &Path, dist: &Path, year: i32, text: &str) -> Year {
    let page = telling(dist, TELL);
    let dist = page.path().display().to_string();
    let served = Served::config(config, [("TIDEMARK_DIST", dist)]);
    let mut meter = Meter::start(&served).await;
    let chromium = Chromium::start(Look::WIDE).await;
    let web = chromium.web();
    let source = json!({ "source": WATCH });
    web.cdp("Page.addScriptToEvaluateOnNewDocument", source)
        .await;
    web.go(&served.at(&format!("/d/{NAME}?at={year}"))).await;
    let whole = format!(
        "return document.body?.innerText.includes({}) ? performance.now() : null",
        json!(text)
    );
    let millis = wait(&chromium, &whole).await;
    let first = wait(&chromium, "return watched.first").await;
    let requests = meter.more().await;
    web.run("watched.channel.postMessage(null)", &[]).await;
    let listed = wait(&chromium, "return watched.listed").await;

    let height = "return document.querySelector('.hours-body').offsetHeight";
    let height = web.run(height, &[]).await.as_i64().unwrap_or_default();
    let wheel = turned(&chromium, height).await;
    assert!(shows(&chromium, 12).await, "the oldest day is not in sight");

    let top = "scrollTo(0, 0); document.querySelector('.hours').focus({ preventScroll: true })";
    web.run(top, &[]).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    web.run("window.seen = watched.frames()", &[]).await;
    // As a keyboard repeats a key that is held: thirty times a second.
    let hold = r#"
        const grid = document.querySelector('.hours');
        return new Promise(done => {
          let left = 370;
          const timer = setInterval(() => {
            grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }));
            if (--left === 0) { clearInterval(timer); done(); }
          }, 33);
        });"#;
    web.run(hold, &[]).await;
    let keys = frames_of(&chromium).await;
    assert!(
        shows(&chromium, 1).await,
        "the cursor is not at the oldest day"
    );
    chromium.shoot(&place::out("bench").join("year.png")).await;
    let bare = format!(
        "scrollTo(0, 0); const page = new CSSStyleSheet(); \
         page.replaceSync('body > * {{ display: none !important }} body {{ height: {}px }}'); \
         document.adoptedStyleSheets = [page]",
        height + 800
    );
    web.run(&bare, &[]).await;
    let bare = turned(&chromium, height).await;
    chromium.close().await;
    Year {
        requests,
        cells_before_last_list: (listed - first) / 1000.0,
        seconds: millis / 1000.0,
        wheel,
        keys,
        bare,
    }
}

/// Scrolls so far by the wheel.
async fn turned(chromium: &Chromium, pixels: i64) -> Frames {
    let web = chromium.web();
    web.run("window.seen = watched.frames()", &[]).await;
    let gesture = json!({
        "x": 700, "y": 500, "yDistance": -pixels, "speed": SPEED, "gestureSourceType": "mouse",
    });
    web.cdp("Input.synthesizeScrollGesture", gesture).await;
    frames_of(chromium).await
}

/// Whether one of the year's first days is in the window.
async fn shows(chromium: &Chromium, days: u32) -> bool {
    let script = format!(
        "return [...document.querySelectorAll('.hours-row')].some(row => {{ \
           const at = row.getBoundingClientRect(); \
           const day = /(\\d+) Jan/.exec(row.querySelector('.day').innerText); \
           return day && +day[1] <= {days} && at.top >= 0 && at.bottom <= innerHeight; }})"
    );
    chromium.web().run(&script, &[]).await == Value::Bool(true)
}

async fn frames_of(chromium: &Chromium) -> Frames {
    let script = "seen.over = true; return [seen.gaps, seen.elements]";
    let seen = chromium.web().run(script, &[]).await;
    let gaps = seen[0].as_array().into_iter().flatten();
    let gaps: Vec<f64> = gaps.filter_map(Value::as_f64).collect();
    let all: f64 = gaps.iter().sum();
    Frames {
        per_second: gaps.len() as f64 * 1000.0 / all.max(1.0),
        longest: gaps.iter().copied().fold(0.0, f64::max),
        elements: seen[1].as_u64().unwrap_or_default(),
    }
}
