//! Who did what, why, and what came of it: one object an act, created once, so that several servers
//! can write them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use chrono::DateTime;
use lake::hours::{Slot, State as Hour};
use lake::plan::{
    Act, Applied, AuditPage, AuditRecord, Emptied, Ended, Outcome, Plan, PlanRequest, Published,
    PublishedOutcome,
};
use lake::table::Version;
use lake::{Kind, Result};
use uuid::Uuid;

use crate::access::Person;
use crate::acts::{Consent, now};
use crate::app::App;
use crate::control::Control;
use crate::failure::Failure;
use crate::reads::query::Params;

/// Records on a page.
const PAGE: usize = 50;

/// What was asked for, before anything came of it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The table, by name.
    pub table: String,
    /// What was to be done.
    pub request: PlanRequest,
    /// The plan that was read; empty where it was planned and carried out in one go.
    pub plan_id: String,
    /// The newest version when it was planned.
    pub base_version: Option<Version>,
    /// Who, and why.
    pub consent: Consent,
}

/// Carries an act out and writes down what came of it.
pub async fn audited(
    control: &Control,
    asked: &Asked,
    act: impl Future<Output = Result<Outcome>>,
) -> Result<Outcome> {
    let mut result = act.await;
    let unwritten = record(control, asked, &result).await;
    if let Ok(outcome) = &mut result
        && let Some(applied) = &mut outcome.applied
    {
        applied.warnings.extend(unwritten);
    }
    result
}

/// Writes what came of an act. A record that cannot be written does not undo the act: why is said.
async fn record(control: &Control, asked: &Asked, result: &Result<Outcome>) -> Option<String> {
    let record = record_of(asked, result);
    let error = control.create(&key(&record), &record).await.err()?;
    tracing::warn!(%error, table = record.table, "an audit record cannot be written");
    Some(format!("the audit record could not be written: {error}"))
}

/// Writes down that a table's quarantine was emptied.
pub async fn emptied(
    control: &Control,
    (table, by): (&str, Option<String>),
    result: &Result<Emptied>,
) {
    let (ended, message) = match result {
        Ok(emptied) => (
            Ended::Applied,
            format!(
                "{} objects of {} bytes that were moved aside deleted, {} could not be",
                emptied.deleted,
                emptied.bytes,
                emptied.failed.len()
            ),
        ),
        Err(error) => (Ended::Failed, error.to_string()),
    };
    let record = AuditRecord {
        id: Uuid::new_v4().to_string(),
        at: now(),
        by,
        table: table.to_owned(),
        kind: Act::Vacuum,
        plan_id: String::new(),
        base_version: None,
        target_version: None,
        reason: None,
        ended,
        version: None,
        message,
    };
    if let Err(error) = control.create(&key(&record), &record).await {
        tracing::warn!(%error, table, "an audit record cannot be written");
    }
}

fn record_of(asked: &Asked, result: &Result<Outcome>) -> AuditRecord {
    let (ended, version, message) = match result {
        Ok(Outcome {
            plan,
            applied: Some(applied),
        }) => (Ended::Applied, applied.version, done(plan, applied)),
        Ok(outcome) => {
            let why = outcome.plan.refused.clone();
            (Ended::Refused, None, why.unwrap_or_default())
        }
        Err(error) => {
            let ended = match error.kind() {
                Kind::Conflict => Ended::Conflict,
                Kind::Cancelled => Ended::Cancelled,
                Kind::Invalid => Ended::Refused,
                _ => Ended::Failed,
            };
            (ended, None, error.to_string())
        }
    };
    let plan = result.as_ref().ok().map(|outcome| &outcome.plan);
    let target = plan.map_or(asked.request.version, |plan| plan.target_version);
    AuditRecord {
        id: Uuid::new_v4().to_string(),
        at: now(),
        by: asked.consent.user.clone(),
        table: asked.table.clone(),
        kind: asked.request.kind,
        plan_id: plan.map_or_else(|| asked.plan_id.clone(), |plan| plan.id.clone()),
        base_version: plan.map_or(asked.base_version, |plan| plan.base_version),
        target_version: target,
        reason: asked.consent.reason.clone(),
        ended,
        version,
        message,
    }
}

