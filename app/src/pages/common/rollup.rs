//! Partitions as a tree: the first partition column, then the next below each of its values.

use std::sync::Arc;

use indexmap::IndexMap;
use lake::table::Partition;
use lake::wire::{PartitionDiff, Totals};

use crate::order::sorted;

/// One value of a partition column, and what is below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// `region=US`.
    pub label: String,
    /// The column.
    pub column: String,
    /// The columns down to here and their values.
    pub partition: Partition,
    /// What came and went below here.
    pub totals: Totals,
    /// Values of the next column, most rows first.
    pub children: Arc<Vec<Node>>,
}

/// The tree of these partitions, most rows first at every level.
pub fn roll_up(partitions: &[PartitionDiff]) -> Vec<Node> {
    let all: Vec<&PartitionDiff> = partitions.iter().collect();
    level(&all, 0)
}

/// How much happened: rows where they are known, else bytes.
pub fn weight(totals: &Totals) -> u64 {
    match (totals.rows_added, totals.rows_removed) {
        (Some(added), Some(removed)) => added.saturating_add(removed),
        _ => totals.bytes_added.saturating_add(totals.bytes_removed),
    }
}

/// Two shares of a diff as one.
pub fn sum(a: &Totals, b: &Totals) -> Totals {
    let known = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    Totals {
        files_added: a.files_added.saturating_add(b.files_added),
        files_removed: a.files_removed.saturating_add(b.files_removed),
        bytes_added: a.bytes_added.saturating_add(b.bytes_added),
        bytes_removed: a.bytes_removed.saturating_add(b.bytes_removed),
        rows_added: known(a.rows_added, b.rows_added),
        rows_removed: known(a.rows_removed, b.rows_removed),
    }
}

fn level(partitions: &[&PartitionDiff], depth: usize) -> Vec<Node> {
    let mut groups: IndexMap<(&String, &Option<String>), Vec<&PartitionDiff>> = IndexMap::new();
    for part in partitions {
        if let Some(pair) = part.partition.get_index(depth) {
            groups.entry(pair).or_default().push(part);
        }
    }
    let nodes: Vec<Node> = groups
        .into_iter()
        .filter_map(|((name, value), below)| {
            let (first, rest) = below.split_first()?;
            let totals = rest
                .iter()
                .fold(first.totals, |all, part| sum(&all, &part.totals));
            Some(Node {
                label: format!("{name}={}", value.as_deref().unwrap_or("null")),
                column: name.clone(),
                partition: first
                    .partition
                    .iter()
                    .take(depth + 1)
                    .map(|(n, v)| (n.clone(), v.clone()))
                    .collect(),
                totals,
                children: Arc::new(level(&below, depth + 1)),
            })
        })
        .collect();
    sorted(nodes, |a, b| {
        weight(&b.totals)
            .cmp(&weight(&a.totals))
            .then_with(|| a.label.cmp(&b.label))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(parts: &[(&str, Option<&str>)], rows: Option<u64>) -> PartitionDiff {
        PartitionDiff {
            partition: parts
                .iter()
                .map(|(k, v)| ((*k).to_owned(), v.map(str::to_owned)))
                .collect(),
            totals: Totals {
                files_removed: 1,
                bytes_removed: 10,
                rows_added: Some(0),
                rows_removed: rows,
                ..Totals::default()
            },
        }
    }

    #[test]
    fn sums_at_every_level_and_orders_by_rows() {
        let tree = roll_up(&[
            part(&[("region", Some("UK")), ("day", Some("1"))], Some(5)),
            part(&[("region", Some("US")), ("day", Some("1"))], Some(2)),
            part(&[("region", Some("US")), ("day", Some("2"))], Some(7)),
        ]);
        assert_eq!(tree.len(), 2);
        assert_eq!(tree[0].label, "region=US");
        assert_eq!(tree[0].totals.rows_removed, Some(9));
        assert_eq!(tree[0].totals.files_removed, 2);
        assert_eq!(tree[0].children[0].label, "day=2");
        assert_eq!(tree[0].children[0].partition.len(), 2);
        assert!(tree[0].children[0].children.is_empty());
    }

    #[test]
    fn an_unknown_part_makes_the_sum_unknown() {
        let tree = roll_up(&[
            part(&[("day", None)], None),
            part(&[("day", Some("1"))], Some(7)),
        ]);
        let null = tree.iter().find(|n| n.label == "day=null").unwrap();
        assert_eq!(null.totals.rows_removed, None);
        assert_eq!(weight(&null.totals), 10);
        assert!(roll_up(&[part(&[], Some(1))]).is_empty());
    }
}
