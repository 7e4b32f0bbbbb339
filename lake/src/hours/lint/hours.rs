//! What the closed hours of a dataset say to a lint: budgets.

use crate::hours::dataset::Dataset;
use crate::hours::state::State;
use crate::wire::Severity;
use crate::wire::hours::{HourRow, LintFinding};

/// Hours that a finding names.
const NAMED: usize = 3;

/// Findings of a window of hours. Keys are judged where they are listed.
pub fn hours(dataset: &Dataset, hours: &[HourRow]) -> Vec<LintFinding> {
    let found = [over_budget(dataset, hours), tiny(dataset, hours)];
    found.into_iter().flatten().collect()
}

fn finding(dataset: &Dataset, rule: &str, hours: &[&HourRow], message: String) -> LintFinding {
    LintFinding {
        severity: Severity::Warning,
        rule: rule.to_owned(),
        dataset: Some(dataset.name.clone()),
        zone: Some(dataset.zone.clone()),
        location: hours.first().map(|hour| named(hour)),
        message,
        // Object counts are the compaction owner's, never the sink's.
        owner: dataset
            .compaction_owner
            .clone()
            .or_else(|| dataset.owner.clone()),
    }
}

fn named(hour: &HourRow) -> String {
    match hour.hour {
        Some(number) => format!("{} {number:02}:00", hour.date),
        None => hour.date.to_string(),
    }
}

fn list(hours: &[&HourRow]) -> String {
    let names: Vec<String> = hours.iter().take(NAMED).map(|hour| named(hour)).collect();
    match hours.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn over_budget(dataset: &Dataset, hours: &[HourRow]) -> Option<LintFinding> {
    let over = |hour: &HourRow| hour.reasons.iter().any(|r| r.state == State::OverBudget);
    let over: Vec<&HourRow> = hours.iter().filter(|hour| over(hour)).collect();
    let worst = over.iter().max_by_key(|hour| hour.objects)?;
    let message = format!(
        "{} closed {} over budget ({}); the most has {} objects",
        over.len(),
        if over.len() == 1 {
            "hour is"
        } else {
            "hours are"
        },
        list(&over),
        worst.objects
    );
    Some(finding(dataset, "over_budget", &over, message))
}

/// Closed hours with one small file each: days would do.
fn tiny(dataset: &Dataset, hours: &[HourRow]) -> Option<LintFinding> {
    let least = dataset.budget.median_bytes?;
    let closed = hours.iter().filter(|hour| hour.state.is_closed());
    let (mut all, mut tiny) = (0usize, Vec::new());
    for hour in closed.filter(|hour| hour.hour.is_some()) {
        all += 1;
        if hour.objects == 1 && hour.bytes < least {
            tiny.push(hour);
        }
    }
    // A quiet night is no fault of the partitions.
    (tiny.len() >= 24 && tiny.len() * 2 > all).then(|| {
        let message = format!(
            "{} of {all} closed hours hold one small file each: a partition a day would do",
            tiny.len()
        );
        finding(dataset, "over_partitioned", &tiny, message)
    })
}
