//! One address for a page of tests and the server it reads from, with faults in between.
//!
//! * `/relay/{name}/{fault}/…`: the server's answer to `/…`, spoilt; counted under the name;
//! * `/relay/{name}`: what was asked under the name so far, as JSON;
//! * `/api/…`: the server's answer;
//! * anything else: the page's.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use bytes::Bytes;
use futures::Stream;
use serde_json::{Value, json};

/// A running relay. It ends with the test's runtime.
#[derive(Debug)]
pub struct Relay {
    port: u16,
}

impl Relay {
    /// Starts one between a page and a server, each an address without a slash at its end.
    pub async fn start(page: String, server: String) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let wires = Arc::new(Wires {
            page,
            server,
            port,
            http: crate::http().build().expect("a client needs nothing"),
            asked: Arc::default(),
        });
        let router = Router::new().fallback(relay).with_state(wires);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port }
    }

    /// The address, followed by a path that starts with a slash.
    pub fn at(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

struct Wires {
    page: String,
    server: String,
    port: u16,
    http: reqwest::Client,
    asked: Arc<Mutex<HashMap<String, Asked>>>,
}

#[derive(Clone, Copy, Default)]
struct Asked {
    gets: u32,
    heads: u32,
    lists: u32,
    batches: u32,
    dropped: u32,
}

impl Asked {
    fn all(self) -> u32 {
        self.gets + self.heads + self.lists + self.batches
    }

    fn json(self) -> Value {
        json!({
            "gets": self.gets, "heads": self.heads, "lists": self.lists,
            "batches": self.batches, "dropped": self.dropped,
        })
    }
}

async fn relay(State(wires): State<Arc<Wires>>, request: Request) -> Response {
    let target = request.uri().to_string();
    let Some(rest) = target.strip_prefix("/relay/") else {
        let upstream = match target.starts_with("/api/") {
            true => &wires.server,
            false => &wires.page,
        };
        let uri = format!("{upstream}{target}");
        return wires.forward(&uri, request).await.into_response();
    };
    let mut parts = rest.splitn(3, '/');
    let name = parts.next().unwrap_or_default().to_owned();
    let (Some(fault), Some(path)) = (parts.next(), parts.next()) else {
        let asked = lock(&wires.asked).get(&name).copied().unwrap_or_default();
        return Json(asked.json()).into_response();
    };
    let uri = format!("{}/{path}", wires.server);
    spoil(&wires, &name, fault, path, &uri, request).await
}

async fn spoil(
    wires: &Wires,
    name: &str,
    fault: &str,
    path: &str,
    uri: &str,
    mut request: Request,
) -> Response {
    let (fault, times) = match fault.rsplit_once('-') {
        Some((fault, times)) if times.parse::<u32>().is_ok() => (fault, times.parse().ok()),
        _ => (fault, None),
    };
    let object = path.contains("/object?");
    match fault {
        // Where redirects lead: another host, which lets pages of ours in or does not.
        "shut" => return wires.forward(uri, request).await.into_response(),
        "cors" => return let_in(wires, uri, request).await,
        _ => {}
    }
    let asked = count(wires, name, &request, path);
    let now = times.is_none_or(|times| asked.all() <= times);
    match fault {
        "unwell" if now => refusal(
            StatusCode::BAD_GATEWAY,
            "unreachable",
            "the store is unwell",
        ),
        "denied" => refusal(StatusCode::FORBIDDEN, "denied", "not for you"),
        "redirect-blocked" | "redirect-open" if object => {
            let way = if fault == "redirect-open" {
                "cors"
            } else {
                "shut"
            };
            let location = format!("http://localhost:{}/relay/{name}/{way}/{path}", wires.port);
            (
                StatusCode::TEMPORARY_REDIRECT,
                [(header::LOCATION, location)],
            )
                .into_response()
        }
        "whole" => {
            request.headers_mut().remove(header::RANGE);
            wires.forward(uri, request).await.into_response()
        }
        "cut" if now => {
            let answer = wires.forward(uri, request).await;
            answer.cut(Ending::Breaks)
        }
        "hang" => {
            let answer = wires.forward(uri, request).await;
            answer.cut(Ending::Hangs(Dropped {
                name: name.to_owned(),
                asked: Arc::clone(&wires.asked),
            }))
        }
        _ => wires.forward(uri, request).await.into_response(),
    }
}

fn count(wires: &Wires, name: &str, request: &Request, path: &str) -> Asked {
    let mut asked = lock(&wires.asked);
    let asked = asked.entry(name.to_owned()).or_default();
    match path {
        path if path.contains("/list?") => asked.lists += 1,
        path if path.ends_with("/batch") => asked.batches += 1,
        _ if request.method() == Method::HEAD => asked.heads += 1,
        _ => asked.gets += 1,
    }
    *asked
}

fn refusal(status: StatusCode, kind: &str, message: &str) -> Response {
    let error = json!({ "kind": kind, "message": message, "location": null });
    (status, Json(json!({ "error": error }))).into_response()
}

/// What a store does whose CORS policy allows our pages.
async fn let_in(wires: &Wires, uri: &str, request: Request) -> Response {
    let preflight = request.method() == Method::OPTIONS;
    let mut response = match preflight {
        true => StatusCode::NO_CONTENT.into_response(),
        false => wires.forward(uri, request).await.into_response(),
    };
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "range, if-match, if-none-match",
        ),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "etag, content-range, last-modified",
        ),
    ];
    for (name, value) in allowed {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Wires {
    async fn forward(&self, uri: &str, request: Request) -> Answer {
        let (mut parts, body) = request.into_parts();
        // Each hop has a host of its own.
        for name in [
            header::HOST,
            header::ORIGIN,
            header::REFERER,
            header::CONNECTION,
        ] {
            parts.headers.remove(name);
        }
        parts.headers.remove("sec-fetch-site");
        let body = to_bytes(body, usize::MAX)
            .await
            .expect("the request can be read");
        let sent = self
            .http
            .request(parts.method, uri)
            .headers(parts.headers)
            .body(body)
            .send();
        let response = sent.await.unwrap_or_else(|e| panic!("{uri}: {e}"));
        let (status, mut headers) = (response.status(), response.headers().clone());
        headers.remove(header::TRANSFER_ENCODING);
        let body = response.bytes().await.expect("the answer can be read");
        Answer {
            status,
            headers,
            body,
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.status, self.headers, self.body).into_response()
    }
}

impl Answer {
    /// The first half of the bytes, and then the ending.
    fn cut(self, ending: Ending) -> Response {
        let half = self.body.slice(..self.body.len() / 2);
        let stream = Cut {
            half: Some(half),
            ending,
        };
        (self.status, self.headers, Body::from_stream(stream)).into_response()
    }
}

enum Ending {
    Breaks,
    Hangs(#[expect(dead_code, reason = "it tells by being dropped")] Dropped),
}

struct Cut {
    half: Option<Bytes>,
    ending: Ending,
}

impl Stream for Cut {
    type Item = Result<Bytes, std::io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match (self.half.take(), &self.ending) {
            (Some(half), _) => Poll::Ready(Some(Ok(half))),
            (None, Ending::Breaks) => Poll::Ready(Some(Err(std::io::ErrorKind::BrokenPipe.into()))),
            (None, Ending::Hangs(_)) => Poll::Pending,
        }
    }
}

/// Counts an answer that its client went away from.
struct Dropped {
    name: String,
    asked: Arc<Mutex<HashMap<String, Asked>>>,
}

impl Drop for Dropped {
    fn drop(&mut self) {
        lock(&self.asked)
            .entry(self.name.clone())
            .or_default()
            .dropped += 1;
    }
}

fn lock(
    asked: &Mutex<HashMap<String, Asked>>,
) -> std::sync::MutexGuard<'_, HashMap<String, Asked>> {
    asked.lock().unwrap_or_else(|poison| poison.into_inner())
}
