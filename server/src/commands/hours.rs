//! `tidemark hours`

use std::io::IsTerminal as _;
use std::process::ExitCode;

use lake::Result;
use lake::hours::find::Gate;
use lake::hours::{Day, Slot};
use lake::wire::hours::{Fresh, HourRow, HoursReport};

use super::grid::{Grid, Side, pairs};
use super::text::{UNKNOWN, clean, count, counted, short, size, time};
use super::{Context, fail, print};
use crate::datasets::hours::window;
use crate::setup;

/// Hours that need a person and are printed; all are in the JSON.
const SHOWN: usize = 40;

/// Arguments of `hours`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A dataset of the configuration
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// First day, UTC [default: six days before the last]
    #[arg(long, value_name = "DATE")]
    from: Option<Day>,
    /// Last day, included [default: today]
    #[arg(long, value_name = "DATE")]
    to: Option<Day>,
    /// Read the columns of every closed hour that its completeness depends on
    #[arg(long)]
    complete: bool,
    /// Exit with 1 where an hour of the window is as bad as `[attention] hour` says, or worse
    /// [there: late]
    #[arg(long)]
    fail_on_exceptions: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let (from, to) = window(args.from, args.to);
    let gate = match args.complete {
        true => Gate::All,
        false => Gate::Doubt,
    };
    let told = async {
        let placed = setup::dataset(&context.config, &args.dataset)?;
        let finder = placed.finder(context.host());
        finder.hours(from, to, Fresh::Known, gate).await
    };
    let report = told.await.map_err(|e| e.at("dataset", &args.dataset))?;
    match context.json {
        true => print::json(&report)?,
        false => print::out(&text(&report))?,
    }
    match args.fail_on_exceptions {
        true => Ok(exceptional(context, &report)),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// How the command ends for whoever wants to be told.
fn exceptional(context: &Context, report: &HoursReport) -> ExitCode {
    let worst = context.config.attention.hour;
    let hours = report.hours.iter().filter(|row| row.state <= worst);
    match hours.count() as u64 {
        0 => ExitCode::SUCCESS,
        n => fail::refused(&format!(
            "{}: {} of {} to {} {} {} or worse",
            report.dataset,
            counted(n, "hour"),
            report.from,
            report.to,
            if n == 1 { "is" } else { "are" },
            worst.words()
        )),
    }
}

/// Characters of a line, where people look at it and it is known.
fn width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok();
    columns.filter(|_| std::io::stdout().is_terminal())
}

fn text(report: &HoursReport) -> String {
    let sizes = &report.sizes;
    let median = sizes.median_bytes.map_or_else(|| UNKNOWN.to_owned(), size);
    let mut rows = vec![
        ("dataset", clean(&report.dataset)),
        ("zone", clean(&report.zone)),
        ("closed up to", time(report.closed_up_to)),
    ];
    if let Some(blocked) = &report.blocked_by {
        let slot = Slot {
            day: blocked.date,
            hour: blocked.hour,
        };
        let why = format!("{slot} {}: {}", blocked.state.words(), blocked.message);
        rows.push(("held back by", clean(&why)));
    }
    rows.push((
        "objects",
        format!(
            "{}, {}, median {median}",
            count(sizes.objects),
            size(sizes.bytes)
        ),
    ));
    let mut out = pairs(&rows);
    out.push('\n');
    out.push_str(&days(report));
    let legend = report
        .counts
        .iter()
        .map(|(state, number)| format!("{} {} {}", state.letter(), state.words(), count(*number)));
    let legend: Vec<String> = legend.collect();
    out.push_str(&format!("\n{}\n", legend.join("   ")));
    exceptions(&mut out, report, width());
    for finding in &report.findings {
        let at = finding
            .location
            .as_deref()
            .map(|key| format!(" ({})", clean(key)));
        out.push_str(&format!(
            "\n{}: {}{}\n",
            super::word(&finding.severity),
            clean(&finding.message),
            at.unwrap_or_default()
        ));
    }
    out
}

/// A row a day, a letter an hour; the newest day on top.
fn days(report: &HoursReport) -> String {
    let hourly = report.hours.iter().any(|row| row.hour.is_some());
    let heading = match hourly {
        true => "0     6      12     18",
        false => "STATE",
    };
    let mut out = format!("{:10}  {heading}\n", "DATE");
    for date in report.from.to(report.to).rev() {
        let first = report.hours.partition_point(|row| row.date < date);
        let rows = report
            .hours
            .iter()
            .skip(first)
            .take_while(|row| row.date == date);
        let mut letters = String::new();
        for (at, row) in rows.enumerate() {
            if at > 0 && at % 6 == 0 {
                letters.push(' ');
            }
            match hourly {
                true => letters.push(row.state.letter()),
                false => letters.push_str(row.state.words()),
            }
        }
        out.push_str(&format!("{date}  {letters}\n"));
    }
    out
}

/// The hours that need a person: the one that holds the others back, then worst and then newest
/// first, each with its first reason; closed ones with late data are the last. Lines are cut at
/// `width` alone.
fn exceptions(out: &mut String, report: &HoursReport, width: Option<usize>) {
    let mut rows: Vec<&HourRow> = report
        .hours
        .iter()
        .filter(|row| row.state.needs_attention() || row.late_data())
        .collect();
    let holds = |row: &HourRow| {
        let blocked = report.blocked_by.as_ref();
        blocked.is_some_and(|b| (b.date, b.hour) == (row.date, row.hour))
    };
    rows.sort_by_key(|row| {
        let newest = std::cmp::Reverse((row.date, row.hour));
        (!holds(row), row.state, newest)
    });
    let mut grid = Grid::new(&[
        ("HOUR", Side::Left),
        ("STATE", Side::Left),
        ("OBJECTS", Side::Right),
        ("DEADLINE", Side::Left),
        ("OWNER", Side::Left),
        ("WHY", Side::Left),
    ]);
    for row in rows.iter().take(SHOWN) {
        let slot = Slot {
            day: row.date,
            hour: row.hour,
        };
        let why = row.reasons.first().map(|reason| match &reason.key {
            Some(key) => format!("{} ({key})", reason.message),
            None => reason.message.clone(),
        });
        let late = match row.late_data() {
            true => ", late data",
            false => "",
        };
        let back = if holds(row) {
            "holds the rest back: "
        } else {
            ""
        };
        grid.row([
            slot.to_string(),
            format!("{}{late}", row.state.words()),
            count(row.objects),
            time(row.deadline),
            clean(row.owner.as_deref().unwrap_or(UNKNOWN)),
            clean(&format!("{back}{}", why.unwrap_or_default())),
        ]);
    }
    let grid = grid.render();
    if !grid.is_empty() {
        out.push('\n');
    }
    for line in grid.lines() {
        match width {
            Some(width) => out.push_str(&short(line, width)),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    if let Some(more @ 1..) = rows.len().checked_sub(SHOWN) {
        out.push_str(&format!("and {} more\n", count(more as u64)));
    }
}
