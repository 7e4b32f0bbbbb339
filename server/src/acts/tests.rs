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
        (
            "/api/tables/people/plans",
            json!({ "kind": "optimize", "target_size": 0 }),
            400,
        ),
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

#[tokio::test]
async fn a_vacuum_is_planned_and_carried_out_as_a_job() {
    let app = app().await;
    for key in ["one/users/region=US/a.parquet", "one/users/stray.parquet"] {
        crate::testing::write(&app.folder, key, "x");
    }
    let asked = |request: Value| {
        let app = &app;
        async move { post(app, "/api/tables/people/plans", &request).await }
    };
    let young = json!({ "kind": "vacuum" });
    let answer = asked(young.clone()).await;
    let young = answer.json()["plan"].clone();
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert!(
        young["refused"].as_str().unwrap().contains("nothing to do"),
        "{young}"
    );
    // Every copy of the table has it in its configuration, or has it not.
    let short = json!({ "kind": "vacuum", "retain": "0h", "allow_short_retention": true });
    let answer = asked(short).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(
        answer.text().contains("allow_short = true"),
        "{}",
        answer.text()
    );
    let odd = json!({ "kind": "vacuum", "retain": "a while" });
    assert_eq!(asked(odd).await.status, 400);

    // Old enough, what is found is what was read of.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(8 * 24 * 3600);
    let path = app.folder.path().join("one/users/stray.parquet");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(old).unwrap();
    let plan = asked(json!({ "kind": "vacuum" })).await.json()["plan"].clone();
    assert_eq!(
        plan["vacuum"]["objects"][0]["key"], "stray.parquet",
        "{plan}"
    );
    let inputs = json!({
        "table": "people", "request": { "kind": "vacuum" },
        "as_of": plan["as_of"], "base_version": plan["base_version"],
    });
    let other = post(&app, "/api/plans/abc/apply", &inputs).await;
    assert_eq!(other.status, 409, "{}", other.text());
    assert!(path.exists());
    let path_of = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
    let done = post(&app, &path_of, &inputs).await;
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(done.json()["applied"]["deleted"], 1);
    assert!(!path.exists());
    let audit = app.get("/api/audit").await.json();
    assert_eq!(audit["records"][0]["kind"], "vacuum");
}

#[tokio::test]
async fn pins_are_put_listed_and_taken_away() {
    let app = app().await;
    for key in ["region=US/a.parquet", "region=UK/b c.parquet"] {
        crate::testing::write(&app.folder, &format!("one/users/{key}"), "x");
    }
    let put = |version: &str| {
        let body = json!({ "version": version, "reason": "audit" }).to_string();
        let app = &app;
        async move {
            let path = "/api/tables/people/pins/before%2Fafter%20100%25";
            app.send(Method::PUT, path, &JSON, &body).await
        }
    };
    let pinned = put("1").await;
    assert_eq!(pinned.status, 200, "{}", pinned.text());
    let listed = app.get("/api/tables/people/pins").await.json();
    assert_eq!(listed, pinned.json());
    assert_eq!(listed["pins"][0]["name"], "before/after 100%");
    assert_eq!(listed["pins"][0]["version"], "1");
    assert_eq!(put("2").await.status, 409);
    assert_eq!(put("99").await.status, 404);
    assert_eq!(put("x").await.status, 400);
    // Version 0 is not all there.
    std::fs::remove_file(app.folder.path().join("one/users/region=US/a.parquet")).unwrap();
    let holed = "/api/tables/people/pins/holed";
    let body = json!({ "version": "0" }).to_string();
    let refused = app.send(Method::PUT, holed, &JSON, &body).await;
    assert_eq!(refused.status, 404, "{}", refused.text());
    assert!(
        refused.text().contains("region=US/a.parquet"),
        "{}",
        refused.text()
    );
    let body = json!({ "version": "0", "allow_missing": true }).to_string();
    assert_eq!(app.send(Method::PUT, holed, &JSON, &body).await.status, 200);
    // No body, and nothing to say of its kind.
    assert_eq!(app.send(Method::DELETE, holed, &[], "").await.status, 200);
    let long = json!({ "version": "1", "reason": "x".repeat(4_001) }).to_string();
    let long = app.send(Method::PUT, holed, &JSON, &long).await;
    assert_eq!(long.status, 400);
    assert!(long.text().contains("4000 characters"), "{}", long.text());
    let path = "/api/tables/people/pins/before%2Fafter%20100%25";
    let taken = app.send(Method::DELETE, path, &JSON, "").await;
    assert_eq!((taken.status, taken.json()), (200, json!({ "pins": [] })));
    assert_eq!(app.send(Method::DELETE, path, &JSON, "").await.status, 404);
}

