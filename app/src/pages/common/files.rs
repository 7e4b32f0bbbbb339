//! The list of a version's files, or of the files that differ between two versions.

pub mod export;
pub mod source;

use lake::wire::{FileChange, FileSort};
use leptos::prelude::*;

use crate::markup::{Markup, view};
use crate::signals::{Callback, Memo, Signal, StoredValue};

use self::export::SaveFiles;
pub use self::source::Files;
use self::source::{Listed, fetch};
use super::Here;
use super::filter::filter;
use super::paged::Paged;
use crate::format;
use crate::parts::{Badge, Bytes, Column, Count, Failed, Grid, Loading, Sort, When};
use crate::route::{Query, Route};
use crate::session::session;

/// The list with its filter line and its exports. Filter and sort are in the address.
#[component]
pub fn FileList(
    here: Here,
    files: Files,
    /// What the files are, for those who hear it: `Files of version 48`.
    #[prop(into)]
    label: String,
    /// Partition columns, which the filter line knows.
    columns: Vec<String>,
    /// What stands in place of an empty list.
    empty: &'static str,
) -> Markup {
    let session = session();
    let partitioned = columns.first().cloned();
    let query = Memo::new(move |_| {
        session
            .query
            .with(|q| (q.get("q").map(str::to_owned), sort_of(q)))
    });
    let list = Paged::new(move |progress| {
        let (line, sort) = query.get();
        let filter = filter(line.as_deref().unwrap_or_default(), &columns);
        fetch(
            session.engine().watched(progress),
            here.table(),
            files,
            filter,
            &sort,
        )
    });
    let again = Callback::new(move |()| list.again());
    let stop = Callback::new(move |()| list.stop());
    let open = Callback::new(move |i: usize| {
        if let Some(listed) = list.get_untracked(i) {
            session.nav.go(address(here, files, &listed));
        }
    });
    let on_sort = Callback::new(move |sort: Sort| {
        let plain = sort
            == Sort {
                key: "path".into(),
                descending: false,
            };
        let value = format!("{}{}", if sort.descending { "-" } else { "" }, sort.key);
        session.nav.set("sort", (!plain).then_some(value));
    });
    let sort = Signal::derive(move || query.get().1);
    let grid_columns = vec![
        Column::new("Path", "minmax(0,1fr)").sort("path"),
        Column::new("Put (UTC)", "118px")
            .number()
            .wide_only()
            .sort("modified"),
        Column::new("Rows", "96px")
            .number()
            .narrow("66px")
            .sort("rows"),
        Column::new("Bytes", "88px")
            .number()
            .narrow("72px")
            .sort("bytes"),
    ];
    let nothing = move || list.length() == Some((0, 0));
    let row = move |i: usize| match list.get_untracked(i) {
        Some(listed) => cells(here, files, listed),
        None => view! { <span role="gridcell" class="faint">"…"</span> },
    };
    let key = move |i: usize| list.get(i).map(|listed| listed.key()).unwrap_or_default();
    view! {
        <div class="asked" aria-busy=move || list.pending().to_string()>
        <div class="list-bar" class:gone=nothing>
            <FilterLine partition=partitioned />
            <span class="soft s" aria-live="polite">{move || counted(list.length(), query.get().0.is_some())}</span>
            <SaveFiles here files list name=format!("{}-{}", here.name(), label) />
        </div>
        {move || list.pending().then(|| view! {
            <Loading what="the files" progress=list.progress() stop over=true />
        })}
        {move || list.failed().map(|error| view! { <Failed error again /> })}
        {move || nothing().then(|| view! { <p class="soft">{empty}</p> })}
        <div class:gone=move || list.count() == 0>
            <Grid label columns=grid_columns count=Signal::derive(move || list.count()) row key
                on_open=open seen=list.seen read=Signal::derive(move || list.read()) sort on_sort />
        </div>
        </div>
    }
}

/// Where a file is opened: in the version that holds it.
fn address(here: Here, files: Files, listed: &Listed) -> Route {
    Route::File {
        table: here.name(),
        version: files.holder(listed.change),
        path: listed.file.path.clone(),
    }
}

fn cells(here: Here, files: Files, listed: Listed) -> Markup {
    let href = address(here, files, &listed).href();
    let sign =
        listed.change.filter(|_| files.mixed()).map(|change| {
            match change {
        FileChange::Added => view! {
            <span class="sign come" aria-hidden="true">"+"</span><span class="unseen">"came "</span>
        },
        FileChange::Removed => view! {
            <span class="sign go" aria-hidden="true">"−"</span><span class="unseen">"left "</span>
        },
    }
        });
    let file = listed.file;
    let masked = (file.deleted_rows > 0).then(|| {
        let title = format!(
            "A deletion vector masks {}",
            format::counted(file.deleted_rows, "row")
        );
        view! { " " <Badge text=format!("{} masked", format::minus(file.deleted_rows)) title /> }
    });
    let title = format::shorten(&file.path, 2_000);
    view! {
        <span role="gridcell" class="ell" title=title>
            {sign}
            <a class="key" href=href>{format::shorten(&file.path, 240)}</a>
            {masked}
        </span>
        <span role="gridcell" class="n soft s hide"><When at=file.modified minute=true /></span>
        <span role="gridcell" class="n"><Count n=file.rows /></span>
        <span role="gridcell" class="n"><Bytes n=file.bytes /></span>
    }
}

/// The filter: what is typed is in the address a moment later.
#[component]
fn FilterLine(partition: Option<String>) -> Markup {
    let session = session();
    let shown = session.param("q");
    let timer = StoredValue::new(None::<TimeoutHandle>);
    let typed = move |event| {
        let text = event_target_value(&event);
        if let Some(timer) = timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
        let later = set_timeout_with_handle(
            move || {
                session
                    .nav
                    .set("q", (!text.trim().is_empty()).then_some(text))
            },
            std::time::Duration::from_millis(250),
        );
        timer.set_value(later.ok());
    };
    on_cleanup(move || {
        if let Some(timer) = timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    });
    let hint = match partition {
        Some(column) => format!("Filter: text, {column}=…"),
        None => "Filter: text in the path".to_owned(),
    };
    view! {
        <input type="search" class="filter" placeholder=hint.clone() aria-label=hint spellcheck="false"
            prop:value=move || shown.get().unwrap_or_default() on:input=typed />
    }
}

fn counted(length: Option<(u64, u64)>, filtered: bool) -> String {
    match length {
        None => String::new(),
        Some((matching, total)) if filtered => {
            format!(
                "{} of {}",
                format::count(matching),
                format::counted(total, "file")
            )
        }
        Some((matching, _)) => format::counted(matching, "file"),
    }
}

fn sort_of(query: &Query) -> Sort {
    let text = query.get("sort").unwrap_or("path");
    let key = text.trim_start_matches('-');
    Sort {
        key: key.to_owned(),
        descending: text.starts_with('-'),
    }
}

fn file_sort(sort: &Sort) -> FileSort {
    match sort.key.as_str() {
        "bytes" => FileSort::Bytes,
        "rows" => FileSort::Rows,
        "modified" => FileSort::Modified,
        _ => FileSort::Path,
    }
}
