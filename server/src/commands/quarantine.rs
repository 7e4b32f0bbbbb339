//! `tidemark quarantine`

use std::process::ExitCode;

use lake::Result;
use lake::plan::Quarantine;

use super::grid::{Grid, Side};
use super::text::{clean, count, counted, size, time};
use super::{Context, Table, fail, print};
use crate::acts::quarantine::{
    BACK, EMPTIED, age, back_words, emptied_words, empty, put_back, quarantine,
};

/// Arguments of `quarantine`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    /// Only what was moved aside longer ago: 7d, 168h, 30m
    #[arg(long, value_name = "DURATION", default_value = "7d")]
    older_than: String,
    /// Delete it for good; without it nothing is deleted
    #[arg(long)]
    apply: bool,
    /// Move all of it back to where it was, as far as nothing is there now
    #[arg(long, conflicts_with_all = ["apply", "older_than"])]
    put_back: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let older_than = age(&args.older_than)?;
    let mut told = Quarantine::default();
    if args.apply {
        let result = empty(&root, older_than, &context.host()).await;
        let words = result.as_ref().map(emptied_words).map_err(Clone::clone);
        context.note(&root, EMPTIED, (None, None), &words).await?;
        told.emptied = Some(result?);
    }
    if args.put_back {
        let result = put_back(&root, &context.host()).await;
        let words = result.as_ref().map(back_words).map_err(Clone::clone);
        context.note(&root, BACK, (None, None), &words).await?;
        told.put_back = Some(result?);
    }
    told.quarantine = quarantine(&root).await?.quarantine;
    match context.json {
        true => print::json(&told)?,
        false => print::out(&text(&told, &args.older_than))?,
    }
    let failed = told
        .emptied
        .as_ref()
        .and_then(|emptied| emptied.failed.first());
    if let Some(first) = told.put_back.as_ref().and_then(|back| back.failed.first()) {
        let what = format!("`{}` is not back: {}", first.key, first.why);
        return Ok(fail::undone(&what));
    }
    Ok(match failed {
        None => ExitCode::SUCCESS,
        Some(first) => fail::undone(&format!(
            "`{}` may still be there: {}",
            first.key, first.why
        )),
    })
}

fn text(told: &Quarantine, older_than: &str) -> String {
    let mut out = String::new();
    if let Some(emptied) = &told.emptied {
        out.push_str(&format!(
            "deleted {}, {}, moved aside more than {older_than} ago\n\n",
            counted(emptied.deleted, "object"),
            size(emptied.bytes),
        ));
    }
    for spared in told.emptied.iter().flat_map(|emptied| &emptied.spared) {
        out.push_str(&format!(
            "left {}, {}, `{}` among them: {}\n\n",
            counted(spared.objects, "object"),
            size(spared.bytes),
            clean(&spared.example),
            clean(&spared.why)
        ));
    }
    if let Some(back) = &told.put_back {
        out.push_str(&format!(
            "put back {}, {}\n\n",
            counted(back.objects, "object"),
            size(back.bytes)
        ));
    }
    let mut grid = Grid::new(&[
        ("MOVED ASIDE", Side::Left),
        ("OBJECTS", Side::Right),
        ("SIZE", Side::Right),
        ("FOLDER", Side::Left),
    ]);
    for folder in &told.quarantine {
        grid.row([
            time(Some(folder.moved)),
            count(folder.objects),
            size(folder.bytes),
            clean(&folder.name),
        ]);
    }
    match told.quarantine.is_empty() {
        true => out.push_str("nothing is moved aside\n"),
        false => out.push_str(&grid.render()),
    }
    if told.emptied.is_none() && told.put_back.is_none() && !told.quarantine.is_empty() {
        out.push_str(&format!(
            "\nnothing was deleted; --apply deletes what was moved more than {older_than} ago, --put-back moves all of it back\n"
        ));
    }
    out
}
