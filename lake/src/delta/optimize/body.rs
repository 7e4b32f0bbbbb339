//! The commit of an optimize, as Spark writes one.

use bytes::Bytes;
use serde_json::Value;

use super::Optimize;
use super::rewrite::{Rewritten, Written};
use crate::Result;
use crate::delta::snapshot::State;
use crate::delta::verbatim::{Fields, raw};
use crate::delta::write::{Body, Info, Line, Partitions, RowIds, Signature};
use crate::table::Version;

/// The bytes of the commit that makes `version` of a table whose head is `head`.
pub(super) fn body(
    optimize: &Optimize,
    rewritten: &Rewritten,
    head: &State,
    version: Version,
    signature: &Signature,
) -> Result<Bytes> {
    let mut info = Info::new("OPTIMIZE", "SnapshotIsolation", head.version, signature);
    info.stamp(&head.metadata, head.timestamp);
    info.parameter("predicate", predicate(&optimize.partitions));
    info.parameter("zOrderBy", "[]");
    info.parameter("clusterBy", "[]");
    info.parameter("auto", false);
    metrics(&mut info, optimize, rewritten);
    if optimize
        .columns
        .as_ref()
        .is_some_and(|c| c.tracked.is_some())
    {
        let preserved = Value::String("true".to_owned());
        info.tags
            .insert("delta.rowTracking.preserved".to_owned(), preserved);
    }
    let mut body = Body::new(&info)?;
    let mut ids = RowIds::new(head, &head.protocol, version);
    for (bin, written) in optimize.bins.iter().zip(&rewritten.files) {
        let Some(written) = written else {
            continue;
        };
        let mut add = Fields::new();
        let mut set = |name: &str, value| add.insert(name.to_owned(), value);
        set("path", raw(&written.raw_path)?);
        set("partitionValues", bin.values.clone());
        set("size", raw(&written.bytes)?);
        set("modificationTime", raw(&signature.now.0)?);
        set("dataChange", raw(&false)?);
        set("stats", raw(&written.stats)?);
        if let Some(ids) = &mut ids {
            ids.give(&mut add, i64::try_from(written.rows).unwrap_or(i64::MAX))?;
        }
        body.push(&Line::Add(&add))?;
    }
    let removes = optimize.bins.iter().flat_map(|bin| &bin.inputs);
    let removes: Vec<Fields> = removes.map(|input| input.remove.clone()).collect();
    body.push_removes(&removes, signature.now)?;
    if let Some(domain) = ids.and_then(|ids| ids.domain()) {
        body.push(&Line::DomainMetadata(&domain))?;
    }
    Ok(body.finish())
}

fn metrics(info: &mut Info, optimize: &Optimize, rewritten: &Rewritten) {
    let inputs = || optimize.bins.iter().flat_map(|bin| &bin.inputs);
    let written = || rewritten.files.iter().flatten();
    let mut sizes: Vec<u64> = written().map(|file: &Written| file.bytes).collect();
    sizes.sort_unstable();
    // As Spark picks them.
    let at = |quarters: usize| {
        let last = sizes.len().saturating_sub(1);
        let place = (sizes.len() * quarters / 4).min(last);
        sizes.get(place).copied().unwrap_or(0)
    };
    info.metric("numRemovedFiles", inputs().count() as u64);
    info.metric("numRemovedBytes", inputs().map(|input| input.bytes).sum());
    info.metric("p25FileSize", at(1));
    info.metric(
        "numDeletionVectorsRemoved",
        inputs().filter(|input| input.vector.is_some()).count() as u64,
    );
    info.metric("minFileSize", at(0));
    info.metric("numAddedFiles", sizes.len() as u64);
    info.metric("maxFileSize", at(4));
    info.metric("p75FileSize", at(3));
    info.metric("p50FileSize", at(2));
    info.metric("numAddedBytes", sizes.iter().sum());
}

/// Which partitions were asked for, much as Spark spells it: a list of conditions as JSON in a text.
fn predicate(partitions: &Partitions) -> String {
    let mut columns: Vec<&String> = partitions.iter().map(|(column, _)| column).collect();
    columns.dedup();
    let mut seen: Vec<&String> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    for column in columns {
        if seen.contains(&column) {
            continue;
        }
        seen.push(column);
        let own = partitions.iter().filter(|(c, _)| c == column);
        let any: Vec<String> = own
            .map(|(_, value)| match value {
                Some(value) => format!("({column} = {value})"),
                None => format!("isnull({column})"),
            })
            .collect();
        conditions.push(match any.as_slice() {
            [one] => format!("'{one}"),
            many => format!("'({})", many.join(" OR ")),
        });
    }
    Value::from(conditions).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_a_predicate() {
        let of = |c: &str, v: Option<&str>| (c.to_owned(), v.map(str::to_owned));
        assert_eq!(predicate(&Vec::new()), "[]");
        assert_eq!(predicate(&vec![of("r", Some("A"))]), r#"["'(r = A)"]"#);
        assert_eq!(
            predicate(&vec![of("r", Some("A")), of("d", None), of("r", Some("B"))]),
            r#"["'((r = A) OR (r = B))","'isnull(d)"]"#
        );
    }
}
