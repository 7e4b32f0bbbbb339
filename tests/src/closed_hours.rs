//! A dataset on disk whose hours are all closed, as large as a test or a benchmark wants it, and
//! what its pages ask of the server.

use std::fs;
use std::path::{Path, PathBuf};

use lake::hours::{Day, Slot};
use lake::table::Time;
use serde_json::json;

use crate::served::Served;

/// The dataset's name.
pub const NAME: &str = "learning.progress";
const PREFIX: &str = "learning/progress";
const BYTES: usize = 10;

/// Writes every hour from `first` on that ends by `until`: a run of so many objects, and then its
/// marker. Gives a configuration that declares the dataset and nothing else, and the hours' number.
pub fn write(folder: &Path, first: Day, until: Time, objects: usize) -> (PathBuf, usize) {
    let zone = folder.join("raw");
    fs::create_dir_all(&zone).expect("a folder can be made");
    let url = url::Url::from_directory_path(&zone).expect("the folder is absolute");
    let days = first.to(Day::of(until));
    let slots = days.flat_map(|day| (0..24).map(move |hour| Slot::hour(day, hour)));
    let mut hours = 0;
    for slot in slots.filter(|slot| slot.end() <= until) {
        hour(&zone, url.as_str(), slot, objects);
        hours += 1;
    }
    let config = folder.join("tidemark.toml");
    let text = format!(
        "[[zone]]\nname = \"raw\"\nurl = \"{url}\"\n[[dataset]]\nname = \"{NAME}\"\n\
         zone = \"raw\"\nprefix = \"{PREFIX}/\"\npartition = [\"event_date\", \"hour\"]\n\
         close_after = \"59m\"\nfirst = \"{first}\"\ndefinition_version = \"1\"\n"
    );
    fs::write(&config, text).expect("it can be written");
    (config, hours)
}

fn hour(zone: &Path, url: &str, slot: Slot, objects: usize) {
    let hour = slot.hour.unwrap_or_default();
    let run = format!("{PREFIX}/event_date={}/hour={hour:02}/run_id=a/", slot.day);
    let folder = zone.join(&run);
    fs::create_dir_all(&folder).expect("a folder can be made");
    for part in 0..objects {
        let file = folder.join(format!("part-{part:05}.parquet"));
        fs::write(file, [b'x'; BYTES]).expect("it can be written");
    }
    let marker = json!({
        "dataset": NAME, "zone": "raw", "event_date": slot.day, "hour": hour,
        "prefix": format!("{url}{run}"), "object_count": objects, "bytes": objects * BYTES,
        "max_event_time": Time(slot.end().0 - 1), "run_id": "a", "definition_version": "1",
        "published_at": slot.end(),
    });
    let markers = zone.join(format!("{PREFIX}/_markers/event_date={}", slot.day));
    fs::create_dir_all(&markers).expect("a folder can be made");
    let file = markers.join(format!("hour={hour:02}.json"));
    fs::write(file, marker.to_string()).expect("it can be written");
}

/// Counts what browsers ask of a server.
#[derive(Debug)]
pub struct Meter<'a> {
    served: &'a Served,
    /// Requests of this counter's own.
    own: u64,
    /// What was counted when it last came to rest.
    before: u64,
}

impl<'a> Meter<'a> {
    /// Counts from when nothing more is asked.
    pub async fn start(served: &'a Served) -> Self {
        let mut meter = Self {
            served,
            own: 0,
            before: 0,
        };
        meter.more().await;
        meter
    }

    /// Waits until nothing is asked for half a second, and gives what was asked since the last time.
    pub async fn more(&mut self) -> u64 {
        let mut last = self.all().await;
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            let now = self.all().await;
            if now == last {
                let more = now - self.before;
                self.before = now;
                return more;
            }
            last = now;
        }
    }

    /// Everything that others have asked so far.
    async fn all(&mut self) -> u64 {
        let http = crate::http().build().expect("a client needs nothing");
        let answer = http.get(self.served.at("/metrics")).send().await;
        let text = answer.expect("the server answers").text().await;
        let text = text.expect("it answers in text");
        let counts = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("tidemark_requests_total{")?;
            rest.rsplit_once(' ')?.1.parse::<u64>().ok()
        });
        // A request is counted once it is answered, so this one is not among them yet.
        let others = counts.sum::<u64>() - self.own;
        self.own += 1;
        others
    }
}
