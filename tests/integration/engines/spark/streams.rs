//! Readers that stream a table: over our restore they end as over Spark's own, and as our plan says.

use std::collections::BTreeMap;

use lake::answer::Root;
use serde::Deserialize;

use super::super::acts;
use super::deviation::{Comparison, Deviations};

/// How a reader ended: the rows that it got after the restore, and the error that stopped it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct End {
    rows: Vec<String>,
    error: Option<String>,
}

/// By the option that was set, if any: over Spark's restore, and over ours.
pub(super) type Ends = BTreeMap<String, [End; 2]>;

/// Restores the version; answers what the plan says of readers, if it does.
pub(super) async fn restore(root: &Root, target: u64) -> Result<Option<String>, String> {
    let head = acts::head(root).await.map_err(|e| e.to_string())?;
    let outcome = acts::restore(root, target, head).await;
    let plan = outcome.map_err(|e| e.to_string())?.plan;
    if let Some(why) = plan.refused {
        return Err(why);
    }
    let mut warnings = plan.warnings.into_iter();
    Ok(warnings.find(|warning| warning.starts_with("readers of the stream")))
}

/// Both ends are the same, and what was said.
pub(super) fn compare(table: &str, said: Option<&str>, ends: &Ends, found: &mut Deviations) {
    let mut compared = Comparison {
        table,
        statement: said.unwrap_or("no word on readers of the stream"),
        found,
    };
    for (option, [theirs, ours]) in ends {
        let about = |what: &str| format!("{what} with `{option}`");
        compared.same(&about("reader"), ours, theirs);
        let wanted = promised(said, option);
        let got = match (&ours.error, ours.rows.is_empty()) {
            (Some(error), _) => Promise::Stops(error),
            (None, false) => Promise::Rows,
            (None, true) => Promise::Nothing,
        };
        compared.same(&about("promise"), wanted, got);
    }
}

#[derive(Debug, PartialEq)]
enum Promise<'a> {
    Stops(&'a str),
    Rows,
    Nothing,
}

/// What a sentence of a plan says of a reader: of one that started again with an option, or of the
/// one that was running and had none.
fn promised<'a>(said: Option<&'a str>, reader: &str) -> Promise<'a> {
    let Some(said) = said else {
        return Promise::Nothing;
    };
    let (all, some) = said.split_once("; one that ").unwrap_or((said, ""));
    let of_this = match reader {
        "running" => some.strip_prefix("runs"),
        _ => some.strip_prefix("starts again"),
    };
    if let Some(error) = of_this.and_then(stopped) {
        return Promise::Stops(error);
    }
    // What an option does follows it in brackets.
    let unless = all.split_once(", unless ").map_or("", |(_, unless)| unless);
    match (unless.split_once(reader), stopped(all)) {
        (Some((_, does)), _) if does.starts_with(" (whole files come again)") => Promise::Rows,
        (Some(_), _) => Promise::Nothing,
        (None, Some(error)) => Promise::Stops(error),
        (None, None) if all.ends_with("once more") => Promise::Rows,
        (None, None) => Promise::Nothing,
    }
}

/// The error that a part of the sentence says a reader stops with.
fn stopped(part: &str) -> Option<&str> {
    let (_, error) = part.split_once(" with ")?;
    let end = error.find(|c: char| c != '_' && !c.is_ascii_uppercase());
    Some(&error[..end.unwrap_or(error.len())])
}
