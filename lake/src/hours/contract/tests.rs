//! Each thing a footer can have against the declaration, and what finding it costs.

use std::sync::Arc;

use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use arrow_array::{
    ArrayRef, Decimal128Array, Int32Array, Int64Array, StringArray, StructArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
};
use bytes::Bytes;

use super::*;
use crate::hours::fixture::{Shop, batch, file, host, write};
use crate::hours::judge::tests::dataset as plain;

const RUN: &str = "learning/progress/event_date=2026-11-10/hour=08/run_id=r1";

fn slot() -> Slot {
    Slot::hour("2026-11-10".parse().unwrap(), 8)
}

fn dataset() -> Dataset {
    let columns = [
        ("event_id", "string"),
        ("learner_id", "long"),
        ("event_time", "timestamp"),
    ];
    let columns = columns.map(|(name, kind)| (name.to_owned(), kind.to_owned()));
    Dataset {
        event_time: Some("event_time".into()),
        prohibited_columns: vec!["email".into(), "contact.phone".into()],
        columns: columns.into_iter().collect(),
        grain: vec!["event_id".into()],
        ..plain()
    }
}

fn micros(offset_ms: &[i64]) -> ArrayRef {
    let start = slot().start().0;
    let values = offset_ms.iter().map(|ms| (start + ms) * 1000);
    Arc::new(TimestampMicrosecondArray::from_iter_values(values).with_timezone("UTC"))
}

fn ids(count: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(
        (0..count).map(|n| format!("secret-{n}")),
    ))
}

fn longs(count: usize) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..count as i64))
}

fn good() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("event_id", ids(2)),
        ("learner_id", longs(2)),
        ("event_time", micros(&[0, 3_599_999])),
    ]
}

async fn checked(files: Vec<Bytes>) -> Contract {
    let shop = Shop::new();
    let mut objects = Vec::new();
    for (at, bytes) in files.into_iter().enumerate() {
        objects.push(
            shop.put(&format!("{RUN}/part-{at:05}.parquet"), bytes)
                .await,
        );
    }
    check(&dataset(), &shop.store, slot(), &objects, &host())
        .await
        .unwrap()
}

async fn look_at(dataset: &Dataset, shop: &Shop, objects: &[Object]) -> Contract {
    check(dataset, &shop.store, slot(), objects, &host())
        .await
        .unwrap()
}

fn rules(contract: &Contract) -> Vec<(&str, Severity)> {
    let findings = contract.findings.iter();
    findings
        .map(|finding| (finding.rule.as_str(), finding.severity))
        .collect()
}

#[tokio::test]
async fn what_is_as_declared_has_no_findings() {
    let contract = checked(vec![file(good()), file(good())]).await;
    assert_eq!(contract.findings, []);
    assert_eq!(contract.blocks, None);
    assert_eq!(contract.rows, Some(4));
    assert_eq!(contract.min_event_time, Some(slot().start()));
    assert_eq!(contract.max_event_time, Some(Time(slot().end().0 - 1)));
}

#[tokio::test]
async fn a_retyped_column_is_named_with_both_types() {
    let mut columns = good();
    columns[1].1 = Arc::new(StringArray::from(vec!["secret", "secret"]));
    let contract = checked(vec![file(good()), file(columns)]).await;
    assert_eq!(rules(&contract), [("retyped_column", Severity::Error)]);
    let finding = &contract.findings[0];
    assert_eq!(
        finding.message,
        "its column `learner_id` is string, and declared as long"
    );
    assert_eq!(finding.location, Some(format!("{RUN}/part-00001.parquet")));
    assert!(contract.blocks.unwrap().contains("learner_id"));
}

#[tokio::test]
async fn missing_blocks_and_added_warns() {
    let mut columns = good();
    columns[1].0 = "learner";
    let contract = checked(vec![file(columns)]).await;
    let right = [
        ("missing_column", Severity::Error),
        ("added_column", Severity::Warning),
    ];
    assert_eq!(rules(&contract), right);
    let mut columns = good();
    columns.push(("device", Arc::new(Int32Array::from(vec![1, 2]))));
    let contract = checked(vec![file(columns)]).await;
    assert_eq!(rules(&contract), [("added_column", Severity::Warning)]);
    assert!(contract.findings[0].message.contains("`device` (int)"));
    assert_eq!(contract.blocks, None);
}

