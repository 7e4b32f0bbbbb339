//! `tidemark expire-runs`

use std::process::ExitCode;

use lake::Result;
use lake::delta::write::duration_in_words;
use lake::hours::Slot;
use lake::plan::{Act, ExpireDetail, Outcome, PlanRequest};

use super::grid::{Grid, Side, pairs};
use super::text::{clean, count, counted, size, time};
use super::{Context, print};
use crate::setup;

/// Groups that are printed; all are in the JSON.
const SHOWN: usize = 20;

/// Arguments of `expire-runs`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A dataset of the configuration
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// Delete what the plan names; without it nothing is deleted
    #[arg(long)]
    apply: bool,
    /// Why; it is written into the audit log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let request = PlanRequest {
        kind: Act::ExpireRuns,
        ..Default::default()
    };
    let told = async {
        let placed = setup::dataset(&context.config, &args.dataset)?;
        let consent = args
            .apply
            .then(|| super::consent(args.reason.clone()))
            .transpose()?;
        context.act_on_hours(&placed, request, consent).await
    };
    let outcome = told
        .await
        .map_err(|e: lake::Error| e.at("dataset", &args.dataset))?;
    match context.json {
        true => print::json(&outcome)?,
        // What cannot be planned has no figures.
        false if outcome.plan.refused.is_some() && outcome.plan.files_to_delete == 0 => {}
        false => print::out(&text(&outcome, args.apply))?,
    }
    super::deleted(&outcome)
}

fn text(outcome: &Outcome, apply: bool) -> String {
    let plan = &outcome.plan;
    let none = ExpireDetail::default();
    let detail = plan.hours.as_ref().and_then(|hours| hours.expire.as_ref());
    let detail = detail.unwrap_or(&none);
    let mut out = pairs(&[
        ("dataset", clean(&plan.location)),
        ("audit window", duration_in_words(detail.audit_ms)),
        (
            "objects",
            format!(
                "{}, {}",
                count(plan.files_to_delete),
                size(plan.bytes_to_delete)
            ),
        ),
        ("plan", plan.id.clone()),
    ]);
    let mut groups = Grid::new(&[
        ("HOUR", Side::Left),
        ("RUN", Side::Left),
        ("OBJECTS", Side::Right),
        ("SIZE", Side::Right),
        ("SUPERSEDED BY", Side::Left),
        ("SINCE", Side::Left),
    ]);
    for group in detail.expired.iter().take(SHOWN) {
        let slot = Slot {
            day: group.date,
            hour: group.hour,
        };
        groups.row([
            slot.to_string(),
            clean(group.run_id.as_deref().unwrap_or("loose keys")),
            count((group.keys.len() + group.markers.len()) as u64),
            size(group.bytes),
            clean(&group.superseded_by),
            time(Some(group.superseded_at)),
        ]);
    }
    let mut spared = Grid::new(&[
        ("LEFT ALONE", Side::Left),
        ("OBJECTS", Side::Right),
        ("SIZE", Side::Right),
        ("UNTIL", Side::Left),
        ("SUCH AS", Side::Left),
    ]);
    for left in &detail.spared {
        spared.row([
            clean(&left.why),
            count(left.objects),
            size(left.bytes),
            match left.until {
                Some((first, last)) if first == last => time(Some(first)),
                Some((first, last)) => format!("{} to {}", time(Some(first)), time(Some(last))),
                None => "-".to_owned(),
            },
            clean(&left.example),
        ]);
    }
    let hidden = detail.expired.len().saturating_sub(SHOWN) as u64;
    for (grid, hidden) in [(groups, hidden), (spared, 0)] {
        let rendered = grid.render();
        if !rendered.is_empty() {
            out.push_str(&format!("\n{rendered}"));
        }
        if hidden > 0 {
            out.push_str(&format!("… and {} more: --json has all\n", count(hidden)));
        }
    }
    super::warnings(&mut out, &plan.warnings);
    match &outcome.applied {
        Some(done) => {
            out.push_str(&format!(
                "\ndeleted {}, {}, in {} ms\n",
                counted(done.deleted, "object"),
                size(done.bytes_deleted),
                done.took_ms
            ));
            super::warnings(&mut out, &done.warnings);
        }
        None if plan.refused.is_none() && plan.files_to_delete > 0 && !apply => {
            out.push_str("\nnothing was deleted: --apply deletes\n");
        }
        None => {}
    }
    out
}
