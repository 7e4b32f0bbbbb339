//! Sizes of a dataset's objects, day by day, and what a reader pays to list them.

use std::sync::Arc;

use lake::hours::{Day, Slot, State};
use lake::wire::hours::{Fresh, GridDay, GridReport};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{Sheet, fact};
use crate::parts::{Bytes, CopyButton, Count, Head};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::{Callback, Signal};

use super::hours::exceptions::note;
use super::hours::grid::day_name;
use super::hours::picked::Pick;
use super::hours::whose::{counted, unit};
use super::hours::{Tabs, facts};

/// Days that are looked at: those of a month.
const DAYS: i32 = 30;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let dataset = session
        .route
        .with_untracked(|r| r.dataset().unwrap_or_default().to_owned());
    let report = {
        let dataset = dataset.clone();
        Asked::new(move |progress| {
            // One that is not among them is asked for all the same: the answer says so.
            let lake = session.lake.ok()?;
            let declared = lake.datasets.iter().find(|d| d.name == dataset);
            let first = declared.and_then(|declared| declared.first);
            let today = session.now.with_untracked(|now| Day::of(*now));
            let from = today
                .plus(1 - DAYS)
                .max(first.unwrap_or(today.plus(1 - DAYS)).min(today));
            let (engine, dataset) = (session.engine().watched(progress), dataset.clone());
            Some(async move { engine.hours(dataset, from, today, Fresh::Known).await })
        })
    };
    let title = Signal::stored(dataset.clone());
    let window_title = Signal::stored(format!("{dataset} · layout"));
    let facts = move || report.ok().map(|report| facts(&report));
    let link = Callback::new(|()| window().location().href().unwrap_or_default());
    let body = report.show("the layout", {
        let dataset = dataset.clone();
        move |report| view! { <Body dataset=dataset.clone() report /> }
    });
    view! {
        <Head title window_title facts>
            <CopyButton label="Copy link" done="Link copied" text=link />
        </Head>
        <Tabs dataset />
        {body}
    }
}

#[component]
fn Body(dataset: String, report: Arc<GridReport>) -> Markup {
    let sizes = &report.sizes;
    let most = report.days.iter().map(total).max().unwrap_or(0);
    let days = report
        .days
        .iter()
        .rev()
        .map(|day| line(&dataset, day, most))
        .collect::<Markup>();
    let findings = report.findings.iter().map(note).collect::<Markup>();
    let none = report.findings.is_empty();
    let unit = unit(&report.dataset);
    let budget = match (
        report.dataset.budget_objects,
        report.dataset.budget_median_bytes,
    ) {
        (None, None) => "none declared".to_owned(),
        (objects, bytes) => {
            let objects = objects.map(|n| format!("at most {}", format::counted(n, "object")));
            let bytes = bytes.map(|n| format!("median at least {}", format::bytes(n)));
            [objects, bytes]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", ")
        }
    };
    view! {
        <div class="columns">
            <div>
                <h2>"Days" <small>{format!("{} to {}", report.from, report.to)}</small></h2>
                <Sheet label="Objects and bytes of each day" heads=&["Day (UTC)", "Objects", "Bytes", "Beside the largest", "Over budget"]>{days}</Sheet>
            </div>
            <aside aria-label="Sizes and findings">
                <h2>"Sizes"</h2>
                <dl class="pairs">
                    {fact("Objects", view! { <Count n=sizes.objects /> })}
                    {fact("Bytes", view! { <Bytes n=sizes.bytes /> })}
                    {fact("Median", view! { <Bytes n=sizes.median_bytes /> })}
                    {fact("A tenth is smaller than", view! { <Bytes n=sizes.p10_bytes /> })}
                    {fact("A tenth is larger than", view! { <Bytes n=sizes.p90_bytes /> })}
                    {fact(if unit == "hour" { "Budget of an hour" } else { "Budget of a day" }, budget)}
                    {fact("LISTs over the parent prefixes", view! { <Count n=sizes.lists_of_parents /> })}
                    {fact("LISTs over the runs alone", view! { <Count n=sizes.lists_of_runs /> })}
                </dl>
                <p class="soft s">{format!("LIST requests that a reader of all closed {unit}s makes: over their parent prefixes, where older runs and loose keys lie too, or over the published runs alone")}</p>
                <h2>"Findings"</h2>
                {findings}
                {none.then(|| view! { <p class="soft">"Nothing that needs an act"</p> })}
            </aside>
        </div>
    }
}

fn total(day: &GridDay) -> u64 {
    day.bytes
        .iter()
        .fold(0, |sum, bytes| sum.saturating_add(*bytes))
}

fn line(dataset: &str, day: &GridDay, most: u64) -> Markup {
    let bytes = total(day);
    let objects = day
        .objects
        .iter()
        .fold(0u64, |sum, n| sum.saturating_add(*n));
    let slot = |hour: usize| match (day.states.len(), u8::try_from(hour)) {
        (2.., Ok(hour)) => Slot::hour(day.date, hour),
        _ => Slot::day(day.date),
    };
    let over = || {
        let all = day.states.chars().enumerate();
        all.filter(|(_, letter)| *letter == State::OverBudget.letter())
            .map(|(hour, _)| hour)
    };
    let selected = |first: usize, last: usize| {
        let hours = Route::Hours {
            dataset: dataset.to_owned(),
        };
        let pick = Pick::new(slot(first), slot(last)).to_string();
        hours.with(Query::default().with("sel", Some(pick))).href()
    };
    let many = counted(over().count() as u64, day.states.len() > 1);
    let over = over().min().zip(over().max()).map(|(first, last)| {
        view! { <a class="link" href=selected(first, last)>{many}</a> }
    });
    let whole = selected(0, day.states.len().saturating_sub(1));
    let width = format!(
        "width:{}%",
        format::decimal(bytes as f64 * 100.0 / most.max(1) as f64, 1)
    );
    view! {
        <tr>
            <td><a href=whole>{day_name(day.date)}</a></td>
            <td class="n"><Count n=objects /></td>
            <td class="n"><Bytes n=bytes /></td>
            <td class="w"><span class="share" aria-hidden="true"><i style=width></i></span></td>
            <td class="n">{over}</td>
        </tr>
    }
}
