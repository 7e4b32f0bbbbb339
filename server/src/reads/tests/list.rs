use serde_json::json;

use super::{app, object};

#[tokio::test]
async fn listings_come_in_pages() {
    let app = app().await;
    let page = app
        .get("/api/zones/one/list?prefix=a/&limit=2")
        .await
        .json();
    let keys = |page: &serde_json::Value| -> Vec<String> {
        let objects = page["objects"].as_array().unwrap().iter();
        objects
            .map(|o| o["key"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(keys(&page), ["a/1", "a/2"]);
    assert_eq!(page["next"], "a/2");
    let rest = app
        .get("/api/zones/one/list?prefix=a&after=a/2")
        .await
        .json();
    assert_eq!(keys(&rest), ["a/b/3"]);
    assert_eq!(rest["next"], json!(null));
    let skipped = app
        .get("/api/zones/one/list?prefix=a&after=a/15")
        .await
        .json();
    assert_eq!(keys(&skipped), ["a/2", "a/b/3"], "the key need not exist");
    let level = app
        .get("/api/zones/one/list?prefix=a&delimiter=/")
        .await
        .json();
    assert_eq!(keys(&level), ["a/1", "a/2"]);
    assert_eq!(level["prefixes"], json!(["a/b"]));
    let level = app
        .get("/api/zones/one/list?prefix=a&delimiter=/&after=a/b/")
        .await
        .json();
    assert_eq!(level["prefixes"], json!([]));
    let nowhere = app.get("/api/zones/one/list?prefix=nowhere").await.json();
    assert_eq!(
        nowhere,
        json!({"objects": [], "prefixes": [], "next": null})
    );
    let first = &page["objects"][0];
    assert_eq!(first["size"], 7);
    let head = app.get(&object("a/1")).await;
    assert_eq!(
        first["etag"],
        head.header("etag"),
        "a listing's tag is a read's"
    );
    assert_eq!(app.get("/api/zones/three/list").await.status, 404);
}
