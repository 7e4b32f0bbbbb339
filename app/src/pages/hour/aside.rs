//! What an hour is for others: its readers, a job, a catalog, and whom to ask.

use std::sync::Arc;

use lake::hours::State;
use lake::wire::hours::HourReport;
use leptos::prelude::*;

use crate::copy::shell;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::fact;
use crate::pages::hours::whose::unit;
use crate::parts::ShellLine;
use crate::signals::Signal;

use super::around::{Readers, Waits};

/// What an hour's reader, publisher and catalog can do.
#[component]
pub fn Aside(dataset: String, report: Arc<HourReport>) -> Markup {
    let row = &report.row;
    let mut words = vec![
        "tidemark".to_owned(),
        "check".to_owned(),
        dataset.clone(),
        "--date".to_owned(),
        row.date.to_string(),
    ];
    if let Some(hour) = row.hour {
        words.extend(["--hour".to_owned(), hour.to_string()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let check = shell(&words);
    let exits = match row.state.lets_pass() {
        true => "exits with 0: a reader may go on".to_owned(),
        false => format!("exits with 1: it is {}", row.state.words()),
    };
    let scan = report.scan.clone().map(|scan| {
        view! {
            <h2>"What a reader scans"</h2>
            <ShellLine command=Signal::stored(scan) />
        }
    });
    let why = unregistered(unit(&report.dataset), row.state, row.marker.is_some());
    let statement = match report.statement.clone() {
        Some(statement) => view! {
            <h2>"For a catalog"</h2>
            <ShellLine command=Signal::stored(statement) />
        },
        None => view! {
            <h2>"For a catalog"</h2>
            <p class="soft s">{format!("No statement: {why}")}</p>
        },
    };
    let waits = (row.state == State::Open)
        .then(|| view! { <Waits dataset=dataset.clone() report=Arc::clone(&report) /> });
    let owners = [
        ("Publishing", &report.dataset.publisher),
        ("Object sizes", &report.dataset.compaction_owner),
        ("The data", &report.dataset.owner),
    ];
    let owners = owners.into_iter().filter_map(|(what, who)| {
        let who = format::shorten(who.as_deref()?, 60);
        Some(fact(what, who))
    });
    let owners: Vec<Markup> = owners.collect();
    let owners = (!owners.is_empty())
        .then(|| view! { <h2>"Whom to ask"</h2> <dl class="pairs">{owners}</dl> });
    view! {
        {waits}
        <Readers dataset=dataset.clone() state=row.state />
        <h2>"For a job"</h2>
        <ShellLine command=Signal::stored(check) />
        <p class="soft s">{exits}</p>
        {scan}
        {statement}
        {owners}
    }
}

/// Why a catalog is not told of an hour or a day. `named`: whether a marker of ours names its run.
fn unregistered(unit: &str, state: State, named: bool) -> String {
    match state {
        State::Open => format!("the {unit} has not been published yet"),
        State::Future => format!("the {unit} has not begun"),
        State::Empty => format!("nothing came in the {unit}, so there is nothing to read"),
        state if state.is_closed() && named => {
            "the run that the marker names lies outside the dataset".to_owned()
        }
        state if state.is_closed() => {
            format!("what closes the {unit} names no run, and a partition is registered at its run")
        }
        state => format!(
            "the {unit} is {}, and only what is closed is registered",
            state.words()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_registered_says_the_reason() {
        let why = |state, named| unregistered("day", state, named);
        let foreign = "what closes the day names no run, and a partition is registered at its run";
        assert_eq!(why(State::Closed, false), foreign);
        assert_eq!(why(State::OverBudget, false), foreign);
        assert!(why(State::Closed, true).contains("outside the dataset"));
        assert_eq!(
            why(State::Lost, true),
            "the day is lost, and only what is closed is registered"
        );
        assert!(why(State::Open, false).contains("not been published"));
        assert!(why(State::Future, false).contains("not begun"));
        assert!(why(State::Empty, true).contains("nothing came"));
    }
}