#[tokio::test]
async fn prohibited_columns_are_found_at_any_depth_and_in_any_case() {
    let text = || Arc::new(StringArray::from(vec!["secret", "secret"])) as ArrayRef;
    let nested = |name: &str, inner: ArrayRef| {
        let field = arrow_schema::Field::new(name, inner.data_type().clone(), true);
        Arc::new(StructArray::from(vec![(Arc::new(field), inner)])) as ArrayRef
    };
    for (name, column, path) in [
        ("email", text(), "email"),
        ("EMail", text(), "EMail"),
        ("person", nested("Email", text()), "person.Email"),
        (
            "person",
            nested("work", nested("email", text())),
            "person.work.email",
        ),
        ("Contact", nested("phone", text()), "Contact.phone"),
    ] {
        let mut columns = good();
        columns.push((name, column));
        let contract = checked(vec![file(columns)]).await;
        let finding = &contract.findings[0];
        assert_eq!(finding.rule, "prohibited_column", "{path}");
        assert_eq!(
            finding.message,
            format!("it has the prohibited column `{path}`")
        );
        let blocks = contract.blocks.unwrap();
        assert!(blocks.starts_with(RUN) && blocks.contains(path), "{blocks}");
        assert!(!format!("{:?}", contract.findings).contains("secret"));
    }
    let mut columns = good();
    columns.push(("phone", text()));
    let contract = checked(vec![file(columns)]).await;
    assert_eq!(rules(&contract), [("added_column", Severity::Warning)]);
}

#[tokio::test]
async fn a_sink_that_partitions_by_processing_time_is_found() {
    let late = |offsets: &[i64]| {
        let mut columns = good();
        columns[2].1 = micros(offsets);
        file(columns)
    };
    let contract = checked(vec![file(good()), late(&[-1, 5])]).await;
    assert_eq!(rules(&contract), [("event_time", Severity::Error)]);
    assert_eq!(
        contract.findings[0].message,
        "its `event_time` is from 2026-11-10T07:59:59.999Z to 2026-11-10T08:00:00.005Z, and the partition's is from 2026-11-10T08:00:00.000Z to before 2026-11-10T09:00:00.000Z: the writer partitions by processing time, or late events went to the wrong prefix"
    );
    assert!(contract.blocks.is_some());
    let contract = checked(vec![late(&[3_600_000, 3_600_000])]).await;
    assert!(contract.findings[0].message.contains("or by another clock"));
}

#[tokio::test]
async fn the_last_microsecond_is_inside_and_every_unit_is_read() {
    let (start, end) = (slot().start().0, slot().end().0);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(TimestampMicrosecondArray::from(vec![
            start * 1000,
            end * 1000 - 1,
        ])),
        Arc::new(TimestampMillisecondArray::from(vec![start, end - 1])),
        Arc::new(TimestampNanosecondArray::from(vec![
            start * 1_000_000,
            end * 1_000_000 - 1,
        ])),
    ];
    for array in arrays {
        let mut columns = good();
        columns[2].1 = array;
        let contract = checked(vec![file(columns)]).await;
        assert_eq!(contract.findings, []);
        assert_eq!(contract.max_event_time, Some(Time(end - 1)));
    }
    let mut columns = good();
    columns[2].1 = Arc::new(TimestampNanosecondArray::from(vec![end * 1_000_000; 2]));
    assert_eq!(
        rules(&checked(vec![file(columns)]).await),
        [("event_time", Severity::Error)]
    );
}

#[tokio::test]
async fn without_statistics_times_are_unproven() {
    let properties = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
    let bytes = write(&batch(good()), properties.build());
    let contract = checked(vec![file(good()), bytes]).await;
    assert_eq!(
        rules(&contract),
        [("event_time_unproven", Severity::Warning)]
    );
    assert!(
        contract.findings[0]
            .message
            .contains("part-00001.parquet (it has no statistics)")
    );
    assert_eq!((contract.max_event_time, contract.blocks), (None, None));
    // Nulls alone are no events.
    let mut columns = good();
    columns[2].1 = Arc::new(TimestampMicrosecondArray::from(vec![None, None]));
    let contract = checked(vec![file(good()), file(columns)]).await;
    assert_eq!(contract.findings, []);
    assert_eq!(contract.max_event_time, Some(Time(slot().end().0 - 1)));
}

#[tokio::test]
async fn many_files_with_one_fault_are_counted() {
    let mut columns = good();
    columns.push(("email", ids(2)));
    let contract = checked(vec![file(columns); 9]).await;
    let own = contract
        .findings
        .iter()
        .filter(|f| f.rule == "prohibited_column");
    let own: Vec<_> = own.collect();
    assert_eq!(own.len(), 5);
    assert!(
        own[4].message.ends_with("so it is in 4 files more"),
        "{}",
        own[4].message
    );
    assert!(contract.blocks.unwrap().ends_with("8 more errors"));
}

#[tokio::test]
async fn a_file_that_is_none_blocks() {
    let contract = checked(vec![Bytes::from_static(b"not Parquet, and secret")]).await;
    assert_eq!(rules(&contract), [("unreadable", Severity::Error)]);
    assert_eq!((contract.rows, contract.max_event_time), (None, None));
    assert!(contract.blocks.is_some());
}

