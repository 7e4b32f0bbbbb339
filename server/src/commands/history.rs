//! `tidemark history`

use std::process::ExitCode;

use lake::Result;
use lake::answer;
use lake::table::Version;
use lake::wire::CommitRow;
use lake::wire::{HistoryQuery, HistoryReport};

use super::grid::{Grid, Side};
use super::text::{change, clean, count, short, size, time};
use super::{Context, Table, print};

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    /// At most this many commits, newest first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only commits with a lower version
    #[arg(long, value_name = "VERSION", allow_negative_numbers = true)]
    before: Option<Version>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let query = HistoryQuery {
        limit: args.limit,
        before: args.before,
    };
    let report = answer::history(&root, &query, &context.host()).await?;
    match context.json {
        true => print::json(&report)?,
        false => print::out(&text(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(report: &HistoryReport) -> String {
    let mut out = format!(
        "{}: {}, newest version {}",
        clean(&report.location),
        super::word(&report.format),
        report.latest_version
    );
    match report.earliest_version {
        Some(earliest) => out.push_str(&format!(", can be rebuilt back to {earliest}\n\n")),
        None => out.push_str(", no version can be rebuilt\n\n"),
    }
    let mut grid = Grid::new(&[
        ("VERSION", Side::Right),
        ("TIME", Side::Left),
        ("OPERATION", Side::Left),
        ("BY", Side::Left),
        ("FILES", Side::Right),
        ("ROWS", Side::Right),
        ("SIZE", Side::Right),
        ("NOTE", Side::Left),
    ]);
    for commit in &report.commits {
        grid.row([
            commit.version.to_string(),
            time(commit.timestamp),
            short(commit.operation.as_deref().unwrap_or("-"), 24),
            short(commit.user.as_deref().unwrap_or("-"), 24),
            change(commit.files_added, commit.files_removed, count),
            match rewritten(commit) {
                true => "0".to_owned(),
                false => change(commit.rows_added, commit.rows_removed, count),
            },
            change(commit.bytes_added, commit.bytes_removed, size),
            short(&note(commit), 60),
        ]);
    }
    out.push_str(&grid.render());
    if let Some(next) = report.next_before {
        out.push_str(&format!("\nOlder commits: --before {next}\n"));
    }
    super::warnings(&mut out, &report.warnings);
    out
}

/// Whether files came and went and no row did: rows that are written again are no change of rows.
fn rewritten(commit: &CommitRow) -> bool {
    !commit.data_change && commit.files_added.unwrap_or_default() > 0
}

fn note(commit: &CommitRow) -> String {
    let mut notes = Vec::new();
    if let Some(why) = &commit.damaged {
        notes.push(format!("damaged: {why}"));
    }
    if commit.restorable == Some(false) {
        notes.push("cannot be rebuilt".to_owned());
    }
    if rewritten(commit) {
        notes.push("no rows changed".to_owned());
    }
    if let Some(reason) = &commit.reason {
        notes.push(reason.clone());
    }
    notes.join("; ")
}
