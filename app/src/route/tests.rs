use lake::hours::Day;

use super::*;

fn table() -> String {
    "users".to_owned()
}

fn day() -> Day {
    "2026-11-10".parse().unwrap()
}

#[test]
fn every_page_has_one_address() {
    let routes = [
        (Route::Lake, "/"),
        (Route::Timeline { table: table() }, "/t/users"),
        (
            Route::Layout {
                table: table(),
                at: At::Latest,
            },
            "/t/users/layout",
        ),
        (
            Route::Layout {
                table: table(),
                at: At::Version(Version(47)),
            },
            "/t/users/v/47/layout",
        ),
        (Route::Restore { table: table() }, "/t/users/restore"),
        (
            Route::Maintenance { table: table() },
            "/t/users/maintenance",
        ),
        (Route::Audit, "/audit"),
        (Route::Closed, "/hours"),
        (Route::Zones, "/zones"),
        (
            Route::Hours {
                dataset: "learning.progress".into(),
            },
            "/d/learning.progress",
        ),
        (
            Route::Hour {
                dataset: "a/b c".into(),
                slot: Slot::hour(day(), 8),
            },
            "/d/a%2Fb%20c/2026-11-10/08",
        ),
        (
            Route::Hour {
                dataset: "days".into(),
                slot: Slot::day(day()),
            },
            "/d/days/2026-11-10",
        ),
        (
            Route::DatasetLayout {
                dataset: "days".into(),
            },
            "/d/days/layout",
        ),
        (
            Route::Commit {
                table: table(),
                version: Version(48),
            },
            "/t/users/c/48",
        ),
        (
            Route::Snapshot {
                table: table(),
                at: At::Latest,
            },
            "/t/users/v/latest",
        ),
        (
            Route::Snapshot {
                table: table(),
                at: At::Time(Time(1_772_964_000_000)),
            },
            "/t/users/v/2026-03-08T10:00:00.000Z",
        ),
        (
            Route::Diff {
                table: table(),
                from: Version(47),
                to: Version(48),
            },
            "/t/users/diff/47..48",
        ),
        (
            Route::File {
                table: table(),
                version: Version(3),
                path: "region=US/a b%.parquet".to_owned(),
            },
            "/t/users/v/3/f/region=US%2Fa%20b%25.parquet",
        ),
        (
            Route::Timeline {
                table: "curated/a/ü x?#".to_owned(),
            },
            "/t/curated%2Fa%2F%C3%BC%20x%3F%23",
        ),
    ];
    for (route, href) in routes {
        assert_eq!(route.href(), href);
        assert_eq!(Route::parse(href), route);
    }
}

#[test]
fn a_trailing_slash_is_the_same_page() {
    assert_eq!(
        Route::parse("/t/users/"),
        Route::Timeline { table: table() }
    );
}

#[test]
fn hostile_addresses_are_unknown_pages() {
    let hostile = [
        "",
        "t/users",
        "//",
        "/t",
        "/t//c/1",
        "/t/%FF",
        "/t/users/c/-1",
        "/t/users/c/+1",
        "/t/users/c/99999999999999999999999",
        "/t/users/diff/1...2",
        "/t/users/diff/1",
        "/t/users/diff/a..b",
        "/t/users/v/2026-03-08",
        "/t/users/v/%",
        "/t/users/v/1/f/",
        "/t/users/v/1/f/%C0%AF",
        "/t/users/x/y/z",
        "/\u{202e}/\0",
    ];
    for path in hostile {
        let route = Route::parse(path);
        assert!(matches!(route, Route::Unknown { .. }), "{path}: {route:?}");
        assert_eq!(route.href(), path);
    }
}

#[test]
fn stepping_keeps_the_page() {
    let diff = Route::parse("/t/users/diff/40..48");
    assert_eq!(
        diff.with_version(Version(49)).unwrap().href(),
        "/t/users/diff/41..49"
    );
    assert_eq!(diff.with_version(Version(7)), None);
    let snapshot = Route::parse("/t/users/v/latest");
    assert_eq!(
        snapshot.with_version(Version(7)).unwrap().href(),
        "/t/users/v/7"
    );
    assert_eq!(Route::Lake.with_version(Version(7)), None);
}

#[test]
fn parameters_survive_the_way_there_and_back() {
    let query = Query::default()
        .with("q", Some("region=UK & more+ü"))
        .with("by", Some("bytes"))
        .with("by", Some("files"))
        .with("fold", None::<&str>);
    let text = query.to_string();
    assert_eq!(text, "?q=region%3DUK%20%26%20more%2B%C3%BC&by=files");
    assert_eq!(Query::parse(&text), query);
    assert_eq!(
        query.clone().with("q", None::<&str>).to_string(),
        "?by=files"
    );
}

#[test]
fn odd_parameters_do_no_harm() {
    let query = Query::parse("?&&a&=b&a=2&c=%FF&d=1=2");
    assert_eq!(query.get("a"), Some(""));
    assert_eq!(query.get("d"), Some("1=2"));
    assert_eq!(query.get("c"), Some("\u{fffd}"));
    assert_eq!(query.read::<u64>("d"), None);
    assert_eq!(Query::parse("").to_string(), "");
}
