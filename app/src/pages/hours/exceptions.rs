//! The hours that need a person, in words.

use std::cmp::Reverse;
use std::sync::Arc;

use lake::hours::{Remark, State};
use lake::wire::hours::{ClosedReport, DatasetReport, HourRow};
use lake::wire::{Finding, Severity};
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::Sheet;
use crate::parts::{Bytes, Count, Key, Note, NoteKind};
use crate::route::Route;
use crate::signals::Memo;

use super::Hours;
use super::inputs::{Inputs, named};
use super::runs::{class, glyph};
use super::whose::{slot_of, unit};

/// The list, and what else the listing shows.
#[component]
pub fn Exceptions(
    hours: Hours,
    /// What is declared of the dataset.
    declared: Arc<DatasetReport>,
    /// Up to when it is closed.
    closed: Memo<Option<ClosedReport>>,
) -> Markup {
    let rows = Memo::new(move |_| {
        let parts = hours.come();
        let mut rows: Vec<HourRow> = parts
            .iter()
            .flat_map(|part| part.attention.clone())
            .collect();
        // Each part has them in its order; the one that holds the others back is of the oldest.
        let holds = holds(&closed);
        rows.sort_by_key(|row| (!holds(row), row.state, Reverse((row.date, row.hour))));
        let total = parts.iter().map(|part| part.attention_total).sum::<u64>();
        (rows, total)
    });
    let findings = Memo::new(move |_| {
        let parts = hours.come();
        parts
            .iter()
            .flat_map(|part| part.findings.clone())
            .collect::<Vec<_>>()
    });
    // Only of hours that are late is it worth to ask what they wait for.
    let days = Memo::new(move |_| {
        rows.with(|(rows, _)| {
            let late = rows.iter().filter(|row| row.state == State::Late);
            let days = late.map(|row| row.date);
            days.clone().min().zip(days.max())
        })
    });
    let inputs = Inputs::new(&declared.reads, days);
    let unit = unit(&declared);
    let heads: &[&str] = match unit {
        "day" => &["Day (UTC)", "State", "Why", "Objects", "Bytes"],
        _ => &["Hour (UTC)", "State", "Why", "Objects", "Bytes"],
    };
    let list = Markup::live(move || {
        rows.with(|(rows, total)| {
            if rows.is_empty() {
                return Some(view! { <p class="soft">{format!("No {unit} needs a person")}</p> });
            }
            let more = total.saturating_sub(rows.len() as u64);
            let holds = holds(&closed);
            let lines = rows.iter().map(|row| line(&declared, row, holds(row), &inputs)).collect::<Markup>();
            Some(view! {
                <div class="exceptions"><Sheet label="What needs a person" heads>{lines}</Sheet></div>
                {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more, in the grid", format::count(more))}</p> })}
            })
        })
    });
    let found = move || {
        findings.with(|findings| {
            let notes = findings.iter().take(20).map(note).collect::<Markup>();
            (!findings.is_empty()).then(|| view! { <h2>"Found in the listing"</h2> {notes} })
        })
    };
    view! {
        <h2>"What needs a person" <small>{move || rows.with(|(_, total)| format::count(*total))}</small></h2>
        {list}
        {found}
    }
}

/// One hour and why.
fn line(declared: &DatasetReport, row: &HourRow, holds: bool, inputs: &Inputs) -> Markup {
    let slot = slot_of(row);
    let href = Route::Hour {
        dataset: declared.name.clone(),
        slot,
    }
    .href();
    let why = row.reasons.first().map(|reason| {
        let key = reason.key.as_ref().map(|key| {
            let name = key.rsplit('/').next().unwrap_or(key).to_owned();
            view! { " " <Key text=name max=60 /> }
        });
        view! { {format::capital(&format::visible(&reason.message))} {key} }
    });
    let waits = (row.state == State::Late).then(|| {
        let inputs = inputs.unclosed(slot);
        let inputs = inputs
            .iter()
            .map(|input| view! { <div class="soft s">"Waits for " {named(input)}</div> });
        inputs.collect::<Markup>()
    });
    view! {
        <tr>
            <td><a href=href>{slot.to_string()}</a></td>
            <td>{how(row)}</td>
            <td class="w">{holds.then_some("Holds the rest back. ")}{why}{whose(row)}{waits}</td>
            <td class="n"><Count n=row.objects /></td>
            <td class="n"><Bytes n=row.bytes /></td>
        </tr>
    }
}

/// ` for NAME`: who must act.
pub fn whose(row: &HourRow) -> Option<Markup> {
    let who = format::shorten(row.owner.as_deref()?, 60);
    Some(view! { " " <span class="soft">{format!("for {who}")}</span> })
}

/// A state's sign and its word.
pub fn state(state: State) -> Markup {
    view! { <span class="hour-state">{sign(state)}{state.words()}</span> }
}

fn sign(state: State) -> Markup {
    view! { <i class=format!("cell {}", class(state)) aria-hidden="true">{glyph(state)}</i> }
}

/// An hour's state, and what must be known of it where it is closed.
pub fn how(row: &HourRow) -> Markup {
    view! { <span class="hour-state">{sign(row.state)}{words(row)}</span> }
}

/// The same in words.
pub fn words(row: &HourRow) -> String {
    match row.late_data() {
        true => format!("{}, {}", row.state.words(), Remark::LateData.words()),
        false => row.state.words().to_owned(),
    }
}

/// Tells the hour that holds back the others.
pub fn holds(closed: &Memo<Option<ClosedReport>>) -> impl Fn(&HourRow) -> bool + use<> {
    let blocked = closed.with(|closed| closed.as_ref()?.blocked_by.clone());
    move |row| {
        let at = blocked.as_ref().map(|blocked| (blocked.date, blocked.hour));
        at == Some((row.date, row.hour))
    }
}

/// A finding with its place.
pub fn note(finding: &Finding) -> Markup {
    let kind = match finding.severity {
        Severity::Error => NoteKind::Attention,
        Severity::Warning => NoteKind::Warning,
    };
    let place = finding.location.clone();
    let message = format::capital(&format::visible(&finding.message));
    let rule = format::shorten(&finding.rule, 40);
    view! {
        <Note kind>
            <span>
                {message}
                {place.map(|place| view! { " " <Key text=place max=80 /> })}
                " " <span class="soft s mono">{rule}</span>
            </span>
        </Note>
    }
}
