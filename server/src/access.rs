//! The one layer that every request passes: where it comes from, who it is, what its answer allows.

mod origin;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lake::{Error, Kind, Result};
use url::Url;

use crate::app::App;
use crate::failure::Failure;
use crate::zones::Zone;

/// Whoever asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Their name; `None` where nobody is asked for one.
    pub name: Option<String>,
}

/// How people are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Not at all: whoever reaches the loopback interface is this machine's user.
    #[default]
    None,
}

impl Mode {
    /// The configuration's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
        }
    }
}

/// Who may ask, and for what.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// How people are told apart.
    pub mode: Mode,
    /// Where the server is reached, if not where it listens.
    pub public_url: Option<Url>,
}

impl Access {
    /// Refuses to listen where strangers are not told apart.
    pub fn check_listen(&self, address: SocketAddr) -> Result<()> {
        if self.mode == Mode::None && !address.ip().is_loopback() {
            return Err(Error::invalid(format!(
                "refusing to listen on {address}: without [access] anybody who reaches it could \
                 read every zone, so only a loopback address such as 127.0.0.1:4800 is allowed"
            ))
            .at("server.listen", address));
        }
        Ok(())
    }

    /// Who a request is from.
    fn person(&self, _: &Request) -> Person {
        match self.mode {
            Mode::None => Person { name: None },
        }
    }

    /// Whether a person may read a zone.
    pub fn may_read(&self, _: &Person, _: &Zone) -> bool {
        match self.mode {
            Mode::None => true,
        }
    }
}

/// The layer.
pub async fn layer(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    app.metrics.in_flight.one();
    let guard = InFlight(Arc::clone(&app));
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match admit(&app.access, &request) {
        Ok(person) => {
            request.extensions_mut().insert(person);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    };
    secure(&mut response);
    let status = response.status().as_u16();
    app.metrics.answered(status);
    tracing::debug!(%method, path, status, took = ?started.elapsed(), "answered");
    drop(guard);
    response
}

/// Counts a request down even where its client went away.
struct InFlight(Arc<App>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.metrics.in_flight.sub(1);
    }
}

fn admit(access: &Access, request: &Request) -> Result<Person, Failure> {
    let host = origin::host(request)?;
    if !origin::is_ours(&host, access.public_url.as_ref()) {
        return Err(forbidden(format!(
            "`{host}` is not a name of this server: a page of another site may have led here; \
             set server.public_url if the name is right"
        )));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        origin::check_change(request, &host, access.public_url.as_ref())?;
    }
    Ok(access.person(request))
}

fn forbidden(message: String) -> Failure {
    Failure::new(StatusCode::FORBIDDEN, Error::new(Kind::Denied, message))
}

/// Headers of every answer. A page or an object sets a policy of its own.
fn secure(response: &mut Response) {
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests;
