//! The four figures of a table, as the command line prints them and the routes answer them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use futures::future::BoxFuture;
use lake::answer::{self, Root};
use lake::host::{Host, Progress, SharedHost};
use lake::table::{At, Time, Version};
use lake::wire::{DiffReport, HistoryQuery, HistoryReport, LayoutReport, SnapshotReport};
use lake::{Error, Kind, Result};
use serde::Serialize;

use crate::access::Person;
use crate::app::App;
use crate::failure::Failure;
use crate::reads::query::Params;
use crate::segment::Segment;

/// A report with the table's location, where the report does not hold it itself.
#[derive(Debug, Serialize)]
pub struct Located<T> {
    /// The table's root, as the caller named it.
    pub location: String,
    /// The report.
    #[serde(flatten)]
    pub report: T,
}

/// Most commits of one answer.
const MAX_COMMITS: u64 = 1000;

/// `GET /api/tables/{table}/history?limit=&before=`
pub async fn history(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
    RawQuery(query): RawQuery,
) -> Result<Json<HistoryReport>, Failure> {
    let params = Params::parse(query.as_deref(), &["limit", "before"])?;
    let limit = params.number("limit")?.unwrap_or(50).min(MAX_COMMITS);
    if limit == 0 {
        return Err(Failure::bad_request("`limit` is a number from 1"));
    }
    let query = HistoryQuery {
        limit: u32::try_from(limit).unwrap_or(u32::MAX),
        before: version(&params, "before")?,
    };
    let root = root(&app, &person, &table)?;
    let report = aside(&app, move |host| async move {
        answer::history(&root, &query, &host).await
    });
    Ok(Json(report.await?))
}

/// `GET /api/tables/{table}/snapshot?version=&at=&files=`
pub async fn snapshot(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
    RawQuery(query): RawQuery,
) -> Result<Json<SnapshotReport>, Failure> {
    let params = Params::parse(query.as_deref(), &["version", "at", "files"])?;
    let at = at(&params)?;
    let files = params.flag("files")?;
    let root = root(&app, &person, &table)?;
    let report = aside(&app, move |host| async move {
        answer::snapshot(&root, at, files, &host).await
    });
    Ok(Json(report.await?))
}

/// `GET /api/tables/{table}/diff?from=&to=&files=`
pub async fn diff(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
    RawQuery(query): RawQuery,
) -> Result<Json<Located<DiffReport>>, Failure> {
    let params = Params::parse(query.as_deref(), &["from", "to", "files"])?;
    let from = params.need("from")?.parse()?;
    let to = params.need("to")?.parse()?;
    let files = params.flag("files")?;
    let root = root(&app, &person, &table)?;
    let report = aside(&app, move |host| async move {
        Ok(Located {
            report: answer::diff(&root, from, to, files, &host).await?,
            location: root.location,
        })
    });
    Ok(Json(report.await?))
}

/// `GET /api/tables/{table}/layout?version=&at=`
pub async fn layout(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
    RawQuery(query): RawQuery,
) -> Result<Json<LayoutReport>, Failure> {
    let params = Params::parse(query.as_deref(), &["version", "at"])?;
    let at = at(&params)?;
    let root = root(&app, &person, &table)?;
    let report = aside(&app, move |host| async move {
        answer::layout(&root, at, None, &host).await
    });
    Ok(Json(report.await?))
}

/// The root of a table that this person may see.
pub fn root(app: &App, person: &Person, table: &str) -> Result<Root, Failure> {
    let place = app.tables.resolve(table)?;
    app.zone(person, &place.zone)?;
    Ok(app.tables.root_of(table)?)
}

/// Reads a table on a thread of its own: replaying a long log is work that would keep other
/// requests waiting. It ends early where the client goes away.
pub async fn aside<T, F>(
    app: &App,
    read: impl FnOnce(SharedHost) -> F + Send + 'static,
) -> Result<T, Failure>
where
    T: Send + 'static,
    F: Future<Output = Result<T>>,
{
    let fault = |why: &str| Error::new(Kind::Internal, why);
    let turn = app.table_reads.acquire().await;
    let _turn = turn.map_err(|e| fault("the server is stopping").because(e))?;
    let (_waiting, gone) = tokio::sync::oneshot::channel::<()>();
    let runtime = tokio::runtime::Handle::current();
    let work = tokio::task::spawn_blocking(move || {
        runtime.block_on(async move {
            tokio::select! {
                result = read(Arc::new(Yielding)) => result,
                _ = gone => Err(Error::new(Kind::Cancelled, "nobody waits for the answer")),
            }
        })
    });
    let result = work.await;
    Ok(result.map_err(|e| fault("reading the table failed").because(e))??)
}

/// Lets whoever waits beside the work have a look now and then.
pub struct Yielding;

impl Host for Yielding {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(tokio::task::yield_now())
    }

    fn wait(&self, millis: u64) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(std::time::Duration::from_millis(millis)))
    }
}

fn version(params: &Params, name: &str) -> Result<Option<Version>> {
    let text = params.get(name).filter(|text| !text.is_empty());
    text.map(str::parse).transpose()
}

fn at(params: &Params) -> Result<At> {
    let time = params.get("at").filter(|text| !text.is_empty());
    match (version(params, "version")?, time) {
        (Some(_), Some(_)) => Err(Error::invalid("`version` and `at` exclude each other")),
        (Some(version), None) => Ok(At::Version(version)),
        (None, Some(time)) => Ok(At::Time(Time::parse(time)?)),
        (None, None) => Ok(At::Latest),
    }
}
