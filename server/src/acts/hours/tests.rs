//! Acts on hours over HTTP, on a local disk.

use axum::http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::testing::{Answer, TestApp, write};

const CONFIG: &str = r#"
[[dataset]]
name = "learning.progress"
zone = "one"
prefix = "learning/progress/"
partition = ["event_date", "hour"]
definition_version = "7"
[dataset.retention]
audit = { keep = "1d", source = "the test" }
"#;

const PLANS: &str = "/api/datasets/learning.progress/plans";
const HOUR: &str = "one/learning/progress/event_date=2026-11-10/hour=08";
const MARKER: &str = "one/learning/progress/_markers/event_date=2026-11-10/hour=08.json";

async fn app(runs: &[(&str, u32)]) -> TestApp {
    let folder = TempDir::new().unwrap();
    for zone in ["one", "two"] {
        std::fs::create_dir(folder.path().join(zone)).unwrap();
    }
    for (run, count) in runs {
        for n in 0..*count {
            write(
                &folder,
                &format!("{HOUR}/run_id={run}/part-{n}.parquet"),
                "0123456789",
            );
        }
    }
    TestApp::over(folder, CONFIG).await
}

async fn post(app: &TestApp, path: &str, body: &Value) -> Answer {
    let json = [("content-type", "application/json")];
    app.send(Method::POST, path, &json, &body.to_string()).await
}

fn publish(run: &str, count: u32) -> Value {
    json!({
        "kind": "publish", "date": "2026-11-10", "hour": 8, "run": run, "count": count,
        "max_event_time": "2026-11-10T08:59:59Z",
    })
}

/// Plans and applies.
async fn act(app: &TestApp, request: &Value, reason: &str) -> Answer {
    let planned = post(app, PLANS, request).await;
    assert_eq!(planned.status, 201, "{}", planned.text());
    apply(app, request, &planned.json()["plan"], reason).await
}

async fn apply(app: &TestApp, request: &Value, plan: &Value, reason: &str) -> Answer {
    let body = json!({
        "dataset": "learning.progress", "request": request, "as_of": plan["as_of"],
        "reason": reason,
    });
    let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
    post(app, &path, &body).await
}

