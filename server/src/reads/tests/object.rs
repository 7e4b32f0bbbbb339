use axum::http::Method;

use super::{app, encoded, object};
use crate::testing::{TestApp, write};

#[tokio::test]
async fn ranges_are_answered_by_the_book() {
    let app = app().await;
    // Range, status, Content-Range, bytes.
    let cases = [
        ("bytes=0-99", 206, "bytes 0-99/100", 0..100),
        ("bytes=0-", 206, "bytes 0-99/100", 0..100),
        ("bytes=-8", 206, "bytes 92-99/100", 92..100),
        ("bytes=-800", 206, "bytes 0-99/100", 0..100),
        ("bytes=99-99", 206, "bytes 99-99/100", 99..100),
        ("bytes=5-9", 206, "bytes 5-9/100", 5..10),
        ("bytes=0-999", 206, "bytes 0-99/100", 0..100),
        ("bytes=100-", 416, "bytes */100", 0..0),
        ("bytes=100-200", 416, "bytes */100", 0..0),
        ("bytes=-0", 416, "bytes */100", 0..0),
        ("bytes=5-2", 200, "", 0..100),
        ("bytes=0-0,5-5", 200, "", 0..100),
        ("lines=0-1", 200, "", 0..100),
    ];
    for (range, status, content_range, bytes) in cases {
        let answer = app.get_with(&object("hundred"), &[("range", range)]).await;
        assert_eq!(answer.status, status, "{range}");
        assert_eq!(answer.header("content-range"), content_range, "{range}");
        assert_eq!(answer.header("accept-ranges"), "bytes", "{range}");
        assert_eq!(answer.header("content-encoding"), "", "{range}");
        if status == 416 {
            assert_eq!(answer.json()["error"]["kind"], "invalid");
            continue;
        }
        let expected: Vec<u8> = bytes.map(|n| b'0' + (n % 10) as u8).collect();
        assert_eq!(answer.body, expected, "{range}");
        let length = expected.len().to_string();
        assert_eq!(answer.header("content-length"), length, "{range}");
    }
    for range in ["bytes=-8", "bytes=0-", "bytes=0-0"] {
        let answer = app.get_with(&object("empty"), &[("range", range)]).await;
        assert_eq!(answer.status, 416, "{range} of nothing");
        assert_eq!(answer.header("content-range"), "bytes */0");
    }
    let empty = app.get(&object("empty")).await;
    assert_eq!((empty.status, empty.body.len()), (200, 0));
    assert_eq!(empty.header("content-length"), "0");
}

#[tokio::test]
async fn conditions_are_answered_by_the_book() {
    let app = app().await;
    let path = object("hundred");
    let whole = app.get(&path).await;
    let tag = whole.header("etag").to_owned();
    let modified = whole.header("last-modified").to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    assert!(modified.ends_with(" GMT"), "{modified}");
    let weak = format!("W/{tag}");
    let list = format!("\"other\", {tag}");
    let of = |name: &'static str, value: &str| vec![(name, value.to_owned())];
    let ranged = |value: &str| {
        vec![
            ("range", "bytes=0-4".to_owned()),
            ("if-range", value.to_owned()),
        ]
    };
    let cases = [
        (of("if-none-match", &tag), 304, 0),
        (of("if-none-match", &weak), 304, 0),
        (of("if-none-match", &list), 304, 0),
        (of("if-none-match", "*"), 304, 0),
        (of("if-none-match", "\"other\""), 200, 100),
        (of("if-match", &tag), 200, 100),
        (of("if-match", "*"), 200, 100),
        (of("if-match", "\"other\""), 412, 0),
        (ranged(&tag), 206, 5),
        (ranged(&modified), 206, 5),
        (ranged("\"other\""), 200, 100),
        (ranged(&weak), 200, 100),
        (ranged("Sun, 06 Nov 1994 08:49:37 GMT"), 200, 100),
        (
            vec![
                ("range", "bytes=200-".to_owned()),
                ("if-range", "\"other\"".to_owned()),
            ],
            200,
            100,
        ),
        (
            vec![
                ("range", "bytes=0-4".to_owned()),
                ("if-match", "\"other\"".to_owned()),
            ],
            412,
            0,
        ),
        (
            vec![
                ("range", "bytes=0-4".to_owned()),
                ("if-none-match", tag.clone()),
            ],
            304,
            0,
        ),
    ];
    for (headers, status, length) in cases {
        let borrowed: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let answer = app.get_with(&path, &borrowed).await;
        assert_eq!(answer.status, status, "{headers:?}");
        if status != 412 {
            assert_eq!(answer.body.len(), length, "{headers:?}");
        }
    }
    let unchanged = app.get_with(&path, &[("if-none-match", &tag)]).await;
    assert_eq!(unchanged.header("etag"), tag);
}

