//! Opens a table's layout in Chromium: `bench-page FOLDER TEXT [RUNS]`, with the page of `dist/` or
//! of `TIDEMARK_DIST`. Waits for TEXT on the page and prints what each run cost as JSON.

#![expect(clippy::unwrap_used, reason = "a tool that fails has to stop")]

use std::path::PathBuf;

use tests::blocked::{self, Blocked};
use tests::place;
use tests::served::Served;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap());
    let text = arguments.next().unwrap();
    let runs = arguments.next().map_or(1, |n| n.parse().unwrap());
    let dist = std::env::var_os("TIDEMARK_DIST").map(PathBuf::from);
    let dist = dist.unwrap_or_else(|| place::repository().join("dist"));
    let page = blocked::telling(&dist, blocked::TELL);
    let mut cost: Vec<Blocked> = Vec::new();
    for _ in 0..runs {
        // A server of its own each time, so that nothing was read before.
        let served = Served::folder(&folder, page.path());
        let name = folder.file_name().unwrap().to_string_lossy();
        let path = format!("/t/{name}/layout");
        cost.push(blocked::open(&served, &path, &text).await);
    }
    println!("{}", serde_json::to_string(&cost).unwrap());
}
