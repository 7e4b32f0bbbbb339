//! How long raw data is kept, against what was promised of it.

use super::{Purpose, ZoneDecl, of};
use crate::hours::dataset::{Dataset, Promise, Retention};
use crate::hours::day::DAY;
use crate::wire::Severity;
use crate::wire::hours::LintFinding;
use crate::wire::zones::{PromiseRow, RetentionRow};

/// Raw states three numbers and where each comes from, and keeps at least their sum. What a
/// dataset does not override is said of the zone, once.
pub(super) fn retention(zone: &ZoneDecl, datasets: &[&Dataset], found: &mut Vec<LintFinding>) {
    if zone.purpose() != Purpose::Raw {
        return;
    }
    let (same, own): (Vec<&Dataset>, Vec<&Dataset>) =
        of(zone, datasets).partition(|dataset| dataset.retention == zone.retention);
    if own.is_empty() || !same.is_empty() {
        judge(&zone.retention, |at, rule, message| {
            found.push(LintFinding {
                location: Some(format!("zone.retention{at}")),
                ..zone.finding(Severity::Error, rule, message)
            });
        });
    }
    for dataset in own {
        judge(&dataset.retention, |at, rule, message| {
            found.push(LintFinding {
                location: Some(format!("dataset.retention{at}")),
                ..zone.about(dataset, Severity::Error, rule, message)
            });
        });
    }
}

/// The numbers that raw must state, with what they are.
fn numbers(retention: &Retention) -> [(&'static str, &'static str, Option<&Promise>); 3] {
    [
        ("topic", "topic retention", retention.topic.as_ref()),
        (
            "replay_margin",
            "replay margin",
            retention.replay_margin.as_ref(),
        ),
        ("audit", "audit window", retention.audit.as_ref()),
    ]
}

fn judge(retention: &Retention, mut say: impl FnMut(&str, &str, String)) {
    for (key, words, promise) in numbers(retention) {
        let at = format!(".{key}");
        match promise {
            None => say(
                &at,
                "retention_missing",
                format!(
                    "the {words} is not stated: raw states topic retention, replay margin and audit window"
                ),
            ),
            Some(promise) if promise.source.as_deref().unwrap_or("").is_empty() => say(
                &at,
                "retention_source",
                format!(
                    "nothing says where the {words} of {} comes from: {key} = {{ keep = \"{}\", source = \"…\" }}",
                    promise.text, promise.text
                ),
            ),
            Some(_) => {}
        }
    }
    let stated: Vec<&str> = numbers(retention)
        .iter()
        .filter_map(|(_, _, promise)| promise.map(|promise| promise.text.as_str()))
        .collect();
    match (&retention.keep, needed(retention)) {
        (None, _) => say(
            ".keep",
            "retention_missing",
            "nothing says how long raw objects are kept".to_owned(),
        ),
        (Some(keep), Some(needed)) if keep.millis < needed => say(
            ".keep",
            "retention_short",
            format!(
                "objects are kept {}, less than the {} that were promised ({})",
                keep.text,
                days(needed),
                stated.join(" + ")
            ),
        ),
        _ => {}
    }
}

/// Topic retention, replay margin and audit window together; `None` where one is missing.
pub(super) fn needed(retention: &Retention) -> Option<i64> {
    let mut sum = 0i64;
    for (_, _, promise) in numbers(retention) {
        sum = sum.saturating_add(promise?.millis);
    }
    Some(sum)
}

/// Whole days that are at least so many milliseconds.
pub(super) fn whole_days(millis: i64) -> i64 {
    millis.max(0).div_euclid(DAY) + i64::from(millis.max(0) % DAY > 0)
}

/// `100d`
pub(super) fn days(millis: i64) -> String {
    format!("{}d", whole_days(millis))
}

/// As pages show it.
pub(super) fn row(retention: &Retention) -> RetentionRow {
    let promise = |promise: &Option<Promise>| {
        let promise = promise.as_ref()?;
        Some(PromiseRow {
            text: promise.text.clone(),
            millis: promise.millis,
            source: promise.source.clone(),
        })
    };
    RetentionRow {
        topic: promise(&retention.topic),
        replay_margin: promise(&retention.replay_margin),
        audit: promise(&retention.audit),
        keep: promise(&retention.keep),
        needed: needed(retention),
    }
}
