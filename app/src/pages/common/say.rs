//! Sentences in the page, and the warnings of a report.

use leptos::prelude::*;

use crate::format::{capital, visible};
use crate::markup::{IntoMarkup, Markup, view};
use crate::parts::{Note, NoteKind};
use crate::words::{Part, Sentence};

/// A sentence with its names set apart.
#[component]
pub fn Say(sentence: Sentence) -> Markup {
    let parts = sentence.0.into_iter().map(|part| match part {
        Part::Text(text) => visible(&text).into_markup(),
        Part::Strong(text) => view! { <b>{visible(&text)}</b> },
        Part::Code(text) => view! { <code>{visible(&text)}</code> },
    });
    parts.collect::<Markup>()
}

/// What a person should know about an answer, a note each.
#[component]
pub fn Warnings(warnings: Vec<String>) -> Markup {
    /// More would hide the page itself.
    const MOST: usize = 5;
    let more = warnings.len().saturating_sub(MOST);
    let shown: Vec<_> = warnings
        .into_iter()
        .take(MOST)
        .map(|text| view! { <Note kind=NoteKind::Warning><span>{capital(&visible(&text))}</span></Note> })
        .collect();
    view! {
        {shown}
        {(more > 0).then(|| view! { <p class="soft s">{format!("{more} more warnings")}</p> })}
    }
}
