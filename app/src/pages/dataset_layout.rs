//! Sizes of a dataset's objects, day by day, and what a reader pays to list them.

use std::sync::Arc;

use lake::hours::{Day, State};
use lake::wire::hours::{Fresh, GridDay, GridReport};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{Sheet, fact};
use crate::parts::{Bar, Bytes, CopyButton, Count, Head};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::{Callback, Signal};

use super::hours::exceptions::note;
use super::hours::grid::day_name;
use super::hours::whose::counted;
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
                <Sheet label="Objects and bytes of each day" heads=&["Day (UTC)", "Objects", "Bytes", "", "Over budget"]>{days}</Sheet>
            </div>
            <aside aria-label="Sizes and findings">
                <h2>"Sizes"</h2>
                <dl class="pairs">
                    {fact("Objects", view! { <Count n=sizes.objects /> })}
                    {fact("Bytes", view! { <Bytes n=sizes.bytes /> })}
                    {fact("Median", view! { <Bytes n=sizes.median_bytes /> })}
                    {fact("A tenth is smaller than", view! { <Bytes n=sizes.p10_bytes /> })}
                    {fact("A tenth is larger than", view! { <Bytes n=sizes.p90_bytes /> })}
                    {fact(if report.dataset.partition.len() > 1 { "Budget of an hour" } else { "Budget of a day" }, budget)}
                    {fact("LISTs over the parent prefixes", view! { <Count n=sizes.lists_of_parents /> })}
                    {fact("LISTs over the runs alone", view! { <Count n=sizes.lists_of_runs /> })}
                </dl>
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
    let over = day
        .states
        .chars()
        .filter(|c| *c == State::OverBudget.letter())
        .count() as u64;
    let hours = Route::Hours {
        dataset: dataset.to_owned(),
    };
    let query = Query::default().with(
        "sel",
        Some(match day.states.len() {
            1 => day.date.to_string(),
            _ => format!("{0}T00..{0}T23", day.date),
        }),
    );
    view! {
        <tr>
            <td><a href=hours.with(query).href()>{day_name(day.date)}</a></td>
            <td class="n"><Count n=objects /></td>
            <td class="n"><Bytes n=bytes /></td>
            <td><Bar came=bytes went=0 largest=most /></td>
            <td class="n">{(over > 0).then(|| counted(over, day.states.len() > 1))}</td>
        </tr>
    }
}
