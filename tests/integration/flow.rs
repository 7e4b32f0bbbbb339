//! The whole life of an hour on S3, by the commands that a scheduler runs: open, ended, packed,
//! published, registered, late, packed again. And the lesson that a reader learns: three objects, a
//! fourth, a new run.

use std::sync::Arc;
use std::time::Duration;

use lake::hours::{Day, Slot};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use serde_json::Value;
use server::acts::now;
use tests::hour;
use tests::script::Script;
use tests::seaweed::{BUCKET, SeaweedFs};

const DAY: &str = "2026-11-10";

/// Until a sink counts as gone, and a store's clock tells two keys apart.
const SETTLED: Duration = Duration::from_secs(4);

struct Lake {
    /// Ended with the last test that uses it.
    _seaweed: Arc<SeaweedFs>,
    store: Arc<dyn ObjectStore>,
    script: Script,
    prefix: &'static str,
}

impl Lake {
    fn new(prefix: &'static str) -> Self {
        let seaweed = SeaweedFs::shared();
        let config = format!(
            "[[zone]]\nname = \"raw\"\nurl = \"s3://{BUCKET}/\"\n\
             [[dataset]]\nname = \"learning.progress\"\nzone = \"raw\"\nprefix = \"{prefix}/\"\n\
             partition = [\"event_date\", \"hour\"]\nfirst = \"{DAY}\"\n\
             definition_version = \"progress-raw-1\"\nevent_time = \"event_time\"\n\
             close_after = \"1s\"\n"
        );
        Self {
            script: Script::new(&config, seaweed.environment()),
            store: Arc::new(seaweed.store()),
            prefix,
            _seaweed: seaweed,
        }
    }

    /// A key of an hour.
    fn key(&self, slot: Slot, name: &str) -> String {
        let hour = slot.hour.unwrap();
        let prefix = self.prefix;
        format!("{prefix}/event_date={}/hour={hour:02}/{name}", slot.day)
    }

    /// The key of an hour's marker, or of one below it.
    fn marker(&self, slot: Slot, below: &str) -> String {
        let hour = slot.hour.unwrap();
        let day = format!("{}/_markers/event_date={}", self.prefix, slot.day);
        format!("{day}/hour={hour:02}{below}.json")
    }

    async fn put(&self, slot: Slot, name: &str, bytes: Vec<u8>) {
        let key = Path::parse(self.key(slot, name)).unwrap();
        self.store.put(&key, bytes.into()).await.unwrap();
    }

    async fn get(&self, key: &str) -> Option<Vec<u8>> {
        let got = self.store.get(&Path::parse(key).unwrap()).await;
        Some(got.ok()?.bytes().await.unwrap().to_vec())
    }

    /// The URL of a run.
    fn run(&self, slot: Slot, run: &str) -> String {
        let key = self.key(slot, &format!("run_id={run}/"));
        format!("s3://{BUCKET}/{key}")
    }

    /// What the catalog is told of an hour.
    fn statement(&self, slot: Slot) -> Value {
        let day = slot.day.to_string();
        let window = ["--from", &day, "--to", &day];
        let told = [&["partitions", "learning.progress"], &window[..]].concat();
        let told = self.script.json(&told, 0);
        let statements = told["statements"].as_array().unwrap();
        let of = statements
            .iter()
            .find(|one| one["hour"] == slot.hour.unwrap());
        of.unwrap().clone()
    }
}

/// A command about an hour.
struct Of {
    day: String,
    hour: String,
}

fn of(slot: Slot) -> Of {
    Of {
        day: slot.day.to_string(),
        hour: slot.hour.unwrap().to_string(),
    }
}

impl Of {
    fn with<'a>(&'a self, command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let hour = [
            "learning.progress",
            "--date",
            &self.day,
            "--hour",
            &self.hour,
        ];
        [&[command], &hour[..], more].concat()
    }
}

