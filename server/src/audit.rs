//! Who did what, why, and what came of it: one object an act, created once, so that several servers
//! can write them.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use chrono::DateTime;
use lake::figures;
use lake::hours::State as Hour;
use lake::plan::{
    Act, Applied, AuditPage, AuditRecord, Ended, Job, JobState, Outcome, Plan, PlanRequest,
    Published, PublishedOutcome,
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

/// Something that was done to a table beside its log.
#[derive(Clone, Debug)]
pub struct Note {
    /// The table, by name.
    pub table: String,
    /// Who.
    pub by: Option<String>,
    /// What, in words.
    pub what: &'static str,
    /// The version that it is about.
    pub version: Option<Version>,
    /// Why.
    pub reason: Option<String>,
}

/// Writes down what was done to a table beside its log, and what came of it.
pub async fn noted(control: &Control, note: Note, result: &Result<String>) {
    let (ended, message) = match result {
        Ok(done) => (Ended::Applied, done.clone()),
        Err(error) => (ended_by(error.kind()), error.to_string()),
    };
    let record = AuditRecord {
        id: Uuid::new_v4().to_string(),
        at: now(),
        by: note.by,
        table: note.table,
        kind: Act::Vacuum,
        date: None,
        hour: None,
        what: Some(note.what.to_owned()),
        plan_id: String::new(),
        base_version: None,
        target_version: note.version,
        // What is too long was refused for it.
        reason: note.reason.map(|text| text.chars().take(4_000).collect()),
        ended,
        version: None,
        message,
    };
    if let Err(error) = control.create(&key(&record), &record).await {
        tracing::warn!(%error, table = record.table, "an audit record cannot be written");
    }
}

/// How an act ended that an error of this kind ended.
fn ended_by(kind: Kind) -> Ended {
    match kind {
        Kind::Conflict => Ended::Conflict,
        Kind::Cancelled => Ended::Cancelled,
        Kind::Invalid => Ended::Refused,
        _ => Ended::Failed,
    }
}

fn record_of(asked: &Asked, result: &Result<Outcome>) -> AuditRecord {
    let (ended, version, message) = match result {
        Ok(Outcome {
            plan,
            applied: Some(applied),
        }) => {
            let done = done(plan, applied);
            let (ended, message) = match &applied.stopped {
                None => (Ended::Applied, done),
                Some(why) if why.kind == Kind::Cancelled => {
                    (Ended::Cancelled, format!("{}: {done}", why.message))
                }
                Some(why) => (Ended::Failed, format!("{}: {done}", why.message)),
            };
            (ended, applied.version, message)
        }
        Ok(outcome) => {
            let why = outcome.plan.refused.clone();
            (Ended::Refused, None, why.unwrap_or_default())
        }
        Err(error) => (ended_by(error.kind()), None, error.to_string()),
    };
    let plan = result.as_ref().ok().map(|outcome| &outcome.plan);
    let target = plan.map_or(asked.request.version, |plan| plan.target_version);
    AuditRecord {
        id: Uuid::new_v4().to_string(),
        at: now(),
        by: asked.consent.user.clone(),
        table: asked.table.clone(),
        kind: asked.request.kind,
        date: asked.request.date,
        hour: asked.request.hour,
        what: None,
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
        Act::Vacuum => {
            let aside = plan.vacuum.as_ref().is_some_and(|v| v.quarantine);
            format!(
                "{} objects, {}, {}; {} were not",
                applied.deleted,
                figures::size(applied.bytes_deleted),
                if aside { "moved aside" } else { "deleted" },
                applied.failed.len()
            )
        }
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
    let slot = published.slot();
    let run = published
        .marker
        .as_ref()
        .and_then(|marker| marker.get("run_id")?.as_str());
    let state = published.state.map_or("unknown", Hour::words);
    let became = match (published.outcome, run) {
        (PublishedOutcome::Published, Some(run)) => {
            format!("{slot}: run {run} is published; the hour is {state}")
        }
        (PublishedOutcome::Published, None) => format!("{slot}: declared; the hour is {state}"),
        _ => format!(
            "{slot}: left as it was; {}",
            published.message.as_deref().unwrap_or(state)
        ),
    };
    match &published.registration_error {
        Some(why) => format!("{became}; the catalog was not told: {why}"),
        None => became,
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
    let mut page = AuditPage {
        kept: control.kept,
        ..AuditPage::default()
    };
    let mut last = None;
    for day in control.folders(FOLDER).await? {
        // A day sorts before its own records.
        if before.is_some_and(|before| day.as_str() > before) {
            continue;
        }
        let mut keys = control.keys(&day).await?;
        keys.retain(|key| before.is_none_or(|b| key.as_str() < b));
        let left = PAGE.saturating_sub(page.records.len());
        let read = control.read_page(keys, left).await?;
        page.records.extend(read.records);
        page.unreadable += read.unreadable;
        last = read.last.or(last);
        if read.more {
            page.next_before = last;
            break;
        }
    }
    Ok(page)
}

/// Adds acts whose server died in them: nobody could write down how they ended. A page holds those
/// of its own time.
fn add_orphans(page: &mut AuditPage, jobs: Vec<Job>, before: Option<&str>) {
    let until = before.and_then(time_of).unwrap_or(i64::MAX);
    let since = page.next_before.as_deref().and_then(time_of);
    let since = since.unwrap_or(i64::MIN);
    let orphans = jobs.into_iter().filter(|job| {
        let at = job.ended.unwrap_or(job.started).0;
        job.state == JobState::Orphaned && (since..until).contains(&at)
    });
    let orphans: Vec<AuditRecord> = orphans
        .filter(|job| !page.records.iter().any(|r| r.plan_id == job.plan_id))
        .map(orphaned)
        .collect();
    page.records.extend(orphans);
    page.records.sort_by_key(|record| Reverse(record.at));
}

fn orphaned(job: Job) -> AuditRecord {
    AuditRecord {
        at: job.ended.unwrap_or(job.started),
        id: job.id,
        by: job.by,
        table: job.location,
        kind: job.kind,
        date: None,
        hour: None,
        what: None,
        plan_id: job.plan_id,
        base_version: None,
        target_version: None,
        reason: None,
        ended: Ended::Failed,
        version: None,
        message: "begun, and its server ended before it did: the table's log says how far it came"
            .to_owned(),
    }
}

/// The time in a record's key.
fn time_of(key: &str) -> Option<i64> {
    key.rsplit('/').next()?.get(..13)?.parse().ok()
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
    let (jobs, _) = app.jobs.list().await?;
    add_orphans(&mut page, jobs, before);
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
