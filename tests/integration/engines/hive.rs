//! A real Hive metastore is told of closed hours by the built binary, and Trino reads by what it
//! holds: exactly the closed hours, each from the run that its marker names, whatever the metastore
//! was up to meanwhile.

mod datasets;
mod shapes;
mod wrong;

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use lake::plan::{Act, PlanRequest};
use serde_json::{Value, json};
use server::acts;
use tests::hive::{Hive, Partition};
use tests::seaweed::SeaweedFs;
use tests::trino::Trino;

use self::datasets::{Lake, Said, url};

const PROGRESS: &str = "progress";

/// A whole registration takes at most this long, by the binary's own words.
const PATIENCE: Duration = Duration::from_secs(10);

/// Two publishers at once, so often.
const RACES: u32 = 8;

/// What the world should look like: hour by hour the run that is read, and its ids.
struct World {
    lake: Lake,
    hive: Hive,
    trino: Trino,
    closed: BTreeMap<u8, (String, Vec<i64>)>,
    /// How often the metastore and Trino were compared with it.
    compared: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Hive metastore and Trino: make engines"]
async fn a_metastore_holds_the_closed_hours_and_trino_reads_them() {
    let begun = Instant::now();
    let seaweed = SeaweedFs::shared();
    let mut hive = Hive::start(&seaweed);
    let trino = Trino::over(&hive, &seaweed).await;
    hive.wait();
    let hours = "\"event_date\", \"hour\"";
    let lake = Lake::new(
        &seaweed,
        &hive.uri(),
        &[
            (PROGRESS, hours, "learning.progress_raw"),
            (shapes::NUMBERS, hours, "learning.numbers"),
            (shapes::DAILY, "\"event_date\"", "learning.daily"),
            (shapes::OTHER, hours, "learning.daily"),
        ],
    );
    println!("engines: Hive: ready after {} s", begun.elapsed().as_secs());
    let mut world = World {
        lake,
        hive,
        trino,
        closed: BTreeMap::new(),
        compared: 0,
    };
    world.a_table_that_is_missing().await;
    world.hours_are_closed().await;
    world.hours_get_new_runs().await;
    world.the_server_does_the_same().await;
    world.publishers_race().await;
    world.the_metastore_is_down().await;
    world.the_metastore_hangs().await;
    world.partitions_are_wrong().await;
    shapes::tables_of_other_shapes(&world).await;
    println!(
        "engines: Hive: {} hours registered; metastore and Trino compared {} times, {} s in all",
        world.closed.len(),
        world.compared,
        begun.elapsed().as_secs()
    );
}

fn has(told: &Value, wanted: &[(&str, Value)]) {
    for (name, value) in wanted {
        assert_eq!(&told[name], value, "{name}: {told:#}");
    }
}

/// The marker stands, and the partition is not registered: why.
fn unregistered(said: &Said) -> String {
    assert_eq!(said.code, Some(0), "{said:?}");
    let wanted = [
        ("outcome", json!("published")),
        ("state", json!("closed")),
        ("registered", json!(false)),
    ];
    has(&said.json, &wanted);
    said.json["registration_error"].as_str().unwrap().to_owned()
}

fn registered(said: &Said, outcome: &str) {
    assert_eq!(said.code, Some(0), "{said:?}");
    let wanted = [
        ("outcome", json!(outcome)),
        ("state", json!("closed")),
        ("registered", json!(true)),
        ("registration_error", Value::Null),
    ];
    has(&said.json, &wanted);
}

/// Ids of so many files of ten rows.
fn ids(files: i64, first: i64) -> Vec<i64> {
    (first..first + 10 * files).collect()
}

impl World {
    /// Writes a run; its ids are those of no other.
    async fn write(&self, hour: u8, run: &str, files: i64, first: i64) {
        let url = self.lake.run(PROGRESS, hour, run);
        let slot = self.lake.slot(hour);
        self.lake.put_files(slot, &url, files, first).await;
    }

    /// What an hour should be read from, from now on.
    fn reads(&mut self, hour: u8, run: &str, ids: Vec<i64>) {
        let prefix = self.lake.run(PROGRESS, hour, run);
        assert_eq!(
            self.lake.check(PROGRESS, hour),
            (Some(0), json!(prefix)),
            "hour {hour}"
        );
        self.closed.insert(hour, (prefix, ids));
    }

