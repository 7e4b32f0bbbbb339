//! `tidemark pin`, `tidemark unpin`, `tidemark pins`

use std::process::ExitCode;

use lake::Result;
use lake::answer::Root;
use lake::plan::Pins;
use lake::table::Version;

use super::grid::{Grid, Side};
use super::text::{clean, short, time};
use super::{Context, Table, consent, print};
use crate::acts;

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
    #[arg(long, value_name = "V")]
    version: Version,
    /// The pin's name, which no other pin of the table has
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Arguments of `unpin`.
#[derive(Debug, clap::Args)]
pub(super) struct UnpinArgs {
    #[command(flatten)]
    pub(super) table: Table,
    /// The pin's name
    #[arg(long, value_name = "NAME")]
    name: String,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    show(context, &args.table.root(context)?).await
}

pub(super) async fn pin(context: &Context, args: &PinArgs) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let who = (consent(None).user, args.reason.clone());
    acts::pin(&root, &args.name, args.version, who, &context.host()).await?;
    show(context, &root).await
}

pub(super) async fn unpin(context: &Context, args: &UnpinArgs) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    acts::unpin(&root, &args.name, &context.host()).await?;
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
    match pins.pins.is_empty() {
        true => "no pins\n".to_owned(),
        false => grid.render(),
    }
}
