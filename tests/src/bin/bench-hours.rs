//! Opens a year of a dataset in Chromium and scrolls through it: `bench-hours FOLDER [RUNS]`, with
//! the page of `dist/` or of `TIDEMARK_DIST`. The dataset is written into the folder once: 8,760
//! hours, each closed by a marker over its run of twelve objects. Prints what each run cost as JSON.

#![expect(clippy::unwrap_used, reason = "a tool that fails has to stop")]

use std::path::PathBuf;

use lake::hours::Day;
use tests::scrolled::{Year, year};
use tests::{closed_hours, place};

const YEAR: i32 = 2025;
const OBJECTS: usize = 12;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap());
    let runs = arguments.next().map_or(1, |n| n.parse().unwrap());
    let done = folder.join("complete");
    let config = folder.join("tidemark.toml");
    if !done.exists() {
        let first = Day::from_date(YEAR, 1, 1).unwrap();
        let until = Day::from_date(YEAR + 1, 1, 1).unwrap().start();
        closed_hours::write(&folder, first, until, OBJECTS);
        std::fs::write(done, "").unwrap();
    }
    let dist = std::env::var_os("TIDEMARK_DIST").map(PathBuf::from);
    let dist = dist.unwrap_or_else(|| place::repository().join("dist"));
    let mut cost: Vec<Year> = Vec::new();
    for _ in 0..runs {
        // A server of its own each time, so that nothing was read before.
        cost.push(year(&config, &dist, YEAR, "8,760 hours: 8,760 closed").await);
    }
    println!("{}", serde_json::to_string(&cost).unwrap());
}
