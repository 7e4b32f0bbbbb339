//! What the catalog should know of the hours: it remembers what a marker committed, it never
//! commits. Statements are text for whoever runs them.

mod quote;
mod report;

pub use self::report::{outside, statements, wrong};

use self::quote::{name_of, text, type_of};
use super::dataset::Dataset;
use super::day::Slot;
use super::marker::Marker;
use super::state::State;
use crate::wire::zones::WrongPartition;

/// A partition as a catalog has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Values of the partition columns, in their order.
    pub values: Vec<String>,
    /// Where its rows are read from.
    pub location: String,
}

/// The statement that registers a closed slot at its run, never at the parent of its runs.
/// For any other slot, why there is none.
pub fn add(
    dataset: &Dataset,
    slot: Slot,
    state: State,
    marker: Option<&Marker>,
) -> Result<String, String> {
    let location = closed(dataset, slot, state, marker)?;
    Ok(format!(
        "ALTER TABLE {} ADD IF NOT EXISTS PARTITION ({}) LOCATION {};",
        table(dataset),
        spec(dataset, slot),
        text(&location)
    ))
}

/// The statement that moves a partition that is registered already to the run that its marker
/// names now.
pub fn set_location(
    dataset: &Dataset,
    slot: Slot,
    state: State,
    marker: Option<&Marker>,
) -> Result<String, String> {
    let location = closed(dataset, slot, state, marker)?;
    Ok(format!(
        "ALTER TABLE {} PARTITION ({}) SET LOCATION {};",
        table(dataset),
        spec(dataset, slot),
        text(&location)
    ))
}

/// The statement that lets an engine count a closed slot, after it was registered.
pub fn analyze(dataset: &Dataset, slot: Slot, state: State) -> Result<String, String> {
    if !state.is_closed() {
        return Err(refusal(slot, state));
    }
    Ok(format!(
        "ANALYZE TABLE {} PARTITION ({}) COMPUTE STATISTICS;",
        table(dataset),
        spec(dataset, slot)
    ))
}

/// The statement that makes the table. Its columns are declared, never crawled.
pub fn create_table(dataset: &Dataset) -> Result<String, String> {
    let partitioned = |name: &String| dataset.partition.contains(name);
    let columns: Vec<String> = dataset
        .columns
        .iter()
        .filter(|(name, _)| !partitioned(name))
        .map(|(name, kind)| Ok(format!("  {} {}", name_of(name), type_of(name, kind)?)))
        .collect::<Result<_, String>>()?;
    if columns.is_empty() {
        return Err(format!(
            "{} declares no columns: a table's columns are declared, never crawled",
            dataset.name
        ));
    }
    // An engine compares the values as text, which dates and two digits sort well as.
    let partitions: Vec<String> = dataset
        .partition
        .iter()
        .map(|name| format!("{} string", name_of(name)))
        .collect();
    Ok(format!(
        "CREATE EXTERNAL TABLE IF NOT EXISTS {} (\n{}\n)\nPARTITIONED BY ({})\nSTORED AS PARQUET\nLOCATION {};",
        table(dataset),
        columns.join(",\n"),
        partitions.join(", "),
        text(&dataset.url_of(&format!("{}/", dataset.prefix)))
    ))
}

/// What is wrong with a registered partition, and what mends it. `judged` is the slot's state and
/// marker, as far as the dataset has such a slot.
pub fn judge(
    dataset: &Dataset,
    registered: &Registered,
    slot: Option<Slot>,
    judged: Option<(State, Option<&Marker>)>,
) -> Option<WrongPartition> {
    let drop = drop_statement(dataset, registered);
    let wrong = |why: String, mend: String| Some(found(dataset, registered, why, mend));
    let Some(slot) = slot else {
        return wrong("the dataset has no such partition".to_owned(), drop);
    };
    match judged {
        Some((state, Some(marker))) if state.is_closed() => {
            let run = marker.location(dataset);
            let run = run.as_deref().unwrap_or(&marker.prefix);
            if same_location(&registered.location, run) {
                return None;
            }
            let why = format!(
                "it is read from {}, and its marker names {run}",
                registered.location
            );
            match set_location(dataset, slot, state, Some(marker)) {
                Ok(mend) => wrong(why, mend),
                Err(_) => wrong(why, drop),
            }
        }
        Some((state, _)) => wrong(
            format!("it is registered, and {slot} is {}", state.words()),
            drop,
        ),
        None => wrong("it is registered, and nothing closed it".to_owned(), drop),
    }
}

