//! `tidemark restore`

use std::process::ExitCode;

use lake::plan::{Act, Outcome, PlanRequest};
use lake::table::{At, Version};
use lake::{Error, Result};

use super::grid::{Grid, Side, pairs};
use super::partitions::Partitions;
use super::text::{change, clean, count, short, size, time};
use super::{AtArgs, Context, Table, print};
use crate::acts::Consent;

/// Commits and files that are printed; all are in the JSON.
const SHOWN: usize = 20;

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    partitions: Partitions,
    /// Commit the plan; without it nothing is written
    #[arg(long)]
    apply: bool,
    /// Refuse unless this is the newest version
    #[arg(long, value_name = "V")]
    expect: Option<Version>,
    /// Undo commits that arrive meanwhile too, as long as they only add files
    #[arg(long, requires = "apply")]
    over_appends: bool,
    /// Why; it is written into the table's log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Restore without the files that the store no longer has
    #[arg(long)]
    allow_missing: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let (version, at) = match args.at.at()? {
        At::Version(version) => (Some(version), None),
        At::Time(time) => (None, Some(time)),
        At::Latest => {
            return Err(Error::invalid(
                "say which version to go back to: --version V or --at TIME",
            ));
        }
    };
    let request = PlanRequest {
        kind: Act::Restore,
        version,
        at,
        partitions: args.partitions.read()?,
        allow_missing: args.allow_missing,
        ..Default::default()
    };
    let consent = match args.apply {
        true => Some(Consent {
            over_appends: args.over_appends,
            ..super::consent(args.reason.clone())?
        }),
        false => None,
    };
    let outcome = context.act(&root, request, args.expect, consent).await?;
    match context.json {
        true => print::json(&outcome)?,
        false => print::out(&text(&outcome, args.apply, &context.tidemark()))?,
    }
    super::refused(&outcome.plan)
}

fn text(outcome: &Outcome, apply: bool, tidemark: &str) -> String {
    let plan = &outcome.plan;
    let target = plan
        .target_version
        .map_or_else(String::new, |v| v.to_string());
    let mut out = pairs(&[
        ("location", clean(&plan.location)),
        (
            "restore",
            format!("version {target}, over version {}", plan.base()),
        ),
        (
            "files",
            change(Some(plan.files_to_add), Some(plan.files_to_remove), count),
        ),
        ("rows", change(plan.rows_to_add, plan.rows_to_remove, count)),
        (
            "size",
            change(Some(plan.bytes_to_add), Some(plan.bytes_to_remove), size),
        ),
        ("plan", plan.id.clone()),
    ]);
    let mut settings = Grid::new(&[
        ("CHANGES", Side::Left),
        ("FROM", Side::Left),
        ("TO", Side::Left),
    ]);
    for field in &plan.schema {
        settings.row(changed(&field.field, &field.from, &field.to));
    }
    for key in plan.properties.iter().chain(&plan.protocol) {
        settings.row(changed(&key.key, &key.from, &key.to));
    }
    let mut undone = Grid::new(&[
        ("UNDONE", Side::Right),
        ("TIME", Side::Left),
        ("OPERATION", Side::Left),
        ("BY", Side::Left),
        ("ROWS", Side::Right),
    ]);
    for commit in plan.undone.iter().take(SHOWN) {
        undone.row([
            commit.version.to_string(),
            time(commit.timestamp),
            short(commit.operation.as_deref().unwrap_or("-"), 24),
            short(commit.user.as_deref().unwrap_or("-"), 24),
            change(commit.rows_added, commit.rows_removed, count),
        ]);
    }
    for grid in [settings, undone] {
        let rendered = grid.render();
        if !rendered.is_empty() {
            out.push_str(&format!("\n{rendered}"));
        }
    }
    let hidden = plan.commits_undone().saturating_sub(SHOWN as u64);
    if hidden > 0 {
        out.push_str(&format!(
            "… and {} more: --json lists {}\n",
            count(hidden),
            count(plan.undone.len() as u64)
        ));
    }
    super::warnings(&mut out, &plan.warnings);
    match &outcome.applied {
        Some(done) => out.push_str(&format!(
            "\nrestored as version {} in {} ms; proven: {} files are active, those of the plan\nthe way back: {tidemark} restore {} --version {} --apply\n",
            done.committed(),
            done.took_ms,
            count(done.proven_files),
            clean(&plan.location),
            plan.base(),
        )),
        None if plan.refused.is_none() && !apply => {
            out.push_str("\nnothing was written; --apply commits this plan\n");
        }
        None => {}
    }
    out
}

fn changed(name: &str, from: &Option<String>, to: &Option<String>) -> [String; 3] {
    let value = |v: &Option<String>| short(v.as_deref().unwrap_or("-"), 60);
    [clean(name), value(from), value(to)]
}
