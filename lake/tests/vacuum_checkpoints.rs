//! What was removed is known from a checkpoint alone, where the commits are gone.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "vacuum/bed.rs"]
mod bed;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use bed::{Bed, HOUR, metadata};
use lake::plan::Origin;
use object_store::ObjectStoreExt;
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

const UUID: &str = "d2c639aa-8816-431a-aaf6-d3fe2512ff61";
/// The base85 of [`UUID`].
const BASE85: &str = "^-aqEH.-t@S}K{vb[*k^";

fn structure(columns: Vec<(&str, ArrayRef)>) -> ArrayRef {
    let columns = columns.into_iter().map(|(name, array)| {
        let field = Field::new(name, array.data_type().clone(), true);
        (Arc::new(field), array)
    });
    Arc::new(StructArray::from(columns.collect::<Vec<_>>()))
}

/// A part of a checkpoint with these removes, of which the first had a deletion vector.
fn removes(of: &[(&str, Option<i64>)]) -> Vec<u8> {
    let paths = of.iter().map(|(path, _)| *path);
    let times = of.iter().map(|(_, time)| *time);
    let first = |text: &str| -> ArrayRef {
        let texts = (0..of.len()).map(|row| (row == 0).then_some(text));
        Arc::new(StringArray::from_iter(texts))
    };
    let number = |n: i32| -> ArrayRef {
        let numbers = (0..of.len()).map(|row| (row == 0).then_some(n));
        Arc::new(Int32Array::from_iter(numbers))
    };
    let vector = structure(vec![
        ("storageType", first("u")),
        ("pathOrInlineDv", first(BASE85)),
        ("offset", number(1)),
        ("sizeInBytes", number(36)),
        (
            "cardinality",
            Arc::new(Int64Array::from(vec![Some(2); of.len()])),
        ),
    ]);
    let remove = structure(vec![
        ("path", Arc::new(StringArray::from_iter_values(paths))),
        ("deletionTimestamp", Arc::new(Int64Array::from_iter(times))),
        ("deletionVector", vector),
    ]);
    assert!(matches!(remove.data_type(), DataType::Struct(_)));
    let batch = RecordBatch::try_from_iter([("remove", remove)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[tokio::test]
async fn young_removes_of_a_checkpoint_and_its_sidecars_are_kept() {
    let bed = Bed::new(metadata(&[], &[])).await;
    let first: Vec<Value> = metadata(&[], &[]);
    for _ in 1..3 {
        bed.commit(&[]).await;
    }
    let young = bed.now.0 - HOUR;
    let add = json!({"add": bed::add(json!({"path": "live"}))});
    let remove = |path: &str, at: i64| json!({"remove": {"path": path, "deletionTimestamp": at}});
    let sidecar = removes(&[
        ("young side", Some(young)),
        ("old side", Some(5)),
        ("untimed side", None),
    ]);
    let mut lines = [
        json!({"checkpointMetadata": {"version": 2}}),
        first[1].clone(),
        first[2].clone(),
        add,
        remove("young", young),
        remove("old", 5),
        json!({"sidecar": {"path": "side.parquet", "sizeInBytes": sidecar.len(), "modificationTime": 1}}),
    ];
    lines.reverse();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    bed.put_bytes(
        &format!("_delta_log/{:020}.checkpoint.{UUID}.json", 2),
        &text,
    )
    .await;
    let key = bed.key("_delta_log/_sidecars/side.parquet");
    bed.root.store.put(&key, sidecar.into()).await.unwrap();
    bed.commit(&[json!({"commitInfo": {}})]).await;
    for version in 0..3 {
        bed.delete(&format!("_delta_log/{version:020}.json")).await;
    }
    let vector = format!("deletion_vector_{UUID}.bin");
    let all = [
        "live",
        "young",
        "old",
        "young side",
        "old side",
        "untimed side",
        &vector,
        "stray",
    ];
    for key in all {
        bed.put(key).await;
    }
    let plan = bed.plan(&bed.request()).await.plan;
    let detail = plan.vacuum.unwrap();
    let going: Vec<(&str, Origin)> = detail
        .objects
        .iter()
        .map(|o| (o.key.as_str(), o.origin))
        .collect();
    let wanted = [
        ("old", Origin::Removed),
        ("old side", Origin::Removed),
        ("stray", Origin::Uncommitted),
        ("untimed side", Origin::Removed),
    ];
    assert_eq!(going, wanted);
    let kept = detail
        .spared
        .iter()
        .find(|s| s.why.contains("removed less than"));
    assert_eq!(kept.unwrap().objects, 3, "{:?}", detail.spared);
    assert!(detail.unrestorable.is_empty());

    // A part that cannot be read leaves nobody knowing.
    bed.put_bytes("_delta_log/_sidecars/side.parquet", "PAR1")
        .await;
    let error = bed.plan_at(&bed.request(), bed.now).await;
    assert!(error.is_err_and(|e| e.kind() == lake::Kind::Damaged));
}

/// Removes that a checkpoint left out are known from the commits that are still there.
#[tokio::test]
async fn young_removes_that_a_checkpoint_lacks_are_kept() {
    let bed = Bed::new(metadata(&[], &[])).await;
    let first: Vec<Value> = metadata(&[], &[]);
    let gone = |path: &str, at: i64| json!({"remove": {"path": path, "deletionTimestamp": at}});
    bed.commit(&[json!({"add": bed::add(json!({"path": "a"}))})])
        .await;
    bed.commit(&[gone("a", bed.now.0 - HOUR)]).await;
    let lines = [
        json!({"checkpointMetadata": {"version": 2}}),
        first[1].clone(),
        first[2].clone(),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    bed.put_bytes(
        &format!("_delta_log/{:020}.checkpoint.{UUID}.json", 2),
        &text,
    )
    .await;
    bed.put("a").await;
    // Seen from two weeks after its commits they are not read; within the retention they are.
    let later = bed.plan(&bed.request()).await.plan.vacuum.unwrap();
    assert_eq!(later.objects.len(), 1);
    let soon = lake::delta::vacuum::Request {
        retain: Some(3 * bed::WEEK),
        ..bed.request()
    };
    let kept = bed.plan(&soon).await.plan.vacuum.unwrap();
    assert!(kept.objects.is_empty());
    assert!(
        kept.spared
            .iter()
            .any(|s| s.why.contains("removed less than")),
        "{kept:?}"
    );
}
