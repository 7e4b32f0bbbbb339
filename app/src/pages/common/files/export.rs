//! The whole list as CSV or JSON: read to its end first, which a page of it is not.

use lake::Result;
use lake::table::partition_label;
use lake::wire::FileChange;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::copy::{csv, download};
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::paged::{Fetch, Paged};
use crate::pages::common::{Here, json_link};
use crate::session::session;
use crate::signals::{RwSignal, StoredValue};

use super::source::{Files, Listed};

/// Rows of one question while the whole list is read.
const STEP: u32 = 10_000;

/// More rows than this are for the command line.
const MOST: u64 = 500_000;

/// `CSV` of everything that matches the filter; `JSON` of all of the files, from the server.
#[component]
pub fn SaveFiles(
    here: Here,
    files: Files,
    list: Paged<Listed>,
    #[prop(into)] name: String,
) -> Markup {
    let session = session();
    let busy = RwSignal::new(false);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = format!("{}.csv", name.replace(|c| !plain(c), "-"));
    let name = StoredValue::new(name);
    let save = move |_| {
        let Some(fetch) = list.source() else { return };
        busy.set(true);
        spawn_local(async move {
            let read = all(fetch).await;
            if busy.try_set(false).is_some() {
                // The page is gone, and with it whoever wanted the file.
                return;
            }
            match read {
                Ok((read, whole)) => {
                    let text = as_table(&read, files.mixed());
                    download(&name.get_value(), "text/csv;charset=utf-8", &text);
                    if !whole {
                        session.say(format!(
                            "Saved the first {}; use the command line for all",
                            format::counted(MOST, "file")
                        ));
                    }
                }
                Err(error) => session.say(format!("Not saved: {}", error.sentence())),
            }
        });
    };
    let (question, parameters) = match files {
        Files::Of(version) => ("snapshot", format!("version={version}&files=true")),
        Files::Between(from, to) => ("diff", format!("from={from}&to={to}&files=true")),
    };
    let json = json_link(here, question, &parameters, "All of the files as JSON");
    view! {
        <span class="export">
            <button type="button" class="btn small quiet" title="Save the list as CSV"
                disabled=move || busy.get() on:click=save>"CSV"</button>
            {json}
        </span>
    }
}

/// The list to its end, or to [`MOST`], and whether that is all of it.
async fn all(fetch: Fetch<Listed>) -> Result<(Vec<Listed>, bool)> {
    let mut files = Vec::new();
    loop {
        let page = fetch(files.len() as u64, STEP).await?;
        let done = page.items.is_empty();
        files.extend(page.items);
        let read = files.len() as u64;
        if done || read >= page.matching || read >= MOST {
            return Ok((files, read >= page.matching));
        }
    }
}

fn word(change: FileChange) -> &'static str {
    match change {
        FileChange::Added => "added",
        FileChange::Removed => "removed",
    }
}

/// The list; whether a file came or left only where files of both kinds may be in it.
fn as_table(files: &[Listed], mixed: bool) -> String {
    let head = [
        "change",
        "path",
        "bytes",
        "rows",
        "deleted_rows",
        "partition",
        "modified",
    ];
    let first = usize::from(!mixed);
    let number = |n: Option<u64>| n.map(|n| n.to_string().into());
    let rows = files.iter().map(|Listed { change, file }| {
        let cells = [
            change.map(|c| word(c).into()),
            Some(file.path.as_str().into()),
            number(file.bytes),
            number(file.rows),
            number(Some(file.deleted_rows)),
            Some(partition_label(&file.partition).into()),
            file.modified.map(|t| t.to_string().into()),
        ];
        cells.into_iter().skip(first)
    });
    csv(head.get(first..).unwrap_or_default(), rows)
}
