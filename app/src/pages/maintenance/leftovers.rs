//! Objects below the table's root that no version needs, one by one.

use std::sync::Arc;

use indexmap::IndexMap;
use lake::plan::{Leftover, Origin, VacuumDetail};
use lake::table::Time;
use leptos::prelude::*;

use crate::copy::csv;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{Here, Sheet, csv_button};
use crate::parts::{Badge, Bytes, Column, Count, Grid, Key, When};
use crate::signals::Signal;

use super::vacuum::removed_lately;

/// Writers that are listed.
const WRITERS: usize = 10;

/// All of them: those to delete, then those that are too young.
#[component]
pub fn Left(here: Here, detail: Arc<VacuumDetail>) -> Markup {
    let count = detail.objects.len() + detail.waiting.len();
    if count == 0 {
        return Markup::Nothing;
    }
    let listed = match removed_lately(&detail).0 {
        0 => format::count(count as u64),
        lately => format!(
            "{} listed; {} more were removed too lately to be looked at one by one: see left alone",
            format::count(count as u64),
            format::count(lately)
        ),
    };
    let columns = vec![
        Column::new("Key", "minmax(0,1fr)"),
        Column::new("Came from", "150px").narrow("120px"),
        Column::new("Writer", "170px").wide_only(),
        Column::new("Bytes", "86px").number().narrow("76px"),
        Column::new("Written", "120px").wide_only(),
        Column::new("Now", "90px").wide_only(),
    ];
    let of = Arc::clone(&detail);
    let row = move |i: usize| match at(&of, i) {
        Some((left, old)) => cells(left, old),
        None => Markup::Nothing,
    };
    let of = Arc::clone(&detail);
    let row_class = move |i: usize| match at(&of, i) {
        Some((_, false)) => "dim".to_owned(),
        _ => String::new(),
    };
    let of = Arc::clone(&detail);
    let csv = csv_button(
        format!("{}-leftovers", here.name()),
        "Save the objects as CSV",
        move || as_table(&of),
    );
    view! {
        <Writers detail=Arc::clone(&detail) />
        <h2>
            "Objects that nothing kept needs" <small>{listed}</small>
            <span class="end export">{csv}</span>
        </h2>
        <Grid label="Objects that nothing kept needs" columns count=Signal::stored(count) row row_class />
    }
}

/// An object, and whether it is old enough to be deleted.
fn at(detail: &VacuumDetail, i: usize) -> Option<(&Leftover, bool)> {
    match i.checked_sub(detail.objects.len()) {
        None => Some((detail.objects.get(i)?, true)),
        Some(i) => Some((detail.waiting.get(i)?, false)),
    }
}

fn cells(left: &Leftover, old: bool) -> Markup {
    let origin = match left.origin {
        Origin::Removed => {
            view! { <Badge text="removed" title="It was committed, then removed by a later commit" /> }
        }
        Origin::Uncommitted => {
            view! { <Badge text="never committed" tone="go" title="No commit names it: a writer failed, or is still at it" /> }
        }
    };
    let writer = match &left.writer {
        Some(writer) => view! { <Key text=writer.clone() max=22 /> },
        None => {
            view! { <span class="faint" title="Its name does not tell who wrote it">"unknown"</span> }
        }
    };
    view! {
        <span role="gridcell" class="ell"><Key text=left.key.clone() max=90 /></span>
        <span role="gridcell">{origin}</span>
        <span role="gridcell" class="hide ell">{writer}</span>
        <span role="gridcell" class="n"><Bytes n=left.bytes /></span>
        <span role="gridcell" class="hide"><When at=Some(left.modified) /></span>
        <span role="gridcell" class="hide soft">{if old { "goes" } else { "too young" }}</span>
    }
}

/// What was never committed, by the job that wrote it: what a crashed writer left.
#[component]
fn Writers(detail: Arc<VacuumDetail>) -> Markup {
    let groups = by_writer(&detail);
    if groups.is_empty() {
        return Markup::Nothing;
    }
    let more = groups.len().saturating_sub(WRITERS);
    let lines: Markup = groups
        .into_iter()
        .take(WRITERS)
        .map(|group| {
            let writer = match &group.writer {
                Some(writer) => view! { <Key text=writer.clone() max=48 /> },
                None => view! { <span class="faint" title="Its name does not tell who wrote it">"unknown"</span> },
            };
            view! {
                <tr>
                    <td>{writer}</td>
                    <td class="n"><Count n=group.objects /></td>
                    <td class="n"><Bytes n=group.bytes /></td>
                    <td><When at=Some(group.newest) /></td>
                </tr>
            }
        })
        .collect();
    view! {
        <h2>"Never committed, by writer"</h2>
        <p class="soft s">"A writer that is still at it looks the same as one that failed: what is younger than the retention stays."</p>
        <Sheet label="What was never committed, by writer" heads=&["Job", "Objects", "Bytes", "Newest"]>{lines}</Sheet>
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {more} more")}</p> })}
    }
}

