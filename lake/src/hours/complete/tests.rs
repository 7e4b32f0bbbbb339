//! Exact figures, every way a line can be written, and agreement with the plainest model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int32Array,
    Int64Array, StringArray, UInt64Array,
};
use bytes::Bytes;

use super::*;
use crate::hours::fixture::{Shop, Threads, file, host};
use crate::hours::judge::tests::dataset as plain;

const RUN: &str = "commerce/purchase_line/event_date=2026-11-10/hour=08/run_id=r1";
const DLQ: &str = "commerce/purchase_line.dlq/event_date=2026-11-10/hour=08";

fn dataset() -> Dataset {
    Dataset {
        name: "commerce.purchase_line".into(),
        prefix: "commerce/purchase_line".into(),
        complete: Some(Complete {
            key: "order_id".into(),
            sequence: "line_seq".into(),
            report: false,
            dead_letters: Some("commerce/purchase_line.dlq".into()),
        }),
        ..plain()
    }
}

/// A file of lines, with a column that the gate does not need.
fn lines_of(lines: &[(&str, i32)]) -> Bytes {
    let keys = StringArray::from_iter_values(lines.iter().map(|(key, _)| *key));
    let sequences = Int32Array::from_iter_values(lines.iter().map(|(_, sequence)| *sequence));
    let other = StringArray::from_iter_values(lines.iter().map(|_| "a text nobody asks for"));
    file(vec![
        ("note", Arc::new(other) as ArrayRef),
        ("line_seq", Arc::new(sequences)),
        ("order_id", Arc::new(keys)),
    ])
}

async fn asked(run: Vec<Bytes>, letters: Vec<(&str, Bytes)>) -> Completeness {
    let shop = Shop::new();
    let (mut landed, mut dead) = (Vec::new(), Vec::new());
    for (at, bytes) in run.into_iter().enumerate() {
        landed.push(shop.put(&format!("{RUN}/part-{at}.parquet"), bytes).await);
    }
    for (name, bytes) in letters {
        dead.push(shop.put(&format!("{DLQ}/{name}"), bytes).await);
    }
    let threads: SharedHost = Arc::new(Threads);
    let [one, three] = [host(), threads].map(|host| {
        let (shop, landed, dead) = (&shop, &landed, &dead);
        async move { gate(&dataset(), &shop.store, landed, Some(dead), &host).await }
    });
    let (one, three) = (one.await.unwrap(), three.await.unwrap());
    assert_eq!(one, three, "on three cores");
    one
}

fn figures(found: &Completeness) -> [u64; 4] {
    let Completeness {
        orders,
        landed,
        dead_lettered,
        missing,
        ..
    } = found;
    [*orders, *landed, *dead_lettered, *missing]
}

#[tokio::test]
async fn every_line_landed() {
    let found = asked(
        vec![
            lines_of(&[("a", 1), ("a", 2), ("b", 1)]),
            lines_of(&[("a", 3)]),
        ],
        vec![],
    )
    .await;
    assert_eq!(figures(&found), [2, 4, 0, 0]);
    assert!(found.passes(false), "{found:?}");
}

#[tokio::test]
async fn a_hole_is_counted_and_its_order_named() {
    let found = asked(vec![lines_of(&[("a", 1), ("a", 4), ("b", 2)])], vec![]).await;
    assert_eq!(figures(&found), [2, 3, 0, 3]);
    assert_eq!(found.examples, ["a", "b"]);
    assert!(!found.passes(true));
}

#[tokio::test]
async fn dead_letters_account_for_lines() {
    let run = vec![lines_of(&[("a", 1), ("a", 3)])];
    let letters = Bytes::from_static(
        b"{\"order_id\":\"a\",\"line_seq\":2}\n\n{\"order_id\":\"c\",\"line_seq\":\"1\"}\r\n",
    );
    let found = asked(run, vec![("0.json", letters)]).await;
    assert_eq!(figures(&found), [2, 2, 2, 0]);
    assert!(found.unreadable.is_none());
    assert!(found.passes(true) && !found.passes(false));
}