/// What is wrong with a partition beside that of the same slot.
fn repeated(dataset: &Dataset, registered: &Registered, slot: Slot) -> WrongPartition {
    let why = format!("{slot} is registered twice, and its rows are read twice");
    let mend = drop_statement(dataset, registered);
    found(dataset, registered, why, mend)
}

fn found(dataset: &Dataset, registered: &Registered, why: String, mend: String) -> WrongPartition {
    let columns = dataset.partition.iter().zip(&registered.values);
    let named: Vec<String> = columns.map(|(n, v)| format!("{n}={v}")).collect();
    WrongPartition {
        partition: named.join("/"),
        why,
        mend,
    }
}

fn drop_statement(dataset: &Dataset, registered: &Registered) -> String {
    let columns = dataset.partition.iter().zip(&registered.values);
    let quoted: Vec<String> = columns
        .map(|(name, value)| format!("{}={}", name_of(name), text(value)))
        .collect();
    format!(
        "ALTER TABLE {} DROP IF EXISTS PARTITION ({});",
        table(dataset),
        quoted.join(", ")
    )
}

/// The slot that a partition's values name.
pub fn slot_of(dataset: &Dataset, values: &[String]) -> Option<Slot> {
    let mut values = values.iter();
    let day = values.next()?.parse().ok()?;
    let slot = match dataset.hourly() {
        false => Slot::day(day),
        true => {
            // Metastores have columns of numbers, whose values have lost their zero.
            let text = values.next()?;
            let short = text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
            let hour = short.then(|| text.parse::<u8>().ok()).flatten()?;
            (hour < 24).then(|| Slot::hour(day, hour))?
        }
    };
    values.next().is_none().then_some(slot)
}

/// The partition values of a slot, as keys have them.
pub fn values_of(dataset: &Dataset, slot: Slot) -> Vec<String> {
    let hour = slot.hour.filter(|_| dataset.hourly());
    let day = std::iter::once(slot.day.to_string());
    day.chain(hour.map(|hour| format!("{hour:02}"))).collect()
}

/// Whether two locations are one: schemes that mean one store, a slash at the end or none.
pub fn same_location(one: &str, other: &str) -> bool {
    let plain = |location: &str| {
        let location = location.trim_end_matches('/');
        let (scheme, rest) = location.split_once(':').unwrap_or(("", location));
        let scheme = match scheme {
            "s3a" | "s3n" => "s3".to_owned(),
            "abfs" => "abfss".to_owned(),
            scheme => scheme.to_ascii_lowercase(),
        };
        // Hadoop writes file:/x for file:///x.
        (scheme, format!("/{}", rest.trim_start_matches('/')))
    };
    plain(one) == plain(other)
}

/// The run of a slot that may be registered.
fn closed(
    dataset: &Dataset,
    slot: Slot,
    state: State,
    marker: Option<&Marker>,
) -> Result<String, String> {
    if !state.is_closed() {
        return Err(refusal(slot, state));
    }
    let marker = marker.ok_or_else(|| {
        format!("{slot} is closed by a marker that names no run, and a location is a run")
    })?;
    marker.location(dataset).ok_or_else(|| {
        format!(
            "the marker's prefix lies outside the dataset: {}",
            marker.prefix
        )
    })
}

fn refusal(slot: Slot, state: State) -> String {
    format!(
        "{slot} is {}: only closed hours are registered",
        state.words()
    )
}

/// The table, each part of its name quoted where it must be.
fn table(dataset: &Dataset) -> String {
    let name = dataset.catalog_table();
    let parts: Vec<String> = match name.rsplit_once('.') {
        Some((database, table)) => vec![name_of(database), name_of(table)],
        None => vec![name_of(&name)],
    };
    parts.join(".")
}

/// The slot as a partition: `event_date='2026-11-10', hour='13'`.
fn spec(dataset: &Dataset, slot: Slot) -> String {
    let values = values_of(dataset, slot);
    let columns = dataset.partition.iter().zip(&values);
    let pairs: Vec<String> = columns
        .map(|(name, value)| format!("{}={}", name_of(name), text(value)))
        .collect();
    pairs.join(", ")
}

#[cfg(test)]
mod tests;
