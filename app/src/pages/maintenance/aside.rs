//! What vacuums moved aside, until it is deleted for good.

use std::sync::Arc;

use lake::plan::{Emptied, Quarantine};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts;
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::in_one_line;
use crate::parts::{Bytes, Count, Key, Note, NoteKind, When};
use crate::signals::RwSignal;
use crate::words::count_of;

use super::super::common::{Here, Sheet};

/// The list, and the button that deletes it. Nothing at all where nothing lies there.
#[component]
pub fn Aside(here: Here) -> Markup {
    let found = Asked::new(move |_| Some(async move { acts::quarantine(&here.name()).await }));
    let told = RwSignal::new(None);
    let said = move || told.get().map(|told| view! { <Told told /> });
    view! {
        {found.show("what was moved aside", move |found_now| {
            view! { <List here found found_now told /> }
        })}
        <div aria-live="polite">{said}</div>
    }
}

#[component]
fn List(
    here: Here,
    found: Asked<Quarantine>,
    found_now: Arc<Quarantine>,
    told: RwSignal<Option<Result<Emptied, String>>>,
) -> Markup {
    if found_now.quarantine.is_empty() {
        return Markup::Nothing;
    }
    let name = RwSignal::new(String::new());
    let title = here.title();
    let objects: u64 = found_now.quarantine.iter().map(|q| q.objects).sum();
    let label = format!("Delete {} for good", count_of(objects, "object"));
    let asks = format!("Nothing brings these back. Type the table's name: {title}");
    let fits = move || name.with(|text| text.trim() == title);
    let delete = {
        let fits = fits.clone();
        move |event: web_sys::SubmitEvent| {
            event.prevent_default();
            if !untrack(&fits) {
                return;
            }
            spawn_local(async move {
                let result = acts::empty_quarantine(&here.name()).await;
                let result = result.map(|left| left.emptied.unwrap_or_default());
                told.try_set(Some(result.map_err(|error| in_one_line(&error))));
                found.again();
            });
        }
    };
    let lines: Markup = found_now
        .quarantine
        .iter()
        .map(|folder| {
            view! {
                <tr>
                    <td><When at=Some(folder.moved) /></td>
                    <td class="n"><Count n=folder.objects /></td>
                    <td class="n"><Bytes n=folder.bytes /></td>
                    <td><Key text=folder.name.clone() max=60 /></td>
                </tr>
            }
        })
        .collect();
    view! {
        <h2>"Moved aside"</h2>
        <Sheet label="What vacuums moved aside" heads=&["When", "Objects", "Bytes", "Folder"]>{lines}</Sheet>
        <form class="confirm-line" on:submit=delete>
            <label for="aside-name">{asks}</label>
            <input id="aside-name" class="field mono" autocomplete="off" spellcheck="false"
                prop:value=move || name.get() on:input=move |e| name.set(event_target_value(&e)) />
            <button type="submit" class="btn" disabled=move || !fits()>{label}</button>
        </form>
    }
}

#[component]
fn Told(told: Result<Emptied, String>) -> Markup {
    match told {
        Ok(emptied) if emptied.failed.is_empty() => view! {
            <Note><span role="status">
                <b>{format!("{} deleted for good. ", count_of(emptied.deleted, "object"))}</b>
                {format::bytes(emptied.bytes)}" freed."
            </span></Note>
        },
        Ok(emptied) => view! {
            <Note kind=NoteKind::Attention><span role="alert">
                <b>{format!("{} deleted, {} not. ", count_of(emptied.deleted, "object"), format::count(emptied.failed.len() as u64))}</b>
                {emptied.failed.first().map(|failed| format::visible(&failed.why))}
            </span></Note>
        },
        Err(why) => view! {
            <Note kind=NoteKind::Attention><span role="alert"><b>"Not done. "</b>{format::visible(&why)}</span></Note>
        },
    }
}
