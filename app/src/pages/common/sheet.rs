//! A plain table, which scrolls sideways where it is wider than the window.

use crate::markup::{Children, Markup, view};

use leptos::prelude::*;

/// Rows under these heads; a head that is empty is told to those who hear it as the column of acts.
#[component]
pub fn Sheet(
    /// What the rows are, for those who hear it.
    label: &'static str,
    heads: &'static [&'static str],
    children: Children,
) -> Markup {
    let heads = heads.iter().map(|head| match *head {
        "" => view! { <th scope="col"><span class="unseen">"Act"</span></th> },
        head => view! { <th scope="col">{head}</th> },
    });
    // Without a mouse it is scrolled by the keyboard, which needs the focus.
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=label>
            <table class="plain">
                <thead><tr>{heads.collect::<Markup>()}</tr></thead>
                <tbody>{children}</tbody>
            </table>
        </div>
    }
}
