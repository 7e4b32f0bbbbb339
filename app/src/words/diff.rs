//! The verdict of a diff as a sentence, with the figures that made it.

use indexmap::IndexMap;
use lake::wire::{CommitRow, DiffReport, KeyChange, SchemaChange, SchemaChangeKind, Verdict};
use serde_json::Value;

use crate::format;

use super::figure::{count_of, joined, plural};
use super::{Part, Sentence};

/// What happened between the two versions: the case by name, its figures, where, and what else
/// changed.
pub fn verdict(diff: &DiffReport) -> Sentence {
    if diff.from.is_none() && diff.verdict != Verdict::Identical {
        return created(diff);
    }
    let body = match diff.verdict {
        Verdict::Identical => return identical(diff),
        Verdict::Metadata => Sentence::new()
            .strong("Metadata only.")
            .text(" No file came or went."),
        Verdict::Rewrite => rewrite(diff),
        Verdict::Append => append(diff),
        Verdict::Delete => delete(diff),
        Verdict::Overwrite => overwrite(diff),
        Verdict::Change => change(diff),
    };
    body.text(" ").and(changes(diff))
}

/// The verdict of one commit: a restore is called by its name, whatever came and went with it.
pub fn verdict_of(commit: &CommitRow, diff: &DiffReport) -> Sentence {
    let verdict = verdict(diff);
    if commit.operation.as_deref() != Some("RESTORE") {
        return verdict;
    }
    let parameter = |name: &str| match commit.parameters.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let named = match (parameter("version"), parameter("timestamp")) {
        (Some(version), _) => format!("Restore to version {version}."),
        (None, Some(time)) => format!("Restore to the version of {time}."),
        (None, None) => "Restore.".to_owned(),
    };
    let mut rest = verdict;
    if matches!(rest.0.first(), Some(Part::Strong(_))) {
        rest.0.remove(0);
    }
    Sentence::new().strong(named).and(rest)
}

/// Whether the schema, the properties and the protocol are the same, and what differs if not.
pub fn changes(diff: &DiffReport) -> Sentence {
    if diff.schema.is_empty() && diff.properties.is_empty() && diff.protocol.is_empty() {
        return Sentence::new().text("Schema and properties are the same.");
    }
    let mut out = Sentence::new();
    if !diff.schema.is_empty() {
        out = out.and(schema_words(&diff.schema)).text(" ");
    }
    if !diff.properties.is_empty() {
        out = out.and(keys("property", &diff.properties)).text(" ");
    }
    if !diff.protocol.is_empty() {
        out = out.and(keys("protocol entry", &diff.protocol)).text(" ");
    }
    let same = match (
        diff.schema.is_empty(),
        diff.properties.is_empty() && diff.protocol.is_empty(),
    ) {
        (true, false) => "The schema is the same.",
        (false, true) => "Properties are the same.",
        _ => "",
    };
    trimmed(out.text(same))
}

/// Which partitions the change touched, as far as they have something in common: the columns
/// whose value is the same in all, else how many there are. `None` where there is no partition.
pub fn scope(diff: &DiffReport) -> Option<Sentence> {
    let first = diff.partitions.first()?;
    if first.partition.is_empty() || diff.partitions_total == 0 {
        return None;
    }
    // A list that was cut proves nothing about what was left out.
    let whole = diff.partitions.len() as u64 == diff.partitions_total;
    let common: Vec<String> = first
        .partition
        .iter()
        .filter(|(name, value)| {
            whole
                && diff
                    .partitions
                    .iter()
                    .all(|p| p.partition.get(*name) == Some(*value))
        })
        .map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("null")))
        .collect();
    if !common.is_empty() {
        return Some(Sentence::new().text(", all under ").code(common.join(", ")));
    }
    let noun = match first.partition.len() {
        1 => first
            .partition
            .keys()
            .next()
            .map_or_else(|| "partition".to_owned(), |name| name.replace('_', " ")),
        _ => "partition".to_owned(),
    };
    let counted = count_of(diff.partitions_total, &noun);
    Some(Sentence::new().text(format!(", in {counted}")))
}

