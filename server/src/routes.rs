//! Every route on one screen.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post, put};

use crate::app::App;
use crate::{access, acts, audit, datasets, jobs, lint, reads, site, status, tables};

/// Paths below `/api` and beside it that answer, as `/api/openapi.json` lists them.
pub const PATHS: &[&str] = &[
    "/api/lake",
    "/api/session",
    "/api/openapi.json",
    "/api/zones",
    "/api/zones/{zone}/list",
    "/api/zones/{zone}/object",
    "/api/zones/{zone}/batch",
    "/api/tables/{table}/history",
    "/api/tables/{table}/snapshot",
    "/api/tables/{table}/diff",
    "/api/tables/{table}/layout",
    "/api/tables/{table}/plans",
    "/api/tables/{table}/pins",
    "/api/tables/{table}/pins/{name}",
    "/api/tables/{table}/quarantine",
    "/api/datasets/{dataset}",
    "/api/datasets/{dataset}/hours",
    "/api/datasets/{dataset}/hours/{date}",
    "/api/datasets/{dataset}/hours/{date}/{hour}",
    "/api/datasets/{dataset}/plans",
    "/api/plans/{id}/apply",
    "/api/jobs",
    "/api/jobs/{id}",
    "/api/jobs/{id}/events",
    "/api/jobs/{id}/cancel",
    "/api/audit",
    "/healthz",
    "/readyz",
    "/metrics",
];

/// The server. Everything passes the access layer.
pub fn router(app: Arc<App>) -> Router {
    let batch = post(reads::batch::batch).layer(DefaultBodyLimit::max(reads::batch::MAX_BODY));
    let pin = put(acts::pins::answers::put).delete(acts::pins::answers::remove);
    let quarantine = get(acts::quarantine::list)
        .post(acts::quarantine::back)
        .delete(acts::quarantine::remove);
    Router::new()
        .route("/api/lake", get(status::lake))
        .route("/api/session", get(status::session))
        .route("/api/openapi.json", get(status::openapi))
        .route("/api/zones", get(lint::zones))
        .route("/api/zones/{zone}/list", get(reads::list::list))
        .route("/api/zones/{zone}/object", get(reads::object::object))
        .route("/api/zones/{zone}/batch", batch)
        .route("/api/tables/{table}/history", get(tables::history))
        .route("/api/tables/{table}/snapshot", get(tables::snapshot))
        .route("/api/tables/{table}/diff", get(tables::diff))
        .route("/api/tables/{table}/layout", get(tables::layout))
        .route("/api/tables/{table}/plans", post(acts::answers::plan))
        .route("/api/tables/{table}/pins", get(acts::pins::answers::list))
        .route("/api/tables/{table}/pins/{name}", pin)
        .route("/api/tables/{table}/quarantine", quarantine)
        .route("/api/datasets/{dataset}", get(datasets::dataset))
        .route("/api/datasets/{dataset}/hours", get(datasets::hours::hours))
        .route(
            "/api/datasets/{dataset}/hours/{date}",
            get(datasets::hours::day),
        )
        .route(
            "/api/datasets/{dataset}/hours/{date}/{hour}",
            get(datasets::hours::hour),
        )
        .route(
            "/api/datasets/{dataset}/plans",
            post(acts::answers::plan_hours),
        )
        .route("/api/plans/{id}/apply", post(acts::answers::apply))
        .route("/api/jobs", get(jobs::answers::jobs))
        .route("/api/jobs/{id}", get(jobs::answers::job))
        .route("/api/jobs/{id}/events", get(jobs::answers::events))
        .route("/api/jobs/{id}/cancel", post(jobs::answers::cancel))
        .route("/api/audit", get(audit::audit))
        .route("/healthz", get(status::healthz))
        .route("/readyz", get(status::readyz))
        .route("/metrics", get(status::metrics))
        .fallback(site::site)
        .method_not_allowed_fallback(status::not_allowed)
        .layer(from_fn_with_state(Arc::clone(&app), access::layer))
        .with_state(app)
}