#[tokio::test]
async fn a_line_counts_once_and_has_landed_if_it_landed_anywhere() {
    let run = vec![lines_of(&[("a", 1), ("a", 1)]), lines_of(&[("a", 1)])];
    let letters = vec![
        ("0.parquet", lines_of(&[("a", 1), ("a", 2), ("a", 2)])),
        (
            "1.json",
            Bytes::from_static(br#"{"order_id":"a","line_seq":2}"#),
        ),
    ];
    let found = asked(run, letters).await;
    assert_eq!(figures(&found), [1, 1, 1, 0]);
}

#[tokio::test]
async fn the_largest_number_seen_may_be_a_dead_letters() {
    let letters =
        Bytes::from_static(br#"[{"order_id":"a","line_seq":200},{"order_id":"a","line_seq":1}]"#);
    let found = asked(vec![lines_of(&[("a", 2)])], vec![("0.json", letters)]).await;
    assert_eq!(figures(&found), [1, 1, 2, 197]);
}

#[tokio::test]
async fn keys_are_one_however_they_are_written() {
    let mut files = Vec::new();
    let sequence = |n: i64| Arc::new(Int64Array::from(vec![n])) as ArrayRef;
    let keys: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![42])),
        Arc::new(Int32Array::from(vec![42])),
        Arc::new(StringArray::from(vec!["42"])),
        Arc::new(BinaryArray::from_vec(vec![b"42"])),
        Arc::new(UInt64Array::from(vec![42])),
        Arc::new(
            Decimal128Array::from(vec![42])
                .with_precision_and_scale(20, 0)
                .unwrap(),
        ),
    ];
    for (n, key) in (1..).zip(keys) {
        files.push(file(vec![("order_id", key), ("line_seq", sequence(n))]));
    }
    let letters = Bytes::from_static(b"{\"order_id\":42,\"line_seq\":7}\n{\"schema\":{},\"payload\":{\"order_id\":\"42\",\"line_seq\":8}}");
    let found = asked(files, vec![("x", letters)]).await;
    assert_eq!(figures(&found), [1, 6, 2, 0], "{found:?}");
}

#[tokio::test]
async fn a_uuid_of_16_bytes_is_the_one_that_is_written() {
    let id: [u8; 16] = std::array::from_fn(|at| at as u8);
    let keys = FixedSizeBinaryArray::try_from_iter([id, id].iter()).unwrap();
    let run = file(vec![
        ("order_id", Arc::new(keys) as ArrayRef),
        ("line_seq", Arc::new(Int32Array::from(vec![1, 4]))),
    ]);
    let letter = r#"[{"order_id":"00010203-0405-0607-0809-0a0b0c0d0e0f","line_seq":3}]"#;
    let found = asked(vec![run], vec![("0.json", Bytes::from(letter))]).await;
    assert_eq!(figures(&found), [1, 2, 1, 1]);
    assert_eq!(found.examples, ["00010203-0405-0607-0809-0a0b0c0d0e0f"]);
}

#[tokio::test]
async fn sequences_are_numbers_or_digits() {
    let key = || Arc::new(StringArray::from(vec!["a"; 3])) as ArrayRef;
    let digits = StringArray::from(vec!["1", "2", "003"]);
    let unsigned = UInt64Array::from(vec![4, 5, 6]);
    let found = asked(
        vec![
            file(vec![("order_id", key()), ("line_seq", Arc::new(digits))]),
            file(vec![("ORDER_ID", key()), ("Line_Seq", Arc::new(unsigned))]),
        ],
        vec![],
    )
    .await;
    assert_eq!(figures(&found), [1, 6, 0, 0], "{found:?}");
}

