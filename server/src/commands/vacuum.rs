//! `tidemark vacuum`

use std::process::ExitCode;

use lake::Result;
use lake::delta::write::duration_in_words;
use lake::plan::{Act, Leftover, Outcome, PlanRequest, VacuumDetail};

use super::grid::{Grid, Side, pairs};
use super::text::{clean, count, counted, short, size, time};
use super::{Context, Table, print, word};
use crate::acts::Limits;
use crate::setup;

/// Objects and versions that are printed; all are in the JSON.
const SHOWN: usize = 20;

/// Arguments of `vacuum`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    /// Keep what is younger: 7d, 168h, 30m, interval 1 week [default: what the table says]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    retain: Option<String>,
    /// Let --retain be shorter than what the table says. Where there is a configuration it has to
    /// allow it too (`[vacuum] allow_short`); a folder that is named by its path needs none
    #[arg(long, requires = "retain")]
    allow_short_retention: bool,
    /// Move objects aside, below the table's own root, instead of deleting them
    #[arg(long)]
    quarantine: bool,
    /// Delete what the plan names; without it nothing is deleted. Nothing to do is a refusal: exit 1
    #[arg(long)]
    apply: bool,
    /// Why; it is written into the table's log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let place = setup::named(&context.config, &args.table.location);
    let request = PlanRequest {
        kind: Act::Vacuum,
        retain: args.retain.clone(),
        allow_short_retention: args.allow_short_retention,
        quarantine: args.quarantine,
        ..Default::default()
    };
    let limits = Limits {
        // Without a configuration nobody set a rule for a folder of one's own.
        short: context
            .config
            .allow_short_vacuum
            .unwrap_or(place.on_disk && place.directly),
        below_an_hour: place.on_disk,
    };
    let consent = args
        .apply
        .then(|| super::consent(args.reason.clone()))
        .transpose()?;
    let outcome = context
        .act_within(limits, &root, request, None, consent)
        .await?;
    match context.json {
        true => print::json(&outcome)?,
        false => print::out(&text(&outcome, args.apply))?,
    }
    super::deleted(&outcome)
}

fn text(outcome: &Outcome, apply: bool) -> String {
    let plan = &outcome.plan;
    let none = VacuumDetail::default();
    let detail = plan.vacuum.as_ref().unwrap_or(&none);
    let mut out = pairs(&[
        ("location", clean(&plan.location)),
        ("vacuum", format!("at version {}", plan.base())),
        (
            "keeps",
            format!(
                "{}; the table asks for {}",
                duration_in_words(detail.retention_ms),
                duration_in_words(detail.table_retention_ms)
            ),
        ),
        ("objects", amount(&detail.objects)),
        ("waiting", amount(&detail.waiting)),
        ("plan", plan.id.clone()),
    ]);
    let mut objects = Grid::new(&[
        ("OBJECT", Side::Left),
        ("SIZE", Side::Right),
        ("MODIFIED", Side::Left),
        ("ORIGIN", Side::Left),
        ("WRITER", Side::Left),
    ]);
    for object in detail.objects.iter().take(SHOWN) {
        objects.row([
            clean(&object.key),
            size(object.bytes),
            time(Some(object.modified)),
            word(&object.origin),
            short(object.writer.as_deref().unwrap_or("-"), 40),
        ]);
    }
    let mut spared = Grid::new(&[
        ("LEFT ALONE", Side::Left),
        ("OBJECTS", Side::Right),
        ("SIZE", Side::Right),
        ("SUCH AS", Side::Left),
    ]);
    for left in &detail.spared {
        spared.row([
            clean(&left.why),
            count(left.objects),
            size(left.bytes),
            clean(&left.example),
        ]);
    }
    let mut pins = Grid::new(&[("PINNED", Side::Left), ("VERSION", Side::Right)]);
    for pin in &detail.pins {
        pins.row([clean(&pin.name), pin.version.to_string()]);
    }
    let hidden = detail.objects.len().saturating_sub(SHOWN) as u64;
    for (grid, hidden) in [(objects, hidden), (spared, 0), (pins, 0)] {
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
            let did = match detail.quarantine {
                true => "moved aside",
                false => "deleted",
            };
            out.push_str(&format!(
                "\n{did} {}, {}, in {} ms; version {} says so\n",
                counted(done.deleted, "object"),
                size(done.bytes_deleted),
                done.took_ms,
                done.committed(),
            ));
            if done.proven_files > 0 {
                let files = count(done.proven_files);
                out.push_str(&format!(
                    "proven: none of the {files} active files is gone\n"
                ));
            }
            super::warnings(&mut out, &done.warnings);
        }
        None if plan.refused.is_none() && !apply => {
            out.push_str("\nnothing was deleted; --apply carries this plan out\n");
        }
        None => {}
    }
    out
}

fn amount(objects: &[Leftover]) -> String {
    let bytes = objects.iter().map(|object| object.bytes);
    let bytes = bytes.fold(0, u64::saturating_add);
    format!("{}, {}", count(objects.len() as u64), size(bytes))
}
