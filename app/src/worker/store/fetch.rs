//! One request to the server: sent, sent again where that is safe, and taken back when dropped.

use bytes::Bytes;
use futures::stream::{LocalBoxStream, StreamExt};
use js_sys::{Function, Promise, Reflect, Uint8Array};
use lake::{Error, Kind, Result};
use wasm_bindgen::prelude::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Headers, ReadableStreamDefaultReader, Request, RequestCache, RequestInit,
    RequestRedirect, Response, ResponseType,
};

use crate::worker::turn::sleep;

/// Milliseconds before the second and the third try.
pub(super) const PAUSES: [u32; 2] = [150, 600];

/// What is asked of the server. Everything here only reads, so all of it may be asked again.
#[derive(Clone, Debug)]
pub(super) struct Question<'a> {
    pub(super) method: &'static str,
    pub(super) url: &'a str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<String>,
    /// Whether the browser's own cache may take part: it asks whether what it has still holds.
    pub(super) cached: bool,
}

impl<'a> Question<'a> {
    pub(super) fn get(url: &'a str) -> Self {
        Self {
            method: "GET",
            url,
            headers: Vec::new(),
            body: None,
            cached: false,
        }
    }
}

/// An answer whose bytes have not been read yet.
pub(super) struct Reply {
    response: Response,
    abort: Abort,
}

/// Aborts what it belongs to when dropped. That does nothing to what has already ended.
struct Abort(AbortController);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Asks until there is an answer that is not a passing fault of the server, three times at most.
pub(super) async fn fetch(question: &Question<'_>) -> Result<Reply> {
    let mut pauses = PAUSES.iter();
    loop {
        let outcome = fetch_once(question).await;
        let passing = match &outcome {
            Ok(reply) => is_passing(reply.status()),
            Err(error) => error.kind() == Kind::Unreachable,
        };
        match pauses.next() {
            Some(pause) if passing => sleep(*pause).await,
            _ => return outcome,
        }
    }
}

/// Whether the same question may get another answer soon.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

/// Asks once.
pub(super) async fn fetch_once(question: &Question<'_>) -> Result<Reply> {
    let abort = Abort(AbortController::new().map_err(|e| unable(&e))?);
    let request = request(question, &abort, RequestRedirect::Follow)?;
    match send(&request).await {
        Ok(response) => Ok(Reply { response, abort }),
        Err(reason) => Err(unanswered(question, &reason).await),
    }
}

fn request(question: &Question<'_>, abort: &Abort, redirect: RequestRedirect) -> Result<Request> {
    let init = RequestInit::new();
    init.set_method(question.method);
    init.set_redirect(redirect);
    init.set_signal(Some(&abort.0.signal()));
    init.set_cache(match question.cached {
        true => RequestCache::NoCache,
        false => RequestCache::NoStore,
    });
    let headers = Headers::new().map_err(|e| unable(&e))?;
    for (name, value) in &question.headers {
        headers.set(name, value).map_err(|e| unable(&e))?;
    }
    init.set_headers(&headers);
    if let Some(body) = &question.body {
        init.set_body(&JsValue::from_str(body));
    }
    Request::new_with_str_and_init(question.url, &init).map_err(|e| unable(&e))
}

/// `fetch` of a worker or of a window: each has its own type in the bindings.
async fn send(request: &Request) -> Result<Response, JsValue> {
    let global = js_sys::global();
    let fetch: Function = Reflect::get(&global, &JsValue::from_str("fetch"))?.dyn_into()?;
    let promise: Promise = fetch.call1(&global, request)?.dyn_into()?;
    JsFuture::from(promise).await?.dyn_into()
}

/// Why there is no answer. A browser does not tell a refused cross-origin read from a dead line,
/// so the server is asked whether it would have sent us elsewhere.
async fn unanswered(question: &Question<'_>, reason: &JsValue) -> Error {
    let unreachable = Error::new(Kind::Unreachable, "the server does not answer");
    let error = unreachable.because(JsError::from(reason));
    let head = Question {
        method: "HEAD",
        url: question.url,
        headers: Vec::new(),
        body: None,
        cached: false,
    };
    if question.method == "POST" {
        return error;
    }
    let Ok(controller) = AbortController::new() else {
        return error;
    };
    let abort = Abort(controller);
    let Ok(request) = request(&head, &abort, RequestRedirect::Manual) else {
        return error;
    };
    match send(&request).await {
        Ok(response) if response.type_() == ResponseType::Opaqueredirect => blocked(),
        _ => error,
    }
}

/// The server sends reads to the store itself, and the store does not let a page in.
fn blocked() -> Error {
    let location = Reflect::get(&js_sys::global(), &JsValue::from_str("origin"));
    let origin = location.ok().and_then(|o| o.as_string());
    Error::new(
        Kind::Denied,
        format!(
            "the store does not let a page of {} read it: its CORS policy must allow GET and HEAD \
             from there with the headers Range and If-Match, and expose ETag, Content-Range and \
             Last-Modified; or set reads = \"proxy\"",
            origin.as_deref().unwrap_or("this address")
        ),
    )
}

impl Reply {
    pub(super) fn status(&self) -> u16 {
        self.response.status()
    }

    /// A header, where the answer has it and lets a page see it.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name).ok()?
    }

    /// The bytes as they arrive. Dropping the stream takes the request back.
    pub(super) fn stream(self) -> LocalBoxStream<'static, Result<Bytes>> {
        let Some(body) = self.response.body() else {
            return futures::stream::empty().boxed_local();
        };
        let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
        let state = (reader, self.abort);
        futures::stream::try_unfold(state, |(reader, abort)| async move {
            let chunk = JsFuture::from(reader.read()).await.map_err(|e| cut(&e))?;
            let done = Reflect::get(&chunk, &JsValue::from_str("done"));
            if done.is_ok_and(|done| done.is_truthy()) {
                return Ok(None);
            }
            let value = Reflect::get(&chunk, &JsValue::from_str("value")).map_err(|e| cut(&e))?;
            let bytes = value.dyn_into::<Uint8Array>().map_err(|e| cut(&e))?;
            Ok(Some((Bytes::from(bytes.to_vec()), (reader, abort))))
        })
        .boxed_local()
    }

    /// All bytes, at most `limit`.
    pub(super) async fn bytes(self, limit: usize) -> Result<Bytes> {
        let mut all = Vec::new();
        let mut stream = self.stream();
        while let Some(piece) = stream.next().await {
            let piece = piece?;
            if all.len() + piece.len() > limit {
                return Err(Error::new(
                    Kind::TooLarge,
                    format!("an answer of more than {limit} bytes"),
                ));
            }
            all.extend_from_slice(&piece);
        }
        Ok(all.into())
    }
}

fn unable(reason: &JsValue) -> Error {
    Error::new(Kind::Internal, "the request cannot be made").because(JsError::from(reason))
}

fn cut(reason: &JsValue) -> Error {
    let message = "the connection broke while the answer came";
    Error::new(Kind::Unreachable, message).because(JsError::from(reason))
}

/// What JavaScript threw, as text: its values stay on their thread, errors travel.
#[derive(Debug)]
struct JsError(String);

impl From<&JsValue> for JsError {
    fn from(value: &JsValue) -> Self {
        let error = value.dyn_ref::<js_sys::Error>();
        Self(error.map_or_else(|| format!("{value:?}"), |e| String::from(e.message())))
    }
}

impl std::fmt::Display for JsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JsError {}
