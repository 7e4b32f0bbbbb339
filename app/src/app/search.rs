//! Search over tables, datasets with their hours, versions, and the keys of the table at hand.

use leptos::html;
use leptos::prelude::*;

use crate::keys::Command;
use crate::late;
use crate::markup::{Markup, NodeRef, view};
use crate::session::{Session, session};
use crate::signals::{Memo, RwSignal};

pub mod found;
mod hits;

use hits::Hit;

/// What the field and the list below it share.
#[derive(Clone, Copy)]
pub struct Searching {
    session: Session,
    field: NodeRef<html::Input>,
    text: RwSignal<String>,
    shown: RwSignal<bool>,
    /// Which of what was found Enter opens.
    chosen: RwSignal<usize>,
    /// What was found, once there is code that finds.
    found: RwSignal<Option<Memo<Vec<Hit>>>>,
}

/// The search field with what it finds below it.
#[component]
pub fn Search() -> Markup {
    let session = session();
    let search = Searching {
        session,
        field: NodeRef::new(),
        text: RwSignal::new(String::new()),
        shown: RwSignal::new(false),
        chosen: RwSignal::new(0),
        found: RwSignal::new(None),
    };
    let Searching {
        field,
        text,
        shown,
        chosen,
        ..
    } = search;
    session
        .keys
        .on(move |command| match (command, field.get_untracked()) {
            (Command::Search, Some(field)) => {
                let _ = field.focus();
                field.select();
                true
            }
            _ => false,
        });
    let keydown = move |event: web_sys::KeyboardEvent| {
        match event.key().as_str() {
            "ArrowDown" => chosen.update(|c| *c = (*c + 1).min(search.count().saturating_sub(1))),
            "ArrowUp" => chosen.update(|c| *c = c.saturating_sub(1)),
            "Enter" => search.open(chosen.get_untracked()),
            "Escape" => search.close(),
            _ => return,
        }
        event.prevent_default();
    };
    let listed = move || shown.get() && text.with(|t| !t.trim().is_empty());
    view! {
        <div class="search" role="search">
            <input node_ref=field type="search" role="combobox" autocomplete="off" spellcheck="false"
                aria-label="Go to table, dataset, version, key" placeholder="Go to table, dataset, key…"
                aria-controls="hits" aria-autocomplete="list"
                aria-expanded=move || listed().to_string()
                aria-activedescendant=move || listed().then(|| format!("hit-{}", chosen.get()))
                prop:value=move || text.get()
                on:input=move |event| {
                    text.set(event_target_value(&event));
                    chosen.set(0);
                    shown.set(true);
                }
                on:focus=move |_| shown.set(true)
                on:blur=move |_| shown.set(false)
                on:keydown=keydown />
            <kbd aria-hidden="true">"/"</kbd>
            <div class="hits" hidden=move || !listed()>
                {session.late.show(move || late::found(search))}
            </div>
        </div>
    }
}

impl Searching {
    fn count(self) -> usize {
        let found = self.found.get_untracked();
        found.map_or(0, |found| found.with_untracked(Vec::len))
    }

    /// Goes to one of what was found.
    fn open(self, index: usize) {
        let hit = |found: Memo<Vec<Hit>>| {
            found.with_untracked(|f| f.get(index).map(|hit| hit.to.clone()))
        };
        if let Some(to) = self.found.get_untracked().and_then(hit) {
            self.close();
            self.session.nav.go(to);
        }
    }

    fn close(self) {
        self.shown.set(false);
        self.text.set(String::new());
        if let Some(field) = self.field.get_untracked() {
            let _ = field.blur();
        }
    }
}
