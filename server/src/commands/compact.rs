//! `tidemark compact`

use std::process::ExitCode;

use lake::hours::Slot;
use lake::plan::{Act, Outcome, PlanRequest};
use lake::{Error, Result};

use super::grid::pairs;
use super::optimize::bytes;
use super::publish::{HourArgs, finish};
use super::text::{clean, count, size};
use super::{Context, print};
use crate::setup;

/// Findings that are printed; all are in the JSON.
const SHOWN: usize = 10;

/// Arguments of `compact`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    hour: HourArgs,
    /// Bytes that an object of the new run should have, such as 256MiB [default: 128MiB]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    target_size: Option<u64>,
    /// Take in the keys that came after the marker
    #[arg(long)]
    with_late: bool,
    /// Write the run and publish it; without it nothing is written
    #[arg(long)]
    apply: bool,
    /// Why; it is written into the marker
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let slot = Slot {
        day: args.hour.date,
        hour: args.hour.hour,
    };
    let request = PlanRequest {
        kind: Act::Compact,
        date: Some(slot.day),
        hour: slot.hour,
        target_size: args.target_size,
        with_late: args.with_late,
        ..Default::default()
    };
    let told = async {
        let placed = setup::dataset(&context.config, &args.hour.dataset)?;
        let consent = args
            .apply
            .then(|| super::consent(args.reason.clone()))
            .transpose()?;
        context.act_on_hours(&placed, request, consent).await
    };
    let outcome = told
        .await
        .map_err(|e: Error| e.at("dataset", &args.hour.dataset))?;
    if args.apply {
        return finish(context, slot, outcome);
    }
    match context.json {
        true => print::json(&outcome)?,
        false => print::out(&text(&outcome, slot))?,
    }
    super::refused(&outcome.plan)
}

fn text(outcome: &Outcome, slot: Slot) -> String {
    let plan = &outcome.plan;
    let detail = plan.hours.clone().unwrap_or_default();
    let mut rows = vec![
        ("dataset", clean(&plan.location)),
        ("hour", slot.to_string()),
    ];
    let state = detail.state.map(|state| state.words().to_owned());
    rows.extend(state.map(|state| ("state", state)));
    let packs = plan.refused.is_none() && detail.unchanged.is_none();
    if packs {
        let (from, to) = (plan.files_to_rewrite, plan.files_to_write);
        let objects = match to {
            1 => format!(
                "{} {} 1",
                count(from),
                if from == 1 { "becomes" } else { "become" }
            ),
            to => format!("{} become {}, or fewer", count(from), count(to)),
        };
        rows.push(("objects", objects));
        rows.push(("rewritten", size(plan.bytes_to_rewrite)));
    }
    let superseded = detail.superseded_run.as_deref();
    if packs {
        rows.extend(superseded.map(|run| ("replaces", format!("run {}", clean(run)))));
        // What is not carried out is not named.
        rows.push(("plan", plan.id.clone()));
    }
    let mut out = pairs(&rows);
    if let Some(unchanged) = &detail.unchanged {
        out.push_str(&format!("\nnothing to do: {}\n", clean(unchanged)));
    }
    for finding in detail.findings.iter().take(SHOWN) {
        let place = finding.location.as_deref();
        let place = place.map(|place| format!(" ({})", clean(place)));
        out.push_str(&format!(
            "{}: {}{}\n",
            super::word(&finding.severity),
            clean(&finding.message),
            place.unwrap_or_default()
        ));
    }
    super::warnings(&mut out, &plan.warnings);
    if packs {
        out.push_str("\nnothing was written; --apply writes the run and publishes it\n");
    }
    out
}
