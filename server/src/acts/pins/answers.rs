//! Pins over HTTP. Each answer is all pins as they are then.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Extension, Path, State};
use lake::Result;
use lake::plan::{PinRequest, Pins};

use super::{pin, pins, unpin};
use crate::access::Person;
use crate::app::App;
use crate::audit::{self, Note};
use crate::failure::Failure;
use crate::segment::Segment;
use crate::tables::{aside, root};

type Names = Result<Path<(String, String)>, PathRejection>;

/// `GET /api/tables/{table}/pins`
pub async fn list(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(table): Segment,
) -> Result<Json<Pins>, Failure> {
    Ok(Json(pins(&root(&app, &person, &table)?).await?))
}

/// `PUT /api/tables/{table}/pins/{name}`: 409 where the name is taken.
pub async fn put(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    names: Names,
    body: Result<Json<PinRequest>, JsonRejection>,
) -> Result<Json<Pins>, Failure> {
    let (table, name) = both(names)?;
    let asked = Failure::body(body, "the pin")?;
    let root = root(&app, &person, &table)?;
    let (by, control) = (person.name.clone(), app.control.clone());
    let note = Note {
        table: app.tables.canonical(&table),
        by: by.clone(),
        what: "Pinned",
        version: Some(asked.version),
        reason: asked.reason.clone(),
    };
    let pinned = aside(&app, move |host| async move {
        let result = pin(&root, &name, asked, by, &host).await;
        let told = result.map(|pin| format!("`{}` keeps version {}", pin.name, pin.version));
        audit::noted(&control, note, &told).await;
        told?;
        pins(&root).await
    });
    Ok(Json(pinned.await?))
}

/// `DELETE /api/tables/{table}/pins/{name}`: 404 where there is none.
pub async fn remove(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    names: Names,
) -> Result<Json<Pins>, Failure> {
    let (table, name) = both(names)?;
    let root = root(&app, &person, &table)?;
    let control = app.control.clone();
    let note = Note {
        table: app.tables.canonical(&table),
        by: person.name.clone(),
        what: "Unpinned",
        version: None,
        reason: None,
    };
    let unpinned = aside(&app, move |host| async move {
        let result = unpin(&root, &name, &host).await;
        let told = result.map(|()| format!("`{name}` keeps nothing any more"));
        audit::noted(&control, note, &told).await;
        told?;
        pins(&root).await
    });
    Ok(Json(unpinned.await?))
}

fn both(names: Names) -> Result<(String, String), Failure> {
    let names = names.map(|Path(names)| names);
    names.map_err(|e| Failure::bad_request(format!("the path cannot be read: {e}")))
}
