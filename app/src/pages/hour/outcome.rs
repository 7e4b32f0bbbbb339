//! What became of the hour by the act that was just carried out here: it stays in sight while the
//! page looks at the hour again.

use lake::plan::Applied;
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::Warnings;
use crate::pages::hours::exceptions::state;
use crate::signals::RwSignal;

/// The last act's outcome.
#[component]
pub fn Told(told: RwSignal<Option<Applied>>) -> Markup {
    let shown = Markup::live(move || told.get().map(|applied| view! { <Outcome applied /> }));
    view! { <div aria-live="polite">{shown}</div> }
}

#[component]
fn Outcome(applied: Applied) -> Markup {
    let hours = applied.hours.map(|hours| *hours);
    let now = hours.as_ref().and_then(|hours| hours.state).map(state);
    let registered =
        hours.as_ref().and_then(
            |hours| match (hours.registered, &hours.registration_error) {
                (Some(true), _) => Some("The catalog knows the partition.".to_owned()),
                (Some(false), Some(why)) => Some(format!(
                    "The marker stands; the catalog was not told: {}",
                    format::shorten(why, 300)
                )),
                _ => None,
            },
        );
    let message = hours
        .and_then(|hours| hours.message)
        .map(|m| format::capital(&format::visible(&m)));
    view! {
        <p class="note done" role="status"><span><b>"Done. "</b>"It is now "{now}". "{message}" "{registered}</span></p>
        <Warnings warnings=applied.warnings />
    }
}
