use std::collections::BTreeMap;

use lake::host::Progress;
use lake::wire::Message;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Plain,
    Named { n: Option<u32> },
    Wrapped(Vec<i64>),
}

#[derive(Debug, Deserialize, PartialEq)]
struct Inner {
    a: u8,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Outer {
    #[serde(default)]
    missing: Vec<String>,
    pair: (String, f64),
    kinds: Vec<Kind>,
    by_name: BTreeMap<String, bool>,
    #[serde(flatten)]
    inner: Inner,
    any: Value,
}

#[test]
fn every_shape_that_reports_have_is_read() {
    let json = json!({
        "unknown": {"x": [1, {"y": "]}"}], "z": null}, "pair": ["a\"\\\n\u{1}ü😀", -1.5e3],
        "kinds": ["plain", {"named": {"n": null}}, {"named": {"n": 7}}, {"wrapped": [-1, 2]}],
        "by_name": {"t": true, "f": false}, "a": 255,
        "any": {"big": u64::MAX, "small": i64::MIN, "real": 0.25, "none": null, "list": [[], {}]},
    });
    for text in [
        json.to_string(),
        serde_json::to_string_pretty(&json).unwrap(),
    ] {
        let read: Outer = from_json(&text).unwrap();
        assert_eq!(read, serde_json::from_value(json.clone()).unwrap());
    }
}

#[test]
fn escapes_are_read_as_serde_json_reads_them() {
    for text in [
        r#""\u0041\u00fc\ud83d\ude00\/\b\f\r\t""#,
        r#""""#,
        r#""\\""#,
    ] {
        let wanted: String = serde_json::from_str(text).unwrap();
        assert_eq!(from_json::<String>(text), Ok(wanted));
    }
}

#[test]
fn a_message_comes_back_as_it_was() {
    let progress = Progress {
        step: "reading checkpoint".to_owned(),
        done: 3,
        of: None,
    };
    let message = Message::Progress { id: 9, progress };
    let text = serde_json::to_string(&message).unwrap();
    assert_eq!(from_json(&text), Ok(message));
}

#[test]
fn what_is_not_json_or_not_the_type_is_refused() {
    let cut = r#"{"pair": ["a", 1"#;
    let deep = "[".repeat(100_000);
    for text in [
        "",
        "nul",
        "\"open",
        r#""\ud83d""#,
        r#""\x""#,
        cut,
        &deep,
        "{} x",
        "[1 2]",
    ] {
        assert_eq!(from_json::<Value>(text), Err(Unreadable), "{text:.20}");
    }
    assert_eq!(from_json::<u8>("256"), Err(Unreadable));
    assert_eq!(from_json::<u64>("-1"), Err(Unreadable));
    assert_eq!(from_json::<bool>("1"), Err(Unreadable));
    assert_eq!(from_json::<Vec<u8>>("[1,]"), Err(Unreadable));
    assert_eq!(from_json::<Inner>("[1]"), Err(Unreadable));
    let nothing_where_a_value_should_be = "{\"a\": 1, \"unknown\": [x]}";
    assert_eq!(
        from_json::<Inner>(nothing_where_a_value_should_be),
        Err(Unreadable)
    );
    assert_eq!(from_json::<Kind>("{\"plain\": 1}"), Err(Unreadable));
}