    /// The metastore holds these hours and nothing else, and Trino reads their rows and no others.
    async fn holds(&mut self) {
        let day = self.lake.day.to_string();
        let held: Vec<Partition> = self
            .closed
            .iter()
            .map(|(hour, (prefix, _))| Partition {
                values: vec![day.clone(), format!("{hour:02}")],
                location: prefix.trim_end_matches('/').to_owned(),
            })
            .collect();
        assert_eq!(self.hive.partitions("learning", "progress_raw"), held);
        let start = self.lake.day.start().0;
        let mut rows = Vec::new();
        for (hour, (prefix, ids)) in &self.closed {
            let (prefix, begins) = (
                prefix.trim_end_matches('/'),
                start + i64::from(*hour) * 3_600_000,
            );
            rows.extend(
                ids.iter()
                    .map(|id| json!([id, begins + id, day, format!("{hour:02}"), prefix])),
            );
        }
        rows.sort_by_key(|row| row[0].as_i64());
        let select = "select id, cast(to_unixtime(event_time) * 1000 as bigint), event_date, hour, \
                      regexp_replace(\"$path\", '/[^/]*$') from learning.progress_raw order by id";
        let read = self.trino.run(select).await;
        assert_eq!(json!(read), json!(rows));
        self.compared += 1;
    }

    /// Refused by the metastore: there is no such table yet.
    async fn a_table_that_is_missing(&mut self) {
        self.write(8, "r1", 2, 800).await;
        let why = unregistered(&self.lake.publish(PROGRESS, 8, "r1", "2"));
        assert!(why.contains("the metastore refuses: "), "{why}");
        assert!(
            why.contains("learning.progress_raw table not found"),
            "{why}"
        );
        let day = self.lake.day.to_string();
        let printed = self.lake.printed(&[
            "publish", PROGRESS, "--date", &day, "--hour", "8", "--run", "r1", "--count", "2",
        ]);
        assert!(printed.contains("no: the metastore refuses: "), "{printed}");
        for statement in [
            "create schema learning",
            &format!(
                "create table learning.progress_raw (id bigint, event_time timestamp(3), \
                 event_date varchar, hour varchar) with (external_location = '{}', \
                 format = 'PARQUET', partitioned_by = array['event_date', 'hour'])",
                url(PROGRESS)
            ),
        ] {
            self.trino.run(statement).await;
        }
        self.holds().await;
        // Two retries at once: whoever is second finds it done.
        let retry = || self.lake.publish(PROGRESS, 8, "r1", "2");
        let both = thread::scope(|scope| {
            let (one, other) = (scope.spawn(retry), scope.spawn(retry));
            [one.join().unwrap(), other.join().unwrap()]
        });
        for said in both {
            registered(&said, "unchanged");
        }
        self.reads(8, "r1", ids(2, 800));
        self.holds().await;
    }

    /// Closed hours are registered; an open one, one that nobody closed, and an empty one are not.
    async fn hours_are_closed(&mut self) {
        for (hour, files) in [(9, 2), (10, 3), (11, 2)] {
            let first = 100 * i64::from(hour);
            self.write(hour, "r1", files, first).await;
            // Loose keys beside the run are nobody's.
            let loose = format!("{}loose.parquet", self.lake.hour(PROGRESS, hour));
            self.lake
                .put(self.lake.slot(hour), &loose, first + 90..first + 95)
                .await;
            let said = self.lake.publish(PROGRESS, hour, "r1", &files.to_string());
            registered(&said, "published");
            self.reads(hour, "r1", ids(files, first));
        }
        let late = self.lake.hour(PROGRESS, 13);
        self.lake
            .put_files(self.lake.slot(13), &late, 3, 1300)
            .await;
        let said = self
            .lake
            .act("publish", PROGRESS, 12, &["--empty", "--reason", "a test"]);
        has(
            &said.json,
            &[
                ("outcome", json!("published")),
                ("state", json!("empty")),
                ("registered", Value::Null),
            ],
        );

        let open = {
            let now = acts::now();
            let day = lake::hours::Day::of(now);
            lake::hours::Slot::hour(day, ((now.0 - day.start().0) / 3_600_000) as u8)
        };
        let (day, hour) = (open.day.to_string(), open.hour.unwrap().to_string());
        let at = format!(
            "{}event_date={day}/hour={:02}/",
            url(PROGRESS),
            open.hour.unwrap()
        );
        self.lake.put_files(open, &at, 1, 0).await;
        self.lake
            .put_files(open, &format!("{at}run_id=r1/"), 1, 50)
            .await;
        let said = self.lake.tidemark(&[
            "publish", PROGRESS, "--date", &day, "--hour", &hour, "--run", "r1", "--count", "1",
        ]);
        assert_eq!(said.code, Some(1), "{said:?}");
        has(
            &said.json,
            &[("outcome", json!("refused")), ("registered", Value::Null)],
        );
        let why = said.json["refused"].as_str().unwrap();
        assert!(why.contains(" is open: it ends at "), "{why}");
        self.holds().await;

        let report = self.partitions(0);
        has(
            &report,
            &[
                ("wrong", json!([])),
                ("outside", json!(0)),
                ("metastore_error", Value::Null),
            ],
        );
        let mut told = 0;
        for row in report["statements"].as_array().unwrap() {
            let (date, hour) = (
                row["date"].as_str().unwrap(),
                row["hour"].as_u64().unwrap() as u8,
            );
            let mine = date == self.lake.day.to_string();
            if let Some((prefix, _)) = self.closed.get(&hour).filter(|_| mine) {
                let statement = format!(
                    "ALTER TABLE learning.progress_raw PARTITION (event_date='{date}', hour='{hour:02}') SET LOCATION '{prefix}';"
                );
                has(
                    row,
                    &[("statement", json!(statement)), ("refused", Value::Null)],
                );
                told += 1;
                continue;
            }
            assert_eq!(row["statement"], Value::Null, "{row}");
            let state = match (mine, hour) {
                (true, 13) => Some("late"),
                (true, 12) => Some("empty"),
                _ if date == open.day.to_string() && Some(hour) == open.hour => Some("open"),
                _ => None,
            };
            if let Some(state) = state {
                let why =
                    format!("{date} {hour:02}:00 is {state}: only closed hours are registered");
                has(row, &[("refused", json!(why))]);
            }
        }
        assert_eq!(told, self.closed.len());
    }

