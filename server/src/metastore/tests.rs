//! A metastore that is down, slow, or something else: an error in time, and nothing worse.

use std::time::{Duration, Instant};

use lake::plan::{Act, Plan};
use lake::table::Time;
use serde_json::Map;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::config::Config;

fn dataset(uri: &str) -> Dataset {
    let text = format!(
        "[[zone]]\nname = \"raw\"\nurl = \"s3://tlp-raw/\"\n\
         [[dataset]]\nname = \"learning.progress\"\nzone = \"raw\"\nprefix = \"learning/progress/\"\n\
         partition = [\"event_date\", \"hour\"]\n\
         [dataset.metastore]\nuri = \"{uri}\"\ntable = \"learning.progress_raw\"\n"
    );
    let config = Config::parse("tidemark.toml", &text, &|_| None).unwrap();
    config.datasets.into_iter().next().unwrap()
}

fn marker() -> Marker {
    let prefix = "s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=r1/";
    Marker {
        dataset: "learning.progress".into(),
        zone: "raw".into(),
        event_date: "2026-11-10".parse().unwrap(),
        hour: Some(8),
        prefix: prefix.into(),
        object_count: 1,
        bytes: 1,
        max_event_time: Time(0),
        run_id: "r1".into(),
        definition_version: "1".into(),
        published_at: Time(0),
        supersedes: None,
        extra: Map::new(),
    }
}

async fn error_of(uri: &str) -> (Kind, String, Duration) {
    let begun = Instant::now();
    let error = register(&dataset(uri), &marker()).await.unwrap_err();
    (error.kind(), error.to_string(), begun.elapsed())
}

#[tokio::test]
async fn a_metastore_that_is_down_is_an_error_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (kind, said, took) = error_of(&format!("thrift://{address}")).await;
    assert_eq!(kind, Kind::Unreachable, "{said}");
    assert!(said.contains(&address.to_string()), "{said}");
    assert!(said.contains("learning.progress_raw"), "{said}");
    assert!(took < PATIENCE, "{took:?}");
}

#[tokio::test]
async fn a_metastore_that_hangs_is_an_error_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hangs = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    let (kind, said, took) = error_of(&format!("thrift://{address}")).await;
    hangs.abort();
    assert_eq!(kind, Kind::Unreachable, "{said}");
    assert!(took < PATIENCE + Duration::from_secs(2), "{took:?}");
}

#[tokio::test]
async fn what_is_no_metastore_is_an_error() {
    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"", &[0xff; 64]] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let other = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut asked = [0; 64];
                let _ = stream.read(&mut asked).await;
                let _ = stream.write_all(answer).await;
            }
        });
        let (kind, said, _) = error_of(&format!("thrift://{address}")).await;
        other.abort();
        assert_eq!(kind, Kind::Unreachable, "{said}");
        assert!(!said.contains('{'), "{said}");
    }
    let none = Dataset {
        metastore: None,
        reads: Vec::new(),
        ..dataset("thrift://127.0.0.1:1")
    };
    assert_eq!(
        register(&none, &marker()).await.unwrap_err().kind(),
        Kind::Invalid
    );
}

/// A message of Thrift's binary protocol: what it is, to which call of which method, and a struct.
fn message(kind: u8, call: u32, method: &str, fields: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80, 0x01, 0, kind];
    bytes.extend(u32::try_from(method.len()).unwrap().to_be_bytes());
    bytes.extend(method.as_bytes());
    bytes.extend(call.to_be_bytes());
    bytes.extend(fields);
    bytes.push(0);
    bytes
}

fn string_field(id: u8, value: &str) -> Vec<u8> {
    let mut bytes = vec![11, 0, id];
    bytes.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
    bytes.extend(value.as_bytes());
    bytes
}

#[tokio::test]
async fn a_metastore_of_old_is_asked_as_it_was_asked_of_old() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let old = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 256];
            while let Ok(n @ 1..) = stream.read(&mut asked).await {
                let asked = String::from_utf8_lossy(&asked[..n]).into_owned();
                let answer = match asked.contains("get_table_req") {
                    // Type 1: unknown method.
                    true => {
                        let mut fields = string_field(1, "Invalid method name");
                        fields.extend([8, 0, 2, 0, 0, 0, 1]);
                        message(3, 0, "get_table_req", &fields)
                    }
                    false => {
                        let mut fields = vec![12, 0, 2];
                        fields.extend(string_field(1, "no table of old"));
                        fields.push(0);
                        message(2, 1, "get_table", &fields)
                    }
                };
                stream.write_all(&answer).await.unwrap();
            }
        }
    });
    let (kind, said, _) = error_of(&format!("thrift://{address}")).await;
    old.abort();
    assert_eq!(kind, Kind::NotFound, "{said}");
    assert!(said.contains("refuses: no table of old"), "{said}");
}

#[tokio::test]
async fn a_marker_stands_while_the_metastore_is_down() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let dataset = dataset(&format!("thrift://{address}"));
    let Ok(Value::Object(marker)) = serde_json::to_value(marker()) else {
        panic!("a marker is an object");
    };
    let slot = Slot::hour("2026-11-10".parse().unwrap(), 8);
    let plan = Plan::new(Act::Publish, dataset.name.clone(), Time(0), None);
    let published = |state| Published {
        state: Some(state),
        marker: Some(marker.clone()),
        ..Published::of(&plan, slot)
    };
    let mut closed = published(State::Closed);
    remember(&dataset, &mut closed).await;
    assert_eq!(closed.registered, Some(false));
    let why = closed.registration_error.unwrap();
    assert!(why.contains("cannot be talked to"), "{why}");
    assert_eq!(closed.marker, Some(marker.clone()));

    let mut mutated = published(State::Mutated);
    remember(&dataset, &mut mutated).await;
    assert_eq!(mutated.registered, Some(false));
    assert_eq!(
        mutated.registration_error.as_deref(),
        Some("the hour is not closed")
    );
    let mut empty = published(State::Empty);
    remember(&dataset, &mut empty).await;
    assert_eq!(empty.registered, None);
    let none = Dataset {
        metastore: None,
        reads: Vec::new(),
        ..dataset
    };
    let mut unasked = published(State::Closed);
    remember(&none, &mut unasked).await;
    assert_eq!(unasked.registered, None);
}

#[test]
fn values_are_written_as_the_columns_have_them() {
    let dataset = dataset("thrift://127.0.0.1:1");
    let table = |columns: &[(&str, &str)]| Table {
        partition_keys: Some(
            columns
                .iter()
                .map(|(name, kind)| FieldSchema {
                    name: Some(text(name)),
                    r#type: Some(text(kind)),
                    comment: None,
                })
                .collect(),
        ),
        ..Table::default()
    };
    let slot = Slot::hour("2026-11-10".parse().unwrap(), 0);
    let of = |columns: &[(&str, &str)]| values(&dataset, &table(columns), slot);
    let strings = of(&[("event_date", "string"), ("hour", "string")]).unwrap();
    assert_eq!(strings, ["2026-11-10", "00"]);
    let numbers = of(&[("event_date", "date"), ("hour", "int")]).unwrap();
    assert_eq!(numbers, ["2026-11-10", "0"]);
    let other = of(&[("hour", "string"), ("event_date", "string")]).unwrap_err();
    assert_eq!(other.kind(), Kind::Damaged);
}
