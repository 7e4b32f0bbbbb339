//! Acts over HTTP. A plan is made from nothing but what is asked and what the log says, so any
//! server can carry out what another one planned.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lake::answer::Root;
use lake::host::SharedHost;
use lake::plan::{Act, ApplyRequest, Outcome, PlanRequest};
use lake::{Error, Kind, Result};

use super::{Asked, Consent, Limits, act, bounded, hours, now};
use crate::access::Person;
use crate::app::App;
use crate::audit;
use crate::datasets::Placed;
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
    on_a_table(&asked)?;
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

/// `POST /api/datasets/{dataset}/plans`: 201 with the plan, also where it is refused.
pub async fn plan_hours(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(name): Segment,
    body: Result<Json<PlanRequest>, JsonRejection>,
) -> Result<(StatusCode, Json<Outcome>), Failure> {
    let asked = Asked {
        request: Failure::body(body, "the plan's request")?,
        as_of: now(),
        expect: None,
        limits: Limits::default(),
        sizes: app.sizes,
    };
    asked.check()?;
    let placed = app.dataset(&person, &name)?;
    let planned = aside(&app, move |host| async move {
        hours::act(&placed, &asked, None, &host).await
    });
    Ok((StatusCode::CREATED, Json(planned.await?)))
}

/// Refuses an act on hours where a table is named.
fn on_a_table(asked: &Asked) -> Result<(), Failure> {
    match asked.request.kind.on_hours() {
        true => Err(Failure::bad_request(
            "this is done to a dataset, and not to a table",
        )),
        false => Ok(()),
    }
}

/// What an act is carried out on.
enum Target {
    Table(Root),
    Hours(Placed),
}

impl Target {
    async fn act(&self, asked: &Asked, consent: &Consent, host: &SharedHost) -> Result<Outcome> {
        match self {
            Self::Table(root) => act(root, asked, Some(consent), host).await,
            Self::Hours(placed) => hours::act(placed, asked, Some(consent), host).await,
        }
    }
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
    let reason = bounded(Some(body.reason))?;
    let needed = match kind {
        Act::Restore => Some("`reason` says why; it is written into the table's log"),
        Act::Publish if body.request.empty => Some("`reason` says why nothing came"),
        _ => None,
    };
    if let (Some(needed), None) = (needed, &reason) {
        return Err(Failure::bad_request(needed));
    }
    let asked = Asked {
        request: body.request,
        as_of: body.as_of,
        expect: body.base_version,
        limits: limits(&app, &body.table),
        sizes: app.sizes,
    };
    asked.check()?;
    let target = match &body.dataset {
        Some(dataset) => Target::Hours(app.dataset(&person, dataset)?),
        None => {
            on_a_table(&asked)?;
            if asked.expect.is_none() {
                return Err(Failure::bad_request(
                    "`base_version` says over which version it was planned",
                ));
            }
            Target::Table(root(&app, &person, &body.table)?)
        }
    };
    let consent = Consent {
        user: person.name.clone(),
        reason,
        plan: Some(id.clone()),
        over_appends: false,
    };
    let table = match &body.dataset {
        Some(dataset) => dataset.clone(),
        None => app.tables.canonical(&body.table),
    };
    let order = Order {
        kind,
        table: table.clone(),
        plan_id: id.clone(),
        by: person.name.clone(),
        alone: kind == Act::Vacuum && asked.request.allow_short_retention,
    };
    let audited = audit::Asked {
        table,
        request: asked.request.clone(),
        plan_id: id,
        base_version: body.base_version,
        consent: consent.clone(),
    };
    let control = app.control.clone();
    let work = move |host| async move {
        let act = target.act(&asked, &consent, &host);
        audit::audited(&control, &audited, act).await
    };
    // On its own: whoever asked may go away, and the act still comes to its end.
    let (job, told) = app.jobs.start(order, work)?;
    let told = match kind {
        Act::Restore => Some(told.await),
        _ => tokio::time::timeout(PATIENCE, told).await.ok(),
    };
    let as_job = || {
        let job = job.borrow().clone();
        Ok((StatusCode::ACCEPTED, Json(job)).into_response())
    };
    let Some(told) = told else {
        return as_job();
    };
    let failed = |e| Error::new(Kind::Internal, "the act failed").because(e);
    let outcome = match told.map_err(failed)? {
        // Somebody stopped it, which is no failure: the job says so.
        Err(error) if error.kind() == Kind::Cancelled => return as_job(),
        told => told?,
    };
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
