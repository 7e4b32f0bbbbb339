//! What an optimize's plan packs, passes over and refuses.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "optimize/table.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod table;

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use lake::delta::optimize::Request;
use lake::plan::Plan;
use lake::table::{Time, Version};
use lake::{Kind, delta::optimize::plan, host::Quiet, host::SharedHost};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde_json::{Value, json};
use table::{Table, metadata, plain, protocol, request, vector};

fn batch(first: i64, rows: i64) -> RecordBatch {
    let ids = Int64Array::from_iter_values(first..first + rows);
    RecordBatch::try_from_iter([("a", Arc::new(ids) as _)]).unwrap()
}

fn of(mut add: Value, partition: Value) -> Value {
    add["add"]["partitionValues"] = partition;
    add
}

/// A table of these properties with three files of ten rows.
async fn three(features: &[&str], configuration: Value) -> Table {
    let table = Table::new();
    let fields = json!([plain("a", "long")]);
    let mut actions = vec![
        protocol(features),
        metadata(fields, json!([]), configuration),
    ];
    for n in 0..3 {
        actions.push(table.file(&format!("f{n}"), &batch(n * 10, 10)).await);
    }
    table.commit(0, &actions).await;
    table
}

async fn planned(table: &Table) -> Plan {
    table.plan().await.plan
}

fn reasons(plan: &Plan) -> Vec<(&str, u64)> {
    let passed = &plan.optimize.as_ref().unwrap().passed;
    passed.iter().map(|p| (p.why.as_str(), p.files)).collect()
}

#[tokio::test]
async fn small_files_are_packed_and_the_plan_says_how() {
    let table = three(&[], json!({})).await;
    let plan = planned(&table).await;
    assert_eq!(plan.refused, None);
    let detail = plan.optimize.as_ref().unwrap();
    assert_eq!(detail.bins.len(), 1);
    let bin = &detail.bins[0];
    assert_eq!(bin.paths, ["f0", "f1", "f2"]);
    assert_eq!((bin.rows, bin.deleted_rows), (Some(30), 0));
    assert_eq!(bin.bytes, detail.table_bytes);
    // Three footers become one.
    assert!((1..bin.bytes).contains(&bin.predicted_bytes));
    assert_eq!((plan.files_to_rewrite, plan.files_to_write), (3, 1));
    assert_eq!(plan.bytes_to_rewrite, detail.table_bytes);
    assert_eq!((plan.rows_to_add, plan.rows_to_remove), (Some(0), Some(0)));
    assert_eq!(
        (detail.min_bytes, detail.target_bytes),
        (100 << 20, 1 << 30)
    );
    assert!(detail.passed.is_empty());
}

#[tokio::test]
async fn the_same_plan_has_the_same_id_on_any_machine() {
    let (one, other) = (three(&[], json!({})).await, three(&[], json!({})).await);
    let id = planned(&one).await.id;
    assert_eq!(planned(&other).await.id, id);
    let later = Request {
        as_of: Time(1_001),
        ..request()
    };
    assert_ne!(one.plan_of(&later).await.plan.id, id);
    let smaller = Request {
        target: Some(5 << 20),
        ..request()
    };
    assert_ne!(one.plan_of(&smaller).await.plan.id, id);
    other
        .commit(1, &[json!({ "commitInfo": { "operation": "WRITE" } })])
        .await;
    assert_ne!(planned(&other).await.id, id);
}

#[tokio::test]
async fn the_request_decides_the_target_then_the_table_then_the_default() {
    let of = |request: Request| async move {
        let table = three(&[], json!({ "delta.targetFileSize": "32mb" })).await;
        table.plan_of(&request).await.plan.optimize.unwrap()
    };
    let detail = of(request()).await;
    assert_eq!(
        (detail.target_bytes, detail.min_bytes),
        (32 << 20, 32 << 20)
    );
    let detail = of(Request {
        target: Some(7 << 20),
        ..request()
    })
    .await;
    assert_eq!((detail.target_bytes, detail.min_bytes), (7 << 20, 7 << 20));
    let odd = three(&[], json!({ "delta.targetFileSize": "large" })).await;
    let plan = planned(&odd).await;
    assert_eq!(plan.optimize.as_ref().unwrap().target_bytes, 1 << 30);
    assert!(
        plan.warnings.iter().any(|w| w.contains("which is no size")),
        "{:?}",
        plan.warnings
    );
    let host: SharedHost = Arc::new(Quiet);
    let none = Request {
        target: Some(0),
        ..request()
    };
    let error = plan_error(&odd, &none, &host).await;
    assert_eq!(error, Kind::Invalid);
}

async fn plan_error(table: &Table, request: &Request, host: &SharedHost) -> Kind {
    plan(&table.root(), request, host).await.unwrap_err().kind()
}

