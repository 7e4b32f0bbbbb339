//! `tidemark layout`

mod dataset;

use std::process::ExitCode;

use lake::answer;
use lake::table::partition_label;
use lake::wire::{Finding, LayoutReport};
use lake::{Error, Result};

use super::grid::{Grid, Side, pairs};
use super::text::{clean, count, count_or, size};
use super::{AtArgs, Context, Table, print};

/// Partitions that are printed; all are in the JSON.
pub(super) const SHOWN: usize = 40;

/// Arguments of `layout`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    days: dataset::Days,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let name = &args.table.location;
    if context.config.datasets.iter().any(|d| d.name == *name) {
        if args.at.is_some() {
            return Err(Error::invalid(
                "a dataset has no versions: say which days, by --from and --to",
            ));
        }
        return dataset::run(context, name, &args.days).await;
    }
    args.days.refuse()?;
    let root = args.table.root(context)?;
    let report = answer::layout(&root, args.at.at()?, None, &context.host()).await?;
    match context.json {
        true => print::json(&report)?,
        false => print::out(&text(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(report: &LayoutReport) -> String {
    let mut out = pairs(&[
        ("location", clean(&report.location)),
        ("version", report.version.to_string()),
        ("files", count(report.files)),
        ("size", size(report.bytes)),
        ("rows", count_or(report.rows)),
        (
            "file size",
            format!(
                "median {}, p10 {}, p90 {}, largest {}",
                size(report.median_bytes),
                size(report.p10_bytes),
                size(report.p90_bytes),
                size(report.max_bytes)
            ),
        ),
        (
            "small files",
            format!(
                "{} below {}",
                count(report.small_files),
                size(report.small_bytes_threshold)
            ),
        ),
    ]);
    let mut grid = Grid::new(&[
        ("PARTITION", Side::Left),
        ("FILES", Side::Right),
        ("SIZE", Side::Right),
        ("ROWS", Side::Right),
        ("MEDIAN", Side::Right),
        ("SMALL", Side::Right),
    ]);
    for partition in report.partitions.iter().take(SHOWN) {
        grid.row([
            clean(&partition_label(&partition.partition)),
            count(partition.files),
            size(partition.bytes),
            count_or(partition.rows),
            size(partition.median_bytes),
            count(partition.small_files),
        ]);
    }
    out.push_str(&format!("\n{}", grid.render()));
    let hidden = report.partitions_total.saturating_sub(SHOWN as u64);
    if hidden > 0 {
        out.push_str(&format!("… and {} more: --json has all\n", count(hidden)));
    }
    out.push_str(&found(&report.findings));
    out
}

/// Findings, below a line that is left out.
fn found(findings: &[Finding]) -> String {
    let mut grid = Grid::new(&[
        ("SEVERITY", Side::Left),
        ("RULE", Side::Left),
        ("WHERE", Side::Left),
        ("FINDING", Side::Left),
    ]);
    for finding in findings {
        grid.row([
            super::word(&finding.severity),
            clean(&finding.rule),
            clean(finding.location.as_deref().unwrap_or("-")),
            clean(&finding.message),
        ]);
    }
    match grid.render() {
        grid if grid.is_empty() => grid,
        grid => format!("\n{grid}"),
    }
}
