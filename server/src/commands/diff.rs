//! `tidemark diff`

use std::process::ExitCode;

use lake::Result;
use lake::answer;
use lake::table::{Version, partition_label};
use lake::wire::DiffReport;
use lake::wire::{KeyChange, Totals, Verdict};

use super::grid::{Grid, Side, pairs};
use super::text::{change, clean, count, size};
use super::{Context, Table, print};
use crate::tables::Located;

/// Partitions that are printed; all are in the JSON.
const SHOWN: usize = 40;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    /// Compare from this version
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    from: Version,
    /// To this version, older or newer
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    to: Version,
    /// List the files that came and went
    #[arg(long)]
    files: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let host = context.host();
    let report = answer::diff(&root, args.from, args.to, args.files, &host).await?;
    let report = Located {
        location: root.location,
        report,
    };
    match context.json {
        true => print::json(&report)?,
        false => print::out(&text(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(located: &Located<DiffReport>) -> String {
    let report = &located.report;
    let from = report
        .from
        .map_or_else(|| "nothing".to_owned(), |v| v.to_string());
    let [files, rows, bytes] = figures(&report.totals);
    let mut out = pairs(&[
        ("location", clean(&located.location)),
        ("versions", format!("{from} to {}", report.to)),
        ("verdict", verdict(report.verdict).to_owned()),
        ("files", files),
        ("rows", rows),
        ("size", bytes),
    ]);
    if report.vectors_changed > 0 {
        let vectors = count(report.vectors_changed);
        out.push_str(&format!("deletion vectors changed on {vectors} files\n"));
    }
    let partitioned = report.partitions.iter().any(|p| !p.partition.is_empty());
    if partitioned {
        let mut grid = Grid::new(&[
            ("PARTITION", Side::Left),
            ("FILES", Side::Right),
            ("ROWS", Side::Right),
            ("SIZE", Side::Right),
        ]);
        for partition in report.partitions.iter().take(SHOWN) {
            let [files, rows, bytes] = figures(&partition.totals);
            grid.row([
                clean(&partition_label(&partition.partition)),
                files,
                rows,
                bytes,
            ]);
        }
        out.push_str(&format!("\n{}", grid.render()));
        let hidden = report.partitions_total.saturating_sub(SHOWN as u64);
        if hidden > 0 {
            out.push_str(&format!("… and {} more: --json has all\n", count(hidden)));
        }
    }
    let mut schema = Grid::new(&[
        ("COLUMN", Side::Left),
        ("CHANGE", Side::Left),
        ("FROM", Side::Left),
        ("TO", Side::Left),
    ]);
    for field in &report.schema {
        schema.row([
            clean(&field.field),
            super::word(&field.change),
            clean(field.from.as_deref().unwrap_or("-")),
            clean(field.to.as_deref().unwrap_or("-")),
        ]);
    }
    for grid in [
        schema,
        keys("PROPERTY", &report.properties),
        keys("PROTOCOL", &report.protocol),
    ] {
        let rendered = grid.render();
        if !rendered.is_empty() {
            out.push_str(&format!("\n{rendered}"));
        }
    }
    for (title, list) in [("Added", &report.added), ("Removed", &report.removed)] {
        if let Some(list) = list
            && !list.is_empty()
        {
            out.push_str(&format!("\n{title}\n{}", super::files(list)));
        }
    }
    super::warnings(&mut out, &report.warnings);
    out
}

fn figures(totals: &Totals) -> [String; 3] {
    let some = Some;
    [
        change(some(totals.files_added), some(totals.files_removed), count),
        change(totals.rows_added, totals.rows_removed, count),
        change(some(totals.bytes_added), some(totals.bytes_removed), size),
    ]
}

fn keys(heading: &'static str, changes: &[KeyChange]) -> Grid {
    let mut grid = Grid::new(&[
        (heading, Side::Left),
        ("FROM", Side::Left),
        ("TO", Side::Left),
    ]);
    for change in changes {
        grid.row([
            clean(&change.key),
            clean(change.from.as_deref().unwrap_or("-")),
            clean(change.to.as_deref().unwrap_or("-")),
        ]);
    }
    grid
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Identical => "identical",
        Verdict::Metadata => "metadata only: no file differs",
        Verdict::Rewrite => "rewrite: files differ, no row does",
        Verdict::Append => "append: files only came",
        Verdict::Delete => "delete: rows only went",
        Verdict::Overwrite => "overwrite: every file is another one",
        Verdict::Change => "change: files went and came",
    }
}
