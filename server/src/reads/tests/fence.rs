use axum::http::Method;
use serde_json::json;

use super::{app, encoded, frames, object};
use crate::testing::Answer;

/// Whether a listing is refused, or names nothing that lies outside.
fn is_fenced(answer: &Answer, asked: &str) {
    match answer.status {
        400 => assert_eq!(answer.json()["error"]["kind"], "invalid", "{asked}"),
        status => {
            assert_eq!(status, 200, "{asked}");
            assert!(
                !answer.text().contains("secret"),
                "{asked}: {}",
                answer.text()
            );
        }
    }
}

/// Every way to write a key that might lead out of a zone. None may answer with bytes.
#[tokio::test]
async fn nothing_outside_the_zone_is_read() {
    let app = app().await;
    let up = [
        "..",
        "../",
        "../secret",
        "../two/secret",
        "../one-more/secret",
        "a/../../secret",
        "a/../../two/secret",
        "./../secret",
        "a/..",
        "a/.",
        "./hundred",
        "a/./1",
        "a//1",
        "//a/1",
        "/hundred",
        "/etc/passwd",
        "/",
        "",
        "hundred/",
        "..\\secret",
        "..\\..\\etc\\passwd",
        "C:\\windows\\win.ini",
        "c:/windows/win.ini",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "s3://other/x",
        "//169.254.169.254/x",
        "\\\\host\\share",
        "hundred\0",
        "\0",
        "a\n1",
        "a\r\nhost: x",
        "~/.ssh/id_rsa",
        "../../../../../../../../../../etc/passwd",
        "....//....//secret",
        "..;/secret",
        "%2e%2e/secret",
        "..%2fsecret",
        "%252e%252e%252fsecret",
        "..%c0%afsecret",
        "\u{ff0e}\u{ff0e}/secret",
        "\u{2024}\u{2024}/secret",
        "..\u{2215}secret",
    ];
    let long = "k/".repeat(2000);
    let mut queries: Vec<String> = up
        .iter()
        .chain([&long.as_str()])
        .map(|k| encoded(k))
        .collect();
    // Encodings that never pass through a string: raw, doubled, overlong, not UTF-8.
    queries.extend(
        [
            "../secret",
            "..%2fsecret",
            "..%2Fsecret",
            "%2e%2e%2fsecret",
            "%2e%2e/secret",
            ".%2e/secret",
            "%2E%2E%5Csecret",
            "%252e%252e%252fsecret",
            "..%252f..%252fsecret",
            "%c0%ae%c0%ae/secret",
            "..%c0%afsecret",
            "%e0%80%ae%e0%80%ae/secret",
            "%uff0e%uff0e/secret",
            "%C3",
            "%ff%fe",
            "%00",
            "hundred%00",
            "hundred%00.parquet",
            "%",
            "%2",
            "%zz",
            "a/%2e%2e/%2e%2e/secret",
            "one/../../secret",
            "%2fetc%2fpasswd",
            "%2f%2fetc/passwd",
            "file%3A%2F%2F%2Fetc%2Fpasswd",
        ]
        .map(str::to_owned),
    );
    for query in &queries {
        let answer = app.get(&object(query)).await;
        assert!(
            matches!(answer.status, 400 | 404),
            "{query}: {}",
            answer.status
        );
        let body = answer.json();
        assert!(body["error"]["kind"].is_string(), "{query}");
        let head = app.send(Method::HEAD, &object(query), &[], "").await;
        assert_eq!(head.status, answer.status, "{query}");
        for list in [
            format!("/api/zones/one/list?prefix={query}"),
            format!("/api/zones/one/list?prefix={query}&delimiter=/"),
        ] {
            let listed = app.get(&list).await;
            is_fenced(&listed, &list);
        }
        let after = app.get(&format!("/api/zones/one/list?after={query}")).await;
        is_fenced(&after, query);
    }
    for key in up.iter().chain([&long.as_str()]) {
        let request = json!({"reads": [{"key": key, "range": "bytes=0-0"}, {"key": key}]});
        let frames = frames(&app.post("/api/zones/one/batch", &request.to_string()).await);
        assert_eq!(frames.len(), 2);
        for (header, body) in frames {
            assert!(matches!(header.status, 400 | 404), "{key}: {header:?}");
            assert!(body.is_empty() && header.error.is_some());
        }
    }
    for path in [
        "/api/zones/one/../two/object?key=secret",
        "/api/zones/..%2ftwo/object?key=secret",
        "/api/zones/one%2f..%2ftwo/object?key=secret",
        "/api/zones/%2e%2e/object?key=secret",
        "/api/zones//object?key=secret",
        "/api/zones/one-more/object?key=secret",
        "/api/zones/%C3/object?key=secret",
        "/one/hundred",
        "/..%2fsecret",
        "/%2e%2e/%2e%2e/etc/passwd",
    ] {
        let answer = app.get(path).await;
        // An address without a file behind it may be one of the page's own.
        let page = answer.status == 200 && answer.text().contains("<html");
        assert!(
            matches!(answer.status, 400 | 404 | 503) || page,
            "{path}: {}",
            answer.status
        );
        assert_ne!(answer.text(), "two/secret");
    }
    for path in [
        "/api/zones/one/object?key=hundred&key=../secret",
        "/api/zones/one/object?key=hundred&versionId=1",
        "/api/zones/one/object?prefix=hundred",
        "/api/zones/one/object",
        "/api/zones/one/list?list-type=2&prefix=",
        "/api/zones/one/list?delimiter=a",
        "/api/zones/one/list?limit=0",
        "/api/zones/one/list?limit=-1",
        "/api/zones/one/list?limit=x",
    ] {
        assert_eq!(app.get(path).await.status, 400, "{path}");
    }
    let whole = app.get("/api/zones/one/list?").await;
    assert!(!whole.text().contains("secret"), "{}", whole.text());
}

#[cfg(unix)]
#[tokio::test]
async fn links_do_not_lead_out_of_a_zone() {
    use std::os::unix::fs::symlink;
    let app = app().await;
    let at = |name: &str| app.folder.path().join(name);
    symlink(at("secret"), at("one/link")).unwrap();
    symlink(at("two"), at("one/two")).unwrap();
    symlink("..", at("one/up")).unwrap();
    symlink("/etc", at("one/etc")).unwrap();
    for key in [
        "link",
        "two/secret",
        "up/secret",
        "up/two/secret",
        "etc/hostname",
        "etc/passwd",
    ] {
        let answer = app.get(&object(key)).await;
        assert_eq!(answer.status, 404, "{key}: {}", answer.text());
    }
    for query in [
        "",
        "prefix=two",
        "prefix=up",
        "prefix=etc",
        "delimiter=/",
        "prefix=up&delimiter=/",
    ] {
        let listed = app.get(&format!("/api/zones/one/list?{query}")).await;
        assert!(
            !listed.text().contains("secret"),
            "{query}: {}",
            listed.text()
        );
        assert!(!listed.text().contains("passwd"), "{query}");
    }
}
