use serde_json::{Value, json};
use tempfile::TempDir;

use crate::routes::PATHS;
use crate::testing::{TestApp, delta_table, write};

pub(crate) async fn app() -> TestApp {
    let folder = TempDir::new().unwrap();
    for zone in ["one", "two"] {
        std::fs::create_dir(folder.path().join(zone)).unwrap();
    }
    delta_table(&folder.path().join("one/users"));
    delta_table(&folder.path().join("one/team/mart/deep"));
    delta_table(&folder.path().join("one/a/b/c/d/too-deep"));
    delta_table(&folder.path().join("one/users/nested"));
    delta_table(&folder.path().join("one/_hidden"));
    delta_table(&folder.path().join("one/.trash"));
    delta_table(&folder.path().join("one/raw/date=2026-01-01/inner"));
    write(&folder, "one/raw/date=2026-01-01/x.parquet", "");
    write(&folder, "two/nothing/here", "");
    let more = "[[table]]\nname = \"people\"\nzone = \"one\"\nprefix = \"users/\"\n\
                [discover]\ndepth = 4\n";
    TestApp::over(folder, more).await
}

#[tokio::test]
async fn tables_are_found_by_looking_at_prefixes() {
    let app = app().await;
    let lake = app.get("/api/lake").await.json();
    let tables: Vec<(&str, bool)> = lake["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| {
            (
                t["name"].as_str().unwrap(),
                t["configured"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(tables, [("one/team/mart/deep", false), ("people", true)]);
    assert_eq!(lake["discovered"], true);
    assert_eq!(lake["attention"]["rows_removed"], 0.2);
    let zones = lake["zones"].as_array().unwrap();
    assert_eq!(zones.len(), 2);
    assert_eq!(zones[0]["name"], "one");
    assert_eq!(zones[0]["reads"], "proxy");
    assert_eq!(zones[0]["error"], Value::Null);
    // Ten prefixes and the two zones: nothing below a table or a partition was looked at.
    assert!(
        app.app.metrics.store_lists.get() <= 12,
        "{}",
        app.app.metrics.store_lists.get()
    );
}

#[tokio::test]
async fn a_zone_that_cannot_be_read_does_not_take_the_others_with_it() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("one")).unwrap();
    delta_table(&folder.path().join("one/users"));
    let app = TestApp::over(folder, "").await;
    let lake = app.get("/api/lake").await.json();
    assert_eq!(lake["tables"][0]["name"], "one/users");
    assert_eq!(lake["discovered"], false);
    assert_eq!(lake["zones"][0]["error"], Value::Null);
    assert_eq!(lake["zones"][1]["error"]["kind"], "not_found");
    let ready = app.get("/readyz").await;
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()[1]["error"]["kind"], "not_found");
    assert_eq!(app.get("/api/zones/two/list").await.status, 404);
    // A directory that appears is a zone that works.
    std::fs::create_dir(app.folder.path().join("two")).unwrap();
    assert_eq!(app.get("/readyz").await.status, 200);
    assert_eq!(app.get("/api/zones/two/list").await.status, 200);
}

