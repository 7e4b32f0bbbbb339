//! Hours over HTTP.

use serde_json::json;
use tempfile::TempDir;

use crate::testing::{TestApp, write};

const CONFIG: &str = r#"
[[dataset]]
name = "learning.progress"
zone = "one"
prefix = "learning/progress/"
partition = ["event_date", "hour"]
first = "2026-11-10"

[[dataset]]
name = "curated.daily"
zone = "one"
prefix = "daily/"
partition = ["event_date"]
"#;

async fn app() -> TestApp {
    let folder = TempDir::new().unwrap();
    for zone in ["one", "two"] {
        std::fs::create_dir(folder.path().join(zone)).unwrap();
    }
    let hour = "one/learning/progress/event_date=2026-11-10/hour=08";
    write(
        &folder,
        &format!("{hour}/run_id=r1/part-0.parquet"),
        "0123456789",
    );
    write(
        &folder,
        "one/daily/event_date=2026-11-10/part-0.parquet",
        "0123456789",
    );
    let run = folder
        .path()
        .join(format!("{hour}/run_id=r1"))
        .canonicalize()
        .unwrap();
    let marker = json!({
        "dataset": "learning.progress", "zone": "one", "event_date": "2026-11-10", "hour": 8,
        "prefix": format!("file://{}/", run.display()), "object_count": 1, "bytes": 10,
        "max_event_time": "2026-11-10T08:59:59Z", "run_id": "r1", "definition_version": "7",
        "published_at": "2026-11-10T09:05:00Z",
    });
    let key = "one/learning/progress/_markers/event_date=2026-11-10/hour=08.json";
    write(&folder, key, &marker.to_string());
    TestApp::over(folder, CONFIG).await
}

const HOURS: &str = "/api/datasets/learning.progress/hours";

#[tokio::test]
async fn a_window_and_an_hour_are_answered() {
    let app = app().await;
    let answer = app
        .get(&format!("{HOURS}?from=2026-11-10&to=2026-11-10"))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.json();
    assert_eq!(told["hours"].as_array().unwrap().len(), 24);
    assert_eq!(told["hours"][8]["state"], "closed");
    assert_eq!(told["counts"], json!({ "late": 23, "closed": 1 }));
    assert_eq!(told["blocked_by"]["hour"], 0);

    let hour = app.get(&format!("{HOURS}/2026-11-10/8")).await;
    assert_eq!(hour.status, 200, "{}", hour.text());
    let hour = hour.json();
    assert_eq!(hour["row"]["state"], "closed");
    assert_eq!(hour["runs"][0]["run_id"], "r1");
    let statement = hour["statement"].as_str().unwrap();
    assert!(statement.contains("/run_id=r1/"), "{statement}");

    let day = app
        .get("/api/datasets/curated.daily/hours/2026-11-10")
        .await;
    assert_eq!(day.json()["row"]["state"], "late", "{}", day.text());
}

#[tokio::test]
async fn what_is_not_meant_is_refused() {
    let app = app().await;
    for (path, status) in [
        (format!("{HOURS}?from=2026-11-31"), 400),
        (format!("{HOURS}?from=2026-11-11&to=2026-11-10"), 400),
        (format!("{HOURS}?from=2000-01-01&to=2026-11-10"), 400),
        (format!("{HOURS}?from=2026-11-29&to=2400-01-01"), 400),
        (format!("{HOURS}?to=9999-12-31&from=0000-01-01"), 400),
        (format!("{HOURS}?when=now"), 400),
        (format!("{HOURS}/2026-11-10"), 400),
        (format!("{HOURS}/2026-11-10/24"), 400),
        (format!("{HOURS}/2026-11-10/+8"), 400),
        (
            "/api/datasets/curated.daily/hours/2026-11-10/8".to_owned(),
            400,
        ),
        ("/api/datasets/none/hours".to_owned(), 404),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
    }
}
