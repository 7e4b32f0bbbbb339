//! What an optimize commits, and what becomes of it while others commit.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "optimize/table.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod table;

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use lake::delta::optimize::{Memory, Optimize, Request, commit, plan, rewrite};
use lake::host::{Host, Progress, Quiet, SharedHost};
use lake::table::Version;
use lake::{Error, Kind};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde_json::{Value, json};
use table::{Table, metadata, names, plain, protocol, request, signature, vector};

fn batch(first: i64, rows: i64) -> RecordBatch {
    let ids = Int64Array::from_iter_values(first..first + rows);
    RecordBatch::try_from_iter([("a", Arc::new(ids) as _)]).unwrap()
}

fn meta(configuration: Value) -> Value {
    metadata(json!([plain("a", "long")]), json!([]), configuration)
}

/// A table of two files, which will be packed.
async fn two() -> (Table, [Value; 2]) {
    two_of(&["deletionVectors"], json!({})).await
}

async fn two_of(features: &[&str], configuration: Value) -> (Table, [Value; 2]) {
    let table = Table::new();
    let adds = [
        table.file("f1", &batch(0, 10)).await,
        table.file("f2", &batch(10, 10)).await,
    ];
    let mut actions = vec![protocol(features), meta(configuration)];
    actions.extend(adds.clone());
    table.commit(0, &actions).await;
    (table, adds)
}

fn remove(add: &Value) -> Value {
    let mut remove =
        json!({ "path": add["add"]["path"], "dataChange": true, "deletionTimestamp": 5 });
    if let Some(vector) = add["add"].get("deletionVector") {
        remove["deletionVector"] = vector.clone();
    }
    json!({ "remove": remove })
}

fn only<'a>(actions: &'a [Value], name: &str) -> Vec<&'a Value> {
    actions
        .iter()
        .filter_map(|action| action.get(name))
        .collect()
}

#[tokio::test]
async fn a_commit_is_as_spark_writes_one() {
    let (table, [one, _]) = two().await;
    let mut masked = one.clone();
    masked["add"]["deletionVector"] = vector(&[3]);
    masked["add"]["tags"] = json!({ "k": "v" });
    table.commit(1, &[remove(&one), masked]).await;
    let before = table.rows().await;
    let actions = table.optimized().await;
    assert_eq!(table.rows().await, before);

    let info = &actions[0]["commitInfo"];
    assert_eq!(
        (
            &info["operation"],
            &info["isolationLevel"],
            &info["isBlindAppend"]
        ),
        (
            &json!("OPTIMIZE"),
            &json!("SnapshotIsolation"),
            &json!(false)
        )
    );
    assert_eq!(
        info["operationParameters"],
        json!({ "predicate": "[]", "zOrderBy": "[]", "clusterBy": "[]", "auto": false })
    );
    assert_eq!(
        (&info["readVersion"], &info["userMetadata"]),
        (&json!(1), &json!("why"))
    );
    let adds = only(&actions, "add");
    let size = adds[0]["size"].as_u64().unwrap().to_string();
    let metrics = &info["operationMetrics"];
    for (name, value) in [
        ("numAddedFiles", "1"),
        ("numRemovedFiles", "2"),
        ("numDeletionVectorsRemoved", "1"),
        ("numAddedBytes", &size),
        ("minFileSize", &size),
        ("p25FileSize", &size),
        ("p50FileSize", &size),
        ("p75FileSize", &size),
        ("maxFileSize", &size),
    ] {
        assert_eq!(metrics[name], json!(value), "{name}");
    }
    assert!(metrics["numRemovedBytes"].is_string());

    assert_eq!(adds.len(), 1);
    assert_eq!(adds[0]["dataChange"], json!(false));
    assert_eq!(adds[0]["modificationTime"], json!(2_000));
    for absent in ["tags", "clusteringProvider", "baseRowId", "deletionVector"] {
        assert!(adds[0].get(absent).is_none(), "{absent}");
    }
    let stats: Value = serde_json::from_str(adds[0]["stats"].as_str().unwrap()).unwrap();
    assert_eq!(
        stats,
        json!({
            "numRecords": 19, "minValues": { "a": 0 }, "maxValues": { "a": 19 },
            "nullCount": { "a": 0 }, "tightBounds": true,
        })
    );
    let removes = only(&actions, "remove");
    assert_eq!(removes.len(), 2);
    for remove in &removes {
        assert_eq!(
            (
                &remove["dataChange"],
                &remove["deletionTimestamp"],
                &remove["extendedFileMetadata"]
            ),
            (&json!(false), &json!(2_000), &json!(true))
        );
    }
    let first = removes.iter().find(|r| r["path"] == "f1").unwrap();
    assert_eq!(first["deletionVector"], vector(&[3]));
    assert_eq!(first["tags"], json!({ "k": "v" }));
}

