//! What can be done with an hour as it stands. What must be refused is not offered: a marker's count
//! is never edited, and what is wrong in a run would be wrong in a packed one.

use lake::hours::State;
use lake::table::Time;
use lake::wire::hours::{HourReport, RunRow};

use crate::copy::shell;
use crate::format;

/// Runs of a kind that are offered.
const MOST: usize = 3;

/// One act: how the address has it, what its button says, and figures beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// `publish:RUN`, `repoint:RUN`, `compact`, `empty`.
    pub act: String,
    /// What the button says.
    pub name: String,
    /// What there is to know before it is pressed.
    pub note: Option<String>,
}

/// What is offered, likeliest first.
pub fn offers(report: &HourReport) -> Vec<Offer> {
    let state = report.row.state;
    if matches!(state, State::Open | State::Future) {
        return Vec::new();
    }
    let of_run = |kind: &str, run: &RunRow, name: String, note: Option<String>| Offer {
        act: format!("{kind}:{}", run.run_id),
        name,
        note,
    };
    let racing = state == State::Racing;
    let whole = |run: &&RunRow| run.matches == Some(true);
    let mut all = Vec::new();
    if racing {
        let kept = report.runs.iter().filter(whole).filter(|run| run.current);
        all.extend(kept.map(|run| {
            let name = format!("Keep {}…", short(run));
            of_run("repoint", run, name, Some(figures(run)))
        }));
    }
    let new = report.runs.iter();
    let new = new.filter(|run| run.objects > 0 && run.matches.is_none());
    let new = new.take(MOST).map(|run| {
        let objects = format::counted(run.objects, "object");
        let name = format!("Publish run {} with {objects}…", short(run));
        of_run("publish", run, name, None)
    });
    let old = report.runs.iter().filter(whole).filter(|run| !run.current);
    let old = old.take(MOST).map(|run| {
        let verb = if racing { "Choose" } else { "Point back to" };
        let name = format!("{verb} {}…", short(run));
        of_run("repoint", run, name, Some(figures(run)))
    });
    let (new, old): (Vec<_>, Vec<_>) = (new.collect(), old.collect());
    match racing {
        true => all.extend(old.into_iter().chain(new)),
        false => all.extend(new.into_iter().chain(old)),
    }
    let plain = |act: &str, name: &str| Offer {
        act: act.to_owned(),
        name: name.to_owned(),
        note: None,
    };
    if packs(report) {
        all.push(plain("compact", "Compact…"));
    }
    let nothing = report.row.objects == 0 && report.loose_total == 0 && report.marker_key.is_none();
    if nothing && state >= State::Late && !declared(report) {
        all.push(plain("empty", "Declare that nothing happened…"));
    }
    all
}

/// Whether there is something to pack: loose keys without a marker; a run of several objects, or
/// late keys, with one.
fn packs(report: &HourReport) -> bool {
    match report.row.state {
        State::Late if report.marker_key.is_none() => report.loose_total > 0,
        State::Late | State::OverBudget | State::Closed => {
            report.row.objects > 1 || late(report) > 0
        }
        _ => false,
    }
}

/// Keys that came after the run had taken in what there was.
pub fn late(report: &HourReport) -> u64 {
    let Some(put) = report.marker_put else {
        return 0;
    };
    let marker = report.row.marker.as_ref();
    let taken = marker.and_then(|marker| Time::parse(marker.get("loose_until")?.as_str()?).ok());
    let taken = taken.unwrap_or(put);
    report.loose.iter().filter(|key| key.put > taken).count() as u64
}

/// Whether somebody said that nothing happened.
fn declared(report: &HourReport) -> bool {
    let mut keys = report.row.reasons.iter().filter_map(|r| r.key.as_deref());
    keys.any(|key| key.ends_with(".empty.json"))
}

/// What mends an hour that no button mends, and the command that does it after a writer has written.
pub fn advice(report: &HourReport) -> Option<(&'static str, String)> {
    let text = match report.row.state {
        State::Lost | State::Mutated | State::Invalid => {
            "A new run mends it, never another count: write its objects below a run_id= of their own, then publish that run with the count of its writer."
        }
        State::Incomplete => {
            "Publish a run that has the missing lines: write it below a run_id= of its own, then publish it with the count of its writer."
        }
        _ => return None,
    };
    let date = report.row.date.to_string();
    let hour = report.row.hour.map(|hour| hour.to_string());
    let mut words = vec!["tidemark", "publish", &report.dataset.name, "--date", &date];
    if let Some(hour) = &hour {
        words.extend(["--hour", hour]);
    }
    words.extend(["--run", "RUN", "--count", "N"]);
    // Marker and run of an incomplete hour match; both are replaced on purpose.
    if report.row.state == State::Incomplete {
        words.push("--replace");
    }
    Some((text, shell(&words)))
}

/// Runs that race and do not match: they cannot be chosen, and why.
pub fn spoiled(report: &HourReport) -> impl Iterator<Item = String> {
    let racing = report.row.state == State::Racing;
    let runs = report.runs.iter();
    let spoiled = runs.filter(move |run| racing && run.matches == Some(false));
    spoiled.map(|run| format!("{} cannot be chosen: {}", short(run), figures(run)))
}

fn figures(run: &RunRow) -> String {
    let marked = run.marked_objects.filter(|marked| *marked != run.objects);
    let objects = match marked {
        Some(marked) => format!(
            "{} of {}",
            format::count(run.objects),
            format::counted(marked, "object")
        ),
        None => format::counted(run.objects, "object"),
    };
    let matches = match run.matches {
        Some(true) => "matches its marker",
        Some(false) => "does not match its marker",
        None => "not published",
    };
    format!("{objects}, {}, {matches}", format::bytes(run.bytes))
}

fn short(run: &RunRow) -> String {
    format::shorten_middle(&run.run_id, 24)
}

#[cfg(test)]
mod tests;
