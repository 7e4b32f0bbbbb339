use std::fs;
use std::sync::Arc;

use axum::http::Method;
use tempfile::TempDir;

use crate::app::App;
use crate::config::Config;
use crate::setup;
use crate::site::Site;
use crate::testing::Answer;

const INDEX: &str = "<html><head><script type=\"module\">import init from '/page-0123456789abcdef.js'; init();</script></head></html>";

/// A server whose page is a folder of made files.
struct Page {
    _dist: TempDir,
    router: axum::Router,
}

impl Page {
    async fn new(files: &[(&str, &str)]) -> Self {
        let dist = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(dist.path().join(name), text).unwrap();
        }
        let mut app: App = setup::app_of(&Config::default(), |_| None).await.unwrap();
        app.site = Site::new(|_| None, Some(dist.path().to_owned()), Vec::new());
        Self {
            _dist: dist,
            router: crate::routes::router(Arc::new(app)),
        }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(Method::GET, path, headers).await
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        use tower::ServiceExt as _;
        let mut request = axum::http::Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(axum::body::Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.into(),
        }
    }
}

async fn page() -> Page {
    Page::new(&[
        ("index.html", INDEX),
        ("index.html.br", "packed index"),
        ("page-0123456789abcdef.js", "code"),
        ("page-0123456789abcdef_bg.wasm", "wasm"),
        ("page-0123456789abcdef_bg.wasm.br", "packed wasm"),
        ("worker.js", "worker"),
        ("worker_bg.wasm", "worker wasm"),
        ("tokens-0123456789abcdef.css", "css"),
        ("icon.svg", "<svg/>"),
        (".secret", "secret"),
    ])
    .await
}

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

#[tokio::test]
async fn files_are_kept_as_long_as_their_names_allow() {
    let page = page().await;
    let cases = [
        (
            "/page-0123456789abcdef.js",
            "text/javascript; charset=utf-8",
            true,
        ),
        ("/page-0123456789abcdef_bg.wasm", "application/wasm", true),
        (
            "/tokens-0123456789abcdef.css",
            "text/css; charset=utf-8",
            true,
        ),
        ("/worker.js", "text/javascript; charset=utf-8", false),
        ("/worker_bg.wasm", "application/wasm", false),
        ("/icon.svg", "image/svg+xml", false),
    ];
    for (path, kind, forever) in cases {
        let answer = page.get(path, &[]).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), kind, "{path}");
        let expected = match forever {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        assert_eq!(answer.header("cache-control"), expected, "{path}");
        let tag = answer.header("etag").to_owned();
        let again = page.get(path, &[("if-none-match", &tag)]).await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let head = page.send(Method::HEAD, path, &[]).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-length"), answer.body.len().to_string());
    }
}

#[tokio::test]
async fn packed_files_are_sent_to_those_who_take_them() {
    let page = page().await;
    let wasm = "/page-0123456789abcdef_bg.wasm";
    let packed = page.get(wasm, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(packed.text(), "packed wasm");
    assert_eq!(packed.header("content-encoding"), "br");
    assert_eq!(packed.header("content-type"), "application/wasm");
    assert_eq!(packed.header("vary"), "accept-encoding");
    for takes in ["", "gzip", "br;q=0", "brotli"] {
        let plain = page.get(wasm, &[("accept-encoding", takes)]).await;
        assert_eq!(plain.text(), "wasm", "{takes}");
        assert_eq!(plain.header("content-encoding"), "");
        assert_ne!(plain.header("etag"), packed.header("etag"));
    }
    let unpacked = page.get("/worker.js", &[("accept-encoding", "br")]).await;
    assert_eq!(
        (
            unpacked.text().as_str(),
            unpacked.header("content-encoding")
        ),
        ("worker", "")
    );
    let index = page.get("/", &[HTML, ("accept-encoding", "br")]).await;
    assert_eq!(index.text(), "packed index");
}

#[tokio::test]
async fn every_page_is_the_page_and_no_file_is() {
    let page = page().await;
    for path in [
        "/",
        "/index.html",
        "/t/users",
        "/t/curated%2Fusers/v/3",
        "/t/a.b.parquet/c/1",
        "/t/x.js/layout",
        "/t/x.js",
        "/d/learning.progress",
        "/hours",
        "/zones",
        "/t/x?y=z",
    ] {
        let answer = page.get(path, &[HTML]).await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, INDEX),
            "{path}"
        );
        assert_eq!(answer.header("cache-control"), "no-cache", "{path}");
        assert_eq!(
            answer.header("content-type"),
            "text/html; charset=utf-8",
            "{path}"
        );
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("script-src 'self' 'wasm-unsafe-eval' 'sha256-"),
            "{policy}"
        );
    }
    for path in [
        "/missing.js",
        "/missing_bg.wasm",
        "/style/x.css",
        "/page-ffffffffffffffff.js",
        "/x.br",
        "/api",
        "/api/",
        "/api/nothing",
        "/api/x.js",
    ] {
        for accept in [HTML, ("accept", "*/*")] {
            let answer = page.get(path, &[accept]).await;
            assert_eq!(answer.status, 404, "{path}");
            assert!(
                answer
                    .header("content-type")
                    .starts_with("application/json"),
                "{path}"
            );
        }
    }
    for path in [
        "/.secret",
        "/..%2f.secret",
        "/%2e%2e/x",
        "//etc/passwd",
        "/./x",
        "/a\\b",
    ] {
        let answer = page.get(path, &[("accept", "application/json")]).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
    let posted = page
        .send(Method::POST, "/", &[("content-type", "application/json")])
        .await;
    assert_eq!(posted.status, 405);
}

#[tokio::test]
async fn a_page_that_was_not_built_says_so() {
    let page = Page::new(&[]).await;
    let answer = page.get("/", &[HTML]).await;
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("make demo"));
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
}