/// Files that really came and went: a path whose deletion vector changed did neither.
fn moved(diff: &DiffReport) -> (u64, u64) {
    (
        diff.totals.files_added.saturating_sub(diff.vectors_changed),
        diff.totals
            .files_removed
            .saturating_sub(diff.vectors_changed),
    )
}

fn identical(diff: &DiffReport) -> Sentence {
    let out = Sentence::new().strong("Identical.");
    match diff.from {
        Some(from) if from == diff.to => out.text(format!(" Both ends are version {from}.")),
        _ => out.text(" No file, column, property or protocol entry differs."),
    }
}

fn created(diff: &DiffReport) -> Sentence {
    let (came, _) = moved(diff);
    let mut out = Sentence::new().strong("Created.").text(format!(
        " The first version has {} and {}",
        count_of(diff.columns, "column"),
        count_of(came, "file"),
    ));
    if came > 0 {
        if let Some(rows) = diff.totals.rows_added {
            out = out.text(format!(" with {}", count_of(rows, "row")));
        }
        out = out.text(format!(" ({})", format::bytes(diff.totals.bytes_added)));
        out = located(out, diff);
    }
    out.text(".")
}

fn rewrite(diff: &DiffReport) -> Sentence {
    Sentence::new().strong("Rewrite.").text(format!(
        " {} became {}: {} became {}. No row changed.",
        count_of(diff.totals.files_removed, "file"),
        format::count(diff.totals.files_added),
        format::bytes(diff.totals.bytes_removed),
        format::bytes(diff.totals.bytes_added),
    ))
}

fn append(diff: &DiffReport) -> Sentence {
    let (came, _) = moved(diff);
    let out = Sentence::new().strong("Append.").text(format!(
        " {} came{}",
        count_of(came, "file"),
        match diff.totals.rows_added {
            Some(rows) => format!(" and brought {}", count_of(rows, "row")),
            None => format!(" with {}", format::bytes(diff.totals.bytes_added)),
        }
    ));
    located(out, diff).text(". Nothing left.")
}

fn delete(diff: &DiffReport) -> Sentence {
    let (_, left) = moved(diff);
    let mut out = Sentence::new().strong("Delete.");
    if left == 0 {
        out = out.text(format!(
            " Deletion vectors mask {} more in {}",
            count_of(diff.rows_masked, "row"),
            count_of(diff.vectors_changed, "file"),
        ));
        return located(out, diff).text("; the files stay.");
    }
    out = out.text(format!(" {} left the table", of_all(left, diff.from_files)));
    out = match diff.totals.rows_removed {
        Some(rows) if diff.vectors_changed == 0 => out.text(format!(
            " and took {} with {}",
            count_of(rows, "row"),
            them(left)
        )),
        Some(_) | None => out.text(format!(
            " with {}",
            format::bytes(diff.totals.bytes_removed)
        )),
    };
    out = located(out, diff).text(".");
    if diff.vectors_changed > 0 {
        out = out.text(format!(
            " Deletion vectors mask {} more in {}.",
            count_of(diff.rows_masked, "row"),
            count_of(diff.vectors_changed, "file"),
        ));
    }
    out.text(" Nothing came.")
}

fn overwrite(diff: &DiffReport) -> Sentence {
    let (came, left) = moved(diff);
    let all = if left == 1 {
        "The only file".to_owned()
    } else {
        format!("All {}", count_of(left, "file"))
    };
    let mut out = Sentence::new()
        .strong("Overwrite.")
        .text(format!(" {all} left and {} came", count_of(came, "other")));
    out = match (diff.totals.rows_removed, diff.totals.rows_added) {
        (Some(removed), Some(added)) => out.text(format!(
            ": {} before, {} after.",
            count_of(removed, "row"),
            format::count(added)
        )),
        _ => out.text("."),
    };
    out
}

