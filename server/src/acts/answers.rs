//! Acts over HTTP. A plan is made from nothing but what is asked and what the log says, so any
//! server can carry out what another one planned.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use lake::delta::restore::Request;
use lake::plan::{Act, ApplyRequest, Outcome, PlanRequest};
use lake::table::{At, Time, Version};
use lake::{Error, Kind, Result};

use super::{Consent, now, restore};
use crate::access::Person;
use crate::app::App;
use crate::failure::Failure;
use crate::segment::Segment;
use crate::tables::{Yielding, aside, root};

/// `POST /api/tables/{table}/plans`: 201 with the plan, also where it is refused.
pub async fn plan(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
    body: Result<Json<PlanRequest>, JsonRejection>,
) -> Result<(StatusCode, Json<Outcome>), Failure> {
    let asked = Failure::body(body, "the plan's request")?;
    let request = request(asked, now(), None)?;
    let root = root(&app, &person, &table)?;
    let planned = aside(&app, move |host| async move {
        restore(&root, &request, None, &host).await
    });
    Ok((StatusCode::CREATED, Json(planned.await?)))
}

/// `POST /api/plans/{id}/apply`: 200 with what was done, 409 where the table moved on, 422 where the
/// plan is refused. Nothing is written but where the plan comes out the same again.
pub async fn apply(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(id): Segment,
    body: Result<Json<ApplyRequest>, JsonRejection>,
) -> Result<Json<Outcome>, Failure> {
    let asked = Failure::body(body, "the plan's inputs")?;
    if asked.reason.trim().is_empty() {
        return Err(Failure::bad_request(
            "`reason` says why; it is written into the table's log",
        ));
    }
    let request = request(asked.request, asked.as_of, Some(asked.base_version))?;
    let root = root(&app, &person, &asked.table)?;
    let consent = Consent {
        user: person.name.clone(),
        reason: Some(asked.reason.trim().to_owned()),
        plan: Some(id),
        over_appends: false,
    };
    let runtime = tokio::runtime::Handle::current();
    // On its own: whoever asked may go away, and the act still comes to its end.
    let work = tokio::task::spawn_blocking(move || {
        let host = Arc::new(Yielding) as _;
        runtime.block_on(restore(&root, &request, Some(&consent), &host))
    });
    let failed = |e| Error::new(Kind::Internal, "the act failed").because(e);
    let outcome = work.await.map_err(failed)??;
    match &outcome.plan.refused {
        None => Ok(Json(outcome)),
        Some(why) => Err(Failure::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            Error::invalid(why.clone()),
        )),
    }
}

fn request(asked: PlanRequest, as_of: Time, expect: Option<Version>) -> Result<Request> {
    if asked.kind != Act::Restore {
        return Err(Error::unsupported("only a restore can be planned yet"));
    }
    let at = match (asked.version, asked.at) {
        (Some(version), None) => At::Version(version),
        (None, Some(time)) => At::Time(time),
        _ => {
            return Err(Error::invalid(
                "say which version to go back to: `version` or `at`",
            ));
        }
    };
    Ok(Request {
        at,
        partitions: asked.partitions,
        allow_missing: asked.allow_missing,
        as_of,
        expect,
    })
}