#[tokio::test]
async fn head_says_what_get_would() {
    let app = app().await;
    let headers = [("range", "bytes=0-4")];
    let head = app
        .send(Method::HEAD, &object("hundred"), &headers, "")
        .await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), "100");
    assert_eq!(head.header("content-range"), "");
    let get = app.get(&object("hundred")).await;
    for name in ["etag", "last-modified", "content-type", "accept-ranges"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
    let missing = app.send(Method::HEAD, &object("nothing"), &[], "").await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn an_object_is_bytes_and_never_a_page() {
    let app = app().await;
    write(&app.folder, "one/x.html", "<script>alert(1)</script>");
    for path in [object("x.html"), object("hundred")] {
        let answer = app.get(&path).await;
        assert_eq!(answer.header("content-type"), "application/octet-stream");
        assert_eq!(answer.header("content-disposition"), "attachment");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(
            answer
                .header("content-security-policy")
                .starts_with("sandbox;")
        );
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
}

#[tokio::test]
async fn a_key_reaches_exactly_its_object() {
    let app = app().await;
    for key in ["a b+c%2F.parquet", "x?y#z", "é", "a/b/3", "%2e%2e/x"] {
        let answer = app.get(&object(&encoded(key))).await;
        assert_eq!(answer.status, 200, "{key}");
        assert_eq!(answer.text(), format!("one/{key}"));
    }
}

#[tokio::test]
async fn redirected_reads_are_signed_for_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "s3cret").unwrap();
    let text = format!(
        "[server]\nreads = \"redirect\"\n\
         [[zone]]\nname = \"cloud\"\nurl = \"s3://bucket/pre/fix/\"\n\
         [zone.store]\nendpoint = \"http://127.0.0.1:9\"\nallow_http = true\nregion = \"us-east-1\"\n\
         access_key_id = \"AK\"\nsecret_access_key = {{ file = \"{}\" }}\n\
         [[zone]]\nname = \"disk\"\nurl = \"file://{}/\"\n",
        key.display(),
        folder.path().canonicalize().unwrap().display()
    );
    let app = TestApp::configured(folder, &text).await;
    for method in [Method::GET, Method::HEAD] {
        let headers = [("range", "bytes=0-7")];
        let path = "/api/zones/cloud/object?key=a%20b%2F%252F.parquet";
        let answer = app.send(method, path, &headers, "").await;
        assert_eq!(answer.status, 307, "{}", answer.text());
        let url = url::Url::parse(answer.header("location")).unwrap();
        assert_eq!(url.origin().ascii_serialization(), "http://127.0.0.1:9");
        assert_eq!(url.path(), "/bucket/pre/fix/a%20b/%252F.parquet");
        let expires = url.query_pairs().find(|(name, _)| name == "X-Amz-Expires");
        assert_eq!(expires.unwrap().1, "60");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert!(!answer.header("location").contains("s3cret"));
    }
    let out = app.get("/api/zones/cloud/object?key=../other/x").await;
    assert_eq!(out.status, 400);
    let disk = app.get("/api/zones/disk/object?key=key").await;
    assert_eq!(disk.status, 200, "what cannot be signed is streamed");
    let lake = app.app.zones.get("cloud").unwrap();
    assert!(lake.redirects());
    let policy = app.get_with("/", &[("accept", "text/html")]).await;
    if policy.status == 200 {
        let policy = policy.header("content-security-policy").to_owned();
        assert!(
            policy.contains("connect-src 'self' http://127.0.0.1:9;"),
            "{policy}"
        );
    }
}