#[tokio::test]
async fn an_hour_is_published_replaced_and_pointed_back() {
    let app = app(&[("r1", 3), ("r2", 4)]).await;
    let planned = post(&app, PLANS, &publish("r1", 3)).await.json();
    let plan = &planned["plan"];
    assert_eq!(
        (&plan["base_version"], &plan["refused"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(plan["hours"]["state"], "late");
    assert_eq!(plan["hours"]["marker"]["object_count"], 3);
    assert!(
        !app.folder.path().join(MARKER).exists(),
        "a plan writes nothing"
    );

    let done = apply(&app, &publish("r1", 3), plan, "").await;
    assert_eq!(done.status, 200, "{}", done.text());
    let hours = &done.json()["applied"]["hours"];
    assert_eq!(
        (&hours["outcome"], &hours["state"]),
        (&json!("published"), &json!("closed"))
    );
    assert_eq!(hours["marker"]["definition_version"], "7");

    // The plan that was read is another one now.
    let again = apply(&app, &publish("r1", 3), plan, "").await;
    assert_eq!(again.status, 409, "{}", again.text());
    let same = act(&app, &publish("r2", 4), "").await.json();
    assert_eq!(same["applied"]["hours"]["outcome"], "unchanged");

    let mut better = publish("r2", 4);
    better["replace"] = json!(true);
    let done = act(&app, &better, "two files more").await.json();
    let hours = &done["applied"]["hours"];
    assert_eq!(
        (&hours["superseded_run"], &hours["state"]),
        (&json!("r1"), &json!("closed"))
    );
    assert_eq!(hours["marker"]["reason"], "two files more");

    let back = json!({ "kind": "repoint", "date": "2026-11-10", "hour": 8, "run": "r1" });
    let done = act(&app, &back, "").await.json();
    assert_eq!(done["applied"]["hours"]["marker"]["run_id"], "r1");

    let expire = json!({ "kind": "expire_runs" });
    let done = act(&app, &expire, "").await.json();
    assert_eq!(done["applied"]["deleted"], 0);
    let spared = &done["plan"]["hours"]["expire"]["spared"][0];
    assert_eq!(spared["objects"], 4, "{spared}");

    let audit = app.get("/api/audit").await.json();
    let messages: Vec<&str> = audit["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["message"].as_str().unwrap())
        .collect();
    assert!(
        messages.contains(&"2026-11-10 08:00: run r2 is published; the hour is closed"),
        "{messages:?}"
    );
    let jobs = app.get("/api/jobs?table=learning.progress").await.json();
    assert_eq!(jobs["jobs"][0]["state"], "done", "{jobs}");
}

#[tokio::test]
async fn what_is_refused_or_cannot_be_meant_says_so() {
    let app = app(&[("r1", 3)]).await;
    let planned = post(&app, PLANS, &publish("r1", 4)).await.json();
    let why = planned["plan"]["refused"].as_str().unwrap();
    assert!(why.contains("its writer says 4"), "{why}");
    assert_eq!(act(&app, &publish("r1", 4), "").await.status, 422);

    for (request, why) in [
        (
            json!({ "kind": "publish", "run": "r1", "count": 1 }),
            "say which hour",
        ),
        (
            json!({ "kind": "publish", "date": "2026-11-10", "hour": 8, "run": "r1" }),
            "`count`",
        ),
        (
            json!({ "kind": "publish", "date": "2026-11-10", "run": "r1", "count": 1 }),
            "name the hour",
        ),
        (
            json!({ "kind": "repoint", "date": "2026-11-10", "hour": 8 }),
            "which run",
        ),
        (json!({ "kind": "vacuum" }), "and not to a dataset"),
        (
            json!({ "kind": "expire_runs", "date": "2026-11-10" }),
            "`date` is no part of this act",
        ),
        (
            json!({ "kind": "expire_runs", "hour": 8 }),
            "`hour` is no part of this act",
        ),
        (
            json!({ "kind": "compact", "date": "2026-11-10", "hour": 8, "run": "r1" }),
            "`run` is no part of this act",
        ),
        (
            json!({ "kind": "repoint", "date": "2026-11-10", "hour": 8, "run": "r1", "count": 3 }),
            "`count` is no part of this act",
        ),
        (
            json!({ "kind": "repoint", "date": "2026-11-10", "hour": 8, "run": "r1", "with_late": true }),
            "`with_late` is no part of this act",
        ),
    ] {
        let answer = post(&app, PLANS, &request).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(answer.text().contains(why), "{}", answer.text());
    }
    let answer = post(&app, "/api/datasets/none/plans", &publish("r1", 3)).await;
    assert_eq!(answer.status, 404);

    let empty = json!({ "kind": "publish", "date": "2026-11-10", "hour": 9, "empty": true });
    let silent = act(&app, &empty, " ").await;
    assert_eq!(silent.status, 400, "{}", silent.text());
    let done = act(&app, &empty, "the partner was down").await;
    assert_eq!(
        done.json()["applied"]["hours"]["state"],
        "empty",
        "{}",
        done.text()
    );
}

#[tokio::test]
async fn whoever_comes_second_is_told_409_and_by_whom() {
    let app = app(&[("r1", 1), ("r2", 1)]).await;
    let first = post(&app, PLANS, &publish("r1", 1)).await.json();
    let second = post(&app, PLANS, &publish("r2", 1)).await.json();
    let (one, two) = (publish("r1", 1), publish("r2", 1));
    let told = futures::join!(
        apply(&app, &one, &first["plan"], ""),
        apply(&app, &two, &second["plan"], "")
    );
    let mut statuses = [told.0.status, told.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", told.0.text(), told.1.text());
}
