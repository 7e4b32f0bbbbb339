//! A headless Chromium that is used as a person uses one: by what the page calls its parts.

use std::fmt::Debug;
use std::future::Future;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::place;
use crate::process::{Process, free_ports};
use crate::webdriver::WebDriver;

const PATIENCE: Duration = Duration::from_secs(20);

/// How the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// Whether the system prefers dark.
    pub dark: bool,
}

impl Look {
    /// A laptop's window.
    pub const WIDE: Self = Self {
        width: 1280,
        height: 800,
        dark: false,
    };
    /// A telephone's.
    pub const NARROW: Self = Self {
        width: 390,
        height: 844,
        dark: false,
    };

    /// The same in the dark.
    pub const fn dark(self) -> Self {
        Self { dark: true, ..self }
    }

    /// `1280-light`.
    pub fn name(self) -> String {
        format!(
            "{}-{}",
            self.width,
            if self.dark { "dark" } else { "light" }
        )
    }
}

/// The driver that tests running at once share.
#[derive(Debug)]
struct Driver {
    url: String,
    _process: Process,
}

impl Driver {
    fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Driver>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(|poison| poison.into_inner());
        shared.upgrade().unwrap_or_else(|| {
            let [port] = free_ports();
            let mut command = Command::new("chromedriver");
            command.arg(format!("--port={port}"));
            let mut process = Process::start(&mut command);
            process.wait_for_port(port);
            let url = format!("http://127.0.0.1:{port}");
            let started = Arc::new(Self {
                url,
                _process: process,
            });
            *shared = Arc::downgrade(&started);
            started
        })
    }
}

/// One browser with a profile of its own.
#[derive(Debug)]
pub struct Chromium {
    web: WebDriver,
    _profile: TempDir,
    _driver: Arc<Driver>,
}