#[tokio::test]
async fn partitions_stay_apart_and_spellings_of_one_come_together() {
    let table = Table::new();
    let fields = json!([
        plain("a", "long"),
        plain("n", "integer"),
        plain("s", "string")
    ]);
    let mut actions = vec![
        protocol(&[]),
        metadata(fields, json!(["n", "s"]), json!({})),
    ];
    let spelled = [
        ("1", json!("x")),
        ("01", json!("x")),
        ("1", json!("X")),
        ("2", json!(null)),
        ("2", json!("")),
        ("3", json!("x")),
        ("2", json!(null)),
    ];
    for (at, (n, s)) in spelled.into_iter().enumerate() {
        let add = table.file(&format!("f{at}"), &batch(at as i64, 1)).await;
        actions.push(of(add, json!({ "n": n, "s": s })));
    }
    table.commit(0, &actions).await;
    let plan = planned(&table).await;
    let detail = plan.optimize.as_ref().unwrap();
    let bins: Vec<&[String]> = detail.bins.iter().map(|b| b.paths.as_slice()).collect();
    assert_eq!(
        bins,
        [
            &["f0".to_owned(), "f1".to_owned()][..],
            &["f3".to_owned(), "f6".to_owned()]
        ]
    );
    let empty =
        "a partition value is empty text, which some engines read as null and others as text";
    assert_eq!(
        reasons(&plan),
        [
            (empty, 1),
            ("there is nothing to pack it with in its partition", 2)
        ]
    );
    // Only what was asked for.
    let only = Request {
        partitions: vec![("n".to_owned(), Some("2".to_owned()))],
        ..request()
    };
    let plan = table.plan_of(&only).await.plan;
    assert_eq!(plan.optimize.unwrap().bins.len(), 1);
    let host: SharedHost = Arc::new(Quiet);
    let wrong = Request {
        partitions: vec![("a".to_owned(), None)],
        ..request()
    };
    assert_eq!(plan_error(&table, &wrong, &host).await, Kind::Invalid);
}

