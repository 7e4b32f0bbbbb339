//! `tidemark pin`, `tidemark unpin`, `tidemark pins`

use std::process::ExitCode;

use lake::answer::Root;
use lake::hours::marker::RunPin;
use lake::hours::{Day, Slot};
use lake::plan::{PinRequest, Pins, RunPins};
use lake::table::{Time, Version};
use lake::{Error, Kind, Result};

use super::grid::{Grid, Side};
use super::text::{clean, short, time};
use super::{Context, Table, consent, print};
use crate::acts;
use crate::datasets::Placed;
use crate::setup;

/// Arguments of `pins`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
}

/// Arguments of `pin`.
#[derive(Debug, clap::Args)]
pub(super) struct PinArgs {
    #[command(flatten)]
    pub(super) table: Table,
    /// The version to keep
    #[arg(
        long,
        value_name = "V",
        required_unless_present = "run",
        conflicts_with = "run"
    )]
    version: Option<Version>,
    /// Of a dataset: the date of the hour whose run is kept
    #[arg(long, value_name = "D", requires = "run")]
    date: Option<Day>,
    /// Of a dataset: the hour; none where it has no hours
    #[arg(long, value_name = "H", requires = "run")]
    hour: Option<u8>,
    /// Of a dataset: the run to keep; --date and --until are needed with it
    #[arg(long, value_name = "RUN", requires_all = ["date", "until"])]
    run: Option<String>,
    /// Of a dataset: until when the run is needed, an instant to come: RFC 3339 with an offset
    #[arg(long, value_name = "TIME", requires = "run")]
    until: Option<String>,
    /// The pin's name, which no other pin of the table has
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Pin it although files of it are not in the store any more
    #[arg(long)]
    allow_missing: bool,
}

/// Arguments of `unpin`.
#[derive(Debug, clap::Args)]
pub(super) struct UnpinArgs {
    #[command(flatten)]
    pub(super) table: Table,
    /// The pin's name
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Of a dataset, and needed there: the date of the hour whose run was kept
    #[arg(long, value_name = "D")]
    date: Option<Day>,
    /// Of a dataset: the hour; none where it has no hours
    #[arg(long, value_name = "H", requires = "date")]
    hour: Option<u8>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    if let Some(placed) = dataset(context, &args.table)? {
        return show_runs(context, &placed).await;
    }
    show(context, &args.table.root(context)?).await
}

/// The dataset, where the location names one and no table.
fn dataset(context: &Context, table: &Table) -> Result<Option<Placed>> {
    let config = &context.config;
    let is_table = config.tables.iter().any(|t| t.name == table.location);
    let declared = config.datasets.iter().any(|d| d.name == table.location);
    match declared && !is_table {
        true => setup::dataset(config, &table.location).map(Some),
        false => Ok(None),
    }
}

/// The dataset whose run is meant.
fn needed(context: &Context, table: &Table) -> Result<Placed> {
    match dataset(context, table)? {
        Some(placed) => Ok(placed),
        None => Err(Error::invalid(
            "--run and --date are of datasets, and this is none of the configuration",
        )),
    }
}

