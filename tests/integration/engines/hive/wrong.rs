//! Partitions that somebody else registered, or that an hour outgrew: reported with what mends each.

use serde_json::{Value, json};

use super::{PROGRESS, World, has, registered};

impl World {
    /// Registers a partition behind our back.
    async fn register(&self, values: [&str; 2], location: &str) {
        let [day, hour] = values;
        let call = format!(
            "call system.register_partition('learning', 'progress_raw', array['event_date', 'hour'], \
             array['{day}', '{hour}'], '{location}')"
        );
        self.trino.run(&call).await;
    }

    async fn unregister(&self, values: [&str; 2]) {
        let [day, hour] = values;
        let call = format!(
            "call system.unregister_partition('learning', 'progress_raw', array['event_date', 'hour'], \
             array['{day}', '{hour}'])"
        );
        self.trino.run(&call).await;
    }

    pub(super) async fn partitions_are_wrong(&mut self) {
        let day = self.lake.day.to_string();
        let run = |hour, run| self.lake.run(PROGRESS, hour, run);
        // Registered when it was closed, and mutated since.
        let more = format!("{}more.parquet", run(16, "r1"));
        self.lake.put(self.lake.slot(16), &more, 1650..1660).await;
        // Never closed, at the parent of whatever runs there will be.
        let late = self.lake.hour(PROGRESS, 20);
        self.lake
            .put_files(self.lake.slot(20), &late, 1, 2000)
            .await;
        self.register([&day, "20"], &late).await;
        // Declared by nobody, empty, a second time, and of a day that is not looked at.
        self.register([&day, "99"], &late).await;
        self.register([&day, "12"], &late).await;
        self.register([&day, "8"], &run(8, "r1")).await;
        self.register(["2001-01-01", "00"], &late).await;
        // At a run that was replaced.
        self.unregister([&day, "15"]).await;
        self.register([&day, "15"], &run(15, "r1")).await;

        let drop = |hour: &str| {
            format!(
                "ALTER TABLE learning.progress_raw DROP IF EXISTS PARTITION (event_date='{day}', hour='{hour}');"
            )
        };
        let entry = |hour: &str, why: String, mend: String| json!({ "partition": format!("event_date={day}/hour={hour}"), "why": why, "mend": mend });
        let (old, new) = (run(15, "r1"), run(15, "r2"));
        let old = old.trim_end_matches('/');
        let is =
            |hour: &str, state: &str| format!("it is registered, and {day} {hour}:00 is {state}");
        let twice = format!("{day} 08:00 is registered twice, and its rows are read twice");
        let wanted = vec![
            entry("12", is("12", "empty"), drop("12")),
            entry(
                "15",
                format!("it is read from {old}, and its marker names {new}"),
                format!(
                    "ALTER TABLE learning.progress_raw PARTITION (event_date='{day}', hour='15') SET LOCATION '{new}';"
                ),
            ),
            entry("16", is("16", "mutated"), drop("16")),
            entry("20", is("20", "late"), drop("20")),
            entry("8", twice, drop("8")),
            entry(
                "99",
                "the dataset has no such partition".to_owned(),
                drop("99"),
            ),
        ];
        let mut report = self.partitions(1);
        let mut wrong = report["wrong"].take();
        let found = wrong.as_array_mut().unwrap();
        found.sort_by_key(|entry| entry["partition"].to_string());
        assert_eq!(found, &wanted);
        has(&report, &[("outside", json!(1))]);
        println!(
            "engines: Hive: {} wrong partitions, each with what mends it",
            wanted.len()
        );

        // What the statements say, by an engine that has other words for it.
        for entry in &wanted {
            let partition = entry["partition"].as_str().unwrap();
            let hour = partition.rsplit_once('=').unwrap().1;
            match entry["mend"].as_str().unwrap().contains(" DROP ") {
                true => self.unregister([&day, hour]).await,
                false => registered(&self.lake.publish(PROGRESS, 15, "r2", "1"), "unchanged"),
            }
        }
        self.unregister(["2001-01-01", "00"]).await;
        self.closed.remove(&16);
        self.holds().await;
        has(
            &self.partitions(0),
            &[("wrong", json!([])), ("metastore_error", Value::Null)],
        );

        // A mutated hour is mended by another run, which is registered.
        self.write(16, "r2", 1, 1680).await;
        let words = ["--run", "r2", "--count", "1", "--replace"];
        registered(&self.lake.act("publish", PROGRESS, 16, &words), "published");
        self.reads(16, "r2", super::ids(1, 1680));
        self.holds().await;
    }
}
