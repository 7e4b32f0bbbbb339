//! `tidemark check`: what a job asks before it reads.
//!
//! For people and for a shell alike it prints what may be scanned, a URL a line, and nothing else:
//! `prefix=$(tidemark check …) || exit`. Why there is nothing is on standard error.

use std::process::ExitCode;
use std::sync::Arc;

use lake::hours::dataset::MarkerKind;
use lake::hours::find::{nothing_lies, sentence};
use lake::hours::{Dataset, Day, Slot, State};
use lake::table::Time;
use lake::wire::hours::CheckReport;
use lake::{Error, Result};

use super::text::{clean, counted};
use super::{Context, fail, print};
use crate::setup;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A dataset of the configuration
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// The date, UTC
    #[arg(long, value_name = "D", required_unless_present = "from")]
    date: Option<Day>,
    /// The hour, 0 to 23; none where the dataset has no hours
    #[arg(long, value_name = "H", requires = "date")]
    hour: Option<u8>,
    /// Every hour from this instant on: RFC 3339 with an offset, or a date
    #[arg(long, value_name = "T", requires = "to", conflicts_with_all = ["date", "hour"])]
    from: Option<String>,
    /// Until before this instant; of a date, until its end
    #[arg(long, value_name = "T", requires = "from")]
    to: Option<String>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let told = async {
        match (&args.from, &args.to, args.date) {
            (Some(from), Some(to), _) => window(context, args, from, to).await,
            (_, _, Some(day)) => {
                let slot = Slot {
                    day,
                    hour: args.hour,
                };
                hour(context, args, slot).await
            }
            _ => Err(Error::invalid(
                "name a --date, or a time by --from and --to",
            )),
        }
    };
    told.await.map_err(|e| e.at("dataset", &args.dataset))
}

async fn hour(context: &Context, args: &Args, slot: Slot) -> Result<ExitCode> {
    let placed = setup::dataset(&context.config, &args.dataset)?;
    let dataset = Arc::clone(&placed.dataset);
    let finder = placed.finder(context.host());
    let report = finder.check(slot).await?;
    let nothing = !report.closed && report.object_count == 0 && finder.nothing_there().await?;
    match context.json {
        true => print::json(&report)?,
        false => print::out(&lines(report.prefix.iter()))?,
    }
    if let Some(repeated @ 1..) = report
        .repeated_rows
        .filter(|_| report.closed && !context.json)
    {
        eprintln!(
            "note: {} of {slot} repeat the grain of a row before them: read each once",
            counted(repeated, "row")
        );
    }
    let nothing = nothing.then(|| nothing_lies(&dataset));
    Ok(match (report.passes, nothing) {
        (true, None) => ExitCode::SUCCESS,
        (true, Some(nothing)) => {
            fail::warn(&nothing);
            ExitCode::SUCCESS
        }
        (false, nothing) => {
            let nothing = nothing.map(|nothing| format!("; {nothing}"));
            fail::refused(&format!(
                "{}{}",
                why(&dataset, &report),
                nothing.unwrap_or_default()
            ))
        }
    })
}

async fn window(context: &Context, args: &Args, from: &str, to: &str) -> Result<ExitCode> {
    let (from, to) = (instant(from, false)?, instant(to, true)?);
    let placed = setup::dataset(&context.config, &args.dataset)?;
    let report = placed.finder(context.host()).check_window(from, to).await?;
    match (context.json, report.closed) {
        (true, _) => print::json(&report)?,
        (false, true) => print::out(&lines(report.prefixes.iter()))?,
        // A part of what was asked for is not what was asked for.
        (false, false) => {}
    }
    Ok(match &report.refused {
        None => ExitCode::SUCCESS,
        Some(why) => fail::refused(&format!("{}: {why}", report.dataset)),
    })
}

fn lines<'a>(prefixes: impl Iterator<Item = &'a String>) -> String {
    prefixes
        .map(|prefix| format!("{}\n", clean(prefix)))
        .collect()
}

/// Why there is nothing to scan, and what to do.
fn why(dataset: &Dataset, report: &CheckReport) -> String {
    let runs = report.object_count.saturating_sub(report.loose_count);
    let advice = match report.state {
        State::Open | State::Future => "; ask again later",
        // What another writer closes is not ours to mend.
        _ if dataset.marker.kind != MarkerKind::Tidemark => "",
        State::Late => match (report.loose_count, runs) {
            (0, 0) => "; if nothing happened, declare it empty: `publish --empty`",
            (0, _) => "; `publish` the run, with its writer's count",
            (_, 0) => "; `compact --apply` packs and publishes the loose keys",
            _ => {
                "; `publish` the run, with its writer's count, or `compact --apply` packs and \
                 publishes the loose keys"
            }
        },
        State::Lost | State::Mutated | State::Racing | State::Invalid => {
            "; publish a new run, or repoint to one that still matches"
        }
        State::Incomplete => "; publish a run that has the missing lines",
        _ => "",
    };
    format!("{}: {}{advice}", report.dataset, sentence(report))
}

/// An instant, or a date as its start or its end.
fn instant(text: &str, end: bool) -> Result<Time> {
    match text.parse::<Day>() {
        Ok(day) => Ok(day.plus(i32::from(end)).start()),
        Err(_) => Time::parse(text),
    }
}