/// All pins on runs of a dataset as they are now.
async fn show_runs(context: &Context, placed: &Placed) -> Result<ExitCode> {
    let pins = RunPins {
        pins: lake::hours::pins::list(&placed.dataset, &placed.store).await?,
    };
    if context.json {
        print::json(&pins)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(&[
        ("NAME", Side::Left),
        ("HOUR", Side::Left),
        ("RUN", Side::Left),
        ("UNTIL", Side::Left),
        ("READER", Side::Left),
        ("REASON", Side::Left),
    ]);
    for pin in &pins.pins {
        let slot = Slot {
            day: pin.date,
            hour: pin.hour,
        };
        grid.row([
            clean(&pin.name),
            slot.to_string(),
            clean(pin.run_id.as_deref().unwrap_or("-")),
            time(pin.until),
            short(pin.reader.as_deref().unwrap_or("-"), 24),
            short(
                pin.damaged
                    .as_deref()
                    .or(pin.reason.as_deref())
                    .unwrap_or("-"),
                60,
            ),
        ]);
    }
    print::out(&match pins.pins.is_empty() {
        true => "no pins\n".to_owned(),
        false => grid.render(),
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn pin(context: &Context, args: &PinArgs) -> Result<ExitCode> {
    if let (Some(run), Some(day), Some(until)) = (&args.run, args.date, &args.until) {
        let placed = needed(context, &args.table)?;
        let slot = Slot {
            day,
            hour: args.hour,
        };
        let said = consent(args.reason.clone())?;
        let until = Time::parse(until)?;
        let now = acts::now();
        if until <= now {
            return Err(Error::invalid(format!(
                "a pin until {until} keeps nothing: it is {now} now; name an instant to come"
            ))
            .at("dataset", &args.table.location));
        }
        let pin = RunPin {
            reader: said.user.unwrap_or_else(|| args.name.clone()),
            run_id: run.clone(),
            until,
            reason: said.reason,
        };
        let named = (args.name.as_str(), &pin);
        let Placed { dataset, store } = &placed;
        lake::hours::pins::pin(dataset, store, slot, named, &context.host()).await?;
        return show_runs(context, &placed).await;
    }
    let Some(version) = args.version else {
        return Err(Error::invalid(
            "say what to keep: --version of a table, or --run of a dataset",
        ));
    };
    if dataset(context, &args.table)?.is_some() {
        return Err(Error::invalid(
            "a dataset has no versions: name a run by --run, with --date, --hour and --until",
        )
        .at("dataset", &args.table.location));
    }
    let root = args.table.root(context)?;
    let asked = PinRequest {
        version,
        reason: args.reason.clone(),
        allow_missing: args.allow_missing,
    };
    let by = consent(None)?.user;
    let result = acts::pin(&root, &args.name, asked, by, &context.host()).await;
    let told = result.map(|pin| format!("`{}` keeps version {}", pin.name, pin.version));
    let about = (Some(version), args.reason.clone());
    context.note(&root, "Pinned", about, &told).await?;
    // Nobody committed anything: another name is needed, not another plan.
    told.map_err(|e| match e.kind() {
        Kind::Conflict => Error::invalid(e.message()),
        _ => e,
    })?;
    show(context, &root).await
}

pub(super) async fn unpin(context: &Context, args: &UnpinArgs) -> Result<ExitCode> {
    if let Some(day) = args.date {
        let placed = needed(context, &args.table)?;
        let slot = Slot {
            day,
            hour: args.hour,
        };
        let Placed { dataset, store } = &placed;
        lake::hours::pins::unpin(dataset, store, slot, &args.name).await?;
        return show_runs(context, &placed).await;
    }
    if dataset(context, &args.table)?.is_some() {
        return Err(Error::invalid(format!(
            "`{}` is a dataset: say with --date and --hour which hour's run `{}` pins",
            args.table.location, args.name
        )));
    }
    let root = args.table.root(context)?;
    let result = acts::unpin(&root, &args.name, &context.host()).await;
    let told = result.map(|()| format!("`{}` keeps nothing any more", args.name));
    context.note(&root, "Unpinned", (None, None), &told).await?;
    told?;
    show(context, &root).await
}

/// All pins as they are now.
async fn show(context: &Context, root: &Root) -> Result<ExitCode> {
    let pins = acts::pins(root).await?;
    match context.json {
        true => print::json(&pins)?,
        false => print::out(&text(&pins))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(pins: &Pins) -> String {
    let mut grid = Grid::new(&[
        ("NAME", Side::Left),
        ("VERSION", Side::Right),
        ("SINCE", Side::Left),
        ("BY", Side::Left),
        ("REASON", Side::Left),
    ]);
    for pin in &pins.pins {
        grid.row([
            clean(&pin.name),
            pin.version.to_string(),
            time(Some(pin.at)),
            short(pin.by.as_deref().unwrap_or("-"), 24),
            short(pin.reason.as_deref().unwrap_or("-"), 60),
        ]);
    }
    let mut out = match pins.pins.is_empty() {
        true => "no pins\n".to_owned(),
        false => grid.render(),
    };
    for bad in &pins.unreadable {
        out.push_str(&format!(
            "\nwarning: `{}` cannot be read, so no vacuum goes on: {}\n",
            clean(&bad.key),
            clean(&bad.why)
        ));
    }
    out
}
