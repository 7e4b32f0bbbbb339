//! The partitions as a list, those with the most small files first.

use std::cmp::Ordering;
use std::sync::Arc;

use lake::table::{At, partition_label};
use lake::wire::{LayoutReport, PartitionLayout};
use leptos::prelude::*;

use crate::copy::csv;
use crate::format;
use crate::markup::{IntoMarkup, Markup, view};
use crate::order::places;
use crate::pages::common::{Here, csv_button, filter_line, json_link};
use crate::parts::{Bytes, Column, Count, Grid, Key, Sort};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::{Callback, Memo, Signal};

/// The list. A partition opens its files.
#[component]
pub fn PartitionList(here: Here, report: Arc<LayoutReport>) -> Markup {
    let session = session();
    let sort = Memo::new(move |_| {
        let text = session
            .query
            .with(|q| q.get("sort").unwrap_or("-small").to_owned());
        Sort {
            key: text.trim_start_matches('-').to_owned(),
            descending: text.starts_with('-'),
        }
    });
    let order = {
        let report = Arc::clone(&report);
        Memo::new(move |_| ordered(&report.partitions, &sort.get()))
    };
    let on_sort = Callback::new(move |sort: Sort| {
        let value = format!("{}{}", if sort.descending { "-" } else { "" }, sort.key);
        session
            .nav
            .set("sort", (value != "-small").then_some(value));
    });
    let columns = vec![
        Column::new("Partition", "minmax(0,1fr)").sort("partition"),
        Column::new("Files", "76px")
            .number()
            .narrow("56px")
            .sort("files"),
        Column::new("Small", "76px")
            .number()
            .narrow("58px")
            .sort("small"),
        Column::new("Median", "86px")
            .number()
            .wide_only()
            .sort("median"),
        Column::new("Bytes", "86px")
            .number()
            .narrow("76px")
            .sort("bytes"),
        Column::new("After packing", "104px")
            .number()
            .wide_only()
            .sort("packed"),
    ];
    let at = {
        let report = Arc::clone(&report);
        move |i: usize| {
            let place = order.with_untracked(|order| order.get(i).copied())?;
            report.partitions.get(place).cloned()
        }
    };
    let address = {
        let version = report.version;
        move |part: &PartitionLayout| {
            let query = match part.partition.is_empty() {
                true => Query::default(),
                false => Query::default().with("q", Some(filter_line(&part.partition))),
            };
            let route = Route::Snapshot {
                table: here.name(),
                at: At::Version(version),
            };
            route.with(query)
        }
    };
    let open = {
        let at = at.clone();
        Callback::new(move |i: usize| {
            if let Some(part) = at(i) {
                session.nav.go(address(&part));
            }
        })
    };
    let row = move |i: usize| match at(i) {
        Some(part) => cells(&part, &address(&part).href()),
        None => Markup::Nothing,
    };
    let key = move |i: usize| {
        order
            .with(|order| order.get(i).map(usize::to_string))
            .unwrap_or_default()
    };
    let listed = report.partitions.len() as u64;
    let note = if listed < report.partitions_total {
        format!(
            "the {} with the most bytes, of {}",
            format::count(listed),
            format::count(report.partitions_total)
        )
    } else {
        format::count(listed)
    };
    let title = move || {
        sort.with(|s| {
            if s.key == "small" && s.descending {
                "Small files first"
            } else {
                "Partitions"
            }
        })
    };
    let csv = {
        let report = Arc::clone(&report);
        let name = format!("{}-partitions", here.name());
        csv_button(name, "Save the partitions as CSV", move || {
            as_table(&report.partitions)
        })
    };
    let parameters = format!("version={}", report.version);
    let json = json_link(here, "layout", &parameters, "All partitions as JSON");
    view! {
        <h2>
            {title} <small>{note}</small>
            <span class="end export">{csv} {json}</span>
        </h2>
        <Grid label="Partitions of the newest version" columns
            count=Signal::stored(report.partitions.len()) row key on_open=open
            sort=Signal::derive(move || sort.get()) on_sort />
    }
}

fn cells(part: &PartitionLayout, href: &str) -> Markup {
    let packed = part.files_after_packing;
    let gains = packed < part.files;
    view! {
        <span role="gridcell" class="ell">
            <a href=href.to_owned()><Key text=partition_label(&part.partition) max=90 /></a>
        </span>
        <span role="gridcell" class="n"><Count n=part.files /></span>
        <span role="gridcell" class="n" title=format!("{} of the files", format::percent(part.small_files, part.files))>
            <Count n=part.small_files />
        </span>
        <span role="gridcell" class="n hide"><Bytes n=part.median_bytes /></span>
        <span role="gridcell" class="n"><Bytes n=part.bytes /></span>
        <span role="gridcell" class="n hide" title=format!("rewrites {}", format::bytes(part.bytes_to_rewrite))>
            {if gains {
                format::counted(packed, "file").into_markup()
            } else {
                view! { <span class="faint">"same"</span> }
            }}
        </span>
    }
}

/// Positions of the partitions in the order asked for; the report's order where all else is equal.
fn ordered(partitions: &[PartitionLayout], sort: &Sort) -> Vec<usize> {
    let by = |a: &PartitionLayout, b: &PartitionLayout| match sort.key.as_str() {
        "files" => a.files.cmp(&b.files),
        "small" => a.small_files.cmp(&b.small_files),
        "median" => a.median_bytes.cmp(&b.median_bytes),
        "bytes" => a.bytes.cmp(&b.bytes),
        "packed" => a.files_after_packing.cmp(&b.files_after_packing),
        "partition" => a.partition.values().cmp(b.partition.values()),
        _ => Ordering::Equal,
    };
    places(
        partitions.len(),
        &|a, b| match (partitions.get(a), partitions.get(b)) {
            (Some(a), Some(b)) if sort.descending => by(b, a),
            (Some(a), Some(b)) => by(a, b),
            _ => Ordering::Equal,
        },
    )
}

fn as_table(partitions: &[PartitionLayout]) -> String {
    let head = [
        "partition",
        "files",
        "bytes",
        "rows",
        "median_bytes",
        "small_files",
        "files_after_packing",
        "bytes_to_rewrite",
    ];
    let number = |n: u64| Some(n.to_string().into());
    let rows = partitions.iter().map(|p| {
        vec![
            Some(partition_label(&p.partition).into()),
            number(p.files),
            number(p.bytes),
            p.rows.map(|n| n.to_string().into()),
            number(p.median_bytes),
            number(p.small_files),
            number(p.files_after_packing),
            number(p.bytes_to_rewrite),
        ]
    });
    csv(&head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(day: &str, files: u64, small: u64) -> PartitionLayout {
        PartitionLayout {
            partition: [("day".to_owned(), Some(day.to_owned()))]
                .into_iter()
                .collect(),
            files,
            bytes: files * 10,
            rows: None,
            median_bytes: 10,
            small_files: small,
            files_after_packing: files,
            bytes_to_rewrite: 0,
        }
    }

    #[test]
    fn sorts_by_any_column_and_keeps_the_order_of_equals() {
        let parts = [of("b", 1, 5), of("a", 3, 5), of("c", 2, 9)];
        let by = |key: &str, descending| {
            ordered(
                &parts,
                &Sort {
                    key: key.into(),
                    descending,
                },
            )
        };
        assert_eq!(by("small", true), [2, 0, 1]);
        assert_eq!(by("files", false), [0, 2, 1]);
        assert_eq!(by("partition", false), [1, 0, 2]);
        assert_eq!(by("unknown", true), [0, 1, 2]);
    }
}
