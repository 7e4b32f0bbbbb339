//! The quarantine: what vacuums moved aside, until it is deleted for good.

use std::sync::Arc;

use lake::plan::{Emptied, Quarantine, Quarantined};
use lake::table::Time;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts;
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::in_one_line;
use crate::parts::{Bytes, Count, Empty, Key, Note, NoteKind, When};
use crate::session::session;
use crate::signals::{Memo, RwSignal};
use crate::words::count_of;

use super::super::common::{Here, Sheet};

/// Ages that can be chosen: as the server takes them, in words, in milliseconds. The first is
/// meant where none is chosen.
const AGES: [(&str, &str, i64); 4] = [
    ("7d", "more than 7 days ago", 7 * DAY),
    ("30d", "more than 30 days ago", 30 * DAY),
    ("1d", "more than a day ago", DAY),
    ("0s", "at any time", 0),
];

const DAY: i64 = 24 * 3_600_000;

type Age = (&'static str, &'static str, i64);

/// The age that a parameter of the address means.
fn age_of(text: Option<&str>) -> Age {
    let [first, ..] = AGES;
    let named = AGES.into_iter().find(|(name, ..)| Some(*name) == text);
    named.unwrap_or(first)
}

/// The folders that were moved aside so long ago.
fn old(folders: &[Quarantined], now: Time, age: i64) -> impl Iterator<Item = &Quarantined> {
    let before = now.0.saturating_sub(age);
    folders.iter().filter(move |folder| folder.moved.0 < before)
}

/// What lies there, and the button that deletes it.
#[component]
pub fn Panel(here: Here) -> Markup {
    let found = Asked::new(move |_| {
        let name = here.name();
        Some(async move { acts::quarantine(&name).await })
    });
    let told = RwSignal::new(None);
    let said = move || told.get().map(|told| view! { <Told told /> });
    view! {
        <div aria-live="polite">{said}</div>
        {found.show("what was moved aside", move |found_now| {
            view! { <List here found found_now told /> }
        })}
        <p class="soft s after">"A vacuum moves objects aside where “Move aside instead of deleting” is ticked: into _tidemark/quarantine below the table, which every engine takes for hidden. Until they are deleted from there nothing is freed."</p>
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
        return view! {
            <Empty title="Nothing lies there">
                <p class="soft">"No vacuum moved anything of this table aside, or all of it was deleted for good."</p>
            </Empty>
        };
    }
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
    let objects: u64 = found_now.quarantine.iter().map(|q| q.objects).sum();
    let bytes: u64 = found_now.quarantine.iter().map(|q| q.bytes).sum();
    let lie = if objects == 1 { "lies" } else { "lie" };
    view! {
        <p class="verdict">
            <b>{format::capital(&count_of(objects, "object"))}</b>{format!(" {lie} in the quarantine and ")}
            {if objects == 1 { "takes " } else { "take " }}<Bytes n=bytes />"."
        </p>
        <Sheet label="What vacuums moved aside" heads=&["Moved", "Objects", "Bytes", "Folder"]>{lines}</Sheet>
        <Delete here found found_now told />
    }
}

/// How old, the table's name, and the button.
#[component]
fn Delete(
    here: Here,
    found: Asked<Quarantine>,
    found_now: Arc<Quarantine>,
    told: RwSignal<Option<Result<Emptied, String>>>,
) -> Markup {
    let session = session();
    let chosen = session.param("age");
    let age = Memo::new(move |_| age_of(chosen.get().as_deref()));
    let name = RwSignal::new(String::new());
    let busy = RwSignal::new(false);
    let title = here.title();
    let asks = format!("Nothing brings these back. Type the table's name: {title}");
    // To the second would count anew while nothing changes.
    let goes = Memo::new(move |_| {
        let old = old(&found_now.quarantine, session.now.get(), age.get().2);
        old.fold((0u64, 0u64), |(objects, bytes), folder| {
            (objects + folder.objects, bytes.saturating_add(folder.bytes))
        })
    });
    let ready = move || goes.get().0 > 0 && !busy.get() && name.with(|text| text.trim() == title);
    let delete = {
        let ready = ready.clone();
        move |event: web_sys::SubmitEvent| {
            event.prevent_default();
            if !untrack(&ready) {
                return;
            }
            busy.set(true);
            let (table, age) = (here.name(), age.get_untracked().0);
            spawn_local(async move {
                let result = acts::empty_quarantine(&table, age).await;
                let result = result.map(|left| left.emptied.unwrap_or_default());
                told.try_set(Some(result.map_err(|error| in_one_line(&error))));
                busy.try_set(false);
                found.again();
            });
        }
    };
    let choices = AGES.into_iter().map(move |(value, words, _)| {
        let choose = move |_| {
            let (first, ..) = age_of(None);
            session.nav.set("age", (value != first).then_some(value));
        };
        view! {
            <label class="tick inline">
                <input type="radio" name="age" prop:checked=move || age.get().0 == value on:change=choose />
                {words}
            </label>
        }
    });
    let label = move || match goes.get() {
        (0, _) => "Nothing is that old".to_owned(),
        (objects, bytes) => format!(
            "Delete {} for good, {}",
            count_of(objects, "object"),
            format::bytes(bytes)
        ),
    };
    view! {
        <form class="confirm-line" on:submit=delete>
            <fieldset class="choices">
                <legend>"Delete for good what was moved aside"</legend>
                {choices.collect::<Markup>()}
            </fieldset>
            <label for="aside-name">{asks}</label>
            <input id="aside-name" class="field mono" autocomplete="off" spellcheck="false"
                prop:value=move || name.get() on:input=move |e| name.set(event_target_value(&e)) />
            <button type="submit" class="btn" disabled=move || !ready()>{label}</button>
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_once_all_of_it_is_old() {
        let folder = |moved| Quarantined {
            name: String::new(),
            objects: 1,
            bytes: 1,
            moved: Time(moved),
        };
        let folders = [folder(0), folder(DAY), folder(8 * DAY)];
        let count = |age| old(&folders, Time(8 * DAY + 1), age).count();
        assert_eq!(
            [count(7 * DAY), count(30 * DAY), count(DAY), count(0)],
            [2, 0, 2, 3]
        );
        assert_eq!(age_of(None).0, "7d");
        assert_eq!(age_of(Some("0s")).2, 0);
        assert_eq!(age_of(Some("nonsense")).0, "7d");
    }
}