#[tokio::test]
async fn rows_nobody_can_account_for_make_it_fail_and_are_placed() {
    let keys = StringArray::from(vec![Some("secret"), None, Some("a"), Some("a"), Some("a")]);
    let sequences = Int32Array::from(vec![Some(0), Some(1), None, Some(-3), Some(1)]);
    let bad = file(vec![
        ("order_id", Arc::new(keys) as ArrayRef),
        ("line_seq", Arc::new(sequences)),
    ]);
    let found = asked(vec![lines_of(&[("a", 2)]), bad], vec![]).await;
    assert_eq!(figures(&found), [1, 2, 0, 0]);
    assert_eq!(
        found.unreadable.as_deref().unwrap(),
        format!(
            "4 rows of the run from which `order_id` and `line_seq` cannot be read (the first: {RUN}/part-1.parquet, row 1)"
        )
    );
    assert!(!found.passes(true));
}

#[tokio::test]
async fn a_dead_letter_that_cannot_be_read_blocks_with_its_line_and_without_its_words() {
    for (letter, place) in [
        ("{\"order_id\":\"a\",\"line_seq\":1}\nsecret", "line 2"),
        ("{\"order_id\":\"secret\"}", "line 1"),
        ("\n{\"order_id\":\"secret\",\"line_seq\":0}", "line 2"),
        ("{\"order_id\":null,\"line_seq\":1}", "line 1"),
        ("{\"order_id\":\"secret\",\"line_seq\":1.5}", "line 1"),
        ("{\"order_id\":\"secret\",\"line_seq\":\"x\"}", "line 1"),
        ("{\"order_id\":\"secret\",\"line_seq\":\"\"}", "line 1"),
        (
            "[{\"order_id\":\"a\",\"line_seq\":1},\"secret\"]",
            "record 2",
        ),
        ("[\n{\"order_id\":\"secret\",", "breaks off at line 2"),
    ] {
        let letters = vec![("0.json", Bytes::from(letter.to_owned()))];
        let found = asked(vec![lines_of(&[("a", 1)])], letters).await;
        let why = found.unreadable.clone().unwrap_or_default();
        assert!(why.contains(&format!("{DLQ}/0.json")), "{letter}: {why}");
        assert!(why.contains(place), "{letter}: {why}");
        assert!(!why.contains("secret"), "{letter}: {why}");
        assert!(!found.passes(true), "{letter}");
        assert_eq!(found.landed, 1, "{letter}");
    }
}

#[tokio::test]
async fn files_that_cannot_be_read_are_named() {
    let floats = Float64Array::from(vec![1.0]);
    let keys = StringArray::from(vec!["a"]);
    let wrong = file(vec![
        ("order_id", Arc::new(keys) as ArrayRef),
        ("line_seq", Arc::new(floats)),
    ]);
    let lacking = file(vec![(
        "order_id",
        Arc::new(StringArray::from(vec!["a"])) as ArrayRef,
    )]);
    for (bytes, why) in [
        (wrong, "its column of sequences is Float64"),
        (lacking, "it has no column `line_seq`"),
        (Bytes::from_static(b"no Parquet at all"), "part-1.parquet"),
    ] {
        let found = asked(vec![lines_of(&[("a", 1)]), bytes], vec![]).await;
        let said = found.unreadable.clone().unwrap_or_default();
        assert!(
            said.contains(why) && said.contains("part-1.parquet"),
            "{said}"
        );
        assert_eq!(figures(&found), [1, 1, 0, 0]);
    }
    let gzip = Bytes::from_static(&[0x1f, 0x8b, 8, 0]);
    let found = asked(vec![lines_of(&[("a", 1)])], vec![("0.json.gz", gzip)]).await;
    assert!(found.unreadable.unwrap().contains("compressed JSON"));
}

#[tokio::test]
async fn an_object_that_is_gone_is_an_answer_and_not_an_error() {
    let shop = Shop::new();
    let mut object = shop
        .put(&format!("{RUN}/a.parquet"), lines_of(&[("a", 1)]))
        .await;
    object.key = format!("{RUN}/gone.parquet");
    let found = gate(&dataset(), &shop.store, &[object], Some(&[]), &host())
        .await
        .unwrap();
    assert!(found.unreadable.unwrap().contains("gone.parquet"));
}