fn change(diff: &DiffReport) -> Sentence {
    let (came, left) = moved(diff);
    let mut parts = Vec::new();
    if left > 0 {
        parts.push(format!("{} left", of_all(left, diff.from_files)));
    }
    if came > 0 {
        parts.push(format!("{} came", count_of(came, "file")));
    }
    if diff.vectors_changed > 0 {
        parts.push(format!(
            "{} got another deletion vector",
            count_of(diff.vectors_changed, "file")
        ));
    }
    let out = Sentence::new()
        .strong("Change.")
        .text(format!(" {}", crate::format::capital(&joined(&parts))));
    let out = located(out, diff);
    match (diff.totals.rows_added, diff.totals.rows_removed) {
        (Some(added), Some(removed)) if added == removed => out.text(". As many rows as before."),
        (Some(added), Some(removed)) => {
            out.text(format!(". {} rows in all.", format::net(added, removed)))
        }
        _ => out.text("."),
    }
}

fn located(out: Sentence, diff: &DiffReport) -> Sentence {
    match scope(diff) {
        Some(scope) => out.and(scope),
        None => out,
    }
}

fn of_all(n: u64, all: Option<u64>) -> String {
    match all {
        Some(all) if all == n && n > 1 => format!("All {}", count_of(n, "file")),
        Some(all) if all > n => format!("{} of {}", format::count(n), count_of(all, "file")),
        _ => count_of(n, "file"),
    }
}

fn them(n: u64) -> &'static str {
    if n == 1 { "it" } else { "them" }
}

/// Schema changes by kind, the names while they are few.
fn schema_words(schema: &[SchemaChange]) -> Sentence {
    let mut by_kind: IndexMap<&str, Vec<String>> = IndexMap::new();
    for change in schema {
        let (word, shown) = match change.change {
            SchemaChangeKind::Added => ("added", change.field.clone()),
            SchemaChangeKind::Removed => ("dropped", change.field.clone()),
            SchemaChangeKind::Renamed => (
                "renamed",
                format!(
                    "{} to {}",
                    change.from.as_deref().unwrap_or("?"),
                    change.to.as_deref().unwrap_or(&change.field)
                ),
            ),
            SchemaChangeKind::Type => (
                "retyped",
                format!(
                    "{} from {} to {}",
                    change.field,
                    change.from.as_deref().unwrap_or("?"),
                    change.to.as_deref().unwrap_or("?")
                ),
            ),
            SchemaChangeKind::Nullability => ("changed in nullability", change.field.clone()),
        };
        by_kind.entry(word).or_default().push(shown);
    }
    let mut out = Sentence::new();
    for (i, (word, names)) in by_kind.iter().enumerate() {
        let lead = if i > 0 { " " } else { "" };
        out = listed(
            out.text(format!(
                "{lead}{} {word}",
                crate::format::capital(&count_of(names.len() as u64, "column"))
            )),
            names,
        );
    }
    out
}

fn keys(noun: &str, changes: &[KeyChange]) -> Sentence {
    let names: Vec<String> = changes.iter().map(|c| c.key.clone()).collect();
    let verb = if changes.iter().all(|c| c.from.is_none()) {
        "set"
    } else if changes.iter().all(|c| c.to.is_none()) {
        "unset"
    } else {
        "changed"
    };
    let many = names.len() as u64;
    let counted = if many == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {}", format::count(many), plural(noun))
    };
    listed(Sentence::new().text(format!("{counted} {verb}")), &names)
}

/// The names behind a count, while they are few.
fn listed(out: Sentence, names: &[String]) -> Sentence {
    const FEW: usize = 3;
    if names.len() > FEW {
        return out.text(".");
    }
    out.text(": ").code(names.join(", ")).text(".")
}

fn trimmed(mut sentence: Sentence) -> Sentence {
    use super::Part;
    while let Some(Part::Text(last)) = sentence.0.last_mut() {
        let kept = last.trim_end().len();
        last.truncate(kept);
        if kept > 0 {
            break;
        }
        sentence.0.pop();
    }
    sentence
}

#[cfg(test)]
mod tests;
