use axum::http::Method;
use serde_json::{Value, json};

use crate::tables::tests::app;
use crate::testing::{Answer, TestApp};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

async fn post(app: &TestApp, path: &str, body: &Value) -> Answer {
    app.send(Method::POST, path, &JSON, &body.to_string()).await
}

async fn planned(app: &TestApp) -> Value {
    let body = json!({ "kind": "restore", "version": "1" });
    let answer = post(app, "/api/tables/people/plans", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["plan"].clone()
}

fn inputs(plan: &Value) -> Value {
    json!({
        "table": "people", "request": { "kind": "restore", "version": "1" },
        "as_of": plan["as_of"], "base_version": plan["base_version"], "reason": "wrong region",
    })
}

#[tokio::test]
async fn a_plan_is_carried_out_once_and_only_as_it_was_read() {
    let app = app().await;
    for key in [
        "one/users/region=US/a.parquet",
        "one/users/region=UK/b c.parquet",
    ] {
        crate::testing::write(&app.folder, key, "x");
    }
    let plan = planned(&app).await;
    assert_eq!(
        (&plan["refused"], &plan["files_to_add"]),
        (&Value::Null, &json!(1))
    );
    let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());

    let mut silent = inputs(&plan);
    silent["reason"] = json!("  ");
    assert_eq!(post(&app, &path, &silent).await.status, 400);
    let other = post(&app, "/api/plans/abc/apply", &inputs(&plan)).await;
    assert_eq!(other.status, 409, "{}", other.text());
    let mut unknown = inputs(&plan);
    unknown["surprise"] = json!(1);
    assert_eq!(post(&app, &path, &unknown).await.status, 400);
    assert_eq!(
        app.get("/api/tables/people/history?limit=1").await.json()["latest_version"],
        "2"
    );

    let done = post(&app, &path, &inputs(&plan)).await;
    assert_eq!(done.status, 200, "{}", done.text());
    let done = done.json();
    assert_eq!(done["applied"]["version"], "3");
    assert_eq!(done["applied"]["attempts"], 1);
    // A second click finds the head moved.
    let again = post(&app, &path, &inputs(&plan)).await;
    assert_eq!(again.status, 409);
    assert!(
        again.text().contains("version 3 (RESTORE"),
        "{}",
        again.text()
    );
    assert_eq!(
        app.get("/api/tables/people/history?limit=1").await.json()["latest_version"],
        "3"
    );
    let audit = app.get("/api/audit").await.json();
    let ended = |n: usize| audit["records"][n]["ended"].clone();
    assert_eq!(
        [ended(0), ended(1), ended(2)],
        ["conflict", "applied", "conflict"]
    );
    assert_eq!(audit["records"][1]["reason"], "wrong region");
    assert_eq!(audit["records"][1]["version"], "3");
    assert_eq!(audit["records"][1]["table"], "people");
    // Nobody said where to keep them.
    assert_eq!(audit["kept"], false);
    let jobs = app.get("/api/jobs?table=people").await.json();
    let states: Vec<&Value> = jobs["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| &job["state"])
        .collect();
    assert_eq!(states, ["failed", "done", "failed"]);
    let id = jobs["jobs"][1]["id"].as_str().unwrap();
    let events = app.get(&format!("/api/jobs/{id}/events")).await;
    assert_eq!(events.header("content-type"), "text/event-stream");
    assert!(
        events.text().starts_with("data: {\"id\":"),
        "{}",
        events.text()
    );
    let over = post(&app, &format!("/api/jobs/{id}/cancel"), &json!({})).await;
    assert_eq!(over.status, 409);
    assert_eq!(app.get("/api/jobs/nothing/events").await.status, 404);
}

#[tokio::test]
async fn what_cannot_be_planned_is_said() {
    let app = app().await;
    let cases = [
        (
            "/api/tables/nobody/plans",
            json!({ "kind": "restore", "version": "1" }),
            404,
        ),
        (
            "/api/tables/people/plans",
            json!({ "kind": "restore" }),
            400,
        ),
        ("/api/tables/people/plans", json!({ "kind": "vacuum" }), 422),
        (
            "/api/tables/people/plans",
            json!({ "kind": "restore", "version": "99" }),
            404,
        ),
        (
            "/api/tables/people/plans",
            json!({ "kind": "restore", "version": 1 }),
            400,
        ),
    ];
    for (path, body, status) in cases {
        let answer = post(&app, path, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
    }
    // Its files are not there: a plan all the same, and it says so.
    let plan = planned(&app).await;
    assert!(
        plan["refused"]
            .as_str()
            .unwrap()
            .contains("no longer in the store"),
        "{plan}"
    );
    let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
    assert_eq!(post(&app, &path, &inputs(&plan)).await.status, 422);
    let audit = app.get("/api/audit").await.json();
    assert_eq!(audit["records"][0]["ended"], "refused");
}
