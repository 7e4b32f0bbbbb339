//! `tidemark optimize`

use std::process::ExitCode;

use lake::plan::{Act, Outcome, PlanRequest};
use lake::table::partition_label;
use lake::{Error, Result};

use super::grid::{Grid, Side, pairs};
use super::partitions::Partitions;
use super::text::{clean, count, short, size};
use super::{Context, Table, print};
use crate::config::Size;

/// Bins that are printed; all are in the JSON.
const SHOWN: usize = 20;

/// Arguments of `optimize`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    /// Bytes that a packed file should have, such as 512MiB [default: what the table says, else
    /// the configuration]
    #[arg(long, value_name = "SIZE", value_parser = bytes, allow_hyphen_values = true)]
    target_size: Option<u64>,
    #[command(flatten)]
    partitions: Partitions,
    /// Rewrite the files; without it nothing is written. Nothing to do is a refusal: exit 1
    #[arg(long)]
    apply: bool,
    /// Why; it is written into the table's log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn bytes(text: &str) -> Result<u64> {
    match Size::parse(text) {
        Some(Size(bytes)) if bytes > 0 => Ok(bytes),
        _ => Err(Error::invalid(format!(
            "`{text}` is not a size: write `64MiB`, `1GiB` or a number of bytes"
        ))),
    }
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let request = PlanRequest {
        kind: Act::Optimize,
        partitions: args.partitions.read()?,
        target_size: args.target_size,
        ..Default::default()
    };
    let consent = args
        .apply
        .then(|| super::consent(args.reason.clone()))
        .transpose()?;
    let outcome = context.act(&root, request, None, consent).await?;
    match context.json {
        true => print::json(&outcome)?,
        false => print::out(&text(&outcome, args.apply))?,
    }
    super::refused(&outcome.plan)
}

fn text(outcome: &Outcome, apply: bool) -> String {
    let plan = &outcome.plan;
    let detail = plan.optimize.clone().unwrap_or_default();
    let share = u128::from(plan.bytes_to_rewrite) * 100 / u128::from(detail.table_bytes.max(1));
    let mut out = pairs(&[
        ("location", clean(&plan.location)),
        ("optimize", format!("version {}", plan.base())),
        (
            "files",
            format!(
                "{} become {}",
                count(plan.files_to_rewrite),
                count(plan.files_to_write)
            ),
        ),
        (
            "rewritten",
            format!("{}, {share}% of the table", size(plan.bytes_to_rewrite)),
        ),
        (
            "target",
            format!(
                "{}, of files below {}",
                size(detail.target_bytes),
                size(detail.min_bytes)
            ),
        ),
        ("plan", plan.id.clone()),
    ]);
    let mut bins = Grid::new(&[
        ("PARTITION", Side::Left),
        ("FILES", Side::Right),
        ("SIZE", Side::Right),
        ("NEW FILE", Side::Right),
        ("ROWS", Side::Right),
        ("MASKED", Side::Right),
    ]);
    for bin in detail.bins.iter().take(SHOWN) {
        bins.row([
            short(&partition_label(&bin.partition), 40),
            count(bin.paths.len() as u64),
            size(bin.bytes),
            size(bin.predicted_bytes),
            bin.rows.map_or_else(|| "-".to_owned(), count),
            count(bin.deleted_rows),
        ]);
    }
    let mut passed = Grid::new(&[
        ("LEFT ALONE", Side::Right),
        ("BECAUSE", Side::Left),
        ("SUCH AS", Side::Left),
    ]);
    for reason in &detail.passed {
        passed.row([
            count(reason.files),
            short(&reason.why, 60),
            short(&reason.example, 60),
        ]);
    }
    for (grid, hidden) in [(bins, detail.bins.len().saturating_sub(SHOWN)), (passed, 0)] {
        let rendered = grid.render();
        if !rendered.is_empty() {
            out.push_str(&format!("\n{rendered}"));
        }
        if hidden > 0 {
            let hidden = count(hidden as u64);
            out.push_str(&format!("… and {hidden} more: --json lists all\n"));
        }
    }
    super::warnings(&mut out, &plan.warnings);
    match &outcome.applied {
        Some(done) => out.push_str(&format!(
            "\npacked as version {} in {} ms; proven: {} files are active, with the same rows\nthe files that were packed stay in the store until a vacuum\n",
            done.committed(),
            done.took_ms,
            count(done.proven_files),
        )),
        None if plan.refused.is_none() && !apply => {
            out.push_str("\nnothing was written; --apply carries out this plan\n");
        }
        None => {}
    }
    out
}
