//! Written by Spark, read by us: tables of every feature that Delta for Spark writes, on S3, looked
//! at after every statement and compared with what Spark holds to be true of them.

mod compare;
mod deviation;
mod driver;
mod restored;
mod streams;
mod tidied;

use std::collections::BTreeMap;
use std::sync::Arc;

use lake::answer::Root;
use object_store::ObjectStore;
use object_store::path::Path;
use tests::asking::Asking;
use tests::seaweed::{BUCKET, SeaweedFs};

use deviation::Deviations;
use driver::{Driver, Facts, Said};
use tidied::Tidied;

/// The prefix of all tables in the bucket.
const FOLDER: &str = "engines";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Spark: make engines"]
async fn spark_writes_and_we_read_the_same() {
    let seaweed = SeaweedFs::shared();
    let store: Arc<dyn ObjectStore> = Arc::new(seaweed.store());
    let url = format!("s3a://{BUCKET}/{FOLDER}");
    let mut spark = Driver::start(&seaweed, &url);
    let mut found = Deviations::default();
    let (mut statements, mut readers) = (0, 0);
    // The version that each table was restored to.
    let mut restored: BTreeMap<String, u64> = BTreeMap::new();
    // What Spark said of each table, oldest first.
    let mut told: BTreeMap<String, Vec<Facts>> = BTreeMap::new();

    let mut tidied = Tidied::default();
    // What our plans say of readers that stream a table, if they do.
    let mut streamed: BTreeMap<String, Option<String>> = BTreeMap::new();

    while let Some(said) = spark.next() {
        match said {
            Said::Facts(facts) => {
                let root = root(&store, &url, &facts.table);
                compare::now(&root, &facts, &mut found).await;
                let before = told.get(&facts.table).map_or(&[][..], Vec::as_slice);
                match facts.statement.as_str() {
                    restored::STATEMENT => {
                        let target = restored[&facts.table];
                        restored::compare(target, before, &facts, &mut found);
                    }
                    tidied::STATEMENT => tidied::compare(before, &facts, &mut found),
                    _ => {}
                }
                spark.go_on(&facts.table);
                told.entry(facts.table.clone()).or_default().push(*facts);
                statements += 1;
            }
            Said::Act { table, act } if act == "tidy" => {
                let root = root(&store, &url, &table);
                if let Err(error) = tidied.tidy(&root, &table).await {
                    found.add(&table, tidied::STATEMENT, "an act", &error.to_string());
                }
                spark.go_on_after_act(&table);
            }
            Said::Act { table, .. } => {
                let root = root(&store, &url, &table);
                let told = told.get(&table).map_or(&[][..], Vec::as_slice);
                match restored::restore(&root, told).await {
                    Ok(target) => {
                        restored.insert(table.clone(), target);
                        spark.go_on_after_act(&table);
                    }
                    Err(why) => {
                        println!("engines: spark: {table}: not restored: {why}");
                        spark.go_on(&table);
                    }
                }
            }
            Said::Streams {
                case,
                table,
                target,
            } => {
                let root = root(&store, &url, &table);
                match streams::restore(&root, target).await {
                    Ok(word) => drop(streamed.insert(case.clone(), word)),
                    Err(why) => found.add(&case, "", "restore", &why),
                }
                spark.go_on(&case);
            }
            Said::Ended { case, ends } => {
                let said = streamed[&case].as_deref();
                streams::compare(&case, said, &ends, &mut found);
                readers += 2 * ends.len();
                spark.go_on(&case);
            }
            Said::Whole { table, failed } => {
                if let Some(why) = failed {
                    found.add(&table, "", "spark", &why);
                }
                let told = told.get(&table).map_or(&[][..], Vec::as_slice);
                whole_table(&store, &url, told, &mut found).await;
                if !told.is_empty() {
                    println!("engines: spark: {table}: {} statements", told.len());
                }
            }
        }
    }

    println!(
        "engines: spark: {} tables, {statements} statements compared, {} tables restored and written on, {} deviations",
        told.len(),
        restored.len(),
        found.len()
    );
    println!(
        "engines: spark: {} tables packed and {} vacuumed of {} files, and written on",
        tidied.packed, tidied.vacuumed, tidied.deleted
    );
    println!(
        "engines: spark: {readers} readers of streams over {} restores by Spark and by us",
        streamed.len()
    );
    assert!(
        driver::only_some() || (tidied.packed > 15 && tidied.vacuumed > 22),
        "{tidied:?}"
    );
    assert!(
        driver::only_some() || streamed.len() == 12,
        "{} restores under streams",
        streamed.len()
    );
    assert!(
        driver::only_some() || restored.len() > 22,
        "only {} tables were restored",
        restored.len()
    );
    assert!(
        driver::only_some() || statements > 150,
        "only {statements} statements"
    );
    found.assert_all_known(driver::only_some());
}

/// What can be asked once a table is whole: its versions once more, now through its checkpoints;
/// what lies between them; and everything that a page asks.
async fn whole_table(
    store: &Arc<dyn ObjectStore>,
    url: &str,
    told: &[Facts],
    found: &mut Deviations,
) {
    let Some(last) = told.last() else { return };
    let root = root(store, url, &last.table);
    for facts in told {
        compare::then(&root, facts, found).await;
    }
    for pair in told.windows(2) {
        compare::between(&root, &pair[0], &pair[1], found).await;
    }
    for (question, error) in Asking::of(&root).everything(last.version).await {
        found.add(&last.table, &last.statement, question, &error.to_string());
    }
}

fn root(store: &Arc<dyn ObjectStore>, url: &str, table: &str) -> Root {
    Root {
        store: Arc::clone(store),
        path: Path::from(FOLDER).join(table),
        location: format!("{url}/{table}"),
    }
}
