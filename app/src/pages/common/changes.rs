//! What differs in schema, properties and protocol.

use lake::wire::{KeyChange, SchemaChange, SchemaChangeKind};
use leptos::prelude::*;

use crate::markup::{IntoMarkup, Markup, view};
use crate::parts::{Key, Text};
use crate::signals::RwSignal;

/// A list longer than this goes on behind a button.
const FEW: usize = 12;

/// Fields that differ; a rename is one rename.
#[component]
pub fn SchemaChanges(
    changes: Vec<SchemaChange>,
    /// Columns of the version at the end.
    columns: u64,
) -> Markup {
    if changes.is_empty() {
        let same = format!(
            "Same in both: {}",
            crate::format::counted(columns, "column")
        );
        return view! { <p class="soft">{same}</p> };
    }
    let row = |change: SchemaChange| {
        let (word, tone) = match change.change {
            SchemaChangeKind::Added => ("added", "come"),
            SchemaChangeKind::Removed => ("dropped", "go"),
            SchemaChangeKind::Renamed => ("renamed", ""),
            SchemaChangeKind::Type => ("type", ""),
            SchemaChangeKind::Nullability => ("nulls", ""),
        };
        let field = match (change.change, &change.from) {
            (SchemaChangeKind::Renamed, Some(from)) => from.clone(),
            _ => change.field.clone(),
        };
        view! {
            <li>
                <span class=format!("word {tone}")>{word}</span>
                <span><Key text=field max=60 /> " " <FromTo from=change.from to=change.to kind=change.change /></span>
            </li>
        }
    };
    view! { <More items=changes row=row /> }
}

/// What a field was and what it is.
#[component]
fn FromTo(from: Option<String>, to: Option<String>, kind: SchemaChangeKind) -> Markup {
    let one = |text: String| view! { <Text text max=60 /> };
    match (kind, from, to) {
        (SchemaChangeKind::Renamed, _, Some(to)) => {
            view! { <span class="soft">"to "</span> <Key text=to max=60 /> }
        }
        (SchemaChangeKind::Added, _, Some(to)) => {
            view! { <span class="soft">{one(to)}</span> }
        }
        (SchemaChangeKind::Removed, Some(from), _) => {
            view! { <span class="soft">{one(from)}</span> }
        }
        (_, Some(from), Some(to)) => view! {
            <span class="soft">{one(from)} " to "</span> {one(to)}
        },
        _ => Markup::Nothing,
    }
}

/// Keys whose values differ.
#[component]
pub fn KeyChanges(changes: Vec<KeyChange>) -> Markup {
    if changes.is_empty() {
        return view! { <p class="soft">"Same in both"</p> };
    }
    let row = |change: KeyChange| {
        let (word, tone) = match (&change.from, &change.to) {
            (None, _) => ("set", "come"),
            (_, None) => ("unset", "go"),
            _ => ("changed", ""),
        };
        let value = |text: String| view! { <Text text max=80 /> };
        let values = match (change.from, change.to) {
            (Some(from), Some(to)) => view! {
                <span class="soft">{value(from)} " to "</span> {value(to)}
            },
            (None, Some(to)) => value(to).into_markup(),
            (Some(from), None) => {
                view! { <span class="soft">"was " {value(from)}</span> }
            }
            (None, None) => Markup::Nothing,
        };
        view! {
            <li>
                <span class=format!("word {tone}")>{word}</span>
                <span><Key text=change.key max=60 /> " " {values}</span>
            </li>
        }
    };
    view! { <More items=changes row=row /> }
}

/// A list that shows its beginning, and the rest on request.
#[component]
fn More<T: Clone + Send + Sync + 'static>(items: Vec<T>, row: fn(T) -> Markup) -> Markup {
    let shown = RwSignal::new(FEW);
    let total = items.len();
    view! {
        <ul class="changes">
            {move || items.iter().take(shown.get()).cloned().map(row).collect::<Markup>()}
        </ul>
        {move || {
            let rest = total.saturating_sub(shown.get());
            (rest > 0).then(|| view! {
                <button type="button" class="link" on:click=move |_| shown.update(|n| *n += 200)>
                    {format!("{} more", crate::format::count(rest as u64))}
                </button>
            })
        }}
    }
}
