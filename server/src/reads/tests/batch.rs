use serde_json::json;

use super::{app, frames};
use crate::testing::write;

#[tokio::test]
async fn a_batch_answers_each_read_by_itself() {
    let app = app().await;
    let large = "0123456789abcdef".repeat(200_000);
    write(&app.folder, "one/large", &large);
    let request = json!({"reads": [
        {"key": "hundred"},
        {"key": "hundred", "range": "bytes=-8"},
        {"key": "hundred", "range": "bytes=100-"},
        {"key": "nothing"},
        {"key": "../secret"},
        {"key": "large"},
        {"key": "large", "range": "bytes=16-"},
        {"key": "hundred", "range": "everything"},
        {"key": "empty"},
    ]});
    let answer = app.post("/api/zones/one/batch", &request.to_string()).await;
    let frames = frames(&answer);
    let statuses: Vec<u16> = frames.iter().map(|(header, _)| header.status).collect();
    assert_eq!(statuses, [200, 206, 416, 404, 400, 200, 206, 400, 200]);
    for (header, body) in &frames {
        assert_eq!(header.length, body.len() as u64);
        assert_eq!(header.error.is_some(), header.status >= 400, "{header:?}");
        if header.status < 300 {
            assert!(header.etag.is_some() && header.modified.is_some());
        }
    }
    let (suffix, bytes) = &frames[1];
    assert_eq!((suffix.start, suffix.size, bytes.len()), (92, 100, 8));
    assert_eq!(frames[2].0.size, 100);
    assert_eq!(frames[5].1, large.as_bytes());
    assert_eq!(frames[6].1, &large.as_bytes()[16..]);
    let error = frames[3].0.error.as_deref().unwrap();
    let folder = app.folder.path().display().to_string();
    assert!(
        !error.contains(&folder),
        "the disk's paths are nobody's business: {error}"
    );
}

#[tokio::test]
async fn a_batch_is_bounded() {
    let app = app().await;
    let reads = |n: usize| json!({"reads": vec![json!({"key": "hundred"}); n]}).to_string();
    let most = app.post("/api/zones/one/batch", &reads(1000)).await;
    assert_eq!(frames(&most).len(), 1000);
    assert_eq!(
        app.post("/api/zones/one/batch", &reads(1001)).await.status,
        400
    );
    assert_eq!(app.post("/api/zones/one/batch", "{").await.status, 400);
    assert_eq!(
        app.post("/api/zones/one/batch", "{\"reads\": 1}")
            .await
            .status,
        400
    );
    let huge = format!("{{\"reads\":[{{\"key\":\"{}\"}}]}}", "k".repeat(5 << 20));
    assert_eq!(app.post("/api/zones/one/batch", &huge).await.status, 413);
    let nothing = app.post("/api/zones/one/batch", "{\"reads\": []}").await;
    assert_eq!((nothing.status, nothing.body.len()), (200, 0));
}
