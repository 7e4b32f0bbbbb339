//! What vacuums moved aside: listed, and deleted for good.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use lake::answer::Root;
use lake::delta::vacuum::{empty_quarantine, list_quarantine};
use lake::delta::write::{duration, probe};
use lake::host::SharedHost;
use lake::plan::{Emptied, Quarantine};
use lake::{Error, Result};
use uuid::Uuid;

use crate::access::Person;
use crate::app::App;
use crate::audit;
use crate::failure::Failure;
use crate::reads::query::Params;
use crate::segment::Segment;
use crate::tables::{aside, root};

/// What lies in a table's quarantine.
pub async fn quarantine(root: &Root) -> Result<Quarantine> {
    Ok(Quarantine {
        quarantine: list_quarantine(root).await?,
        emptied: None,
    })
}

/// Deletes what was moved aside more than `older_than` milliseconds ago, by the store's clock.
pub async fn empty(root: &Root, older_than: i64, host: &SharedHost) -> Result<Emptied> {
    let probed = probe(&root.store, &root.path, &Uuid::new_v4().to_string()).await?;
    empty_quarantine(root, older_than, probed.store_time, host).await
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
    let (control, by) = (app.control.clone(), person.name.clone());
    let emptied = aside(&app, move |host| async move {
        let result = empty(&root, older_than, &host).await;
        audit::emptied(&control, (&root.location, by), &result).await;
        let emptied = result?;
        Ok(Quarantine {
            emptied: Some(emptied),
            ..quarantine(&root).await?
        })
    });
    Ok(Json(emptied.await?))
}
