//! Jobs over HTTP: listed, watched as server-sent events, stopped.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures::{Stream, stream};
use lake::plan::{Job, Jobs};
use lake::{Error, Result};
use tokio::sync::watch;

use crate::access::Person;
use crate::app::App;
use crate::audit::sees;
use crate::failure::Failure;
use crate::reads::query::Params;
use crate::segment::Segment;

/// Time between two events of one job at least.
const PACE: Duration = Duration::from_millis(250);

/// How often the record of another server's job is read.
const POLL: Duration = Duration::from_secs(2);

/// `GET /api/jobs?table=`
pub async fn jobs(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    RawQuery(query): RawQuery,
) -> Result<Json<Jobs>, Failure> {
    let params = Params::parse(query.as_deref(), &["table"])?;
    let table = params.get("table").filter(|text| !text.is_empty());
    let table = table.map(|name| [name.to_owned(), app.tables.canonical(name)]);
    let (mut jobs, unreadable) = app.jobs.list().await?;
    jobs.retain(|job| {
        table.as_ref().is_none_or(|t| t.contains(&job.location))
            && sees(&app, &person, &job.location)
    });
    Ok(Json(Jobs {
        jobs,
        kept: app.control.kept,
        unreadable,
    }))
}

/// `GET /api/jobs/{id}`
pub async fn job(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(id): Segment,
) -> Result<Json<Job>, Failure> {
    Ok(Json(seen(&app, &person, &id).await?))
}

/// `POST /api/jobs/{id}/cancel`: 202; the job stops after the step it is in.
pub async fn cancel(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(id): Segment,
) -> Result<(StatusCode, Json<Job>), Failure> {
    seen(&app, &person, &id).await?;
    Ok((StatusCode::ACCEPTED, Json(app.jobs.cancel(&id).await?)))
}

/// `GET /api/jobs/{id}/events`: the job at once and whenever it changes, until it is over.
pub async fn events(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(id): Segment,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    // Watched before it is read, so that no change falls between.
    let changes = app.jobs.watch(&id);
    let job = seen(&app, &person, &id).await?;
    let watched = Watched {
        changes,
        stopping: app.jobs.stopping(),
        next: Some(job),
        app,
    };
    let events = stream::unfold(watched, |mut watched| async move {
        let job = watched.next.take()?;
        watched.next = match job.state.is_over() {
            true => None,
            false => watched.later(&job).await,
        };
        // What cannot be written as JSON is no job of ours.
        let event = Event::default().json_data(&job).unwrap_or_default();
        Some((Ok(event), watched))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// A job that somebody watches.
struct Watched {
    app: Arc<App>,
    changes: Option<watch::Receiver<Job>>,
    stopping: watch::Receiver<bool>,
    next: Option<Job>,
}

impl Watched {
    /// The job once it is another; `None` where the server stops.
    async fn later(&mut self, before: &Job) -> Option<Job> {
        loop {
            let changed = async {
                match &mut self.changes {
                    Some(changes) => {
                        tokio::time::sleep(PACE).await;
                        // The sender lives as long as the job is listed.
                        let _ = changes.changed().await;
                    }
                    None => tokio::time::sleep(POLL).await,
                }
            };
            tokio::select! {
                () = changed => {}
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
            }
            let job = match &mut self.changes {
                Some(changes) => changes.borrow_and_update().clone(),
                None => self.app.jobs.get(&before.id).await.ok()?,
            };
            if job != *before {
                return Some(job);
            }
        }
    }
}

/// A job of a table that this person may read.
async fn seen(app: &App, person: &Person, id: &str) -> Result<Job> {
    let job = app.jobs.get(id).await?;
    match sees(app, person, &job.location) {
        true => Ok(job),
        false => Err(Error::not_found("no such job").at("job", id)),
    }
}
