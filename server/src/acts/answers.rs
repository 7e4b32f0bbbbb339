//! Acts over HTTP. A plan is made from nothing but what is asked and what the log says, so any
//! server can carry out what another one planned.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lake::plan::{Act, ApplyRequest, Outcome, PlanRequest};
use lake::{Error, Kind, Result};

use super::{Asked, Consent, Limits, act, now};
use crate::access::Person;
use crate::app::App;
use crate::audit;
use crate::failure::Failure;
use crate::jobs::Order;
use crate::segment::Segment;
use crate::stores::Scheme;
use crate::tables::{aside, root};

/// How long an answer waits for an act that may take long, before it names the job instead.
const PATIENCE: Duration = Duration::from_secs(2);

/// `POST /api/tables/{table}/plans`: 201 with the plan, also where it is refused.
pub async fn plan(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
    body: Result<Json<PlanRequest>, JsonRejection>,
) -> Result<(StatusCode, Json<Outcome>), Failure> {
    let asked = Asked {
        request: Failure::body(body, "the plan's request")?,
        as_of: now(),
        expect: None,
        limits: limits(&app, &table),
        sizes: app.sizes,
    };
    asked.check()?;
    let root = root(&app, &person, &table)?;
    let refused = app.writable.refusal(&root).await?;
    let planned = aside(&app, move |host| async move {
        act(&root, &asked, None, &host).await
    });
    let mut planned = planned.await?;
    // Said before the click. Whatever else forbids it is closer to the table.
    planned.plan.refused = planned.plan.refused.or(refused);
    Ok((StatusCode::CREATED, Json(planned)))
}

/// `POST /api/plans/{id}/apply`: 200 with what was done, 202 with the job where that takes long, 409
/// where the table moved on, 422 where the plan is refused. Nothing is written but where the plan
/// comes out the same again.
pub async fn apply(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(id): Segment,
    body: Result<Json<ApplyRequest>, JsonRejection>,
) -> Result<Response, Failure> {
    let body = Failure::body(body, "the plan's inputs")?;
    let kind = body.request.kind;
    let reason = Some(body.reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    if kind == Act::Restore && reason.is_none() {
        return Err(Failure::bad_request(
            "`reason` says why; it is written into the table's log",
        ));
    }
    let asked = Asked {
        request: body.request,
        as_of: body.as_of,
        expect: Some(body.base_version),
        limits: limits(&app, &body.table),
        sizes: app.sizes,
    };
    asked.check()?;
    let root = root(&app, &person, &body.table)?;
    let consent = Consent {
        user: person.name.clone(),
        reason,
        plan: Some(id.clone()),
        over_appends: false,
    };
    let order = Order {
        kind,
        table: body.table.clone(),
        plan_id: id.clone(),
        by: person.name.clone(),
    };
    let audited = audit::Asked {
        table: body.table,
        request: asked.request.clone(),
        plan_id: id,
        base_version: Some(body.base_version),
        consent: consent.clone(),
    };
    let control = app.control.clone();
    let work = move |host| async move {
        let act = act(&root, &asked, Some(&consent), &host);
        audit::audited(&control, &audited, act).await
    };
    // On its own: whoever asked may go away, and the act still comes to its end.
    let (job, told) = app.jobs.start(order, work).await?;
    let told = match kind {
        Act::Restore => Some(told.await),
        Act::Vacuum | Act::Optimize => tokio::time::timeout(PATIENCE, told).await.ok(),
    };
    let Some(told) = told else {
        let job = job.borrow().clone();
        return Ok((StatusCode::ACCEPTED, Json(job)).into_response());
    };
    let failed = |e| Error::new(Kind::Internal, "the act failed").because(e);
    let outcome = told.map_err(failed)??;
    match &outcome.plan.refused {
        None => Ok(Json(outcome).into_response()),
        Some(why) => Err(Failure::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            Error::invalid(why.clone()),
        )),
    }
}

/// How short a vacuum of a table may be.
fn limits(app: &App, table: &str) -> Limits {
    let zone = app.tables.resolve(table);
    let zone = zone.and_then(|place| app.zones.get(&place.zone).cloned());
    Limits {
        short: app.allow_short_vacuum,
        below_an_hour: zone.is_ok_and(|zone| zone.address.scheme() == Scheme::File),
    }
}