struct Group {
    writer: Option<String>,
    objects: u64,
    bytes: u64,
    newest: Time,
}

/// Writers of what was never committed, the one that left most bytes first.
fn by_writer(detail: &VacuumDetail) -> Vec<Group> {
    let mut groups: IndexMap<Option<&str>, Group> = IndexMap::new();
    let all = detail.objects.iter().chain(&detail.waiting);
    for left in all.filter(|left| left.origin == Origin::Uncommitted) {
        let group = groups
            .entry(left.writer.as_deref())
            .or_insert_with(|| Group {
                writer: left.writer.clone(),
                objects: 0,
                bytes: 0,
                newest: left.modified,
            });
        group.objects += 1;
        group.bytes = group.bytes.saturating_add(left.bytes);
        group.newest = group.newest.max(left.modified);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.bytes));
    groups
}

/// What a vacuum leaves alone although it looks unneeded.
#[component]
pub fn Spared(spared: Vec<lake::plan::Spared>) -> Markup {
    if spared.is_empty() {
        return Markup::Nothing;
    }
    let lines: Markup = spared
        .into_iter()
        .map(|spared| {
            view! {
                <tr>
                    <td>{format::capital(&format::visible(&spared.why))}</td>
                    <td class="n"><Count n=spared.objects /></td>
                    <td class="n"><Bytes n=spared.bytes /></td>
                    <td><Key text=spared.example max=60 /></td>
                </tr>
            }
        })
        .collect();
    view! {
        <h2>"Left alone"</h2>
        <Sheet label="What is left alone" heads=&["Why", "Objects", "Bytes", "Such as"]>{lines}</Sheet>
    }
}

fn as_table(detail: &VacuumDetail) -> String {
    let head = ["key", "origin", "bytes", "modified", "writer", "to_delete"];
    let old = detail.objects.iter().map(|left| (left, "true"));
    let young = detail.waiting.iter().map(|left| (left, "false"));
    let rows = old.chain(young).map(|(left, to_delete)| {
        let origin = match left.origin {
            Origin::Removed => "removed",
            Origin::Uncommitted => "uncommitted",
        };
        vec![
            Some(left.key.clone().into()),
            Some(origin.into()),
            Some(left.bytes.to_string().into()),
            Some(left.modified.to_string().into()),
            left.writer.clone().map(Into::into),
            Some(to_delete.into()),
        ]
    });
    csv(&head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(key: &str, bytes: u64, origin: Origin, writer: Option<&str>) -> Leftover {
        Leftover {
            key: key.to_owned(),
            bytes,
            modified: Time(bytes as i64),
            origin,
            writer: writer.map(str::to_owned),
        }
    }

    #[test]
    fn what_a_writer_left_is_one_line() {
        let detail = VacuumDetail {
            objects: vec![
                left("a", 1, Origin::Uncommitted, Some("j1")),
                left("b", 50, Origin::Removed, Some("j1")),
            ],
            waiting: vec![
                left("c", 2, Origin::Uncommitted, Some("j1")),
                left("d", 9, Origin::Uncommitted, None),
            ],
            ..Default::default()
        };
        let groups = by_writer(&detail);
        let told: Vec<_> = groups
            .iter()
            .map(|g| (g.writer.as_deref(), g.objects, g.bytes, g.newest))
            .collect();
        assert_eq!(told, [(None, 1, 9, Time(9)), (Some("j1"), 2, 3, Time(2))]);
        assert!(as_table(&detail).contains("c,uncommitted,2,1970-01-01T00:00:00.002Z,j1,false"));
        assert_eq!(
            at(&detail, 2).map(|(l, old)| (l.key.as_str(), old)),
            Some(("c", false))
        );
        assert!(at(&detail, 4).is_none());
    }
}