#[tokio::test]
async fn running_twice_does_nothing_the_second_time() {
    let (table, _) = two().await;
    let stale = table.plan().await;
    table.optimized().await;
    let again = table.plan().await.plan;
    assert!(again.refused.unwrap().starts_with("nothing to do"));
    // Nor does a plan of before, which would bring every row twice.
    let (rows, keys) = (table.rows().await, table.data_keys().await);
    let error = table.apply(&stale).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert_eq!((table.rows().await, table.data_keys().await), (rows, keys));
}

/// What others commit while files are packed: whether the pack is committed after it.
#[tokio::test]
async fn others_may_commit_meanwhile() {
    type Make = fn(&[Value; 2], Value) -> Vec<Value>;
    let info =
        |operation: &str| json!({ "commitInfo": { "operation": operation, "userName": "bo" } });
    let cases: [(&str, Make, bool); 9] = [
        ("append", |_, new| vec![new], true),
        ("remove an input", |[one, _], _| vec![remove(one)], false),
        (
            "mask rows of an input",
            |[one, _], _| {
                let mut masked = one.clone();
                masked["add"]["deletionVector"] = vector(&[0]);
                vec![remove(one), masked]
            },
            false,
        ),
        (
            "change the schema",
            |_, _| vec![meta(json!({ "k": "v" }))],
            false,
        ),
        (
            "pack the same files",
            |[one, two], new| vec![remove(one), remove(two), new],
            false,
        ),
        (
            "raise the protocol",
            |_, _| vec![protocol(&["deletionVectors", "appendOnly"])],
            false,
        ),
        ("vacuum", |_, _| Vec::new(), true),
        (
            "write the same file again",
            |[one, _], _| vec![one.clone()],
            true,
        ),
        (
            "set a domain",
            |_, _| {
                vec![
                    json!({ "domainMetadata": { "domain": "d", "configuration": "{}", "removed": false } }),
                ]
            },
            true,
        ),
    ];
    for (name, theirs, goes_on) in cases {
        let (table, adds) = two().await;
        let planned = table.plan().await;
        let new = table.file("new", &batch(100, 5)).await;
        let mut actions = vec![info(name)];
        actions.extend(theirs(&adds, new));
        table.commit(1, &actions).await;
        let (rows, keys) = (table.rows().await, table.data_keys().await);
        let told = table.apply(&planned).await;
        match told {
            Ok(done) => {
                assert!(goes_on, "{name}");
                assert_eq!((done.version, done.attempts), (Version(2), 2), "{name}");
                let info = &table.actions(2).await[0]["commitInfo"];
                assert_eq!(info["readVersion"], json!(1), "{name}");
            }
            Err(error) => {
                assert!(!goes_on, "{name}: {error}");
                assert_eq!(error.kind(), Kind::Conflict, "{name}");
                let text = error.to_string();
                assert!(
                    text.contains(&format!("version 1 ({name} by bo) came first")),
                    "{text}"
                );
                assert_eq!(table.data_keys().await, keys, "{name}: an orphan");
            }
        }
        assert_eq!(table.rows().await, rows, "{name}");
    }
}

