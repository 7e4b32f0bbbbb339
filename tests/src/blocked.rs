//! What opening a page costs whoever looks at it: how long it is blocked, how long until a figure is
//! there, and how much memory the worker takes.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chromium::{Chromium, Look};
use crate::place;
use crate::served::Served;

const PATIENCE: Duration = Duration::from_secs(180);

/// Runs in the page before anything of its own.
const WATCH: &str = r#"
window.watched = { tasks: [], at: null, channel: new BroadcastChannel("watched"), worker: null };
new PerformanceObserver(list => {
  for (const task of list.getEntries()) watched.tasks.push([task.startTime, task.duration]);
}).observe({ type: "longtask", buffered: true });
watched.channel.onmessage = event => { watched.worker = event.data; };
watched.wait = text => {
  const look = () => {
    if (watched.at === null && document.body?.textContent.includes(text)) watched.at = performance.now();
  };
  new MutationObserver(look).observe(document, { childList: true, characterData: true, subtree: true });
};
"#;

/// Runs in the worker after its own code. Memory that WebAssembly has grown to it never gives back,
/// so that its size at the end is its peak.
pub const TELL: &str = r#"
const watched = new BroadcastChannel("watched");
watched.onmessage = async () => {
  watched.postMessage((await wasm_bindgen()).memory.buffer.byteLength);
};
"#;

/// What it cost.
#[derive(Clone, Debug, Serialize)]
pub struct Blocked {
    /// Tasks of the page's thread that took 50 milliseconds and more: when they began, and how long
    /// they took, in milliseconds.
    pub long_tasks: Vec<(f64, f64)>,
    /// Seconds from the start of the navigation until the text is on the page.
    pub seconds: f64,
    /// Bytes of the worker's memory.
    pub worker_bytes: u64,
}

/// A copy of a built page whose worker runs `tell` after its own code: [`TELL`] tells what it takes.
pub fn telling(page: &Path, tell: &str) -> TempDir {
    let copy = TempDir::new().expect("a temporary folder can be made");
    copy_all(page, copy.path());
    let loader = copy.path().join("worker-loader.js");
    let mut script = fs::read_to_string(&loader).expect("the page is built: run `make site`");
    script.push_str(tell);
    fs::write(&loader, script).expect("it can be written");
    let _ = fs::remove_file(copy.path().join("worker-loader.js.br"));
    copy
}

/// Opens a path in a fresh browser and waits until the page shows a text.
pub async fn open(served: &Served, path: &str, text: &str) -> Blocked {
    let chromium = Chromium::start(Look::WIDE).await;
    let web = chromium.web();
    let source = format!("{WATCH}\nwatched.wait({});", json!(text));
    web.cdp(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": source }),
    )
    .await;
    web.go(&served.at(path)).await;
    let millis = wait(&chromium, "return watched.at").await;
    chromium.settles().await;
    // A task is observed only once it has ended.
    tokio::time::sleep(Duration::from_millis(500)).await;
    web.run("watched.channel.postMessage(null)", &[]).await;
    let worker_bytes = wait(&chromium, "return watched.worker").await;
    let tasks = web.run("return watched.tasks", &[]).await;
    chromium
        .shoot(&place::out("bench").join("layout.png"))
        .await;
    chromium.close().await;
    Blocked {
        long_tasks: serde_json::from_value(tasks).expect("tasks are pairs of numbers"),
        seconds: millis / 1000.0,
        worker_bytes: worker_bytes as u64,
    }
}

/// Asks until the answer is a number.
pub(crate) async fn wait(chromium: &Chromium, script: &str) -> f64 {
    let start = Instant::now();
    loop {
        match chromium.web().run(script, &[]).await {
            Value::Number(number) => return number.as_f64().unwrap_or_default(),
            _ if start.elapsed() > PATIENCE => {
                let (text, said) = (chromium.text().await, chromium.complaints().await);
                panic!("`{script}` gave nothing\n{text}\n{said:#?}");
            }
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the page is built: run `make site`") {
        let entry = entry.expect("it can be listed");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&target).expect("it can be made");
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("it can be copied");
        }
    }
}
