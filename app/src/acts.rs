//! Acts, which only the server plans and carries out.

mod watch;

use gloo_net::http::{Request, RequestBuilder};
use lake::plan::{
    ApplyRequest, AuditPage, Job, Jobs, Outcome, PinRequest, Pins, PlanRequest, Quarantine,
};
use lake::{Error, Kind, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::read::from_json;
use crate::session::{answered, refused};

pub use watch::Watch;

/// What an act would do.
pub async fn plan(table: &str, request: &PlanRequest) -> Result<Outcome> {
    send(Request::post(&of(table, "/plans")), request).await
}

/// What an act on hours would do.
pub async fn plan_hours(dataset: &str, request: &PlanRequest) -> Result<Outcome> {
    let path = format!("/api/datasets/{}/plans", segment(dataset));
    send(Request::post(&path), request).await
}

/// What came of an act.
#[derive(Clone, Debug, PartialEq)]
pub enum Came {
    /// It is over.
    Done(Box<Outcome>),
    /// It goes on, also if nobody looks.
    Goes(Box<Job>),
}

/// Does what the plan says, if it still says so.
pub async fn apply(id: &str, request: &ApplyRequest) -> Result<Came> {
    let request = with_body(Request::post(&format!("/api/plans/{id}/apply")), request)?;
    let response = request.send().await.map_err(silent)?;
    let status = response.status();
    let text = response.text().await.map_err(silent)?;
    let unread = |e| Error::new(Kind::Internal, "the server's answer").because(e);
    match status {
        202 => Ok(Came::Goes(Box::new(from_json(&text).map_err(unread)?))),
        200..300 => Ok(Came::Done(Box::new(from_json(&text).map_err(unread)?))),
        _ => Err(refused(status, &text)),
    }
}

/// Jobs on a table, newest first.
pub async fn jobs(table: &str) -> Result<Jobs> {
    get(&format!("/api/jobs?table={}", segment(table))).await
}

/// Asks a job to stop after the step it is in.
pub async fn cancel(id: &str) -> Result<Job> {
    let path = format!("/api/jobs/{}/cancel", segment(id));
    send(Request::post(&path), &()).await
}

/// Versions that vacuum keeps, by name.
pub async fn pins(table: &str) -> Result<Pins> {
    get(&of(table, "/pins")).await
}

/// Keeps a version by name.
pub async fn pin(table: &str, name: &str, request: &PinRequest) -> Result<Pins> {
    let path = of(table, &format!("/pins/{}", segment(name)));
    send(Request::put(&path), request).await
}

/// Keeps a version no longer.
pub async fn unpin(table: &str, name: &str) -> Result<Pins> {
    let path = of(table, &format!("/pins/{}", segment(name)));
    send(Request::delete(&path), &()).await
}

/// What vacuums moved aside.
pub async fn quarantine(table: &str) -> Result<Quarantine> {
    get(&of(table, "/quarantine")).await
}

/// Deletes for good what vacuums moved aside longer ago than `age`: `7d`.
pub async fn empty_quarantine(table: &str, age: &str) -> Result<Quarantine> {
    let path = of(table, &format!("/quarantine?older_than={}", segment(age)));
    send(Request::delete(&path), &()).await
}

/// A page of what was done.
pub async fn audit(before: Option<&str>) -> Result<AuditPage> {
    get(&format!(
        "/api/audit?before={}",
        segment(before.unwrap_or_default())
    ))
    .await
}

fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn of(table: &str, rest: &str) -> String {
    format!("/api/tables/{}{rest}", segment(table))
}

async fn get<T: DeserializeOwned>(path: &str) -> Result<T> {
    answered(Request::get(path).send().await).await
}

/// The server takes a change only from who says that it is JSON, which no form of another site can.
async fn send<T: DeserializeOwned>(request: RequestBuilder, body: &impl Serialize) -> Result<T> {
    answered(with_body(request, body)?.send().await).await
}

fn with_body(request: RequestBuilder, body: &impl Serialize) -> Result<Request> {
    let body = serde_json::to_string(body)
        .map_err(|e| Error::new(Kind::Internal, "a request that JSON cannot hold").because(e))?;
    let request = request.header("content-type", "application/json");
    request
        .body(body)
        .map_err(|_| Error::new(Kind::Internal, "a request that cannot be sent"))
}

fn silent(_: gloo_net::Error) -> Error {
    Error::new(Kind::Unreachable, "Tidemark's own server does not answer")
}
