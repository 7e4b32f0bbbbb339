//! What README says of a dataset of one's own, run as it stands there.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, TimestampMillisecondArray};
use parquet::arrow::ArrowWriter;

use super::*;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    fs::read_to_string(path).unwrap()
}

/// The code block in this language that comes first after a line.
fn block(text: &str, after: &str, language: &str) -> String {
    let (_, rest) = text.split_once(after).unwrap();
    let (_, rest) = rest.split_once(&format!("```{language}\n")).unwrap();
    let (code, _) = rest.split_once("```").unwrap();
    code.to_owned()
}

/// A file of two events in an hour of 2026-11-10, put a day ago.
pub(super) fn file(folder: &Path, name: &str, hour: i64) {
    let start = 1_794_268_800_000 + hour * 3_600_000;
    let times = TimestampMillisecondArray::from(vec![start, start + 1_000]).with_timezone("UTC");
    let batch = RecordBatch::try_from_iter([("event_time", Arc::new(times) as ArrayRef)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let path = folder.join(name);
    fs::write(&path, writer.into_inner().unwrap()).unwrap();
    let put = std::time::SystemTime::now() - Duration::from_secs(86_400);
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(put).unwrap();
}

#[test]
fn a_dataset_of_ones_own_goes_from_nothing_to_closed_hours() {
    let text_of_readme = readme();
    let of = |language| block(&text_of_readme, "### A dataset of your own", language);
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("tidemark.toml"), of("toml")).unwrap();
    for (name, hour) in [
        ("a.parquet", 8),
        ("b.parquet", 8),
        ("c.parquet", 9),
        ("d.parquet", 9),
    ] {
        file(&root, name, hour);
    }
    let tidemark = Path::new(env!("CARGO_BIN_EXE_tidemark"));
    let mut path = vec![tidemark.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let path = std::env::join_paths(path).unwrap();
    let mut ended = Vec::new();
    for line in of("sh").lines() {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(&root)
            .env_clear()
            .env("PATH", &path)
            .env("USER", "ana")
            .env("PWD", &root)
            .output()
            .unwrap();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let code = output.status.code().unwrap();
        if !line.starts_with("tidemark") {
            assert_eq!(code, 0, "{line}: {err}");
            continue;
        }
        ended.push((line.to_owned(), code, out, err));
    }
    let wanted: [(&str, i32, &str); 11] = [
        ("check", 1, "is late: 2 objects without a marker"),
        ("compact", 0, "2 become 1\n"),
        ("compact", 0, "published\n"),
        ("check", 0, "/hour=08/run_id="),
        ("publish", 0, "published\n"),
        (
            "publish",
            0,
            "the hour is closed under run r1; run r2 was not published: --replace does that",
        ),
        (
            "publish",
            0,
            "the way back: tidemark repoint learning.progress --date 2026-11-10 --hour 9 --run r1\n",
        ),
        (
            "repoint",
            0,
            "the way back: tidemark repoint learning.progress --date 2026-11-10 --hour 9 --run r2\n",
        ),
        ("publish", 0, "empty\n"),
        ("check", 0, "/hour=09/run_id=r1/"),
        ("hours", 0, "TTTTTT TTCCET"),
    ];
    assert_eq!(ended.len(), wanted.len(), "{ended:?}");
    for ((line, code, out, err), (command, wanted, says)) in ended.iter().zip(wanted) {
        assert!(line.starts_with(&format!("tidemark {command} ")), "{line}");
        assert_eq!(*code, wanted, "{line}: {out}{err}");
        assert!(
            out.contains(says) || err.contains(says),
            "{line}: {out}{err}"
        );
    }
    let window = &ended[9].2;
    assert_eq!(window.lines().count(), 2, "{window}");
    assert!(
        ended[0].3.contains("`compact --apply` packs and publishes"),
        "{}",
        ended[0].3
    );
}

#[test]
fn the_configuration_and_all_states_are_as_they_are_said_to_be() {
    let text_of_readme = readme();
    let folder = TempDir::new().unwrap();
    let config = block(&text_of_readme, "\n## Configuration", "toml");
    fs::write(folder.path().join("tidemark.toml"), config).unwrap();
    let told = Command::new(env!("CARGO_BIN_EXE_tidemark"))
        .args([
            "lint",
            "--key",
            "learning/progress/event_date=2026-11-10/hour=08/a",
        ])
        .current_dir(folder.path())
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    let (_, states) = text_of_readme.split_once("The states of an hour").unwrap();
    let states = states.lines().filter_map(|line| line.strip_prefix("| `"));
    let states: Vec<&str> = states
        .filter_map(|line| line.split('`').next())
        .take(11)
        .collect();
    let all = lake::hours::State::ALL.map(lake::hours::State::words);
    assert_eq!(states, all);
}

#[test]
fn all_keys_of_datasets_and_zones_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/hours.md");
    let docs = fs::read_to_string(path).unwrap();
    // An unknown key's error lists those that are known.
    let known = |section: &str| {
        let folder = TempDir::new().unwrap();
        fs::write(
            folder.path().join("tidemark.toml"),
            format!("{section}nothing = 1\n"),
        )
        .unwrap();
        let told = Command::new(env!("CARGO_BIN_EXE_tidemark"))
            .arg("lint")
            .current_dir(folder.path())
            .env_clear()
            .output()
            .unwrap();
        let said = text(&told.stderr);
        let (_, keys) = said.split_once("expected ").unwrap();
        let keys = keys.split('`').skip(1).step_by(2).map(str::to_owned);
        keys.collect::<Vec<String>>()
    };
    for (section, heading) in [
        ("[[dataset]]\n", "## `[[dataset]]`"),
        ("[[dataset]]\n[dataset.budget]\n", "### `[dataset.budget]`"),
        (
            "[[dataset]]\n[dataset.complete]\n",
            "### `[dataset.complete]`",
        ),
        (
            "[[dataset]]\n[dataset.metastore]\n",
            "### `[dataset.metastore]`",
        ),
        ("[[zone]]\n", "## `[[zone]]`"),
        ("[[zone]]\n[zone.retention]\n", "### `[zone.retention]`"),
    ] {
        let keys = known(section);
        assert!(keys.len() > 1, "{section}: {keys:?}");
        let (_, part) = docs.split_once(heading).unwrap();
        for key in keys {
            let table = ["budget", "retention", "complete", "metastore", "store"];
            let documented = match table.contains(&key.as_str()) && !section.contains('.') {
                true => docs.contains(&format!(".{key}]`")),
                false => part.contains(&format!("`{key}`")),
            };
            assert!(documented, "{heading}: `{key}`");
        }
    }
}
