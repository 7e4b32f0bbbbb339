//! Versions that our vacuum keeps, by name.

use std::sync::Arc;

use lake::plan::{PinRequest, Pins};
use lake::table::{At, Version};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts;
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::in_one_line;
use crate::parts::{Empty, Key, Note, NoteKind, When};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, RwSignal};

use super::super::common::{Here, Sheet};

/// The pins, and the form that makes one.
#[component]
pub fn Panel(here: Here) -> Markup {
    let pins = Asked::new(move |_| {
        let name = here.name();
        Some(async move { acts::pins(&name).await })
    });
    let failed = RwSignal::new(None);
    let said = move || {
        failed.get().map(|why: String| view! {
            <Note kind=NoteKind::Attention><span role="alert"><b>"Not done. "</b>{format::visible(&why)}</span></Note>
        })
    };
    view! {
        <Make here pins failed />
        {said}
        {pins.show("the pins", move |found| view! { <List here pins found failed /> })}
        <p class="soft s after">"Delta has no tags. A pin is an object under _tidemark/pins below the table, hidden from every engine: our vacuum keeps what it names, a vacuum by another engine does not know of it."</p>
    }
}

#[component]
fn Make(here: Here, pins: Asked<Pins>, failed: RwSignal<Option<String>>) -> Markup {
    let session = session();
    let asked = session.param("pin");
    let version = RwSignal::new(asked.get_untracked().unwrap_or_default());
    let name = RwSignal::new(String::new());
    let reason = RwSignal::new(String::new());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let text = name.get_untracked().trim().to_owned();
        let wanted = version.get_untracked().trim().parse::<Version>();
        let why = reason.get_untracked().trim().to_owned();
        let request = wanted.map(|version| PinRequest {
            version,
            reason: Some(why).filter(|why| !why.is_empty()),
            allow_missing: false,
        });
        let table = here.name();
        spawn_local(async move {
            let made = match request {
                Ok(request) => acts::pin(&table, &text, &request).await,
                Err(error) => Err(error),
            };
            match made {
                Ok(_) => {
                    failed.try_set(None);
                    name.try_set(String::new());
                    reason.try_set(String::new());
                    pins.again();
                }
                Err(error) => {
                    failed.try_set(Some(in_one_line(&error)));
                }
            }
        });
    };
    let ready = move || {
        !name.with(|text| text.trim().is_empty()) && !version.with(|text| text.trim().is_empty())
    };
    view! {
        <form class="ask" on:submit=submit>
            <label for="pin-version">"Keep a version by name: which, what it is called, and why"</label>
            <input id="pin-version" class="field mono short" autocomplete="off" inputmode="numeric"
                placeholder="version" prop:value=move || version.get()
                on:input=move |e| version.set(event_target_value(&e)) />
            <input class="field" autocomplete="off" aria-label="Name" placeholder="name, such as quarter-3"
                prop:value=move || name.get() on:input=move |e| name.set(event_target_value(&e)) />
            <input class="field" autocomplete="off" aria-label="Why" placeholder="why"
                prop:value=move || reason.get() on:input=move |e| reason.set(event_target_value(&e)) />
            <button type="submit" class="btn" disabled=move || !ready()>"Pin it"</button>
        </form>
    }
}

#[component]
fn List(
    here: Here,
    pins: Asked<Pins>,
    found: Arc<Pins>,
    failed: RwSignal<Option<String>>,
) -> Markup {
    if found.pins.is_empty() {
        return view! {
            <Empty title="No pins">
                <p class="soft">"Nothing is kept by name. A vacuum deletes what is older than the retention, and versions become unrestorable with it."</p>
            </Empty>
        };
    }
    let unpin = Callback::new(move |name: String| {
        let table = here.name();
        spawn_local(async move {
            match acts::unpin(&table, &name).await {
                Ok(_) => {
                    failed.try_set(None);
                    pins.again();
                }
                Err(error) => {
                    failed.try_set(Some(in_one_line(&error)));
                }
            }
        });
    });
    let lines: Markup = found
        .pins
        .iter()
        .cloned()
        .map(|pin| {
            let version = pin.version;
            let href = here.href(|table| Route::Snapshot {
                table,
                at: At::Version(version),
            });
            let by = pin.by.as_deref().map(|by| format::shorten(by, 40));
            let why = pin.reason.as_deref().map(|why| format::shorten(why, 160));
            let name = pin.name.clone();
            let says = format!("Unpin {}", format::visible(&name));
            view! {
                <tr>
                    <td><Key text=pin.name max=60 /></td>
                    <td><a href=href>{version.to_string()}</a></td>
                    <td>{by}</td>
                    <td><When at=Some(pin.at) /></td>
                    <td class="soft">{why}</td>
                    <td><button type="button" class="btn small quiet" aria-label=says
                        on:click=move |_| unpin.run(name.clone())>"Unpin"</button></td>
                </tr>
            }
        })
        .collect();
    view! {
        <Sheet label="Pins" heads=&["Name", "Version", "By", "When", "Why", ""]>{lines}</Sheet>
    }
}