    /// By command line: another run, a compaction, the first run again, an hour's first compaction.
    async fn hours_get_new_runs(&mut self) {
        self.write(9, "r2", 1, 950).await;
        let said = self.lake.act(
            "publish",
            PROGRESS,
            9,
            &["--run", "r2", "--count", "1", "--replace"],
        );
        registered(&said, "published");
        self.reads(9, "r2", ids(1, 950));
        self.holds().await;

        // Loose keys that lay there before the marker are no late data.
        let said = self.lake.act("compact", PROGRESS, 10, &["--apply"]);
        registered(&said, "published");
        let run = said.json["marker"]["run_id"].as_str().unwrap();
        has(
            &said.json,
            &[("superseded_run", json!("r1")), ("objects", json!(1))],
        );
        self.reads(10, run, ids(3, 1000));
        self.holds().await;

        registered(
            &self.lake.act("repoint", PROGRESS, 9, &["--run", "r1"]),
            "published",
        );
        self.reads(9, "r1", ids(2, 900));
        let said = self.lake.act("compact", PROGRESS, 13, &["--apply"]);
        registered(&said, "published");
        let run = said.json["marker"]["run_id"].as_str().unwrap();
        self.reads(13, run, ids(3, 1300));
        self.holds().await;
        registered(
            &self.lake.act("compact", PROGRESS, 13, &["--apply"]),
            "unchanged",
        );
        registered(
            &self.lake.act("repoint", PROGRESS, 9, &["--run", "r1"]),
            "unchanged",
        );
    }

    /// An act on an hour of the page's.
    fn asked(&self, kind: Act, hour: u8, run: Option<(&str, Option<u64>)>) -> PlanRequest {
        PlanRequest {
            kind,
            date: Some(self.lake.day),
            hour: Some(hour),
            run: run.map(|(run, _)| run.to_owned()),
            count: run.and_then(|(_, count)| count),
            ..PlanRequest::default()
        }
    }

    async fn the_server_does_the_same(&mut self) {
        let served = self.lake.served();
        let there = [("outcome", json!("published")), ("registered", json!(true))];
        self.write(15, "r1", 2, 1500).await;
        let publish = self.asked(Act::Publish, 15, Some(("r1", Some(2))));
        has(&self.lake.by_page(&served, PROGRESS, publish).await, &there);
        self.reads(15, "r1", ids(2, 1500));
        let compact = self.asked(Act::Compact, 11, None);
        let told = self.lake.by_page(&served, PROGRESS, compact).await;
        has(&told, &there);
        self.reads(11, told["marker"]["run_id"].as_str().unwrap(), ids(2, 1100));
        self.holds().await;
        let back = self.asked(Act::Repoint, 11, Some(("r1", None)));
        has(&self.lake.by_page(&served, PROGRESS, back).await, &there);
        self.reads(11, "r1", ids(2, 1100));
        self.write(15, "r2", 1, 1550).await;
        let mut better = self.asked(Act::Publish, 15, Some(("r2", Some(1))));
        better.replace = true;
        has(&self.lake.by_page(&served, PROGRESS, better).await, &there);
        self.reads(15, "r2", ids(1, 1550));
        self.holds().await;
    }

