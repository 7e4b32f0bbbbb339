//! The hours of a dataset over HTTP. Each answer is read anew.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, RawQuery, State};
use lake::hours::find::Gate;
use lake::hours::{Day, Slot};
use lake::wire::hours::{Fresh, HourReport, HoursReport};
use lake::{Error, Result};

use crate::access::Person;
use crate::acts::now;
use crate::app::App;
use crate::failure::Failure;
use crate::reads::query::Params;
use crate::segment::Segment;
use crate::tables::aside;

/// Days of a window whose first is not named.
const WEEK: i32 = 7;

/// The window that is meant, where one end or both are left out: the week up to today.
pub fn window(from: Option<Day>, to: Option<Day>) -> (Day, Day) {
    let to = to.unwrap_or_else(|| Day::of(now()));
    (from.unwrap_or_else(|| to.plus(1 - WEEK)), to)
}

/// `GET /api/datasets/{dataset}/hours?from=&to=&complete=`
pub async fn hours(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(name): Segment,
    RawQuery(query): RawQuery,
) -> Result<Json<HoursReport>, Failure> {
    let params = Params::parse(query.as_deref(), &["from", "to", "complete"])?;
    let (from, to) = window(day_of(&params, "from")?, day_of(&params, "to")?);
    let gate = match params.flag("complete")? {
        true => Gate::All,
        false => Gate::Doubt,
    };
    let placed = app.dataset(&person, &name)?;
    let report = aside(&app, move |host| async move {
        placed
            .finder(host)
            .hours(from, to, Fresh::Known, gate)
            .await
    });
    Ok(Json(report.await?))
}

/// `GET /api/datasets/{dataset}/hours/{date}`: of a dataset without hours.
pub async fn day(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    names: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<HourReport>, Failure> {
    let Path((name, date)) = names.map_err(unreadable)?;
    slot(&app, &person, &name, Slot::day(date.parse()?)).await
}

/// `GET /api/datasets/{dataset}/hours/{date}/{hour}`
pub async fn hour(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    names: Result<Path<(String, String, String)>, PathRejection>,
) -> Result<Json<HourReport>, Failure> {
    let Path((name, date, hour)) = names.map_err(unreadable)?;
    let digits = (1..=2).contains(&hour.len()) && hour.bytes().all(|b| b.is_ascii_digit());
    let hour = hour.parse().ok().filter(|_| digits).ok_or_else(|| {
        Error::invalid(format!("`{}` is no hour from 0 to 23", hour.escape_debug()))
    })?;
    slot(&app, &person, &name, Slot::hour(date.parse()?, hour)).await
}

async fn slot(
    app: &App,
    person: &Person,
    name: &str,
    slot: Slot,
) -> Result<Json<HourReport>, Failure> {
    let placed = app.dataset(person, name)?;
    let report = aside(app, move |host| async move {
        placed.finder(host).hour(slot, Fresh::Known).await
    });
    Ok(Json(report.await?))
}

fn day_of(params: &Params, name: &str) -> Result<Option<Day>> {
    let text = params.get(name).filter(|text| !text.is_empty());
    text.map(str::parse).transpose()
}

fn unreadable(rejection: PathRejection) -> Failure {
    Failure::bad_request(format!("the path cannot be read: {rejection}"))
}

#[cfg(test)]
mod tests;
