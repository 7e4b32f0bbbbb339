//! The answers to a design review of one dataset, and the text that hands it over.

use std::fmt::Write as _;

use super::retention::row;
use super::{ZoneDecl, words};
use crate::hours::dataset::{Dataset, MarkerKind, join};
use crate::hours::judge::duration;
use crate::wire::zones::ReviewRow;

const LISTINGS: &str = "objects, bytes, object sizes and object times are a listing: what is stored, and when it was put";
const PUBLICATIONS: &str = "states, \"closed up to\", runs and publication times are markers: what was meant to be read, and since when";

/// All answers of a row.
pub(super) fn review(zone: &ZoneDecl, dataset: &Dataset) -> ReviewRow {
    let mut review = ReviewRow {
        dataset: dataset.name.clone(),
        location: dataset.url_of(&format!("{}/", dataset.prefix)),
        partition: dataset.partition.clone(),
        writers: zone.writers.clone(),
        readers: zone.readers.clone(),
        retention: row(&dataset.retention),
        marker: marker(dataset),
        unmarked: unmarked(dataset),
        dead_letters: dead_letters(dataset),
        deletes: deletes(zone, dataset),
        retry: retry(dataset).to_owned(),
        owner: dataset.owner.clone().or_else(|| zone.owner.clone()),
        publisher: dataset.publisher.clone(),
        compaction_owner: dataset.compaction_owner.clone(),
        listings: LISTINGS.to_owned(),
        publications: PUBLICATIONS.to_owned(),
        handover: String::new(),
    };
    review.handover = handover(dataset, &review);
    review
}

fn unit(dataset: &Dataset) -> &'static str {
    if dataset.hourly() { "hour" } else { "day" }
}

fn marker(dataset: &Dataset) -> String {
    let folder = || match dataset.hourly() && !dataset.marker.whole_day {
        true => dataset
            .partition
            .iter()
            .map(|column| format!("{column}={{{column}}}/"))
            .collect(),
        false => format!("{0}={{{0}}}/", dataset.date_column()),
    };
    let below = match dataset.marker.kind {
        MarkerKind::Tidemark | MarkerKind::Custom => dataset.marker.template.clone(),
        MarkerKind::Success => format!("{}_SUCCESS", folder()),
        MarkerKind::Committed => format!("{}_committed_*", folder()),
    };
    join(&dataset.prefix, &below)
}

fn unmarked(dataset: &Dataset) -> String {
    let unit = unit(dataset);
    let grace = duration(dataset.grace);
    let grace = grace.trim_end_matches(" 0 s");
    let open = format!("the {unit} that runs, until {grace} after its end");
    match (dataset.every_hour, dataset.first) {
        (true, None) => open,
        (true, Some(first)) => format!("{open}; and those before {first}"),
        (false, _) => format!("{open}; and a {unit} without objects"),
    }
}

fn dead_letters(dataset: &Dataset) -> String {
    let Some(gate) = &dataset.complete else {
        return "no gate: lines are not numbered, completeness is not checked".to_owned();
    };
    let what = match gate.report {
        true => "they are reported and do not block",
        false => "they block the publish",
    };
    match &gate.dead_letters {
        Some(prefix) => format!("{}; {what}", dataset.url_of(&format!("{prefix}/"))),
        None => "no prefix is declared, so the gate fails".to_owned(),
    }
}

fn deletes(zone: &ZoneDecl, dataset: &Dataset) -> String {
    let audit = dataset.retention.audit.as_ref();
    let window = audit.map_or("an audit window that nobody stated".to_owned(), |audit| {
        format!("the audit window of {}", audit.text)
    });
    let denied: Vec<&str> = zone
        .writers
        .iter()
        .filter(|role| !words(role).iter().any(|word| word == "maintenance"))
        .map(String::as_str)
        .collect();
    let denied = match denied.is_empty() {
        true => "everybody else is denied".to_owned(),
        false => format!("denied: {}", denied.join(", ")),
    };
    format!("maintenance alone, below a run that a marker has superseded, after {window}; {denied}")
}

fn retry(dataset: &Dataset) -> &'static str {
    match dataset.marker.kind {
        MarkerKind::Tidemark => {
            "nothing while the marker still matches; after a failed publish a new run_id; replacing a marker takes --replace"
        }
        _ => "the writer's own committer decides: these markers are read, never written",
    }
}

fn handover(dataset: &Dataset, review: &ReviewRow) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line(format!("{} in zone {}", dataset.name, dataset.zone));
    line(format!("Prefix: {}", review.location));
    line(format!(
        "Partitions: {} (UTC of the event's own time)",
        dataset.partition.join(", ")
    ));
    match dataset.columns.is_empty() {
        true => line("Schema: not declared".to_owned()),
        false => {
            let columns: Vec<String> = dataset
                .columns
                .iter()
                .map(|(name, kind)| format!("{name} {kind}"))
                .collect();
            line(format!("Schema: {}", columns.join(", ")));
        }
    }
    if let Some(version) = &dataset.definition_version {
        line(format!("Definition: {version}"));
    }
    line(format!("Marker: {}", review.marker));
    line(format!("May lack a marker: {}", review.unmarked));
    line(format!("Dead letters: {}", review.dead_letters));
    line("Two clocks: object time is when a key was put; publication time is when a marker named it. Read only what a marker names.".to_owned());
    out
}
