//! The hours that need a person, in words.

use std::sync::Arc;

use lake::hours::State;
use lake::wire::hours::{DatasetReport, HourRow};
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
use super::whose::{owner, slot_of};

/// The list, and what else the listing shows.
#[component]
pub fn Exceptions(
    hours: Hours,
    /// What is declared of the dataset.
    declared: Arc<DatasetReport>,
) -> Markup {
    let rows = Memo::new(move |_| {
        let parts = hours.come();
        let mut rows: Vec<HourRow> = parts
            .iter()
            .flat_map(|part| part.attention.clone())
            .collect();
        rows.sort_by(|a, b| (a.state, b.date, b.hour).cmp(&(b.state, a.date, a.hour)));
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
    let list = Markup::live(move || {
        rows.with(|(rows, total)| {
            if rows.is_empty() {
                return Some(view! { <p class="soft">"No hour needs a person"</p> });
            }
            let more = total.saturating_sub(rows.len() as u64);
            let lines = rows.iter().map(|row| line(&declared, row, &inputs)).collect::<Markup>();
            Some(view! {
                <div class="exceptions"><Sheet label="Hours that need a person" heads=&["Hour (UTC)", "State", "Why", "Objects", "Bytes"]>{lines}</Sheet></div>
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
fn line(declared: &DatasetReport, row: &HourRow, inputs: &Inputs) -> Markup {
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
            <td>{state(row.state)}</td>
            <td class="w">{why}{whose(declared, row.state)}{waits}</td>
            <td class="n"><Count n=row.objects /></td>
            <td class="n"><Bytes n=row.bytes /></td>
        </tr>
    }
}

/// ` for NAME`: who must act.
pub fn whose(declared: &DatasetReport, state: State) -> Option<Markup> {
    let who = format::shorten(owner(declared, state)?, 60);
    Some(view! { " " <span class="soft">{format!("for {who}")}</span> })
}

/// A state's sign and its word.
pub fn state(state: State) -> Markup {
    view! { <span class="hour-state"><i class=format!("cell {}", class(state)) aria-hidden="true">{glyph(state)}</i>{state.words()}</span> }
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