#[tokio::test]
async fn an_optimize_leaves_alone_what_it_cannot_read() {
    let app = app().await;
    let body = json!({ "kind": "optimize", "target_size": 1000 });
    let answer = post(&app, "/api/tables/people/plans", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let plan = &answer.json()["plan"];
    assert!(
        plan["refused"]
            .as_str()
            .unwrap()
            .starts_with("nothing to do"),
        "{plan}"
    );
    let detail = &plan["optimize"];
    assert_eq!(
        (&detail["target_bytes"], &detail["min_bytes"]),
        (&json!(1000), &json!(1000))
    );
    let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
    let inputs = json!({
        "table": "people", "request": body, "as_of": plan["as_of"],
        "base_version": plan["base_version"],
    });
    // Nobody needs to say why nothing is lost.
    assert_eq!(post(&app, &path, &inputs).await.status, 422);
}

#[cfg(unix)]
#[tokio::test]
async fn a_vacuum_leaves_alone_what_links_join() {
    use std::os::unix::fs::symlink;
    let app = app().await;
    let stray = [
        "stray.parquet",
        "region=UK/gone.parquet#1",
        "kept/z.parquet",
    ];
    let live = ["region=US/a.parquet", "region=UK/b c.parquet"];
    for key in stray.iter().chain(&live) {
        crate::testing::write(&app.folder, &format!("one/users/{key}"), "x");
    }
    crate::testing::write(&app.folder, "one/other/y.parquet", "x");
    let at = |key: &str| app.folder.path().join("one/users").join(key);
    symlink("region=UK", at("alias")).unwrap();
    symlink("../other", at("elsewhere")).unwrap();
    symlink("kept", at("named")).unwrap();
    symlink("/etc", at("out")).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60 * 24 * 3600);
    let keys = stray.iter().chain(&live).map(|key| at(key));
    for path in keys.chain([app.folder.path().join("one/other/y.parquet")]) {
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(old).unwrap();
    }
    let asked = json!({ "kind": "vacuum" });
    let plan = post(&app, "/api/tables/people/plans", &asked).await.json()["plan"].clone();
    let keys: Vec<&str> = plan["vacuum"]["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| object["key"].as_str().unwrap())
        .collect();
    // What is joined to `region=UK` by a link is left alone too, the upload in it among it.
    assert_eq!(keys, ["region=US/a.parquet", "stray.parquet"], "{plan}");
    let why: Vec<(&str, u64)> = plan["vacuum"]["spared"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["why"].as_str().unwrap(), s["objects"].as_u64().unwrap()))
        .collect();
    assert!(why.contains(&("reached through a link", 3)), "{why:?}");
    let target = "a link leads here, and the log may name it by the link";
    assert!(why.contains(&(target, 2)), "{why:?}");
    assert!(
        why.contains(&("a link that leads nowhere, or out of the zone", 1)),
        "{why:?}"
    );
    let inputs = json!({
        "table": "people", "request": asked,
        "as_of": plan["as_of"], "base_version": plan["base_version"],
    });
    let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
    let done = post(&app, &path, &inputs).await;
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(done.json()["applied"]["deleted"], 2);
    assert!(at("region=UK/b c.parquet").exists());
    assert!(app.folder.path().join("one/other/y.parquet").exists());

    // Without the link, the upload that was never ended goes as what it is.
    std::fs::remove_file(at("alias")).unwrap();
    let plan = post(&app, "/api/tables/people/plans", &asked).await.json()["plan"].clone();
    let objects = plan["vacuum"]["objects"].as_array().unwrap();
    assert_eq!(objects.len(), 1, "{plan}");
    assert_eq!(objects[0]["key"], "region=UK/gone.parquet#1");
    assert_eq!(objects[0]["origin"], "uncommitted");
    let inputs = json!({
        "table": "people", "request": asked,
        "as_of": plan["as_of"], "base_version": plan["base_version"],
    });
    let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
    let done = post(&app, &path, &inputs).await;
    assert_eq!(done.json()["applied"]["deleted"], 1, "{}", done.text());
    assert!(!at("region=UK/gone.parquet#1").exists());

    // A root that is itself reached through a link is vacuumed where it lies.
    symlink("users", app.folder.path().join("one/linked")).unwrap();
    let plan = post(&app, "/api/tables/one%2Flinked/plans", &asked).await;
    let plan = plan.json()["plan"].clone();
    let why = plan["refused"].as_str().unwrap();
    assert!(why.contains("as `users`"), "{why}");
}