#[tokio::test]
async fn a_table_has_two_names_and_one_history() {
    let app = app().await;
    let by_name = app.get("/api/tables/people/history").await.json();
    let by_place = app.get("/api/tables/one%2Fusers/history").await.json();
    assert_eq!(by_name["location"], "people");
    assert_eq!(by_place["location"], "one/users");
    assert_eq!(by_name["commits"], by_place["commits"]);
    assert_eq!(by_name["latest_version"], "2");
    let versions: Vec<&str> = by_name["commits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["version"].as_str().unwrap())
        .collect();
    assert_eq!(versions, ["2", "1", "0"]);
    let page = app
        .get("/api/tables/people/history?limit=1&before=2")
        .await
        .json();
    assert_eq!(page["commits"][0]["version"], "1");
    assert_eq!(page["next_before"], "1");
}

#[tokio::test]
async fn a_table_is_answered_for_at_any_version() {
    let app = app().await;
    let snapshot = app
        .get("/api/tables/people/snapshot?version=1&files=true")
        .await
        .json();
    assert_eq!(
        (&snapshot["files"], &snapshot["rows"]),
        (&json!(2), &json!(15))
    );
    assert_eq!(snapshot["paths"][0]["path"], "region=UK/b c.parquet");
    let at = app
        .get("/api/tables/people/snapshot?at=2026-03-08T11:30:00Z")
        .await
        .json();
    assert_eq!(at["version"], "1");
    assert!(at.get("paths").is_none());
    let diff = app.get("/api/tables/people/diff?from=1&to=2").await.json();
    assert_eq!(diff["location"], "people");
    assert_eq!(diff["verdict"], "delete");
    assert_eq!(diff["rows_removed"], 10);
    let layout = app.get("/api/tables/people/layout").await.json();
    assert_eq!(
        (&layout["version"], &layout["files"]),
        (&json!("2"), &json!(1))
    );
}

#[tokio::test]
async fn what_cannot_be_answered_is_an_error_of_its_kind() {
    let app = app().await;
    let cases = [
        ("/api/tables/nobody/history", 404),
        ("/api/tables/one%2Fnothing/history", 404),
        ("/api/tables/one%2F..%2Ftwo/history", 400),
        ("/api/tables/one%2F%2Fusers/history", 400),
        ("/api/tables/%C3/history", 400),
        ("/api/tables/people/snapshot?version=99", 404),
        ("/api/tables/people/snapshot?version=x", 400),
        (
            "/api/tables/people/snapshot?version=1&at=2026-03-08T11:30:00Z",
            400,
        ),
        ("/api/tables/people/snapshot?at=2026-03-08T11:30:00", 400),
        ("/api/tables/people/snapshot?at=1999-01-01T00:00:00Z", 404),
        ("/api/tables/people/diff?from=1", 400),
        ("/api/tables/people/diff?from=1&to=77", 404),
        ("/api/tables/people/history?limit=many", 400),
        ("/api/tables/people/nothing", 404),
    ];
    for (path, status) in cases {
        let answer = app.get(path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(answer.json()["error"]["message"].is_string(), "{path}");
    }
}

#[tokio::test]
async fn the_document_lists_every_route_and_every_route_answers() {
    let app = app().await;
    let document = app.get("/api/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap();
    let mut listed: Vec<&str> = paths.keys().map(String::as_str).collect();
    let mut routes = PATHS.to_vec();
    listed.sort_unstable();
    routes.sort_unstable();
    assert_eq!(listed, routes);
    for (path, methods) in paths {
        let concrete = path.replace("{zone}", "one").replace("{table}", "people");
        let concrete = concrete.replace("{id}", "none");
        for method in methods.as_object().unwrap().keys() {
            let method: axum::http::Method = method.to_uppercase().parse().unwrap();
            let json = [("content-type", "application/json")];
            let answer = app.send(method.clone(), &concrete, &json, "{}").await;
            // A route may look for something that is not there, and says what.
            let routed = answer.status != 404 || !answer.text().contains("no such route");
            assert!(
                routed && answer.status != 405,
                "{method} {concrete}: {}",
                answer.status
            );
        }
    }
}

#[tokio::test]
async fn the_server_says_how_it_is() {
    let app = app().await;
    assert_eq!(app.get("/healthz").await.text(), "ok\n");
    assert_eq!(app.get("/readyz").await.status, 200);
    let session = app.get("/api/session").await.json();
    assert_eq!(session["mode"], "none");
    assert_eq!(session["name"], Value::Null);
    assert_eq!(session["zones"], json!(["one", "two"]));
    app.get("/api/zones/one/list").await;
    app.get("/api/zones/one/object?key=nothing").await;
    let metrics = app.get("/metrics").await.text();
    assert!(
        metrics.contains("tidemark_requests_total{status=\"4xx\"} 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("tidemark_store_requests_total{operation=\"list\"} 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("tidemark_requests_in_flight 1\n"),
        "{metrics}"
    );
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            name.starts_with("tidemark_") && value.parse::<u64>().is_ok(),
            "{line}"
        );
    }
}
