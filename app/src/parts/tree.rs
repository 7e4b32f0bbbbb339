//! One row of a tree that opens.

use leptos::prelude::*;

use crate::markup::{Children, Markup, view};
use crate::signals::RwSignal;

/// The first cell of a row in a tree table: indented, with a triangle where it has children.
#[component]
pub fn TreeRow(
    /// Depth from 0.
    depth: usize,
    /// Whether it is open; `None` where there is nothing below it.
    open: Option<RwSignal<bool>>,
    /// What is opened, for those who hear it: `region=US`.
    #[prop(into)]
    name: String,
    children: Children,
) -> Markup {
    let style = format!("padding-left:{}px", depth * 20);
    let toggle = open.map(|open| {
        view! {
            <button type="button" class="twist" aria-expanded=move || open.get().to_string()
                aria-label=format!("Parts of {name}")
                on:click=move |event| {
                    event.stop_propagation();
                    open.update(|o| *o = !*o);
                }>
                {move || if open.get() { "▾" } else { "▸" }}
            </button>
        }
    });
    let still = open
        .is_none()
        .then(|| view! { <span class="twist"></span> });
    view! { <span class="tree" style=style>{toggle}{still}{children}</span> }
}