#[tokio::test]
async fn a_file_of_masked_rows_is_written_again_alone() {
    for (rows, packed) in [(&[0u64][..], false), (&[0, 5][..], true)] {
        let table = Table::new();
        let fields = json!([plain("a", "long")]);
        let mut add = table.file("f", &batch(0, 20)).await;
        add["add"]["deletionVector"] = vector(rows);
        table
            .commit(
                0,
                &[
                    protocol(&["deletionVectors"]),
                    metadata(fields, json!([]), json!({})),
                    add,
                ],
            )
            .await;
        // Too large to be small.
        let plan = table
            .plan_of(&Request {
                min: 1,
                ..request()
            })
            .await
            .plan;
        assert_eq!(plan.refused.is_none(), packed, "{:?}", plan.refused);
        if packed {
            let bin = &plan.optimize.as_ref().unwrap().bins[0];
            assert_eq!((bin.rows, bin.deleted_rows), (Some(18), 2));
            assert!((1..bin.bytes * 18 / 20).contains(&bin.predicted_bytes));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_packed_exactly_is_passed_over() {
    let table = three(&["deletionVectors"], json!({})).await;
    let other = RecordBatch::try_from_iter([("a", Arc::new(StringArray::from(vec!["x"])) as _)]);
    let text = table.file("text", &other.unwrap()).await;
    let mut gone = table.file("gone", &batch(50, 1)).await;
    table.store.delete(&Path::from("t/gone")).await.unwrap();
    gone["add"]["stats"] = json!(null);
    let mut lies = table.file("lies", &batch(60, 1)).await;
    lies["add"]["stats"] = json!("{\"numRecords\":2}");
    let mut far = table.file("far", &batch(70, 1)).await;
    far["add"]["path"] = json!("s3://elsewhere/t/far");
    let mut masked = table.file("masked", &batch(80, 10)).await;
    masked["add"]["deletionVector"] = json!({ "storageType": "p", "pathOrInlineDv": "s3://b/x.bin", "offset": 1, "sizeInBytes": 36, "cardinality": 1 });
    let mut blind = table.file("blind", &batch(85, 10)).await;
    blind["add"]["deletionVector"] = json!({
        "storageType": "u", "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA", "offset": 1,
        "sizeInBytes": 36, "cardinality": 1,
    });
    let mut beyond = table.file("beyond", &batch(86, 3)).await;
    beyond["add"]["deletionVector"] = vector(&[3]);
    let mut long = table.file("long", &batch(90, 1)).await;
    long["add"]["size"] = json!(9);
    let broken = table.put("broken", b"no Parquet at all".to_vec(), 1).await;
    // Nothing is known of its rows, and nothing needs to be.
    let mut unknown = table.file("unknown", &batch(95, 4)).await;
    unknown["add"]["stats"] = json!(null);
    table
        .commit(
            1,
            &[
                text, gone, lies, far, masked, blind, beyond, long, broken, unknown,
            ],
        )
        .await;
    let plan = planned(&table).await;
    assert_eq!(plan.refused, None);
    let bin = &plan.optimize.as_ref().unwrap().bins[0];
    assert_eq!(bin.paths.len(), 4, "{:?}", bin.paths);
    assert_eq!(bin.rows, Some(34));
    assert_eq!(plan.missing_files, ["gone"]);
    let mut why: Vec<&str> = reasons(&plan).into_iter().map(|(why, _)| why).collect();
    why.sort_unstable();
    assert_eq!(why.len(), 9, "{why:?}");
    for part in [
        "it has another number of rows than the log says",
        "it has another size than the log says",
        "it is not in the store",
        "its deletion vector is not in the store",
        "masks rows that it does not have",
        "it lies outside the table",
        "its column `a` is Utf8, which is no long",
        "external, not followed",
        "Parquet",
    ] {
        assert!(why.iter().any(|w| w.contains(part)), "{part}: {why:?}");
    }
}

#[tokio::test]
async fn a_store_that_does_not_say_is_no_reason_to_pass_a_file_over() {
    use lake::store::fault::Failure;
    use lake::store::{FaultStore, Rule};
    let table = three(&[], json!({})).await;
    for failure in [Failure::PermissionDenied, Failure::Generic] {
        let faulty = FaultStore::new(Arc::clone(&table.store));
        faulty.add(
            Rule::on(lake::store::Request::Get)
                .key("t/f1")
                .fails(failure),
        );
        let table = Table::over(Arc::new(faulty));
        let host: SharedHost = Arc::new(Quiet);
        let kind = plan_error(&table, &request(), &host).await;
        assert!(matches!(kind, Kind::Denied | Kind::Unreachable), "{kind:?}");
    }
}

#[tokio::test]
async fn tables_are_refused_by_name() {
    let cases: [(&[&str], Value, &str); 7] = [
        (
            &["catalogManaged"],
            json!({}),
            "managed by a catalog (catalogManaged)",
        ),
        (
            &["materializePartitionColumns"],
            json!({}),
            "materializePartitionColumns",
        ),
        (
            &["icebergCompatV2"],
            json!({ "delta.enableIcebergCompatV2": "true" }),
            "icebergCompatV2",
        ),
        (
            &["icebergCompatV1"],
            json!({ "delta.enableIcebergCompatV1": "true" }),
            "icebergCompatV1",
        ),
        (
            &["rowTracking", "domainMetadata"],
            json!({ "delta.enableRowTracking": "true" }),
            "materializedRowIdColumnName",
        ),
        (
            &["rowTracking", "domainMetadata"],
            json!({ "delta.rowTrackingSuspended": "true" }),
            "rowTrackingSuspended",
        ),
        (&["fooBar"], json!({}), "fooBar"),
    ];
    for (features, configuration, name) in cases {
        let table = three(features, configuration).await;
        let plan = planned(&table).await;
        let why = plan.refused.unwrap_or_default();
        assert!(why.contains(name), "{name}: {why}");
        assert!(table.apply(&table.plan().await).await.is_err());
    }
    // Nothing is removed from an append-only table by packing it.
    let table = three(&["appendOnly"], json!({ "delta.appendOnly": "true" })).await;
    assert_eq!(planned(&table).await.refused, None);
}

#[tokio::test]
async fn a_type_that_is_not_written_is_named() {
    let table = Table::new();
    let fields = json!([plain("a", "long"), plain("v", "interval year")]);
    table
        .commit(0, &[protocol(&[]), metadata(fields, json!([]), json!({}))])
        .await;
    let why = planned(&table).await.refused.unwrap();
    assert!(why.contains("`v` has the type interval year"), "{why}");
}

#[tokio::test]
async fn there_may_be_nothing_to_do() {
    let table = three(&[], json!({})).await;
    let plan = table
        .plan_of(&Request {
            min: 1,
            ..request()
        })
        .await
        .plan;
    assert!(plan.refused.unwrap().starts_with("nothing to do"));
    let host: SharedHost = Arc::new(Quiet);
    let moved = Request {
        expect: Some(Version(7)),
        ..request()
    };
    assert_eq!(plan_error(&table, &moved, &host).await, Kind::Conflict);
}

/// What a small file's footer weighs is not what its rows will weigh.
#[tokio::test]
async fn a_second_plan_finds_nothing() {
    let table = Table::new();
    let fields = json!([plain("a", "long")]);
    let mut actions = vec![protocol(&[]), metadata(fields, json!([]), json!({}))];
    let (mut small, mut footers) = (0, 0);
    for at in 0..20 {
        let add = table.file(&format!("f{at}"), &batch(at, 1)).await;
        small += add["add"]["size"].as_u64().unwrap();
        actions.push(add);
    }
    for name in ["large", "larger"] {
        let add = table.file(name, &batch(100, 4_000)).await;
        footers = small + add["add"]["size"].as_u64().unwrap();
        actions.push(add);
    }
    table.commit(0, &actions).await;
    let target = Request {
        target: Some(footers - small / 4),
        ..request()
    };
    let first = table.plan_of(&target).await;
    let detail = first.plan.optimize.as_ref().unwrap();
    assert_eq!(detail.bins.len(), 1, "{:?}", detail.bins);
    assert_eq!(detail.bins[0].paths.len(), 21);
    let why = "with what else is small in its partition it would be larger than the target";
    assert_eq!(reasons(&first.plan), [(why, 1)]);
    table.apply(&first).await.unwrap();
    let second = table.plan_of(&target).await.plan;
    assert!(second.refused.unwrap().starts_with("nothing to do"));
}
