use std::net::SocketAddr;

use axum::http::Method;

use super::*;
use crate::testing::{TestApp, is_ok};

#[test]
fn strangers_are_not_listened_to() {
    let access = Access::default();
    for address in ["127.0.0.1:4800", "127.9.9.9:1", "[::1]:4800"] {
        access.check_listen(address.parse().unwrap()).unwrap();
    }
    for address in [
        "0.0.0.0:4800",
        "[::]:4800",
        "192.168.1.2:80",
        "[fe80::1]:80",
    ] {
        let address: SocketAddr = address.parse().unwrap();
        let error = access.check_listen(address).unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid);
        assert!(error.message().contains("loopback"), "{error}");
    }
}

/// A page of another site whose name was made to resolve to the loopback address.
#[tokio::test]
async fn a_foreign_host_is_refused_everywhere() {
    let app = TestApp::new(&["one/a"]).await;
    for host in [
        "evil.example",
        "127.0.0.1.evil.example:4800",
        "10.0.0.1",
        "0.0.0.0:4800",
        "a@localhost",
    ] {
        for path in [
            "/",
            "/t/x",
            "/api/lake",
            "/api/session",
            "/api/zones/one/object?key=a",
            "/api/zones/one/list",
            "/healthz",
            "/readyz",
            "/metrics",
            "/api/openapi.json",
            "/nothing",
        ] {
            let answer = app
                .get_with(path, &[("host", host), ("accept", "text/html")])
                .await;
            assert!(
                matches!(answer.status, 400 | 403),
                "{host}{path}: {}",
                answer.status
            );
            assert!(answer.json()["error"]["message"].is_string());
        }
    }
    for host in [
        "localhost",
        "localhost:9999",
        "127.0.0.1:4800",
        "[::1]:4800",
        "LOCALHOST:1",
    ] {
        let answer = app.get_with("/healthz", &[("host", host)]).await;
        assert_eq!(answer.status, 200, "{host}");
    }
}

#[tokio::test]
async fn only_our_own_page_may_post() {
    let app = TestApp::new(&["one/a"]).await;
    let path = "/api/zones/one/batch";
    let body = "{\"reads\":[{\"key\":\"a\"}]}";
    let json = ("content-type", "application/json");
    let refused: &[&[(&str, &str)]] = &[
        &[json, ("origin", "https://evil.example")],
        &[json, ("origin", "null")],
        &[json, ("origin", "http://localhost:4801")],
        &[json, ("origin", "http://localhost.evil.example:4800")],
        &[json, ("origin", "file://")],
        &[json, ("sec-fetch-site", "cross-site")],
        &[json, ("sec-fetch-site", "same-site")],
        &[
            json,
            ("sec-fetch-site", "none"),
            ("origin", "http://localhost:4800"),
        ],
        &[
            json,
            ("sec-fetch-site", "same-origin"),
            ("origin", "https://evil.example"),
        ],
    ];
    for headers in refused {
        let answer = app.send(Method::POST, path, headers, body).await;
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/json",
    ] {
        let answer = app
            .send(Method::POST, path, &[("content-type", kind)], body)
            .await;
        assert_eq!(answer.status, 415, "{kind}");
    }
    assert_eq!(app.send(Method::POST, path, &[], body).await.status, 415);
    let allowed: &[&[(&str, &str)]] = &[
        &[json],
        &[("content-type", "application/json; charset=utf-8")],
        &[json, ("origin", "http://localhost:4800")],
        &[
            json,
            ("origin", "http://localhost:4800"),
            ("sec-fetch-site", "same-origin"),
        ],
    ];
    for headers in allowed {
        let answer = app.send(Method::POST, path, headers, body).await;
        assert!(is_ok(answer.status), "{headers:?}: {}", answer.text());
    }
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::POST] {
        let path = "/api/zones/one/object?key=a";
        let answer = app.send(method.clone(), path, &[json], "").await;
        assert_eq!(answer.status, 405, "{method}");
    }
    assert_eq!(app.get(path).await.status, 405);
}

#[tokio::test]
async fn a_public_name_is_ours_where_it_is_configured() {
    let folder = tempfile::tempdir().unwrap();
    for zone in ["one", "two"] {
        std::fs::create_dir(folder.path().join(zone)).unwrap();
    }
    let more = "[server]\npublic_url = \"https://lake.example\"\n";
    let app = TestApp::over(folder, more).await;
    let host = ("host", "lake.example");
    assert_eq!(app.get_with("/healthz", &[host]).await.status, 200);
    let own = [
        host,
        ("origin", "https://lake.example"),
        ("content-type", "application/json"),
    ];
    let answer = app
        .send(Method::POST, "/api/zones/one/batch", &own, "{\"reads\":[]}")
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn every_answer_carries_its_headers() {
    let app = TestApp::new(&["one/a"]).await;
    for path in [
        "/",
        "/api/lake",
        "/api/nothing",
        "/metrics",
        "/x.js",
        "/api/zones/one/object?key=a",
    ] {
        let answer = app.get_with(path, &[("accept", "text/html")]).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(
            !policy.contains("script-src 'unsafe-inline'"),
            "{path}: {policy}"
        );
        assert!(!answer.header("cache-control").is_empty(), "{path}");
    }
}
