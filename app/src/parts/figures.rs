//! Figures, times and keys, each with its exact self on hover.

use lake::table::Time;
use leptos::prelude::*;

use crate::format::{self, UNKNOWN, UNKNOWN_WHY};
use crate::markup::{Markup, view};
use crate::session::session;
use crate::signals::Memo;

fn unknown() -> Markup {
    view! { <span class="faint" title=UNKNOWN_WHY>{UNKNOWN}</span> }
}

/// A count; `?` with the reason where it is unknown.
#[component]
pub fn Count(#[prop(into)] n: Option<u64>) -> Markup {
    match n {
        Some(n) => view! { <span class="fig">{format::count(n)}</span> },
        None => unknown(),
    }
}

/// A size, exact on hover.
#[component]
pub fn Bytes(#[prop(into)] n: Option<u64>) -> Markup {
    match n {
        Some(n) => view! {
            <span class="fig" title=format::exact_bytes(n)>{format::bytes(n)}</span>
        },
        None => unknown(),
    }
}

/// What came: `+962`.
#[component]
pub fn Came(#[prop(into)] n: Option<u64>) -> Markup {
    match n {
        Some(0) => view! { <span class="fig faint">"0"</span> },
        Some(n) => view! { <span class="fig come">{format::plus(n)}</span> },
        None => unknown(),
    }
}

/// What went: `−962`.
#[component]
pub fn Went(#[prop(into)] n: Option<u64>) -> Markup {
    match n {
        Some(0) => view! { <span class="fig faint">"0"</span> },
        Some(n) => view! { <span class="fig go">{format::minus(n)}</span> },
        None => unknown(),
    }
}

/// What came and what went: `+14 −14`; a dash where neither did.
#[component]
pub fn Net(came: Option<u64>, went: Option<u64>) -> Markup {
    let (Some(came), Some(went)) = (came, went) else {
        return unknown();
    };
    if came == 0 && went == 0 {
        return view! { <span class="fig faint">"0"</span> };
    }
    view! {
        <span class="fig">
            {(came > 0).then(|| view! { <span class="come">{format::plus(came)}</span> })}
            {(came > 0 && went > 0).then_some(" ")}
            {(went > 0).then(|| view! { <span class="go">{format::minus(went)}</span> })}
        </span>
    }
}

/// What came less what went: `+2,110`, `−6,411,904`.
#[component]
pub fn Difference(came: Option<u64>, went: Option<u64>) -> Markup {
    let (Some(came), Some(went)) = (came, went) else {
        return unknown();
    };
    view! { <span class=tone(came, went)>{format::net(came, went)}</span> }
}

fn tone(came: u64, went: u64) -> &'static str {
    match came.cmp(&went) {
        std::cmp::Ordering::Greater => "fig come",
        std::cmp::Ordering::Less => "fig go",
        std::cmp::Ordering::Equal => "fig faint",
    }
}

/// The difference in bytes, exact on hover.
#[component]
pub fn NetBytes(came: Option<u64>, went: Option<u64>) -> Markup {
    let (Some(came), Some(went)) = (came, went) else {
        return unknown();
    };
    let class = tone(came, went);
    let exact = format!(
        "{} came, {} went",
        format::exact_bytes(came),
        format::exact_bytes(went)
    );
    view! { <span class=class title=exact>{format::net_bytes(came, went)}</span> }
}

/// A time, exact and in UTC on hover. `also` adds a line to the hover: another clock.
#[component]
pub fn When(
    at: Option<Time>,
    /// `10 Nov 02:41` instead of `11 h 31 min ago`.
    #[prop(optional)]
    minute: bool,
    #[prop(optional_no_strip)] also: Option<String>,
) -> Markup {
    let Some(at) = at else {
        return unknown();
    };
    let now = session().now;
    let title = match also {
        Some(also) => format!("{}\n{also}", format::utc(at)),
        None => format::utc(at),
    };
    let text = Memo::new(move |_| {
        if minute {
            format::minute(at, now.get())
        } else {
            format::ago(at, now.get())
        }
    });
    // Paper tells no time by how long ago it was.
    let class = if minute { "" } else { "exact" };
    let on_paper = format::minute_with_year(at);
    view! { <time class=class datetime=at.to_string() title=title data-at=on_paper>{text}</time> }
}

/// A key, an id or a version: monospaced, made visible, shortened in its middle and whole on
/// hover.
#[component]
pub fn Key(#[prop(into)] text: String, #[prop(default = 96)] max: usize) -> Markup {
    let short = format::shorten_middle(&text, max);
    let title = (text.chars().count() > max).then(|| format::shorten(&text, 2_000));
    view! { <span class="key" title=title>{short}</span> }
}

/// Text that others wrote: made visible, cut after `max` characters, longer on hover.
#[component]
pub fn Text(#[prop(into)] text: String, #[prop(default = 120)] max: usize) -> Markup {
    let short = format::shorten(&text, max);
    let title = (text.chars().nth(max).is_some()).then(|| format::shorten(&text, 2_000));
    view! { <span title=title>{short}</span> }
}
