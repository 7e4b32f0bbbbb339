//! What vacuums moved aside: listed, and deleted for good.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use lake::answer::Root;
use lake::delta::vacuum::{self, empty_quarantine, list_quarantine};
use lake::delta::write::{duration, probe};
use lake::figures;
use lake::host::SharedHost;
use lake::plan::{Emptied, PutBack, Quarantine};
use lake::{Error, Result};
use uuid::Uuid;

use super::is_table;
use crate::access::Person;
use crate::app::App;
use crate::audit::{self, Note};
use crate::failure::Failure;
use crate::reads::query::Params;
use crate::segment::Segment;
use crate::tables::{aside, root};

/// What lies in a table's quarantine.
pub async fn quarantine(root: &Root) -> Result<Quarantine> {
    is_table(root).await?;
    Ok(Quarantine {
        quarantine: list_quarantine(root).await?,
        ..Quarantine::default()
    })
}

/// Deletes what was moved aside more than `older_than` milliseconds ago, by the store's clock.
pub async fn empty(root: &Root, older_than: i64, host: &SharedHost) -> Result<Emptied> {
    is_table(root).await?;
    let probed = probe(&root.store, &root.path, &Uuid::new_v4().to_string()).await?;
    empty_quarantine(root, older_than, probed.store_time, host).await
}

/// Moves what was moved aside back to where it was.
pub async fn put_back(root: &Root, host: &SharedHost) -> Result<PutBack> {
    is_table(root).await?;
    vacuum::put_back(root, host).await
}

/// Milliseconds of a duration in words.
pub fn age(text: &str) -> Result<i64> {
    duration(text).ok_or_else(|| {
        Error::invalid(format!(
            "`{text}` is not a duration: write 7d, 168h, 30m or interval 1 week"
        ))
    })
}

/// `GET /api/tables/{table}/quarantine`
pub async fn list(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
) -> Result<Json<Quarantine>, Failure> {
    Ok(Json(quarantine(&root(&app, &person, &table)?).await?))
}

/// `DELETE /api/tables/{table}/quarantine?older_than=`: what is left, and what was deleted.
pub async fn remove(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
    RawQuery(query): RawQuery,
) -> Result<Json<Quarantine>, Failure> {
    let params = Params::parse(query.as_deref(), &["older_than"])?;
    let older_than = age(params.need("older_than")?)?;
    let root = root(&app, &person, &table)?;
    let (control, note) = (app.control.clone(), note(&app, &person, &table, EMPTIED));
    let emptied = aside(&app, move |host| async move {
        let result = empty(&root, older_than, &host).await;
        audit::noted(
            &control,
            note,
            &result.as_ref().map(emptied_words).map_err(Clone::clone),
        )
        .await;
        let emptied = result?;
        Ok(Quarantine {
            emptied: Some(emptied),
            ..quarantine(&root).await?
        })
    });
    Ok(Json(emptied.await?))
}

/// `POST /api/tables/{table}/quarantine`: what was moved aside goes back to where it was, and what is
/// left.
pub async fn back(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
) -> Result<Json<Quarantine>, Failure> {
    let root = root(&app, &person, &table)?;
    let (control, note) = (app.control.clone(), note(&app, &person, &table, BACK));
    let moved = aside(&app, move |host| async move {
        let result = put_back(&root, &host).await;
        audit::noted(
            &control,
            note,
            &result.as_ref().map(back_words).map_err(Clone::clone),
        )
        .await;
        let moved = result?;
        Ok(Quarantine {
            put_back: Some(moved),
            ..quarantine(&root).await?
        })
    });
    Ok(Json(moved.await?))
}

/// What an audit record calls it.
pub const EMPTIED: &str = "Quarantine emptied";

/// What an audit record calls it.
pub const BACK: &str = "Put back";

fn note(app: &App, person: &Person, table: &str, what: &'static str) -> Note {
    Note {
        table: app.tables.canonical(table),
        by: person.name.clone(),
        what,
        version: None,
        reason: None,
    }
}

/// What an emptying did, in one sentence.
pub fn emptied_words(emptied: &Emptied) -> String {
    format!(
        "{}, {}, moved aside before, deleted; {} not",
        figures::counted(emptied.deleted, "object"),
        figures::size(emptied.bytes),
        emptied.failed.len()
    )
}

/// What came back, in one sentence.
pub fn back_words(moved: &PutBack) -> String {
    format!(
        "{}, {}, moved aside before, back; {} not",
        figures::counted(moved.objects, "object"),
        figures::size(moved.bytes),
        moved.failed.len()
    )
}