/// What was done, in one sentence.
fn done(plan: &Plan, applied: &Applied) -> String {
    match plan.kind {
        Act::Restore => format!(
            "{} files came back, {} went, {} are active",
            plan.files_to_add, plan.files_to_remove, applied.proven_files
        ),
        Act::Vacuum => format!(
            "{} objects of {} bytes deleted, {} could not be",
            applied.deleted,
            applied.bytes_deleted,
            applied.failed.len()
        ),
        Act::Optimize => format!(
            "{} files became {}, {} are active",
            plan.files_to_rewrite, plan.files_to_write, applied.proven_files
        ),
        Act::ExpireRuns => format!(
            "{} objects of superseded runs, {} bytes, deleted, {} could not be",
            applied.deleted,
            applied.bytes_deleted,
            applied.failed.len()
        ),
        Act::Publish | Act::Repoint | Act::Compact => match &applied.hours {
            Some(published) => of_hour(published),
            None => "done".to_owned(),
        },
    }
}

/// What became of an hour, in one sentence.
fn of_hour(published: &Published) -> String {
    let slot = Slot {
        day: published.date,
        hour: published.hour,
    };
    let run = published
        .marker
        .as_ref()
        .and_then(|marker| marker.get("run_id")?.as_str());
    let state = published.state.map_or("unknown", Hour::words);
    match (published.outcome, run) {
        (PublishedOutcome::Published, Some(run)) => {
            format!("{slot}: run {run} is published; the hour is {state}")
        }
        (PublishedOutcome::Published, None) => format!("{slot}: declared; the hour is {state}"),
        _ => format!(
            "{slot}: left as it was; {}",
            published.message.as_deref().unwrap_or(state)
        ),
    }
}

/// `audit/2026-11-30/1796000000000-<id>.json`: a day is listed at once, in order of time.
fn key(record: &AuditRecord) -> String {
    let day = DateTime::from_timestamp_millis(record.at.0).unwrap_or_default();
    format!(
        "{FOLDER}/{}/{:013}-{}.json",
        day.format("%Y-%m-%d"),
        record.at.0,
        record.id
    )
}

const FOLDER: &str = "audit";

/// Records older than `before`, a key that an earlier page ended with; newest first.
pub async fn page(control: &Control, before: Option<&str>) -> Result<AuditPage> {
    let mut keys: Vec<String> = Vec::new();
    for day in control.folders(FOLDER).await? {
        // A day sorts before its own records.
        if before.is_some_and(|before| day.as_str() > before) {
            continue;
        }
        let of_day = control.keys(&day).await?;
        keys.extend(
            of_day
                .into_iter()
                .filter(|key| before.is_none_or(|b| key.as_str() < b)),
        );
        if keys.len() > PAGE {
            break;
        }
    }
    let more = keys.len() > PAGE;
    keys.truncate(PAGE);
    let next_before = keys.last().filter(|_| more).cloned();
    Ok(AuditPage {
        records: control.read_all(keys).await?,
        next_before,
        kept: control.kept,
    })
}

/// `GET /api/audit?before=`
pub async fn audit(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    RawQuery(query): RawQuery,
) -> Result<Json<AuditPage>, Failure> {
    let params = Params::parse(query.as_deref(), &["before"])?;
    let before = params.get("before").filter(|text| !text.is_empty());
    let mut page = page(&app.control, before).await?;
    page.records
        .retain(|record| sees(&app, &person, &record.table));
    Ok(Json(page))
}

/// Whether a person may know of acts on what has this name: whoever may read the table, or the
/// dataset, or both where both have it.
pub fn sees(app: &App, person: &Person, name: &str) -> bool {
    let table = app.tables.resolve(name).ok().map(|place| place.zone);
    let dataset = app
        .datasets
        .get(name)
        .ok()
        .map(|dataset| dataset.zone.clone());
    let mut zones = table.into_iter().chain(dataset).peekable();
    zones.peek().is_some() && zones.all(|zone| app.zone(person, &zone).is_ok())
}

#[cfg(test)]
mod tests;
