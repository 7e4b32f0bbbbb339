//! Writes the tables that the benchmark opens: `bench-data FOLDER [FILES] [COMMITS]`.

#![expect(clippy::unwrap_used, reason = "a tool that fails has to stop")]

use std::path::PathBuf;

fn main() -> lake::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().unwrap());
    let mut number = |default: u64| arguments.next().map_or(default, |n| n.parse().unwrap());
    let (files, commits) = (number(1_000_000), number(100_000));
    tests::big::many_files(&dir.join("files"), files)?;
    tests::big::many_commits(&dir.join("commits"), commits)
}
