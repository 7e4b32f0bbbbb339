//! The W3C WebDriver protocol, as much of it as the browser tests speak.

use serde_json::{Value, json};

/// One session of a driver.
#[derive(Clone, Debug)]
pub struct WebDriver {
    http: reqwest::Client,
    session: String,
}

impl WebDriver {
    /// Opens a session with these `alwaysMatch` capabilities.
    pub async fn open(driver: &str, capabilities: Value) -> Self {
        let http = crate::http().build().expect("a client needs nothing");
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let answer = send(
            http.post(format!("{driver}/session")).json(&body),
            "session",
        )
        .await;
        let id = answer["sessionId"].as_str().expect("a session has an id");
        let session = format!("{driver}/session/{id}");
        Self { http, session }
    }

    /// Ends the session and its browser.
    pub async fn close(&self) {
        send(self.http.delete(&self.session), "close").await;
    }

    /// Opens an address, and waits until it is loaded.
    pub async fn go(&self, url: &str) {
        self.post("url", json!({ "url": url })).await;
    }

    /// The address it is at.
    pub async fn url(&self) -> String {
        text(self.get("url").await)
    }

    /// Goes one step back in the history.
    pub async fn back(&self) {
        self.post("back", json!({})).await;
    }

    /// Loads the page anew.
    pub async fn reload(&self) {
        self.post("refresh", json!({})).await;
    }

    /// Runs the body of a function that may `return`, or return a promise, and gives its value.
    pub async fn run(&self, script: &str, args: &[Value]) -> Value {
        self.post("execute/sync", json!({ "script": script, "args": args }))
            .await
    }

    /// A command of Chromium's own protocol.
    pub async fn cdp(&self, command: &str, params: Value) -> Value {
        self.post(
            "goog/cdp/execute",
            json!({ "cmd": command, "params": params }),
        )
        .await
    }

    /// Takes what the console has said since last asked, as `level: text`.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.post("se/log", json!({ "type": "browser" })).await;
        entries
            .as_array()
            .into_iter()
            .flatten()
            .map(|entry| {
                format!(
                    "{}: {}",
                    text_of(&entry["level"]),
                    text_of(&entry["message"])
                )
            })
            .collect()
    }

    async fn get(&self, path: &str) -> Value {
        send(self.http.get(format!("{}/{path}", self.session)), path).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self
            .http
            .post(format!("{}/{path}", self.session))
            .json(&body);
        send(request, path).await
    }
}

async fn send(request: reqwest::RequestBuilder, what: &str) -> Value {
    let response = request.send().await.expect("the driver answers");
    let failed = !response.status().is_success();
    let mut body: Value = response.json().await.expect("the driver answers in JSON");
    let value = body["value"].take();
    assert!(!failed, "{what}: {}", text_of(&value["message"]));
    value
}

fn text(value: Value) -> String {
    text_of(&value).to_owned()
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
