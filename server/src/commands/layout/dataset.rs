//! `tidemark layout` of a dataset: its hours, and what a reader pays to list them.

use std::process::ExitCode;

use lake::hours::{Day, State};
use lake::table::partition_label;
use lake::wire::hours::{DatasetLayout, HourLayout};
use lake::{Error, Result};

use super::super::grid::{Grid, Side, pairs};
use super::super::text::{UNKNOWN, clean, count, size};
use super::super::{Context, print};
use super::{SHOWN, found};
use crate::acts::now;
use crate::setup;

/// Days where nobody says which: those of a month, as on the page.
const DAYS: i32 = 30;

/// Which days of a dataset.
#[derive(Debug, clap::Args)]
pub(super) struct Days {
    /// Of a dataset: first day, UTC [default: 29 days before the last, or the dataset's first]
    #[arg(long, value_name = "DATE", conflicts_with_all = ["version", "at"])]
    from: Option<Day>,
    /// Of a dataset: last day, included [default: today]
    #[arg(long, value_name = "DATE", conflicts_with_all = ["version", "at"])]
    to: Option<Day>,
}

impl Days {
    /// That a table was meant.
    pub(super) fn refuse(&self) -> Result<()> {
        match (self.from, self.to) {
            (None, None) => Ok(()),
            _ => Err(Error::invalid(
                "--from and --to are for datasets, and the configuration declares none of this name",
            )),
        }
    }

    fn of(&self, first: Option<Day>) -> (Day, Day) {
        let to = self.to.unwrap_or_else(|| Day::of(now()));
        let month = to.plus(1 - DAYS);
        let from = first.filter(|first| (month..=to).contains(first));
        (self.from.or(from).unwrap_or(month), to)
    }
}

pub(super) async fn run(context: &Context, name: &str, days: &Days) -> Result<ExitCode> {
    let placed = setup::dataset(&context.config, name)?;
    let (from, to) = days.of(placed.dataset.first);
    let report = placed.finder(context.host()).layout(from, to).await?;
    match context.json {
        true => print::json(&report)?,
        false => print::out(&text(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(report: &DatasetLayout) -> String {
    let or_unknown = |bytes: Option<u64>| bytes.map_or_else(|| UNKNOWN.to_owned(), size);
    let states = report
        .counts
        .iter()
        .map(|(state, number)| format!("{} {}", count(*number), state.words()));
    let mut out = pairs(&[
        ("dataset", clean(&report.dataset)),
        ("location", clean(&report.location)),
        ("days", format!("{} to {}", report.from, report.to)),
        ("hours", states.collect::<Vec<_>>().join(", ")),
        ("objects", count(report.files)),
        ("size", size(report.bytes)),
        (
            "object size",
            format!(
                "median {}, p10 {}, p90 {}",
                or_unknown(report.median_bytes),
                or_unknown(report.p10_bytes),
                or_unknown(report.p90_bytes)
            ),
        ),
        (
            "small objects",
            format!(
                "{} below {}",
                count(report.small_files),
                size(report.small_bytes_threshold)
            ),
        ),
        (
            "LIST requests",
            format!(
                "{} over the closed hours' prefixes, {} over their runs alone",
                count(report.lists_of_parents),
                count(report.lists_of_runs)
            ),
        ),
    ]);
    let mut grid = Grid::new(&[
        ("HOUR", Side::Left),
        ("STATE", Side::Left),
        ("OBJECTS", Side::Right),
        ("SIZE", Side::Right),
        ("MEDIAN", Side::Right),
        ("P10", Side::Right),
        ("P90", Side::Right),
        ("SMALL", Side::Right),
    ]);
    let mut heaviest: Vec<&HourLayout> = report.partitions.iter().collect();
    heaviest.sort_by_key(|hour| std::cmp::Reverse(hour.files));
    for hour in heaviest.iter().take(SHOWN) {
        grid.row([
            clean(&partition_label(&hour.partition)),
            State::words(hour.state).to_owned(),
            count(hour.files),
            size(hour.bytes),
            or_unknown(hour.median_bytes),
            or_unknown(hour.p10_bytes),
            or_unknown(hour.p90_bytes),
            count(hour.small_files),
        ]);
    }
    let grid = grid.render();
    if !grid.is_empty() {
        out.push_str(&format!("\n{grid}"));
    }
    if let Some(more @ 1..) = report.partitions.len().checked_sub(SHOWN) {
        out.push_str(&format!(
            "… and {} more with fewer objects: --json has all\n",
            count(more as u64)
        ));
    }
    out.push_str(&found(&report.findings));
    out
}
