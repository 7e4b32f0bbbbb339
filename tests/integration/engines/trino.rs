//! Read by Trino after our acts, and written on by it: a table that deltalake wrote, and one with
//! deletion vectors that Trino wrote itself.

mod table;

use tests::seaweed::{BUCKET, SeaweedFs};
use tests::trino::Trino;

use table::Table;

/// Rows that Trino writes.
const LEARNERS: &str = "select n id, case n % 3 when 0 then 'US' when 1 then 'UK' end region, n / 4e0 score, \
                        from_unixtime(n) seen from unnest(sequence";

#[tokio::test]
#[ignore = "needs Trino: make engines"]
async fn trino_reads_and_writes_after_our_acts() {
    let seaweed = SeaweedFs::shared();
    let trino = Trino::start(&seaweed).await;

    let mut learners = Table::new(&seaweed, &trino, "learners");
    learners.write_by_deltalake();
    let register = format!(
        "call delta.system.register_table('default', 'learners', '{}')",
        learners.url()
    );
    trino.run(&register).await;
    learners.look().await;
    // Over the delete of a partition, then over that restore: the merge is undone too.
    learners.restore(4).await;
    learners.restore(1).await;
    learners.restore(5).await;
    learners
        .written_on(&[
            &format!("insert into learners {LEARNERS}(900, 919)) t(n)"),
            "delete from learners where id % 7 = 2",
            "update learners set score = score + 1 where region = 'a b'",
            "alter table learners execute optimize",
            "merge into learners t using (select 900 id union all select 5000) s on t.id = s.id \
             when matched then delete when not matched then insert (id, region) values (s.id, 'new')",
        ])
        .await;
    learners.restore(0).await;
    learners.restore(3).await;
    learners.optimize().await;
    learners.vacuum().await;
    learners
        .written_on(&[
            &format!("insert into learners {LEARNERS}(500, 509)) t(n)"),
            "delete from learners where id between 205 and 505",
            "alter table learners execute optimize",
        ])
        .await;

    let mut vectors = Table::new(&seaweed, &trino, "vectors");
    let create = format!(
        "create table vectors with (location = '{}', partitioned_by = array['region'], \
         deletion_vectors_enabled = true, checkpoint_interval = 3) as {LEARNERS}(0, 99)) t(n)",
        vectors.url()
    );
    for statement in [
        create.as_str(),
        "delete from vectors where id % 10 = 3",
        "delete from vectors where id % 10 = 4",
        "update vectors set score = score + 1 where id < 5",
        "delete from vectors where region = 'UK' and id > 50",
    ] {
        trino.run(statement).await;
    }
    vectors.look().await;
    vectors.restore(1).await;
    vectors.restore(3).await;
    vectors
        .written_on(&[
            &format!("insert into vectors {LEARNERS}(900, 919)) t(n)"),
            "delete from vectors where id % 7 = 2",
            "update vectors set score = score + 1 where region is null",
        ])
        .await;
    // Trino packs only now that there are no vectors: in this version it removes files that have one
    // without naming it, which is trinodb/trino#31253.
    vectors.optimize().await;
    vectors.vacuum().await;
    vectors
        .written_on(&[
            &format!("insert into vectors {LEARNERS}(500, 509)) t(n)"),
            "alter table vectors execute optimize",
            "delete from vectors where id % 9 = 2",
        ])
        .await;
    println!(
        "engines: Trino: {} acts read and {} statements written after them, in s3://{BUCKET}",
        learners.acts + vectors.acts,
        learners.statements + vectors.statements
    );
}
