//! Small words in a box, and dots.

use leptos::prelude::*;

use crate::format::shorten;
use crate::markup::{Markup, view};
use crate::signals::Signal;

/// A word in a box. `title` says more on hover.
#[component]
pub fn Badge(
    #[prop(into)] text: String,
    #[prop(into, optional)] title: String,
    /// `come`, `go`, `late` or nothing: which colour it has.
    #[prop(optional)]
    tone: &'static str,
) -> Markup {
    let title = (!title.is_empty()).then_some(title);
    view! { <span class=format!("badge {tone}") title=title>{shorten(&text, 60)}</span> }
}

/// A commit's operation, as its writer spells it.
#[component]
pub fn Op(
    /// `None` where the writer did not say.
    name: Option<String>,
) -> Markup {
    match name {
        Some(name) => view! { <span class="op">{shorten(&name, 40)}</span> },
        None => view! { <span class="op faint" title="The commit does not say">"unnamed"</span> },
    }
}

/// A dot that says how something is: `calm`, `attention` or `broken`. It is told by shape too,
/// and by words to those who cannot see it.
#[component]
pub fn Dot(
    #[prop(into)] state: Signal<&'static str>,
    #[prop(into)] says: Signal<String>,
) -> Markup {
    view! {
        <span class=move || format!("dot {}", state.get()) title=move || says.get() aria-hidden="true"></span>
        <span class="unseen">{move || says.get()}</span>
    }
}
