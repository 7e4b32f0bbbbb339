//! Acts, which only the server carries out.

use gloo_net::http::Request;
use lake::plan::{ApplyRequest, Outcome, PlanRequest};
use lake::{Error, Kind, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::session::answered;

/// What a restore would do.
pub async fn plan(table: &str, request: &PlanRequest) -> Result<Outcome> {
    let table = utf8_percent_encode(table, NON_ALPHANUMERIC);
    post(&format!("/api/tables/{table}/plans"), request).await
}

/// Does what the plan says, if it still says so.
pub async fn apply(id: &str, request: &ApplyRequest) -> Result<Outcome> {
    post(&format!("/api/plans/{id}/apply"), request).await
}

async fn post(path: &str, body: &impl Serialize) -> Result<Outcome> {
    let body = serde_json::to_string(body)
        .map_err(|e| Error::new(Kind::Internal, "a request that JSON cannot hold").because(e))?;
    let request = Request::post(path).header("content-type", "application/json");
    let request = request
        .body(body)
        .map_err(|_| Error::new(Kind::Internal, "a request that cannot be sent"))?;
    answered(request.send().await).await
}
