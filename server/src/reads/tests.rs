mod batch;
mod fence;
mod list;
mod object;

use lake::wire::frame::{FrameDecoder, FrameHeader};

use crate::testing::{Answer, TestApp, write};

const FILES: &[&str] = &[
    "secret",
    "one/hundred",
    "one/empty",
    "one/a/1",
    "one/a/2",
    "one/a/b/3",
    "one/a b+c%2F.parquet",
    "one/x?y#z",
    "one/é",
    "one/%2e%2e/x",
    "one-more/secret",
    "two/secret",
];

async fn app() -> TestApp {
    let app = TestApp::new(FILES).await;
    let hundred: String = (0..100u8).map(|n| char::from(b'0' + n % 10)).collect();
    write(&app.folder, "one/hundred", &hundred);
    write(&app.folder, "one/empty", "");
    app
}

fn object(key: &str) -> String {
    format!("/api/zones/one/object?key={key}")
}

fn encoded(key: &str) -> String {
    let all = percent_encoding::NON_ALPHANUMERIC;
    percent_encoding::utf8_percent_encode(key, all).to_string()
}

fn frames(answer: &Answer) -> Vec<(FrameHeader, Vec<u8>)> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut decoder = FrameDecoder::default();
    decoder.push(&answer.body);
    let mut frames = Vec::new();
    while let Some((header, body)) = decoder.next_frame().unwrap() {
        frames.push((header, body.to_vec()));
    }
    assert!(decoder.is_empty());
    frames.sort_by_key(|(header, _)| header.index);
    frames
}
