//! What the server says of itself: the lake, the session, its health and its counters.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use lake::Error;
use lake::wire::ErrorReport;
use lake::wire::http::LakeReport;
use serde::Serialize;

use crate::access::Person;
use crate::app::{App, BUILD};
use crate::failure::Failure;

/// `GET /api/lake`
pub async fn lake(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
) -> Json<LakeReport> {
    let sees = |zone: &crate::zones::Zone| app.access.may_read(&person, zone);
    Json(app.tables.report(sees).await)
}

/// Who asks, as `GET /api/session` answers.
#[derive(Debug, Serialize)]
pub struct Session {
    /// Their name; `null` where nobody is asked for one.
    pub name: Option<String>,
    /// How people are told apart: `none`.
    pub mode: &'static str,
    /// Zones this person may read.
    pub zones: Vec<String>,
    /// The server's build.
    pub build: &'static str,
}

/// `GET /api/session`
pub async fn session(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
) -> Json<Session> {
    let zones = app.zones.iter();
    let zones = zones.filter(|zone| app.access.may_read(&person, zone));
    Json(Session {
        zones: zones.map(|zone| zone.name.clone()).collect(),
        name: person.name,
        mode: app.access.mode.word(),
        build: BUILD,
    })
}

/// `GET /healthz`: the process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether one zone can be read.
#[derive(Debug, Serialize)]
pub struct ZoneReadiness {
    zone: String,
    error: Option<ErrorReport>,
}

/// `GET /readyz`: 200 where every zone's store can be opened, 503 with the reasons otherwise. The
/// stores are not asked: a store that is down does not take the server out of service.
pub async fn readyz(State(app): State<Arc<App>>) -> Response {
    let zones: Vec<ZoneReadiness> = app
        .zones
        .iter()
        .map(|zone| ZoneReadiness {
            zone: zone.name.clone(),
            error: zone.bucket().err().map(|e| ErrorReport::from(&e)),
        })
        .collect();
    let status = match zones.iter().all(|zone| zone.error.is_none()) {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(zones)).into_response()
}

/// `GET /metrics`
pub async fn metrics(State(app): State<Arc<App>>) -> Response {
    let headers = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
    (headers, app.metrics.render()).into_response()
}

/// `GET /api/openapi.json`
pub async fn openapi() -> Response {
    let headers = [(CONTENT_TYPE, "application/json")];
    (headers, include_str!("status/openapi.json")).into_response()
}

/// A route that has no such method.
pub async fn not_allowed() -> Failure {
    let error = Error::invalid("this route has no such method: see /api/openapi.json");
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, error)
}
