//! The zones: who owns, writes and reads each, how long it is kept, what its settings were checked
//! for, and the answers of a design review for every dataset.

use std::sync::Arc;

use gloo_net::http::Request;
use lake::wire::Severity;
use lake::wire::hours::LintFinding;
use lake::wire::zones::{
    Check, Outcome, PromiseRow, RetentionRow, ReviewRow, ZoneRow, ZonesReport,
};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::in_one_line;
use crate::pages::common::fact;
use crate::parts::{Badge, CopyButton, Empty, Facts, Head, Key, Note, NoteKind};
use crate::route::Route;
use crate::session::answered;
use crate::signals::{Callback, Signal};

/// The page.
#[component]
pub fn Page() -> Markup {
    let ask = async |path| answered::<ZonesReport>(Request::get(path).send().await).await;
    let zones = Asked::new(move |_| Some(ask("/api/zones")));
    // What only the newest keys tell is looked for behind what is declared.
    let listed = Asked::new(move |_| {
        zones.ok()?;
        Some(ask("/api/zones?keys=true"))
    });
    let facts = move || {
        let report = listed.ok().or(zones.ok())?;
        let errors = report
            .findings
            .iter()
            .filter(|f| f.severity == Severity::Error)
            .count();
        let warnings = report.findings.len() - errors;
        Some(view! {
            <Facts facts=vec![
                view! { {format::counted(report.zones.len() as u64, "zone")} },
                view! { {format::counted(errors as u64, "error")} },
                view! { {format::counted(warnings as u64, "warning")} },
            ] />
        })
    };
    view! {
        <Head title=Signal::stored("Zones".to_owned()) facts />
        {zones.show("the zones", move |report| view! { <Body report=listed.ok().unwrap_or(report) /> })}
        {move || keys(listed)}
    }
}

/// Whether the findings are all that `tidemark lint` has.
fn keys(listed: Asked<ZonesReport>) -> Option<Markup> {
    if listed.pending() {
        return Some(
            view! { <p class="soft s" role="status">"Looking at the datasets' newest keys…"</p> },
        );
    }
    match listed.get()? {
        Ok(_) => None,
        Err(error) => {
            let why = in_one_line(&error);
            Some(
                view! { <p class="soft s">{format!("The datasets' newest keys were not looked at: {why}")}</p> },
            )
        }
    }
}

#[component]
fn Body(report: Arc<ZonesReport>) -> Markup {
    if report.zones.is_empty() {
        return view! {
            <Empty title="No zone is configured">
                <p class="soft">"A zone is a prefix with an owner, roles and a written retention:"</p>
                <pre tabindex="0">"[[zone]]\nname = \"raw\"\nurl = \"s3://bucket/raw/\"\nowner = \"platform\"\n[zone.retention]\nkeep = \"400d\""</pre>
            </Empty>
        };
    }
    let zones = report.zones.iter().map(|zone| {
        let datasets: Vec<&str> = zone.datasets.iter().map(|d| d.dataset.as_str()).collect();
        let own = report.findings.iter().filter(|finding| {
            finding.zone.as_deref() == Some(&zone.name)
                || finding
                    .dataset
                    .as_deref()
                    .is_some_and(|name| datasets.contains(&name))
        });
        let findings = own.map(found).collect::<Markup>();
        view! { <Zone zone=zone.clone() findings /> }
    });
    let others = report
        .findings
        .iter()
        .filter(|f| f.zone.is_none() && f.dataset.is_none());
    view! {
        {zones.collect::<Markup>()}
        {others.map(found).collect::<Markup>()}
        <p class="soft s">"Readers and writers are those that tidemark.toml names. Nothing here asks who you are: whoever reaches this server reads all that it serves, and only the store's own policies keep a role out."</p>
    }
}

#[component]
fn Zone(zone: ZoneRow, findings: Markup) -> Markup {
    let roles = |roles: &[String]| match roles {
        [] => "nobody named".to_owned(),
        roles => format::shorten(&roles.join(", "), 200),
    };
    let reviews = zone.datasets.iter().map(review).collect::<Markup>();
    let checks = zone.checks.iter().map(check).collect::<Markup>();
    view! {
        <section class="zone-page">
            <h2 id=zone.name.clone()>{format::shorten(&zone.name, 80)} <small class="mono">{format::shorten(&zone.url, 200)}</small></h2>
            {findings}
            <dl class="pairs">
                {fact("Owner", zone.owner.clone().map_or_else(|| "nobody named".to_owned(), |o| format::shorten(&o, 120)))}
                {fact("Format", zone.format.clone().map_or_else(|| "not said".to_owned(), |f| format::shorten(&f, 60)))}
                {fact("Written by", roles(&zone.writers))}
                {fact("Read by", roles(&zone.readers))}
                {retention(&zone.retention)}
                {checks}
            </dl>
            {reviews}
        </section>
    }
}