#[tokio::test]
async fn each_attempt_stamps_and_numbers_anew() {
    let configuration = json!({
        "delta.enableInCommitTimestamps": "true", "delta.enableRowTracking": "true",
        "delta.rowTracking.materializedRowIdColumnName": "_id",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_since",
    });
    let features = ["inCommitTimestamp", "rowTracking", "domainMetadata"];
    let table = Table::new();
    let tracked = |mut add: Value, base: u64, since: u64| {
        add["add"]["baseRowId"] = json!(base);
        add["add"]["defaultRowCommitVersion"] = json!(since);
        add
    };
    let mark = |n: u64| {
        json!({ "domainMetadata": {
        "domain": "delta.rowTracking", "removed": false,
        "configuration": format!("{{\"rowIdHighWaterMark\":{n}}}") } })
    };
    let stamp = |n: u64| json!({ "commitInfo": { "inCommitTimestamp": n, "operation": "WRITE" } });
    let one = tracked(table.file("f1", &batch(0, 10)).await, 0, 0);
    let two = tracked(table.file("f2", &batch(10, 10)).await, 10, 0);
    table
        .commit(
            0,
            &[
                stamp(5_000),
                protocol(&features),
                meta(configuration),
                one,
                two,
                mark(19),
            ],
        )
        .await;
    let planned = table.plan().await;
    let new = tracked(table.file("new", &batch(100, 5)).await, 20, 1);
    table.commit(1, &[stamp(9_000), new, mark(24)]).await;
    let done = table.apply(&planned).await.unwrap();
    assert_eq!((done.version, done.attempts), (Version(2), 2));
    let actions = table.actions(2).await;
    let info = &actions[0]["commitInfo"];
    assert_eq!(info["inCommitTimestamp"], json!(9_001));
    assert_eq!(
        info["tags"],
        json!({ "delta.rowTracking.preserved": "true" })
    );
    let add = only(&actions, "add")[0];
    assert_eq!(
        (&add["baseRowId"], &add["defaultRowCommitVersion"]),
        (&json!(25), &json!(2))
    );
    let domain = only(&actions, "domainMetadata")[0]["configuration"]
        .as_str()
        .unwrap();
    assert!(domain.contains("\"rowIdHighWaterMark\":44"), "{domain}");
    let removed = only(&actions, "remove");
    assert_eq!(
        (
            &removed[1]["baseRowId"],
            &removed[1]["defaultRowCommitVersion"]
        ),
        (&json!(10), &json!(0))
    );

    // Ids may be given to files that stay; then the new files would bring the old ones back.
    let planned = table.plan().await;
    let live = table.live().await;
    let mut moved = live
        .values()
        .find(|add| add["path"] == "new")
        .unwrap()
        .clone();
    moved["baseRowId"] = json!(70);
    table
        .commit(3, &[stamp(9_500), json!({ "add": moved }), mark(74)])
        .await;
    let error = table.apply(&planned).await.unwrap_err();
    assert!(error.to_string().contains("other ids"), "{error}");
}

#[tokio::test]
async fn rows_keep_their_ids() {
    let configuration = json!({
        "delta.enableRowTracking": "true",
        "delta.rowTracking.materializedRowIdColumnName": "_id",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_since",
    });
    let table = Table::new();
    // Rows that moved before have their ids in the file, all or some of them.
    let moved = RecordBatch::try_from_iter([
        ("a", Arc::new(Int64Array::from(vec![7, 8, 9])) as _),
        (
            "_id",
            Arc::new(Int64Array::from(vec![Some(70), None, Some(90)])) as _,
        ),
        (
            "_since",
            Arc::new(Int64Array::from(vec![Some(3), None, None])) as _,
        ),
    ]);
    let mut one = table.file("f1", &moved.unwrap()).await;
    let mut two = table.file("f2", &batch(0, 4)).await;
    for (add, base, since) in [(&mut one, 200, 5), (&mut two, 400, 6)] {
        add["add"]["baseRowId"] = json!(base);
        add["add"]["defaultRowCommitVersion"] = json!(since);
    }
    two["add"]["deletionVector"] = vector(&[1]);
    let features = ["rowTracking", "domainMetadata", "deletionVectors"];
    table
        .commit(0, &[protocol(&features), meta(configuration), one, two])
        .await;
    table.optimized().await;
    let rows = table.rows().await;
    let right = [
        ("7", "70", "3"),
        ("8", "201", "5"),
        ("9", "90", "5"),
        ("0", "400", "6"),
        ("2", "402", "6"),
        ("3", "403", "6"),
    ];
    let mut right: Vec<String> = right
        .iter()
        .map(|(a, id, since)| {
            format!("{{\"_id\": \"{id}\", \"_since\": \"{since}\", \"a\": \"{a}\"}}")
        })
        .collect();
    right.sort();
    assert_eq!(rows, right);
    let stats = table.live().await.into_values().next().unwrap()["stats"].to_string();
    assert!(!stats.contains("_id"), "{stats}");
}