/// The hour that runs now, and goes on running for as long as a test of it takes.
async fn open_hour() -> Slot {
    const ENOUGH: i64 = 60_000;
    let now = now();
    let left = 3_600_000 - now.0.rem_euclid(3_600_000);
    let now = match left < ENOUGH {
        false => now,
        true => {
            tokio::time::sleep(Duration::from_millis(left as u64 + 1_000)).await;
            server::acts::now()
        }
    };
    let hour = now.0.div_euclid(3_600_000).rem_euclid(24);
    Slot::hour(Day::of(now), u8::try_from(hour).unwrap())
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field}: {value}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_hour_has_no_marker_and_nobody_may_make_one() {
    let lake = Lake::new("flow-open");
    let slot = open_hour().await;
    let hour = of(slot);
    for n in 0..3 {
        let rows = hour::rows(slot, n * 10..n * 10 + 10);
        lake.put(slot, &format!("part-{n}.parquet"), rows).await;
    }
    lake.put(slot, "run_id=r1/part-0.parquet", hour::rows(slot, 0..10))
        .await;
    let said = lake.script.run(&hour.with("check", &[]));
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains(&format!("{slot} is open")), "{said:?}");
    let told = lake.script.json(&hour.with("check", &[]), 1);
    assert_eq!(
        (text(&told, "state"), &told["prefix"]),
        ("open", &Value::Null)
    );
    // In the grid it is open, and no alert.
    let grid = [
        "hours",
        "learning.progress",
        "--from",
        &hour.day,
        "--to",
        &hour.day,
    ];
    let told = lake.script.json(&grid, 0);
    let rows = told["hours"].as_array().unwrap();
    let row = &rows[usize::from(slot.hour.unwrap())];
    assert_eq!((text(row, "state"), &row["marker"]), ("open", &Value::Null));
    assert_eq!(row["objects"], 4);
    for act in [
        hour.with("compact", &["--apply"]),
        hour.with("publish", &["--run", "r1", "--count", "1"]),
        hour.with("publish", &["--empty", "--reason", "nobody learned"]),
    ] {
        let told = lake.script.json(&act, 1);
        assert_eq!(text(&told, "outcome"), "refused", "{act:?}: {told}");
        let why = text(&told, "refused");
        assert!(
            why.contains("is open") || why.contains("has not ended"),
            "{act:?}: {why}"
        );
    }
    let told = lake.statement(slot);
    assert!(told["statement"].is_null(), "{told}");
    assert!(text(&told, "refused").contains("is open"), "{told}");
    let markers = hour::listed(&lake.store, "flow-open/_markers").await;
    assert!(markers.is_empty(), "{markers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_hour_is_packed_published_registered_and_takes_late_data_in() {
    let lake = Lake::new("flow-life");
    let slot = Slot::hour(DAY.parse().unwrap(), 8);
    let hour = of(slot);
    for n in 0..40 {
        let rows = hour::rows(slot, n * 25..n * 25 + 25);
        lake.put(slot, &format!("part-{n:02}.parquet"), rows).await;
    }
    // Its neighbour is left alone: nothing closes it.
    let late = Slot::hour(slot.day, 9);
    lake.put(late, "part-0.parquet", hour::rows(late, 0..10))
        .await;
    let said = lake.script.run(&hour.with("check", &[]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("2026-11-10 08:00 is late"), "{said:?}");

    tokio::time::sleep(SETTLED).await;
    let told = lake.script.json(&hour.with("compact", &["--apply"]), 0);
    let states = (text(&told, "outcome"), text(&told, "state"));
    assert_eq!(states, ("published", "closed"), "{told}");
    let first = text(&told["marker"], "run_id").to_owned();
    let prefix = lake.run(slot, &first);
    assert_eq!(text(&told["marker"], "prefix"), prefix);
    let body = lake.get(&lake.marker(slot, "")).await.unwrap();
    let marker: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(marker, told["marker"]);
    assert_eq!(marker["object_count"], 1);
    assert_eq!(marker["supersedes"], Value::Null);
    let said = lake.script.run(&hour.with("check", &[]));
    assert_eq!((said.code, said.out), (0, format!("{prefix}\n")));
    let below = |run: &str| lake.key(slot, &format!("run_id={run}"));
    assert_eq!(
        hour::ids(&lake.store, &below(&first)).await,
        (0..1000).collect::<Vec<i64>>()
    );

    // A retry says that nothing had to be done, whatever run it names.
    lake.put(slot, "run_id=other/part-0.parquet", hour::rows(slot, 0..10))
        .await;
    for (run, count) in [(first.as_str(), "1"), ("other", "1")] {
        let retry = hour.with("publish", &["--run", run, "--count", count]);
        let told = lake.script.json(&retry, 0);
        assert_eq!(text(&told, "outcome"), "unchanged", "{run}: {told}");
        assert!(text(&told, "message").contains(&first), "{run}: {told}");
        let said = lake.script.run(&retry);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.out.contains(text(&told, "message")), "{said:?}");
    }
    assert_eq!(lake.get(&lake.marker(slot, "")).await.unwrap(), body);

    // The catalog is told of the run, and of no hour that is not closed.
    let told = lake.statement(slot);
    let add = format!(
        "ALTER TABLE `learning`.`progress_raw` ADD IF NOT EXISTS PARTITION \
         (`event_date`='2026-11-10', `hour`='08') LOCATION '{prefix}';"
    );
    assert_eq!(
        text(&told, "statement").replace('`', ""),
        add.replace('`', "")
    );
    let told = lake.statement(late);
    assert!(told["statement"].is_null(), "{told}");
    let refused = "2026-11-10 09:00 is late: only closed hours are registered";
    assert_eq!(text(&told, "refused"), refused);

    // A late key is late data, and the hour stays what it is.
    lake.put(slot, "late.parquet", hour::rows(slot, 1000..1010))
        .await;
    let told = lake.script.json(&hour.with("check", &[]), 0);
    assert_eq!(
        (text(&told, "state"), text(&told, "prefix")),
        ("closed", prefix.as_str())
    );
    let reasons = told["reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{told}");
    assert!(
        text(&reasons[0], "message").starts_with("late data"),
        "{told}"
    );
    assert_eq!(text(&reasons[0], "key"), lake.key(slot, "late.parquet"));

    // A new run takes it in.
    tokio::time::sleep(SETTLED).await;
    let told = lake
        .script
        .json(&hour.with("compact", &["--with-late", "--apply"]), 0);
    assert_eq!(text(&told, "outcome"), "published", "{told}");
    assert_eq!(text(&told, "superseded_run"), first);
    assert_eq!(text(&told["marker"], "supersedes"), first);
    let second = text(&told["marker"], "run_id").to_owned();
    assert_ne!(first, second);
    let told = lake.script.json(&hour.with("check", &[]), 0);
    assert_eq!(text(&told, "prefix"), lake.run(slot, &second));
    assert_eq!(told["reasons"], serde_json::json!([]), "{told}");
    assert_eq!(
        hour::ids(&lake.store, &below(&second)).await,
        (0..1010).collect::<Vec<i64>>()
    );
    // The old marker can be read as it was, and so can its run.
    let old = lake.get(&lake.marker(slot, &format!("/{first}"))).await;
    assert_eq!(old.as_deref(), Some(body.as_slice()));
    assert_eq!(hour::ids(&lake.store, &below(&first)).await.len(), 1000);
    let told = lake.statement(slot);
    assert!(
        text(&told, "statement").contains(&lake.run(slot, &second)),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_takes_three_objects_refuses_a_fourth_and_takes_a_new_run() {
    let lake = Lake::new("flow-lab");
    let slot = Slot::hour(DAY.parse().unwrap(), 13);
    let hour = of(slot);
    let part = |run: &str, n: i64| {
        let name = format!("run_id={run}/part-{n}.parquet");
        (name, hour::rows(slot, n * 10..n * 10 + 10))
    };
    for n in 0..3 {
        let (name, rows) = part("r1", n);
        lake.put(slot, &name, rows).await;
    }
    let told = lake
        .script
        .json(&hour.with("publish", &["--run", "r1", "--count", "3"]), 0);
    assert_eq!(told["marker"]["object_count"], 3);
    let said = lake.script.run(&hour.with("check", &[]));
    assert_eq!(
        (said.code, said.out),
        (0, format!("{}\n", lake.run(slot, "r1")))
    );

    let (name, rows) = part("r1", 3);
    lake.put(slot, &name, rows).await;
    let said = lake.script.run(&hour.with("check", &[]));
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains("is mutated"), "{said:?}");
    let told = lake.script.json(&hour.with("check", &[]), 1);
    assert_eq!(
        (text(&told, "state"), &told["prefix"]),
        ("mutated", &Value::Null)
    );
    let reasons = told["reasons"].as_array().unwrap().iter();
    let keys: Vec<&str> = reasons
        .filter_map(|reason| reason["key"].as_str())
        .collect();
    assert!(keys.contains(&lake.key(slot, &name).as_str()), "{told}");
    let told = lake.statement(slot);
    assert!(text(&told, "refused").contains("is mutated"), "{told}");

    for n in 0..4 {
        let (name, rows) = part("r2", n);
        lake.put(slot, &name, rows).await;
    }
    let told = lake
        .script
        .json(&hour.with("publish", &["--run", "r2", "--count", "4"]), 0);
    assert_eq!(text(&told, "superseded_run"), "r1", "{told}");
    let said = lake.script.run(&hour.with("check", &[]));
    assert_eq!(
        (said.code, said.out),
        (0, format!("{}\n", lake.run(slot, "r2")))
    );
    assert_eq!(
        hour::ids(&lake.store, &lake.key(slot, "run_id=r2")).await,
        (0..40).collect::<Vec<i64>>()
    );
}