#[tokio::test]
async fn without_dead_letters_it_fails_and_says_why() {
    let shop = Shop::new();
    let run = [shop
        .put(&format!("{RUN}/a.parquet"), lines_of(&[("a", 1)]))
        .await];
    let mut dataset = dataset();
    let found = gate(&dataset, &shop.store, &run, None, &host())
        .await
        .unwrap();
    let why = found.unreadable.unwrap();
    assert!(
        why.contains("commerce/purchase_line.dlq/ cannot be listed"),
        "{why}"
    );
    assert_eq!(found.landed, 1);
    if let Some(rule) = &mut dataset.complete {
        rule.dead_letters = None;
    }
    let found = gate(&dataset, &shop.store, &run, None, &host())
        .await
        .unwrap();
    assert!(
        found
            .unreadable
            .unwrap()
            .contains("no prefix is configured")
    );
    dataset.complete = None;
    assert!(
        gate(&dataset, &shop.store, &run, None, &host())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn nothing_but_the_two_columns_is_fetched() {
    let rows = 200_000;
    let keys = StringArray::from_iter_values((0..rows).map(|n| format!("order-{:06}", n / 4)));
    let sequences = Int32Array::from_iter_values((0..rows).map(|n| n % 4 + 1));
    let other =
        StringArray::from_iter_values((0..rows).map(|n| format!("{n:x} a text that is long, {n}")));
    let bytes = file(vec![
        ("order_id", Arc::new(keys) as ArrayRef),
        ("line_seq", Arc::new(sequences)),
        ("note", Arc::new(other)),
    ]);
    let shop = Shop::new();
    let run = [shop.put(&format!("{RUN}/a.parquet"), bytes.clone()).await];
    shop.counting.take();
    let found = gate(&dataset(), &shop.store, &run, Some(&[]), &host())
        .await
        .unwrap();
    assert_eq!(figures(&found), [50_000, 200_000, 0, 0]);
    let counts = shop.counting.counts();
    assert!(
        counts.bytes < bytes.len() as u64 / 2,
        "{counts} of {}",
        bytes.len()
    );
    assert!(counts.gets <= 3, "{counts}");
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

#[tokio::test]
async fn it_agrees_with_the_plainest_model() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..60 {
        let orders = 1 + dice.roll(12);
        let longest = 1 + dice.roll(90);
        let mut sides: [Vec<(String, i32)>; 2] = Default::default();
        for _ in 0..dice.roll(400) {
            let order = dice.roll(orders);
            // Some keys are numbers, some are not.
            let key = match order % 3 {
                0 => format!("o{order}"),
                1 => order.to_string(),
                _ => format!("0{order}"),
            };
            let dead = usize::from(dice.roll(5) == 0);
            sides[dead].push((key, 1 + dice.roll(longest) as i32));
        }
        let [landed, dead] = &sides;
        let mut model: BTreeMap<&str, [BTreeSet<i32>; 2]> = BTreeMap::new();
        for (side, lines) in sides.iter().enumerate() {
            for (key, sequence) in lines {
                model.entry(key).or_default()[side].insert(*sequence);
            }
        }
        let mut right = Completeness {
            orders: model.len() as u64,
            ..Completeness::default()
        };
        for (key, [landed, dead]) in &model {
            let last = *landed.union(dead).max().unwrap();
            let lacking = (1..=last).filter(|n| !landed.contains(n) && !dead.contains(n));
            let lacking = lacking.count() as u64;
            right.landed += landed.len() as u64;
            right.dead_lettered += dead.difference(landed).count() as u64;
            right.missing += lacking;
            if lacking > 0 {
                right.examples.push((*key).to_owned());
            }
        }
        let borrowed: Vec<(&str, i32)> = landed.iter().map(|(key, n)| (key.as_str(), *n)).collect();
        let files = borrowed.chunks(1 + borrowed.len() / 5).map(lines_of);
        let files = files.collect();
        let json: String = dead
            .iter()
            .map(|(key, n)| format!("{{\"line_seq\":{n},\"order_id\":\"{key}\"}}\n"))
            .collect();
        let found = asked(files, vec![("0.json", Bytes::from(json))]).await;
        assert_eq!(found, right);
    }
}