#[tokio::test]
async fn a_table_that_only_could_track_rows_gets_fresh_ids() {
    let features = ["rowTracking", "domainMetadata"];
    let (table, _) = two_of(&features, json!({})).await;
    let actions = table.optimized().await;
    let add = only(&actions, "add")[0];
    assert_eq!(
        (&add["baseRowId"], &add["defaultRowCommitVersion"]),
        (&json!(0), &json!(1))
    );
    assert!(actions[0]["commitInfo"].get("tags").is_none());
    assert!(
        actions
            .iter()
            .any(|a| a.to_string().contains("rowIdHighWaterMark\\\":19"))
    );
}

#[tokio::test]
async fn a_file_without_rows_leaves_none() {
    let (table, [one, two]) = two().await;
    let mut masked = one.clone();
    let all: Vec<u64> = (0..10).collect();
    masked["add"]["deletionVector"] = vector(&all);
    table.commit(1, &[remove(&one), remove(&two), masked]).await;
    let before = table.data_keys().await;
    let plan = table.plan().await.plan;
    assert_eq!((plan.files_to_rewrite, plan.files_to_write), (1, 0));
    let actions = table.optimized().await;
    assert!(only(&actions, "add").is_empty());
    assert_eq!(only(&actions, "remove").len(), 1);
    assert!(table.rows().await.is_empty());
    assert_eq!(table.data_keys().await, before);
}

#[tokio::test]
async fn large_inputs_are_read_in_slices_and_put_in_parts() {
    use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
    for (index, version) in [
        (true, WriterVersion::PARQUET_1_0),
        (false, WriterVersion::PARQUET_1_0),
        (true, WriterVersion::PARQUET_2_0),
        (false, WriterVersion::PARQUET_2_0),
    ] {
        let table = Table::new();
        let how = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(false)
            .set_offset_index_disabled(!index)
            .set_statistics_enabled(if index {
                EnabledStatistics::Page
            } else {
                EnabledStatistics::Chunk
            })
            .set_data_page_size_limit(8 << 10)
            .set_write_batch_size(100)
            .build();
        let mut adds = vec![protocol(&["deletionVectors"])];
        adds.push(metadata(
            json!([
                plain("a", "long"),
                table::column(
                    "l",
                    json!({ "type": "array", "elementType": "long", "containsNull": true }),
                    json!({})
                )
            ]),
            json!([]),
            json!({}),
        ));
        // Lists lie in pages of their own; without an index, only the second format says of which rows.
        let nested = index || version == WriterVersion::PARQUET_2_0;
        for n in 0..2i64 {
            let rows = 40_000;
            let ids: Int64Array = (0..rows).map(|i| i * 7_919 % 1_000_003 + n).collect();
            let mut columns: Vec<(&str, arrow_array::ArrayRef)> = vec![("a", Arc::new(ids))];
            if nested {
                let lists = (0..rows)
                    .map(|i| (i % 5 > 0).then(move || (0..i % 4).map(move |k| Some(i * k))));
                let lists = arrow_array::ListArray::from_iter_primitive::<
                    arrow_array::types::Int64Type,
                    _,
                    _,
                >(lists);
                columns.push(("l", Arc::new(lists)));
            }
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let mut add = table.file_of(&format!("f{n}"), &batch, how.clone()).await;
            if n == 1 {
                add["add"]["deletionVector"] = vector(&[0, 17, 20_000, 39_999]);
            }
            adds.push(add);
        }
        table.commit(0, &adds).await;
        let before = table.rows().await;
        assert_eq!(before.len(), 79_996);
        let mut planned = table.plan().await;
        planned.memory = Memory {
            slice: 64 << 10,
            row_group: 100 << 10,
            part: 30 << 10,
        };
        table.apply(&planned).await.unwrap();
        assert_eq!(table.rows().await, before, "index {index}, {version:?}");
        let path = Path::from(table.snapshot().await.paths.unwrap()[0].path.as_str());
        let key = Path::from(format!("t/{path}"));
        let store = Arc::clone(&table.store);
        let file = lake::parquet::reader::ParquetFile::open(&store, &key)
            .await
            .unwrap();
        assert!(
            file.metadata().num_row_groups() > 3,
            "{}",
            file.metadata().num_row_groups()
        );
    }
}

