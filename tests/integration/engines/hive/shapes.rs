//! Tables whose partition columns are not texts, are whole days, or are others than the dataset's.

use serde_json::{Value, json};

use super::datasets::url;
use super::{World, has, registered, unregistered};

/// A dataset whose table has a date and a number.
pub(super) const NUMBERS: &str = "numbers";
/// A dataset of whole days.
pub(super) const DAILY: &str = "daily";
/// A dataset of hours that names the table of [`DAILY`].
pub(super) const OTHER: &str = "other";

pub(super) async fn tables_of_other_shapes(world: &World) {
    let World {
        lake, hive, trino, ..
    } = world;
    let day = lake.day.to_string();
    for (dataset, columns, by) in [
        (
            NUMBERS,
            "event_date date, hour integer",
            "array['event_date', 'hour']",
        ),
        (DAILY, "event_date date", "array['event_date']"),
    ] {
        let create = format!(
            "create table learning.{dataset} (id bigint, event_time timestamp(3), {columns}) with \
             (external_location = '{}', format = 'PARQUET', partitioned_by = {by})",
            url(dataset)
        );
        trino.run(&create).await;
    }
    let values = |table: &str| -> Vec<Vec<String>> {
        let all = hive.partitions("learning", table);
        all.into_iter().map(|partition| partition.values).collect()
    };

    // A column of numbers has no zero before an hour.
    for hour in [0, 8] {
        let run = lake.run(NUMBERS, hour, "r1");
        lake.put_files(lake.slot(hour), &run, 1, 100 * i64::from(hour))
            .await;
        registered(&lake.publish(NUMBERS, hour, "r1", "1"), "published");
    }
    assert_eq!(
        values("numbers"),
        [[day.as_str(), "0"], [day.as_str(), "8"]]
    );
    let select = "select cast(event_date as varchar), hour, min(id), count(*) from learning.numbers \
                  group by 1, 2 order by 2";
    let read = trino.run(select).await;
    assert_eq!(json!(read), json!([[day, 0, 0, 10], [day, 8, 800, 10]]));
    let said = lake.tidemark(&["partitions", NUMBERS]);
    assert_eq!(said.code, Some(0), "{said:?}");
    has(
        &said.json,
        &[("wrong", json!([])), ("metastore_error", Value::Null)],
    );

    let whole = lake::hours::Slot::day(lake.day);
    let run = format!("{}event_date={day}/run_id=r1/", url(DAILY));
    lake.put_files(whole, &run, 2, 0).await;
    let publish = |run: &str| {
        lake.tidemark(&[
            "publish", DAILY, "--date", &day, "--run", run, "--count", "2",
        ])
    };
    registered(&publish("r1"), "published");
    assert_eq!(values("daily"), [[day.as_str()]]);
    let read = trino
        .run("select count(*), max(id) from learning.daily")
        .await;
    assert_eq!(json!(read), json!([[20, 19]]));

    // The table of another dataset is left alone.
    lake.put_files(lake.slot(8), &lake.run(OTHER, 8, "r1"), 1, 0)
        .await;
    let why = unregistered(&lake.publish(OTHER, 8, "r1", "1"));
    let wanted = "the table is partitioned by event_date, the dataset by event_date, hour";
    assert!(why.contains(wanted), "{why}");
    assert_eq!(values("daily"), [[day.as_str()]]);
    println!("engines: Hive: tables by date and number, by day, and by what is not the dataset's");
}
