//! Which of a page's lists is shown: a choice that the address carries.

use leptos::prelude::*;

use crate::markup::{Markup, view};
use crate::session::session;

/// Links that set the parameter `show`; the first choice is the page without it.
#[component]
pub fn Switch(
    /// What is chosen among, for those who hear it: `Lists of this commit`.
    label: &'static str,
    /// Value of the parameter, name, and a figure beside it.
    choices: Vec<(&'static str, &'static str, Option<String>)>,
) -> Markup {
    let session = session();
    let chosen = session.param("show");
    let first = choices.first().map(|c| c.0).unwrap_or_default();
    let links = choices.into_iter().map(move |(value, name, figure)| {
        let current = move || {
            let chosen = chosen.get();
            (chosen.as_deref().unwrap_or(first) == value).then_some("true")
        };
        // What belongs to another list (its sort, its filter) does not come along.
        let href = move || {
            session.route.with(|route| {
                let query = crate::route::Query::default();
                let value = (value != first).then_some(value);
                route.clone().with(query.with("show", value)).href()
            })
        };
        view! {
            <a href=href aria-current=current>
                {name}
                {figure.map(|f| view! { " " <small>{f}</small> })}
            </a>
        }
    });
    view! { <nav class="switch" aria-label=label>{links.collect::<Markup>()}</nav> }
}