/// Stops after so many questions whether to.
struct Stopping(std::sync::atomic::AtomicI64);

impl Host for Stopping {
    fn progress(&self, _: Progress) {}

    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) <= 0
    }

    fn pause(&self) -> futures::future::BoxFuture<'static, ()> {
        Box::pin(futures::future::ready(()))
    }
}

#[tokio::test]
async fn a_person_can_stop_it_before_the_commit() {
    for patience in 0..4 {
        let table = Table::new();
        let mut actions = vec![
            protocol(&[]),
            metadata(
                json!([plain("a", "long"), plain("p", "long")]),
                json!(["p"]),
                json!({}),
            ),
        ];
        for n in 0..6 {
            let mut add = table.file(&format!("f{n}"), &batch(n * 10, 10)).await;
            add["add"]["partitionValues"] = json!({ "p": (n / 2).to_string() });
            actions.push(add);
        }
        table.commit(0, &actions).await;
        let before = table.data_keys().await;
        let planned = table.plan().await;
        assert_eq!(planned.plan.files_to_write, 3);
        let host: SharedHost = Arc::new(Stopping(patience.into()));
        let told = lake::delta::optimize::apply(&planned, &signature(), &mut names(0), &host).await;
        assert_eq!(
            told.unwrap_err().kind(),
            Kind::Cancelled,
            "after {patience}"
        );
        assert_eq!(table.data_keys().await, before);
        assert_eq!(table.snapshot().await.version, Version(0));
    }
}

#[tokio::test]
async fn new_files_lie_in_their_partition() {
    let table = Table::new();
    let fields = json!([
        plain("a", "long"),
        plain("ts", "timestamp"),
        plain("b", "binary")
    ]);
    let mut actions = vec![
        protocol(&[]),
        metadata(fields, json!(["ts", "b"]), json!({})),
    ];
    for n in 0..4 {
        let mut add = table.file(&format!("f{n}"), &batch(n * 10, 10)).await;
        add["add"]["partitionValues"] = match n < 2 {
            true => json!({ "ts": "2024-01-01 10:00:00", "b": "\u{1}/%" }),
            false => json!({ "ts": null, "b": "" }),
        };
        actions.push(add);
    }
    table.commit(0, &actions).await;
    let before = table.rows().await;
    let actions = table.optimized().await;
    let paths: Vec<&str> = only(&actions, "add")
        .iter()
        .map(|a| a["path"].as_str().unwrap())
        .collect();
    let name = |n: u64| format!("part-00000-00000000-0000-4000-8000-{n:012}-c000.snappy.parquet");
    assert_eq!(
        paths,
        [format!(
            "ts=2024-01-01%2010%253A00%253A00/b=%2501%252F%2525/{}",
            name(1)
        ),]
    );
    let rows = table.rows().await;
    assert_eq!(rows.len(), before.len());
    // Files whose partition value is empty text stay as they are.
    assert_eq!(rows, before);
}

/// Between the writing of the files and the commit.
#[tokio::test]
async fn new_files_wait_for_their_commit() {
    let (table, _) = two().await;
    let host: SharedHost = Arc::new(Quiet);
    let planned: Optimize = plan(&table.root(), &request(), &host).await.unwrap();
    let rewritten = rewrite(&planned, "tidemark/test", &mut names(0), &host)
        .await
        .unwrap();
    assert_eq!(table.snapshot().await.version, Version(0));
    assert_eq!(table.data_keys().await.len(), 3);
    let done = commit(&planned, rewritten, &signature(), &host)
        .await
        .unwrap();
    assert_eq!(
        (done.version, done.files, done.attempts),
        (Version(1), 1, 1)
    );
}

/// A source of names that is broken must not cost a file that the table has.
#[tokio::test]
async fn a_name_that_a_file_has_is_refused() {
    let (table, _) = two().await;
    table.optimized().await;
    let more = [table.file("g1", &batch(20, 10)).await];
    table.commit(2, &more).await;
    let (rows, keys) = (table.rows().await, table.data_keys().await);
    let planned = table.plan().await;
    let host: SharedHost = Arc::new(Quiet);
    let told = rewrite(&planned, "tidemark/test", &mut names(0), &host).await;
    assert_eq!(told.unwrap_err().kind(), Kind::Internal);
    assert_eq!((table.rows().await, table.data_keys().await), (rows, keys));
}

