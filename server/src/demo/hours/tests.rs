//! Each state where it should be, at any time of the day.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::UNIX_EPOCH;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use lake::hours::judge::{Completeness, Evidence, Markers, Verdict, judge};
use lake::hours::listing::{Listing, Object};
use lake::hours::template::{Template, Tree};
use lake::hours::{State, key};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;

/// 1 March 2026, 00:20, 13:07 and 23:58.
const TIMES: [i64; 3] = [1_772_324_400_000, 1_772_370_420_000, 1_772_409_480_000];

struct Lake {
    config: Config,
    now: Time,
    _folder: tempfile::TempDir,
}

fn lake(now: i64) -> Lake {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().canonicalize().unwrap();
    for name in ["curated", "tlp-landing", "tlp-raw", "tlp-conformed"] {
        fs::create_dir(dir.join(name)).unwrap();
    }
    let now = Time(now);
    let text = crate::demo::config::configuration(&dir, &[], now).unwrap();
    let file = dir.join("tidemark.toml").display().to_string();
    let config = Config::parse(&file, &text, &|_| None).unwrap();
    write(&dir, &config, now).unwrap();
    Lake {
        config,
        now,
        _folder: folder,
    }
}

/// All objects of a zone below a prefix, sorted by key.
fn objects(zone: &Path, prefix: &str) -> Vec<Object> {
    let mut found = Vec::new();
    let mut folders = vec![zone.join(prefix)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let meta = entry.metadata().unwrap();
            let put = meta.modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
            found.push(Object {
                key: entry
                    .path()
                    .strip_prefix(zone)
                    .unwrap()
                    .display()
                    .to_string(),
                bytes: meta.len(),
                put: Time(put.as_millis() as i64),
                etag: None,
            });
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    found
}

struct Read {
    dataset: Dataset,
    zone: PathBuf,
    listing: Listing,
    markers: BTreeMap<Slot, Markers>,
    now: Time,
}

impl Lake {
    fn read(&self, name: &str) -> Read {
        let writer = Writer::new(&self.config, name, self.now).unwrap();
        let (dataset, zone) = (writer.dataset, writer.folder);
        let mut listing = Listing::default();
        let mut markers: BTreeMap<Slot, Markers> = BTreeMap::new();
        for object in objects(&zone, &dataset.prefix) {
            assert!(object.put <= self.now, "{} is not put yet", object.key);
            let Some((slot, tree)) = Template::of(&dataset).read(&object.key) else {
                listing.add(&dataset, object);
                continue;
            };
            let bytes = fs::read(zone.join(&object.key)).unwrap();
            let of = markers.entry(slot).or_default();
            let read = Marker::parse(&dataset, slot, &bytes);
            match tree {
                Tree::Current => of.current = Some((object, read)),
                Tree::Superseded(_) => of.superseded.push((object, read)),
                Tree::Empty => {
                    let read = serde_json::from_slice(&bytes).map_err(|e| e.to_string());
                    of.declared = Some((object, read));
                }
                Tree::Pin(_) | Tree::Taken(_) => panic!("none are written"),
            }
        }
        Read {
            dataset,
            zone,
            listing,
            markers,
            now: self.now,
        }
    }
}

impl Read {
    fn at(&self, ago: i32, hour: u8) -> Verdict {
        self.slot(Slot::hour(Day::of(self.now).plus(-ago), hour))
    }

    fn slot(&self, slot: Slot) -> Verdict {
        let (markers, objects) = (Markers::default(), Default::default());
        let markers = self.markers.get(&slot).unwrap_or(&markers);
        let completeness = markers.marker().and_then(|marker| self.gate(slot, marker));
        judge(
            &self.dataset,
            Evidence {
                slot,
                markers,
                objects: self.listing.slots.get(&slot).unwrap_or(&objects),
                completeness: completeness.as_ref(),
                now: self.now,
            },
        )
    }

    /// Order and number of every line below a prefix.
    fn lines(&self, prefix: &str) -> BTreeSet<(String, i32)> {
        let mut lines = BTreeSet::new();
        for object in objects(&self.zone, prefix) {
            let file = fs::File::open(self.zone.join(&object.key)).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            for batch in reader.build().unwrap() {
                let batch = batch.unwrap();
                let orders = batch.column_by_name("order_id").unwrap().as_string::<i32>();
                let numbers = batch.column_by_name("line_seq").unwrap();
                let numbers = numbers.as_primitive::<Int32Type>();
                let rows =
                    (0..batch.num_rows()).map(|n| (orders.value(n).to_owned(), numbers.value(n)));
                lines.extend(rows);
            }
        }
        lines
    }

    /// What the gate would find, the slow way.
    fn gate(&self, slot: Slot, marker: &Marker) -> Option<Completeness> {
        let gate = self.dataset.complete.as_ref()?;
        let landed = self.lines(&marker.scan(&self.dataset).unwrap());
        let letters = gate.dead_letters.as_ref().unwrap();
        let letters = format!("{letters}/{}", self.dataset.partition_of(slot));
        let dead = self.lines(&letters);
        let mut last: BTreeMap<&String, i32> = BTreeMap::new();
        for (order, number) in landed.iter().chain(&dead) {
            let last = last.entry(order).or_default();
            *last = (*last).max(*number);
        }
        let lines: i32 = last.values().sum();
        let all = landed.union(&dead).count();
        Some(Completeness {
            orders: last.len() as u64,
            landed: landed.len() as u64,
            dead_lettered: dead.difference(&landed).count() as u64,
            missing: lines as u64 - all as u64,
            ..Completeness::default()
        })
    }
}

fn first(verdict: &Verdict) -> &str {
    verdict.reasons.first().map_or("", |reason| &reason.message)
}

#[test]
fn every_state_is_where_it_should_be() {
    let mut seen = BTreeSet::new();
    for now in TIMES {
        let lake = lake(now);
        let progress = lake.read("learning.progress");
        let mut state = |verdict: &Verdict| {
            seen.insert(verdict.state);
            verdict.state
        };

        let quiet = progress.at(3, 5);
        assert_eq!(
            (state(&quiet), quiet.reasons.len()),
            (State::Closed, 0),
            "{quiet:?}"
        );
        let superseded = progress.at(3, 8);
        assert_eq!((state(&superseded), superseded.objects), (State::Closed, 3));
        assert_eq!(superseded.reasons, [], "its chain is whole");
        let late = progress.at(3, 14);
        assert_eq!(state(&late), State::Closed);
        assert!(
            first(&late).starts_with("late data: this key was put 3 h 12 min after"),
            "{late:?}"
        );
        let empty = progress.at(2, 2);
        assert_eq!(state(&empty), State::Empty);
        assert!(
            first(&empty).starts_with("declared empty, says raj@tlp: planned"),
            "{empty:?}"
        );
        assert_eq!(state(&progress.at(2, 6)), State::Lost);
        let illegal = progress.at(2, 9);
        assert_eq!(state(&illegal), State::Closed, "{illegal:?}");
        assert_eq!(state(&progress.at(2, 11)), State::Invalid);
        for hour in 12..16 {
            let over = progress.at(2, hour);
            assert_eq!((state(&over), over.objects), (State::OverBudget, 40));
            assert_eq!(over.reasons.len(), 2, "too many and too small: {over:?}");
        }
        let mutated = progress.at(1, 10);
        assert_eq!(state(&mutated), State::Mutated);
        assert_eq!(
            first(&mutated),
            "1 object more than the marker says: 4 listed, the marker says 3"
        );
        let after = mutated
            .reasons
            .iter()
            .find(|r| r.message.contains("after the marker"))
            .unwrap();
        assert_eq!(
            after.message,
            "this key was put 14 min 2 s after the marker"
        );
        assert_eq!(state(&progress.at(1, 13)), State::Racing);
        assert_eq!(state(&progress.at(1, 17)), State::Late);
        let running = progress.slot(progress.dataset.slot_of(Time(now)));
        assert_eq!(state(&running), State::Open);
        let next = progress.slot(progress.dataset.slot_of(Time(now + HOUR)));
        assert_eq!(state(&next), State::Future);

        let lines = lake.read("commerce.purchase_line");
        let hole = lines.at(2, 15);
        assert_eq!(
            (state(&hole), first(&hole)),
            (State::Incomplete, "1 line only among the dead letters")
        );
        let gone = lines.at(1, 11);
        assert_eq!(
            (state(&gone), first(&gone)),
            (
                State::Incomplete,
                "2 lines of 60 orders are neither in the files nor among the dead letters"
            )
        );
        let whole = lines.at(3, 12);
        assert_eq!(
            (state(&whole), whole.reasons.len()),
            (State::Closed, 0),
            "{whole:?}"
        );
        let night = lines.at(2, 3);
        assert_eq!(
            (state(&night), first(&night)),
            (State::Empty, "no objects, and none were expected")
        );
    }
    assert_eq!(seen, State::ALL.into_iter().collect());
}

#[test]
fn nothing_else_is_wrong() {
    for now in TIMES {
        let lake = lake(now);
        let mut total = 0;
        for dataset in &lake.config.datasets {
            let read = lake.read(&dataset.name);
            let all = objects(&read.zone, &dataset.prefix);
            total += all.len();
            assert_eq!(read.listing.stray, [], "{}", dataset.name);
            let illegal: Vec<&Object> = all
                .iter()
                .filter(|object| {
                    let below = object.key.strip_prefix(&format!("{}/", dataset.prefix));
                    !key::partition_key_allowed(dataset, below.unwrap())
                })
                .collect();
            let expected = if dataset.name == "learning.progress" {
                1
            } else {
                0
            };
            assert_eq!(illegal.len(), expected, "{illegal:?}");
            if dataset.name.starts_with("partner") {
                continue;
            }
            let today = Day::of(lake.now);
            let known: &[(i32, u8)] = match dataset.name.as_str() {
                "learning.progress" => &[
                    (2, 6),
                    (2, 11),
                    (2, 12),
                    (2, 13),
                    (2, 14),
                    (2, 15),
                    (1, 10),
                    (1, 13),
                    (1, 17),
                ],
                "commerce.purchase_line" => &[(2, 15), (1, 11)],
                "learning.progress_event" => &[(2, 2), (2, 6), (2, 11), (1, 10), (1, 13), (1, 17)],
                _ => &[],
            };
            for slot in today
                .plus(-DAYS)
                .to(today)
                .flat_map(|day| dataset.slots(day))
            {
                let verdict = read.slot(slot);
                let expected = known.contains(&(today.since(slot.day), slot.hour.unwrap_or(99)));
                assert_eq!(
                    verdict.state.needs_attention(),
                    expected,
                    "{} {slot}: {verdict:?}",
                    dataset.name
                );
            }
        }
        assert!(total < 2_000, "{total} objects");
    }
}

#[test]
fn landing_has_a_column_that_may_not_be_there() {
    let lake = lake(TIMES[1]);
    let read = lake.read("partner.enrollment");
    let file = read
        .listing
        .slots
        .values()
        .flat_map(|slot| slot.data())
        .next()
        .unwrap();
    let text = fs::read_to_string(read.zone.join(&file.key)).unwrap();
    assert_eq!(
        text.lines().next(),
        Some("learner_ref,email,course_id,enrolled_at")
    );
    assert_eq!(read.dataset.prohibited_columns, ["email"]);
}