/// The three numbers, their sum, and what is kept.
fn retention(retention: &RetentionRow) -> Markup {
    let one = |name: &'static str, promise: &Option<PromiseRow>| {
        promise.as_ref().map(|promise| {
            let source = promise.source.as_ref().map(
                |source| view! { <span class="soft">" by "{format::shorten(source, 120)}</span> },
            );
            fact(name, view! { {format::spaced(&promise.text)} {source} })
        })
    };
    let sum = retention
        .needed
        .map(|millis| fact("Needs at least", format::duration(millis.max(0) as u64)));
    view! {
        {one("Topic can be replayed", &retention.topic)}
        {one("A replay needs on top", &retention.replay_margin)}
        {one("Superseded runs stay", &retention.audit)}
        {sum}
        {one("Kept", &retention.keep)}
    }
}

fn check(check: &Check) -> Markup {
    let (word, tone) = match check.outcome {
        Outcome::Holds => ("holds", "come"),
        Outcome::Broken => ("broken", "go"),
        Outcome::NotChecked => ("not checked", ""),
    };
    let name = format::capital(&check.rule.replace('_', " "));
    // The badge has said that much.
    let message = check.message.strip_prefix("not checked: ");
    let message = format::visible(message.unwrap_or(&check.message));
    fact(
        &name,
        view! { <Badge text=word tone /> " " <span class="soft">{message}</span> },
    )
}

/// One dataset's answers, closed until somebody asks.
fn review(review: &ReviewRow) -> Markup {
    let name = review.dataset.clone();
    let href = Route::Hours {
        dataset: name.clone(),
    }
    .href();
    let text = |text: &str| format::shorten(text, 400);
    let someone = |who: &Option<String>| {
        who.as_deref()
            .map_or_else(|| "nobody named".to_owned(), &text)
    };
    let handover = review.handover.clone();
    let copied = Callback::new(move |()| handover.clone());
    view! {
        <details class="raw review">
            <summary><b>{format::shorten(&name, 80)}</b>" · "<span class="soft">{review.partition.join(", ")}</span></summary>
            <dl class="pairs">
                {fact("Hours", view! { <a href=href>"Open the grid"</a> })}
                {fact("Prefix", view! { <Key text=review.location.clone() max=90 /> })}
                {fact("Written by", text(&review.writers.join(", ")))}
                {fact("Read by", text(&review.readers.join(", ")))}
                {retention(&review.retention)}
                {fact("Marker", view! { <Key text=review.marker.clone() max=90 /> })}
                {fact("May lack a marker", text(&review.unmarked))}
                {fact("Dead letters", text(&review.dead_letters))}
                {fact("What may delete", text(&review.deletes))}
                {fact("A retry", text(&review.retry))}
                {fact("Owner", someone(&review.owner))}
                {fact("Publishes", someone(&review.publisher))}
                {fact("Compacts", someone(&review.compaction_owner))}
                {fact("Figures that are listings", text(&review.listings))}
                {fact("Figures that are publications", text(&review.publications))}
            </dl>
            <CopyButton label="Copy the handover" done="Handover copied" text=copied />
        </details>
    }
}

/// A finding, and whose it is.
fn found(finding: &LintFinding) -> Markup {
    let kind = match finding.severity {
        Severity::Error => NoteKind::Attention,
        Severity::Warning => NoteKind::Warning,
    };
    let about = finding
        .dataset
        .as_ref()
        .map(|name| view! { <b>{format::shorten(name, 80)}": "</b> });
    let place = finding
        .location
        .as_ref()
        .map(|place| view! { " " <Key text=place.clone() max=80 /> });
    let owner = finding
        .owner
        .as_ref()
        .map(|owner| format!(" · for {}", format::shorten(owner, 60)));
    let message = format::capital(&format::visible(&finding.message));
    let rule = format::shorten(&finding.rule, 40);
    view! {
        <Note kind>
            <span>
                {about}
                {message}
                {place}
                <span class="soft s">" "{rule}{owner}</span>
            </span>
        </Note>
    }
}