#[tokio::test]
async fn a_file_that_changes_after_the_plan_stops_it() {
    let (table, _) = two().await;
    let planned = table.plan().await;
    let before = table.data_keys().await;
    let mut bytes = Vec::new();
    let other = batch(0, 11);
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, other.schema(), None).unwrap();
    writer.write(&other).unwrap();
    writer.close().unwrap();
    table
        .store
        .put(&Path::from("t/f1"), bytes.into())
        .await
        .unwrap();
    let error: Error = table.apply(&planned).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Damaged, "{error}");
    assert_eq!(table.data_keys().await, before);
    assert_eq!(table.snapshot().await.version, Version(0));
}

#[tokio::test]
async fn bins_follow_the_target() {
    let table = Table::new();
    let mut actions = vec![protocol(&[]), meta(json!({}))];
    let mut size = 0;
    for n in 0..10 {
        let add = table.file(&format!("f{n}"), &batch(n * 1_000, 1_000)).await;
        size = add["add"]["size"].as_u64().unwrap();
        actions.push(add);
    }
    table.commit(0, &actions).await;
    let before = table.rows().await;
    let planned = table
        .plan_of(&Request {
            target: Some(size * 4 + 100),
            ..request()
        })
        .await;
    let bins: Vec<usize> = planned
        .plan
        .optimize
        .as_ref()
        .unwrap()
        .bins
        .iter()
        .map(|b| b.paths.len())
        .collect();
    assert_eq!(bins, [4, 4, 2]);
    table.apply(&planned).await.unwrap();
    assert_eq!(table.rows().await, before);
    assert_eq!(table.snapshot().await.files, 3);
}

/// A plan of before is the same plan after commits that do not touch what it packs.
#[tokio::test]
async fn a_plan_is_carried_out_after_unrelated_commits() {
    let host: SharedHost = Arc::new(Quiet);
    let (table, [one, _]) = two().await;
    let stale = table.plan().await.plan;
    let new = table.file("new", &batch(100, 5)).await;
    table.commit(1, &[new]).await;
    let rows = table.rows().await;
    let as_read = Request {
        expect: stale.base_version,
        ..request()
    };
    let planned = plan(&table.root(), &as_read, &host).await.unwrap();
    assert_eq!(planned.plan.id, stale.id);
    let done = table.apply(&planned).await.unwrap();
    assert_eq!((done.version, done.files), (Version(2), 2));
    assert_eq!(table.rows().await, rows);

    // One that touches it is named before anything is written.
    let (table, _) = two().await;
    table
        .commit(
            1,
            &[
                json!({ "commitInfo": { "operation": "DELETE" } }),
                remove(&one),
            ],
        )
        .await;
    let keys = table.data_keys().await;
    let told = plan(&table.root(), &as_read, &host).await.unwrap_err();
    assert_eq!(told.kind(), Kind::Conflict);
    assert!(
        told.to_string().contains("version 1 (DELETE) came first"),
        "{told}"
    );
    assert_eq!(table.data_keys().await, keys);
    let ahead = Request {
        expect: Some(Version(9)),
        ..request()
    };
    let told = plan(&table.root(), &ahead, &host).await.unwrap_err();
    assert!(
        told.to_string().contains("the newest version is 1, not 9"),
        "{told}"
    );
}

/// New files look like leftovers until they are committed.
#[tokio::test(start_paused = true)]
async fn new_files_that_somebody_deleted_are_not_committed() {
    let host: SharedHost = Arc::new(Quiet);
    let (table, _) = two().await;
    let (rows, keys) = (table.rows().await, table.data_keys().await);
    let planned = table.plan().await;
    let rewritten = rewrite(&planned, "tidemark/test", &mut names(0), &host).await;
    let new: Vec<String> = table.data_keys().await;
    for key in new.iter().filter(|key| !keys.contains(key)) {
        table.store.delete(&Path::from(key.as_str())).await.unwrap();
    }
    let told = commit(&planned, rewritten.unwrap(), &signature(), &host).await;
    let error = told.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(
        error.to_string().contains("nothing was committed"),
        "{error}"
    );
    assert_eq!(table.snapshot().await.version, Version(0));
    assert_eq!(table.rows().await, rows);
}
