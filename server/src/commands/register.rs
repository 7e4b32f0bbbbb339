//! `tidemark partitions`

use std::process::ExitCode;
use std::sync::Arc;

use lake::hours::find::{Finder, Gate, Memory};
use lake::hours::{Day, statement};
use lake::wire::zones::PartitionsReport;
use lake::{Error, Result};

use super::text::{clean, count};
use super::{Context, fail, print};
use crate::{acts, metastore, setup};

/// Days that are looked at where nobody says.
const DAYS: i32 = 6;

/// Arguments of `partitions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A dataset of the configuration
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// First day, UTC [default: six days before the last]
    #[arg(long, value_name = "D")]
    from: Option<Day>,
    /// Last day, UTC [default: today]
    #[arg(long, value_name = "D")]
    to: Option<Day>,
    /// Also print the statement that makes the table, from the declared columns
    #[arg(long)]
    create_table: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let placed = setup::dataset(&context.config, &args.dataset)?;
    let dataset = placed.dataset;
    let now = acts::now();
    let to = args.to.unwrap_or_else(|| Day::of(now));
    let from = args.from.unwrap_or_else(|| to.plus(-DAYS));
    if from > to {
        return Err(Error::invalid(format!("{from} lies after {to}")));
    }
    let create_table = args
        .create_table
        .then(|| statement::create_table(&dataset).map_err(Error::invalid))
        .transpose()?;
    let finder = Finder::new(
        Arc::clone(&dataset),
        placed.store,
        Arc::new(Memory::default()),
        context.host(),
        now,
    );
    let rows = finder.rows(from, to, Gate::All).await?;
    let registered = match &dataset.metastore {
        None => None,
        Some(_) => Some(metastore::partitions(&dataset).await),
    };
    let (registered, metastore_error) = match registered {
        None => (None, None),
        Some(Ok(registered)) => (Some(registered), None),
        Some(Err(error)) => (None, Some(error.to_string())),
    };
    let report = PartitionsReport {
        dataset: dataset.name.clone(),
        create_table,
        statements: statement::statements(&dataset, &rows, registered.as_deref()),
        outside: registered
            .as_ref()
            .map(|registered| statement::outside(&dataset, &rows, registered)),
        wrong: registered.map(|registered| statement::wrong(&dataset, &rows, &registered)),
        metastore_error,
    };
    match context.json {
        true => print::json(&report)?,
        false => print::out(&text(&report))?,
    }
    if let Some(why) = &report.metastore_error {
        return Ok(fail::undone(&format!(
            "what is registered was not judged: {why}"
        )));
    }
    let wrong = report.wrong.as_ref().map_or(0, Vec::len);
    match wrong {
        0 => Ok(ExitCode::SUCCESS),
        1 => Ok(fail::refused("1 registered partition is wrong")),
        n => Ok(fail::refused(&format!(
            "{n} registered partitions are wrong"
        ))),
    }
}

/// A script for the engine: what is no statement is a comment.
fn text(report: &PartitionsReport) -> String {
    let mut out = String::new();
    // A comment ends with its line.
    let comment = |text: &str| format!("-- {}\n", fail::one_line(text));
    if let Some(statement) = &report.create_table {
        out.push_str(&format!("{statement}\n\n"));
    }
    if let Some(error) = &report.metastore_error {
        out.push_str(&comment(&format!("the metastore was not asked: {error}")));
    }
    if let Some(n @ 1..) = report.outside {
        let what = match n {
            1 => {
                "1 partition of an hour outside the window is registered and was not judged".into()
            }
            n => format!(
                "{} partitions of hours outside the window are registered and were not judged",
                count(n)
            ),
        };
        out.push_str(&comment(&what));
    }
    for wrong in report.wrong.iter().flatten() {
        let what = format!("{}: {}", wrong.partition, wrong.why);
        out.push_str(&format!("{}{}\n", comment(&what), clean(&wrong.mend)));
    }
    for slot in &report.statements {
        match (&slot.statement, &slot.analyze, &slot.refused) {
            (Some(statement), analyze, _) => {
                out.push_str(&format!("{}\n", clean(statement)));
                if let Some(analyze) = analyze {
                    out.push_str(&format!("{}\n", clean(analyze)));
                }
            }
            (None, _, Some(why)) => out.push_str(&comment(why)),
            (None, _, None) => {}
        }
    }
    out
}