impl Chromium {
    /// Starts one that looks so.
    pub async fn start(look: Look) -> Self {
        let driver = Driver::shared();
        let profile = TempDir::new().expect("a temporary folder can be made");
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
        ];
        let mut args: Vec<String> = args.map(str::to_owned).into();
        args.push(format!("--user-data-dir={}", profile.path().display()));
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let web = WebDriver::open(&driver.url, capabilities).await;
        let chromium = Self {
            web,
            _profile: profile,
            _driver: driver,
        };
        chromium.look(look).await;
        chromium
    }

    /// The protocol below, for what has no word here.
    pub fn web(&self) -> &WebDriver {
        &self.web
    }

    /// Changes the window's size and the system's preference.
    pub async fn look(&self, look: Look) {
        let size = json!({
            "width": look.width, "height": look.height, "deviceScaleFactor": 1,
            "mobile": look.width < 600,
        });
        self.web
            .cdp("Emulation.setDeviceMetricsOverride", size)
            .await;
        let scheme = if look.dark { "dark" } else { "light" };
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]});
        self.web.cdp("Emulation.setEmulatedMedia", features).await;
    }

    /// Presses what has this role and this name, once it is there: `press("button", "Copy link")`.
    /// A name may be given by its beginning, with `…` at the end.
    pub async fn press(&self, role: &str, name: &str) {
        let what = format!("{role} “{name}”");
        let node = self.until(&what, || self.query(role, name)).await;
        let at = json!({ "backendNodeId": node });
        self.web.cdp("DOM.scrollIntoViewIfNeeded", at.clone()).await;
        let quads = self.web.cdp("DOM.getContentQuads", at).await;
        let quad: Vec<f64> = quads["quads"][0]
            .as_array()
            .unwrap_or_else(|| panic!("{what} has no place on the page"))
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        let [x, y] = [(quad[0] + quad[4]) / 2.0, (quad[1] + quad[5]) / 2.0];
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.web.cdp("Input.dispatchMouseEvent", event).await;
        }
    }

    /// Puts the focus into the field of this role and name, and types.
    pub async fn fill(&self, role: &str, name: &str, text: &str) {
        self.press(role, name).await;
        let select = "document.activeElement.select?.()";
        self.web.run(select, &[]).await;
        self.types(text).await;
    }

    /// Types into whatever has the focus.
    pub async fn types(&self, text: &str) {
        let text = json!({ "text": text });
        self.web.cdp("Input.insertText", text).await;
    }

    /// Presses a key with nothing in particular chosen: `d`, `Enter`, `ArrowDown`, `Escape`.
    pub async fn key(&self, key: &str) {
        let mut down = json!({ "type": "keyDown", "key": key });
        match key {
            "Enter" => {
                down["text"] = json!("\r");
                down["windowsVirtualKeyCode"] = json!(13);
            }
            "Escape" => down["windowsVirtualKeyCode"] = json!(27),
            "Tab" => down["windowsVirtualKeyCode"] = json!(9),
            "ArrowUp" => down["windowsVirtualKeyCode"] = json!(38),
            "ArrowDown" => down["windowsVirtualKeyCode"] = json!(40),
            _ => down["text"] = json!(key),
        }
        let mut up = down.clone();
        up["type"] = json!("keyUp");
        self.web.cdp("Input.dispatchKeyEvent", down).await;
        self.web.cdp("Input.dispatchKeyEvent", up).await;
    }

    /// Waits until something of this role and name is there.
    pub async fn sees(&self, role: &str, name: &str) {
        let what = format!("{role} “{name}”");
        self.until(&what, || self.query(role, name)).await;
    }

    /// Waits until nothing of this role and name is there any more.
    pub async fn loses(&self, role: &str, name: &str) {
        let what = format!("page without {role} “{name}”");
        self.until(&what, || async {
            self.query(role, name).await.is_none().then_some(())
        })
        .await;
    }

    /// Whether something of this role and name is there now.
    pub async fn has(&self, role: &str, name: &str) -> bool {
        self.query(role, name).await.is_some()
    }

    /// Waits until the page's text holds this.
    pub async fn reads(&self, text: &str) {
        self.until(&format!("the text “{text}”"), || async {
            self.text().await.contains(text).then_some(())
        })
        .await;
    }

    /// All text of the page, as shown.
    pub async fn text(&self) -> String {
        let text = self.web.run("return document.body.innerText", &[]).await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the address, without its host, is this.
    pub async fn arrives(&self, path: &str) {
        self.until(&format!("the address {path}"), || async {
            let url = self.web.url().await;
            let url = url::Url::parse(&url).ok()?;
            let here = &url[url::Position::BeforePath..];
            (here == path).then_some(())
        })
        .await;
    }

    /// Waits until nothing on the page says that it is busy.
    pub async fn settles(&self) {
        self.until("a page that is not busy", || async {
            let script = "return document.fonts.status === 'loaded' \
                 && document.querySelector('[aria-busy=\"true\"], [role=\"progressbar\"]') === null \
                 && document.body.innerText.trim() !== ''";
            (self.web.run(script, &[]).await == json!(true)).then_some(())
        })
        .await;
    }

    /// Keeps a picture of the window as a PNG.
    pub async fn shoot(&self, file: &Path) {
        let answer = self
            .web
            .cdp("Page.captureScreenshot", json!({ "format": "png" }))
            .await;
        let data = answer["data"].as_str().expect("a screenshot has data");
        let png = base64::engine::general_purpose::STANDARD
            .decode(data)
            .expect("a screenshot is base64");
        std::fs::write(file, png).expect("a screenshot can be written");
    }

    /// What axe finds wrong with the page for people who cannot see it or cannot use a mouse, one
    /// line each.
    pub async fn barriers(&self) -> Vec<String> {
        let axe = std::fs::read_to_string(place::axe()).expect("axe can be read");
        self.web.run(&axe, &[]).await;
        let script = "return axe.run().then(result => result.violations.flatMap(rule => \
             rule.nodes.map(node => `${rule.id} (${rule.impact}): ${node.html} — ${node.failureSummary}`)))";
        let found = self.web.run(script, &[]).await;
        found
            .as_array()
            .expect("axe answers with a list")
            .iter()
            .map(|line| line.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Ends the browser.
    ///
    /// # Panics
    /// If the console said anything worth a warning, which no test means to pass over.
    pub async fn close(self) {
        let said = self.complaints().await;
        self.web.close().await;
        assert!(said.is_empty(), "the console is not clean: {said:#?}");
    }

    /// Warnings and errors of the console since last asked.
    pub async fn complaints(&self) -> Vec<String> {
        let mut said = self.web.console().await;
        said.retain(|line| line.starts_with("SEVERE") || line.starts_with("WARNING"));
        said
    }

    async fn query(&self, role: &str, name: &str) -> Option<i64> {
        let document = self.web.cdp("DOM.getDocument", json!({ "depth": 0 })).await;
        let root = &document["root"]["nodeId"];
        let answer = self
            .web
            .cdp(
                "Accessibility.queryAXTree",
                json!({ "nodeId": root, "role": role }),
            )
            .await;
        let named = |node: &&Value| {
            let is = node["name"]["value"].as_str().unwrap_or_default();
            let hidden = node["ignored"].as_bool().unwrap_or_default();
            !hidden
                && match name.strip_suffix('…') {
                    Some(start) => is.starts_with(start),
                    None => is == name,
                }
        };
        answer["nodes"].as_array()?.iter().find(named)?["backendDOMNodeId"].as_i64()
    }

    /// Asks again until there is an answer.
    async fn until<T, F>(&self, what: &str, mut ask: impl FnMut() -> F) -> T
    where
        T: Debug,
        F: Future<Output = Option<T>>,
    {
        let start = Instant::now();
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            if start.elapsed() > PATIENCE {
                let (url, text) = (self.web.url().await, self.text().await);
                let console = self.web.console().await;
                panic!("no {what} at {url}\n{text}\n{console:#?}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