#[tokio::test]
async fn two_ranged_reads_a_file_at_most() {
    // A footer far larger than the first guess.
    let many: Vec<(String, ArrayRef)> = (0..3000)
        .map(|n| (format!("column_with_quite_a_long_name_{n}"), longs(2)))
        .collect();
    let mut columns = good();
    columns.extend(
        many.iter()
            .map(|(name, array)| (name.as_str(), Arc::clone(array))),
    );
    let wide = file(columns);
    let shop = Shop::new();
    let mut objects = Vec::new();
    for (at, bytes) in [file(good()), wide].into_iter().enumerate() {
        objects.push(shop.put(&format!("{RUN}/{at}.parquet"), bytes).await);
    }
    shop.counting.take();
    look_at(&dataset(), &shop, &objects[..1]).await;
    assert_eq!(shop.counting.take().requests(), 1);
    let large = look_at(&dataset(), &shop, &objects[1..]).await;
    assert_eq!(large.findings.len(), 3000);
    let counts = shop.counting.take();
    assert_eq!((counts.requests(), counts.gets), (2, 2));
}

#[tokio::test]
async fn text_files_are_checked_by_header_and_first_record() {
    let shop = Shop::new();
    let dataset = Dataset {
        zone: "landing".into(),
        columns: Default::default(),
        event_time: None,
        ..dataset()
    };
    let long = format!("{}\"email\"\n1", "a,".repeat(50_000));
    for (name, body, found) in [
        ("a.csv", "id,email,name\n1,secret,x\n", Some("email")),
        (
            "b.csv",
            "\u{feff}\"EMAIL\";\"id\"\nsecret;1\n",
            Some("EMAIL"),
        ),
        ("c.csv", "id,mail\nemail,email\n", None),
        ("d.tsv", "id\temail\n", Some("email")),
        (
            "e.json",
            "{\"id\":1,\"person\":{\"Email\":\"secret\"}}\n{}",
            Some("person.Email"),
        ),
        ("f.jsonl", "{\"id\":\"email\"}\n", None),
        (
            "g.json",
            "[{\"contact\":{\"phone\":\"secret\"}}]",
            Some("contact.phone"),
        ),
        ("h.csv", "", None),
        ("i.csv", long.as_str(), Some("email")),
        ("j.json", "[]", None),
    ] {
        let object = shop.put(&format!("{RUN}/{name}"), body.to_owned()).await;
        shop.counting.take();
        let contract = look_at(&dataset, &shop, std::slice::from_ref(&object)).await;
        let said = contract
            .findings
            .first()
            .map(|finding| finding.message.clone());
        let right = found.map(|path| format!("it has the prohibited column `{path}`"));
        assert_eq!(said, right, "{name}");
        assert_eq!(contract.blocks.is_some(), found.is_some(), "{name}");
        assert!(shop.counting.take().requests() <= 2, "{name}");
    }
    let object = shop.put(&format!("{RUN}/a.csv.gz"), "x").await;
    let contract = check(&dataset, &shop.store, slot(), &[object], &host())
        .await
        .unwrap();
    assert_eq!(rules(&contract), [("unreadable", Severity::Error)]);
}

#[tokio::test]
async fn duplicates_of_the_grain_are_counted_across_files() {
    let shop = Shop::new();
    let rows = |ids: Vec<Option<&str>>, numbers: ArrayRef| {
        let ids = Arc::new(StringArray::from(ids)) as ArrayRef;
        file(vec![("event_id", ids), ("n", numbers), ("other", longs(3))])
    };
    let ints = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let longs = Arc::new(Int64Array::from(vec![1, 2, 4]));
    let decimals = Decimal128Array::from(vec![1, 2, 3]);
    let decimals = Arc::new(decimals.with_precision_and_scale(9, 0).unwrap());
    let objects = [
        shop.put("a", rows(vec![Some("x"), Some("x"), None], ints))
            .await,
        shop.put("b", rows(vec![Some("x"), Some("y"), None], longs))
            .await,
        shop.put("c", rows(vec![Some("x"), None, None], decimals))
            .await,
    ];
    let count = async |grain: &[&str], objects: &[Object]| {
        let dataset = Dataset {
            grain: grain.iter().map(|name| (*name).to_owned()).collect(),
            ..dataset()
        };
        grain_duplicates(&dataset, &shop.store, objects, &host())
            .await
            .unwrap()
    };
    assert_eq!(count(&["event_id"], &objects).await, 6);
    assert_eq!(count(&["event_id", "n"], &objects[..2]).await, 1);
    // (x,1) three times, (null,3) twice.
    assert_eq!(count(&["n", "event_id"], &objects).await, 3);
    assert_eq!(count(&[], &objects).await, 0);
}

#[test]
fn duplicates_block_where_rows_are_final() {
    for (zone, blocks) in [
        ("landing", false),
        ("raw", false),
        ("conformed", true),
        ("curated", true),
    ] {
        let dataset = Dataset {
            zone: zone.into(),
            ..dataset()
        };
        assert_eq!(grain_blocks(&dataset), blocks, "{zone}");
    }
}
