//! Tables packed and vacuumed by us, which Spark reads and goes on from.

use lake::Result;
use lake::answer::Root;
use lake::plan::Outcome;

use super::super::acts;
use super::deviation::{Comparison, Deviations};
use super::driver::Facts;

/// What Spark says it has just seen.
pub(super) const STATEMENT: &str = "packed and vacuumed by Tidemark";

/// What was done to tables.
#[derive(Debug, Default)]
pub(super) struct Tidied {
    pub(super) packed: usize,
    pub(super) vacuumed: usize,
    pub(super) deleted: u64,
}

impl Tidied {
    /// Packs a table and deletes what it then needs no longer.
    pub(super) async fn tidy(&mut self, root: &Root, table: &str) -> Result<()> {
        let outcome = acts::optimize(root).await?;
        self.packed += usize::from(done(&outcome, table, "packed"));
        let outcome = acts::vacuum(root).await?;
        self.vacuumed += usize::from(done(&outcome, table, "vacuumed"));
        self.deleted += outcome.applied.map_or(0, |applied| applied.deleted);
        Ok(())
    }
}

fn done(outcome: &Outcome, table: &str, word: &str) -> bool {
    if let Some(why) = &outcome.plan.refused {
        println!("engines: spark: {table}: not {word}: {why}");
    }
    outcome.applied.is_some()
}

/// The table as Spark sees it now against what it saw just before.
pub(super) fn compare(told: &[Facts], now: &Facts, found: &mut Deviations) {
    let Some(before) = told.last() else { return };
    let mut compared = Comparison {
        table: &now.table,
        statement: STATEMENT,
        found,
    };
    compared.same("tidied rows", now.rows, before.rows);
    compared.same("tidied values", &now.digest, &before.digest);
    compared.same("tidied id", &now.id, &before.id);
    compared.same("tidied schema", &now.schema, &before.schema);
    compared.same("tidied properties", &now.properties, &before.properties);
    compared.same("tidied features", &now.features, &before.features);
    compared.same(
        "tidied clustering",
        &now.clustering_columns,
        &before.clustering_columns,
    );
}
