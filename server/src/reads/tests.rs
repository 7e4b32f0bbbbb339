use axum::http::Method;
use lake::wire::frame::{FrameDecoder, FrameHeader};
use serde_json::json;

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
    let object = &page["objects"][0];
    assert_eq!(object["size"], 7);
    let head = app.get(&self::object("a/1")).await;
    assert_eq!(
        object["etag"],
        head.header("etag"),
        "a listing's tag is a read's"
    );
    assert_eq!(app.get("/api/zones/three/list").await.status, 404);
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