    /// Two publishers of one hour, ever further apart: whoever the metastore hears last, it holds the
    /// run that the marker names.
    async fn publishers_race(&mut self) {
        let mut lost = 0;
        for round in 0..RACES {
            let runs = [format!("a{round}"), format!("b{round}")];
            let first = 2100 + 20 * i64::from(round);
            self.write(21, &runs[0], 1, first).await;
            self.write(21, &runs[1], 1, first + 10).await;
            let lake = &self.lake;
            let publish = |run: &str, after: u32| {
                thread::sleep(Duration::from_millis(20) * after);
                let words = ["--run", run, "--count", "1", "--replace"];
                lake.act("publish", PROGRESS, 21, &words)
            };
            let both = thread::scope(|scope| {
                let one = scope.spawn(|| publish(&runs[0], 0));
                let other = scope.spawn(|| publish(&runs[1], round));
                [one.join().unwrap(), other.join().unwrap()]
            });
            for said in &both {
                match said.code {
                    Some(3) => lost += 1,
                    _ => registered(said, "published"),
                }
            }
            let (_, prefix) = self.lake.check(PROGRESS, 21);
            let won = usize::from(prefix == json!(self.lake.run(PROGRESS, 21, &runs[1])));
            let first = first + if won == 1 { 10 } else { 0 };
            self.reads(21, &runs[won], ids(1, first));
            self.holds().await;
        }
        println!("engines: Hive: {RACES} races of two publishers, {lost} told of the winner");
    }

    /// Killed and started again: markers stand, and a retry registers what is still closed.
    async fn the_metastore_is_down(&mut self) {
        for hour in [16, 17, 18] {
            self.write(hour, "r1", 1, 100 * i64::from(hour)).await;
        }
        let served = self.lake.served();
        self.hive.down();
        for hour in [16, 18] {
            let why = unregistered(&self.lake.publish(PROGRESS, hour, "r1", "1"));
            assert!(why.contains("cannot be talked to"), "{why}");
            assert!(why.contains(&self.hive.uri()), "{why}");
            let prefix = self.lake.run(PROGRESS, hour, "r1");
            assert_eq!(self.lake.check(PROGRESS, hour), (Some(0), json!(prefix)));
        }
        let publish = self.asked(Act::Publish, 17, Some(("r1", Some(1))));
        let told = self.lake.by_page(&served, PROGRESS, publish.clone()).await;
        has(
            &told,
            &[
                ("outcome", json!("published")),
                ("state", json!("closed")),
                ("registered", json!(false)),
            ],
        );
        let audit = self.lake.audit(&served).await;
        assert!(
            audit
                .iter()
                .any(|said| said.contains("17:00: run r1 is published")
                    && said.contains("the catalog was not told: ")),
            "{audit:?}"
        );
        let report = self.partitions(4);
        has(&report, &[("wrong", Value::Null), ("outside", Value::Null)]);
        let why = report["metastore_error"].as_str().unwrap();
        assert!(why.contains("cannot be talked to"), "{why}");
        assert!(report["statements"].as_array().unwrap().len() > 24);

        self.hive.up();
        self.hive.wait();
        self.holds().await;
        registered(&self.lake.publish(PROGRESS, 16, "r1", "1"), "unchanged");
        self.reads(16, "r1", ids(1, 1600));
        let told = self.lake.by_page(&served, PROGRESS, publish).await;
        has(
            &told,
            &[("outcome", json!("unchanged")), ("registered", json!(true))],
        );
        self.reads(17, "r1", ids(1, 1700));
        // What is mutated by then is refused, and not registered.
        let more = format!("{}more.parquet", self.lake.run(PROGRESS, 18, "r1"));
        self.lake.put(self.lake.slot(18), &more, 1850..1860).await;
        let said = self.lake.publish(PROGRESS, 18, "r1", "1");
        assert_eq!(said.code, Some(1), "{said:?}");
        has(
            &said.json,
            &[
                ("outcome", json!("refused")),
                ("state", json!("mutated")),
                ("registered", Value::Null),
            ],
        );
        let why = said.json["refused"].as_str().unwrap();
        assert!(why.contains("no longer what its marker says"), "{why}");
        self.holds().await;
    }

    /// It takes connections and says nothing: an act ends in time.
    async fn the_metastore_hangs(&mut self) {
        self.write(19, "r1", 1, 1900).await;
        self.hive.hold();
        let begun = Instant::now();
        let said = self.lake.publish(PROGRESS, 19, "r1", "1");
        let took = begun.elapsed();
        self.hive.release();
        let why = unregistered(&said);
        assert!(why.contains("did not answer within 10 s"), "{why}");
        assert!(
            took >= PATIENCE && took < PATIENCE + Duration::from_secs(5),
            "{took:?}"
        );
        println!(
            "engines: Hive: hangs, and a publish ends after {:.1} s",
            took.as_secs_f32()
        );
        self.holds().await;
        registered(&self.lake.publish(PROGRESS, 19, "r1", "1"), "unchanged");
        self.reads(19, "r1", ids(1, 1900));
        self.holds().await;
    }

    /// `tidemark partitions`, which ends with a code.
    fn partitions(&self, code: i32) -> Value {
        let said = self.lake.tidemark(&["partitions", PROGRESS]);
        assert_eq!(said.code, Some(code), "{said:?}");
        said.json
    }
}
