//! The built page: inside the binary, or on disk while it is being worked on.

mod asset;
mod policy;

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use lake::Error;

pub use self::asset::Embedded;
use self::asset::{Asset, Source, content_type, is_hashed};
use crate::app::App;
use crate::failure::Failure;

/// Where the page's files come from.
#[derive(Clone, Debug)]
pub struct Site {
    source: Source,
    /// Other hosts the page may fetch from: stores that reads are redirected to.
    connect: Vec<String>,
}

impl Site {
    /// The files that the binary carries; those of `directory` where one is given.
    pub fn new(embedded: Embedded, directory: Option<PathBuf>, connect: Vec<String>) -> Self {
        Self {
            source: directory.map_or(Source::Embedded(embedded), Source::Disk),
            connect,
        }
    }
}

/// Everything that is not a route of the interface: a file of the page, or the page itself, which
/// knows what the path means.
pub async fn site(
    State(app): State<Arc<App>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let path = uri.path();
    if path == "/api" || path.starts_with("/api/") {
        return Failure::from(Error::not_found("no such route").at("path", path)).into_response();
    }
    if !matches!(method, Method::GET | Method::HEAD) {
        let error = Error::invalid("the page is only read");
        return Failure::new(StatusCode::METHOD_NOT_ALLOWED, error).into_response();
    }
    let site = &app.site;
    let name = path.trim_start_matches('/');
    if !matches!(name, "" | "index.html")
        && let Some(asset) = site.source.get(name)
    {
        return site.file(name, asset, &headers);
    }
    if is_page(path, &headers) {
        return site.page(&headers);
    }
    Failure::from(Error::not_found("no such file").at("path", path)).into_response()
}

/// Whether a path is one of the page's own and not of a file that is missing. A table's name may
/// hold a dot, so that its end does not tell; what the client takes does.
fn is_page(path: &str, headers: &HeaderMap) -> bool {
    if path == "/" || path == "/index.html" {
        return true;
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let named = path.starts_with("/t/") || path.starts_with("/d/");
    if !named && asset::is_asset_name(last) {
        return false;
    }
    let accept = headers.get(ACCEPT).and_then(|v| v.to_str().ok());
    match accept {
        Some(accept) if accept.contains("text/html") => true,
        Some(accept) => accept.contains("*/*") && !last.contains('.'),
        None => !last.contains('.'),
    }
}

impl Site {
    /// The page. It is asked for each time: it names the files of this build.
    fn page(&self, headers: &HeaderMap) -> Response {
        let Some(index) = self.source.get("index.html") else {
            return not_built();
        };
        let policy = self.policy();
        let mut response = self.send("index.html", index, headers);
        set(&mut response, CACHE_CONTROL, "no-cache");
        set(&mut response, CONTENT_SECURITY_POLICY, &policy);
        response
    }

    /// One of the page's files. Only a name with a hash in it never changes its content.
    fn file(&self, name: &str, asset: Asset, headers: &HeaderMap) -> Response {
        let mut response = self.send(name, asset, headers);
        let caching = match is_hashed(name) {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        set(&mut response, CACHE_CONTROL, caching);
        // A worker is bound by the policy of its own script.
        set(&mut response, CONTENT_SECURITY_POLICY, &self.policy());
        response
    }

    fn policy(&self) -> String {
        let index = self.source.get("index.html");
        policy::policy(index.as_ref().map(|i| &*i.bytes), &self.connect)
    }

    fn send(&self, name: &str, plain: Asset, headers: &HeaderMap) -> Response {
        let brotli = headers.get(ACCEPT_ENCODING).is_some_and(takes_brotli);
        let packed = match brotli {
            true => self.source.get(&format!("{name}.br")),
            false => None,
        };
        let is_packed = packed.is_some();
        let asset = packed.unwrap_or(plain);
        let tag = match is_packed {
            true => format!("\"{}-br\"", asset.tag),
            false => format!("\"{}\"", asset.tag),
        };
        let known = headers.get(IF_NONE_MATCH).and_then(|v| v.to_str().ok());
        let unchanged = known.is_some_and(|known| {
            let mut tags = known.split(',').map(|t| t.trim().trim_start_matches("W/"));
            tags.any(|t| t == tag || t == "*")
        });
        let mut response = match unchanged {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => {
                let length = asset.bytes.len();
                let mut response = Response::new(asset.bytes.into_owned().into());
                set(&mut response, CONTENT_LENGTH, &length.to_string());
                if is_packed {
                    set(&mut response, CONTENT_ENCODING, "br");
                }
                response
            }
        };
        set(&mut response, CONTENT_TYPE, content_type(name));
        set(&mut response, ETAG, &tag);
        set(&mut response, VARY, "accept-encoding");
        response
    }
}

/// Whether `br` is among the encodings and not refused with `q=0`.
fn takes_brotli(value: &HeaderValue) -> bool {
    let Ok(value) = value.to_str() else {
        return false;
    };
    value.split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let refused = matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        name.trim() == "br" && !refused
    })
}

fn not_built() -> Response {
    let page = include_str!("site/not_built.html");
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, page).into_response();
    set(&mut response, CONTENT_TYPE, "text/html; charset=utf-8");
    response
}

fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests;
