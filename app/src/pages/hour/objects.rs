//! The runs of an hour and its objects.

use std::sync::Arc;

use lake::wire::hours::{HourReport, ObjectRow, RunRow};
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::Sheet;
use crate::parts::{Badge, Bytes, Count, Key, When};

/// Objects that are listed at first.
const FEW: usize = 50;

/// Every run there is or was, and which the marker names.
#[component]
pub fn Runs(report: Arc<HourReport>) -> Markup {
    if report.runs.is_empty() {
        return Markup::Nothing;
    }
    let lines = report.runs.iter().map(run).collect::<Markup>();
    view! {
        <h2>"Runs" <small>{format::count(report.runs.len() as u64)}</small></h2>
        <div class="stacked runs"><Sheet label="Runs" heads=&["Run", "Objects", "Bytes", "Newest put", "Published", "Stands"]>{lines}</Sheet></div>
    }
}

fn run(run: &RunRow) -> Markup {
    let stands = match (run.current, run.matches, run.objects) {
        (true, Some(true), _) => view! { <Badge text="current" tone="come" /> },
        (true, _, 0) => view! { <Badge text="current, gone" tone="go" /> },
        (true, ..) => view! { <Badge text="current, does not match" tone="go" /> },
        (false, Some(true), _) => view! { <Badge text="superseded, whole" /> },
        (false, Some(false), _) => {
            view! { <Badge text="superseded, does not match" tone="late" /> }
        }
        (false, None, _) => view! { <Badge text="not published" /> },
    };
    let pins = run.pins.iter().map(|(reader, until)| {
        let title = format!("Until {}", format::utc(*until));
        view! { " " <Badge text=format!("read by {reader}") title tone="pin" /> }
    });
    let objects = match run.marked_objects.filter(|marked| *marked != run.objects) {
        Some(marked) => {
            view! { <Count n=run.objects /> <span class="soft">{format!(" of {}", format::count(marked))}</span> }
        }
        None => view! { <Count n=run.objects /> },
    };
    view! {
        <tr>
            <td><Key text=run.run_id.clone() max=40 /></td>
            <td class="n">{objects}</td>
            <td class="n"><Bytes n=run.bytes /></td>
            <td>{run.newest.map(|at| view! { <When at=Some(at) minute=true /> })}</td>
            <td>{run.published_at.map(|at| view! { <When at=Some(at) minute=true /> })}</td>
            <td>{stands}{pins.collect::<Markup>()}</td>
        </tr>
    }
}

/// The keys of the current run, and loose ones beside it.
#[component]
pub fn Objects(report: Arc<HourReport>) -> Markup {
    let of_run = list(
        "Objects of the published run",
        "Objects of the run",
        &report.objects,
        report.row.objects,
    );
    let loose = list(
        "Keys outside any run",
        "Loose keys",
        &report.loose,
        report.loose_total,
    );
    view! { {of_run} {loose} }
}

fn list(label: &'static str, title: &'static str, objects: &[ObjectRow], total: u64) -> Markup {
    if objects.is_empty() {
        return Markup::Nothing;
    }
    let line = |object: &ObjectRow| {
        let after = object
            .after_marker
            .then(|| view! { " " <Badge text="after the marker" tone="late" /> });
        view! {
            <tr>
                <td class="w"><Key text=object.key.clone() max=90 />{after}</td>
                <td class="n"><Bytes n=object.bytes /></td>
                <td><When at=Some(object.put) minute=true /></td>
            </tr>
        }
    };
    // What was put late is what one looks for.
    let mut order: Vec<&ObjectRow> = objects.iter().collect();
    order.sort_by_key(|object| !object.after_marker);
    let lines = order.into_iter().take(FEW).map(line).collect::<Markup>();
    let more = total.saturating_sub(objects.len().min(FEW) as u64);
    view! {
        <h2>{title} <small>{format::count(total)}</small></h2>
        <Sheet label heads=&["Key", "Bytes", "Put (UTC)"]>{lines}</Sheet>
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more))}</p> })}
    }
}