#[tokio::test]
async fn inputs_that_do_not_belong_together_are_named() {
    let app = app().await;
    for (body, field) in [
        (
            json!({ "kind": "restore", "version": "1", "retain": "7d" }),
            "retain",
        ),
        (json!({ "kind": "vacuum", "version": "1" }), "version"),
        (
            json!({ "kind": "vacuum", "partitions": [["region", "US"]] }),
            "partitions",
        ),
        (
            json!({ "kind": "optimize", "quarantine": true }),
            "quarantine",
        ),
    ] {
        let answer = post(&app, "/api/tables/people/plans", &body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.text().contains(field), "{}", answer.text());
    }
    let plan = planned(&app).await;
    let mut long = inputs(&plan);
    long["reason"] = json!("x".repeat(4_001));
    assert_eq!(post(&app, "/api/plans/abc/apply", &long).await.status, 400);
    // The table is as it was: the plan is another one.
    let other = post(&app, "/api/plans/abc/apply", &inputs(&plan)).await;
    assert_eq!(other.status, 422, "{}", other.text());
}

#[tokio::test]
async fn a_table_is_one_however_it_is_spelled() {
    let app = app().await;
    let plan = planned(&app).await;
    for name in ["people", "one/users", "one/users/"] {
        let mut spelled = inputs(&plan);
        spelled["table"] = json!(name);
        let path = format!("/api/plans/{}/apply", plan["id"].as_str().unwrap());
        post(&app, &path, &spelled).await;
    }
    for name in ["people", "one%2Fusers", "one%2Fusers%2F"] {
        let jobs = app.get(&format!("/api/jobs?table={name}")).await.json();
        let jobs = jobs["jobs"].as_array().unwrap();
        assert_eq!(jobs.len(), 3, "{name}");
        assert!(jobs.iter().all(|job| job["location"] == "people"));
    }
}

#[tokio::test]
async fn nothing_is_written_where_a_table_was() {
    let app = app().await;
    let gone = app.folder.path().join("one/users");
    std::fs::remove_dir_all(&gone).unwrap();
    let pins = "/api/tables/people/pins";
    let quarantine = "/api/tables/people/quarantine";
    let body = json!({ "version": "1" }).to_string();
    for (method, path, body) in [
        (Method::GET, pins.to_owned(), ""),
        (Method::PUT, format!("{pins}/x"), &*body),
        (Method::DELETE, format!("{pins}/x"), ""),
        (Method::GET, quarantine.to_owned(), ""),
        (Method::POST, quarantine.to_owned(), ""),
        (Method::DELETE, format!("{quarantine}?older_than=0s"), ""),
    ] {
        let answer = app.send(method.clone(), &path, &JSON, body).await;
        assert_eq!(answer.status, 404, "{method} {path}: {}", answer.text());
    }
    assert!(!gone.exists());
}

#[tokio::test]
async fn the_way_back_from_the_quarantine_is_written_down() {
    let app = app().await;
    crate::testing::write(
        &app.folder,
        "one/users/_tidemark/quarantine/1-a/x=1/y",
        "12",
    );
    let quarantine = "/api/tables/people/quarantine";
    let back = app.send(Method::POST, quarantine, &[], "").await;
    assert_eq!(back.status, 200, "{}", back.text());
    assert_eq!(back.json()["put_back"]["objects"], 1);
    assert_eq!(back.json()["quarantine"], json!([]));
    assert!(app.folder.path().join("one/users/x=1/y").exists());
    let audit = app.get("/api/audit").await.json();
    assert_eq!(audit["records"][0]["what"], "Put back");
    assert_eq!(audit["records"][0]["table"], "people");
}
