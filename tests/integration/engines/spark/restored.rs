//! Restores of ours that Spark reads and goes on from.

use lake::answer::Root;

use super::super::acts;
use super::deviation::{Comparison, Deviations};
use super::driver::Facts;

/// What Spark says it has just seen.
pub(super) const STATEMENT: &str = "restored by Tidemark";

/// Restores the version in the middle of what Spark wrote; answers which, or why it was not.
pub(super) async fn restore(root: &Root, told: &[Facts]) -> Result<u64, String> {
    let mut refused = "there is no earlier version".to_owned();
    let last = told.last().map_or(0, |facts| facts.version);
    // From the middle on, one that can be restored: files of others are vacuumed, say.
    let middle = told.iter().skip(told.len() / 2).chain(told);
    for facts in middle.filter(|facts| facts.version < last) {
        let outcome = acts::restore(root, facts.version, last).await;
        let outcome = outcome.map_err(|e| e.to_string())?;
        match outcome.plan.refused {
            None => return Ok(facts.version),
            Some(why) => refused = why,
        }
    }
    Err(refused)
}

/// The table as Spark sees it now against what it saw at the version that was restored.
pub(super) fn compare(target: u64, told: &[Facts], now: &Facts, found: &mut Deviations) {
    let Some(then) = told.iter().find(|facts| facts.version == target) else {
        return;
    };
    let mut compared = Comparison {
        table: &now.table,
        statement: STATEMENT,
        found,
    };
    compared.same("restored rows", now.rows, then.rows);
    compared.same("restored values", &now.digest, &then.digest);
    compared.same("restored files", &now.paths, &then.paths);
    compared.same("restored bytes", now.bytes, then.bytes);
    compared.same(
        "restored columns",
        &now.partition_columns,
        &then.partition_columns,
    );
    compared.same(
        "restored clustering",
        &now.clustering_columns,
        &then.clustering_columns,
    );
    compared.same("restored id", &now.id, &then.id);
}
