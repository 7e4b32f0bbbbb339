//! What a vacuum finds, leaves alone, refuses and does.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "vacuum/bed.rs"]
mod bed;

use std::sync::Arc;
use std::time::Duration;

use bed::{Bed, HOUR, WEEK, metadata, signature};
use futures::FutureExt as _;
use lake::delta::pins;
use lake::delta::vacuum::{Request, apply, empty_quarantine, list_quarantine};
use lake::host::{Host, Progress, Quiet, SharedHost};
use lake::plan::{Leftover, Origin, Pin, VacuumDetail};
use lake::table::{Time, Version};
use lake::{Error, Kind};
use object_store::ObjectStoreExt;
use serde_json::{Value, json};

fn keys(objects: &[Leftover]) -> Vec<&str> {
    objects.iter().map(|object| object.key.as_str()).collect()
}

fn spared<'a>(detail: &'a VacuumDetail, words: &str) -> (u64, &'a str) {
    let found = detail.spared.iter().find(|s| s.why.contains(words));
    let found = found.unwrap_or_else(|| panic!("{words}: {:?}", detail.spared));
    (found.objects, found.example.as_str())
}

const UUID: &str = "d2c639aa-8816-431a-aaf6-d3fe2512ff61";
/// The base85 of [`UUID`].
const BASE85: &str = "^-aqEH.-t@S}K{vb[*k^";
const OTHER: &str = "00000000-8816-431a-aaf6-d3fe2512ff61";

fn vector(text: &str) -> Value {
    json!({"storageType": "u", "pathOrInlineDv": text, "offset": 1, "sizeInBytes": 36, "cardinality": 2})
}

#[tokio::test]
async fn special_folders_and_tables_inside_survive() {
    for uniform in [false, true] {
        let formats = if uniform { "iceberg" } else { "hudi" };
        let bed = Bed::new(metadata(
            &["_group"],
            &[("delta.universalFormat.enabledFormats", formats)],
        ))
        .await;
        let live =
            json!({"path": "live.parquet", "deletionVector": vector(&format!("ab{BASE85}"))});
        bed.commit(&[json!({"add": bed::add(live)})]).await;
        for key in [
            "live.parquet",
            &format!("ab/deletion_vector_{UUID}.bin"),
            // Spared.
            "_delta_log/old.tmp",
            "_tidemark/pins/note.txt",
            "_symlink_format_manifest/p=1/manifest",
            ".hidden/x",
            "_groups=1/f.parquet",
            "x/.part-0.parquet.crc",
            "_SUCCESS",
            "sub/_delta_log/00000000000000000000.json",
            "sub/f.parquet",
            "hudi/.hoodie/hoodie.properties",
            "hudi/f.parquet",
            "ice/metadata/v1.metadata.json",
            "ice/metadata/snap-1.avro",
            "ice/data/f.parquet",
            // Going.
            "_change_data/cdc-1.parquet",
            "_delta_index/x",
            "_group=1/f.parquet",
            &format!("deletion_vector_{UUID}.bin"),
            &format!("deletion_vector_{OTHER}.bin"),
            &format!("ab/deletion_vector_{OTHER}.bin"),
            "README.md",
            "part-0.crc",
            "metadata/v1.metadata.json",
            "metadata/snap-1.avro",
        ] {
            bed.put(key).await;
        }
        // A folder as some consoles make them.
        bed.put_bytes("_change_data", "").await;
        let plan = bed.plan(&bed.request()).await.plan;
        let detail = plan.vacuum.as_ref().unwrap();
        assert_eq!(plan.refused, None);
        let going = [
            "README.md".to_owned(),
            "_change_data/cdc-1.parquet".to_owned(),
            "_delta_index/x".to_owned(),
            "_group=1/f.parquet".to_owned(),
            format!("ab/deletion_vector_{OTHER}.bin"),
            format!("deletion_vector_{OTHER}.bin"),
            format!("deletion_vector_{UUID}.bin"),
            "part-0.crc".to_owned(),
        ];
        assert_eq!(keys(&detail.objects), going, "uniform {uniform}");
        assert_eq!((plan.files_to_delete, plan.bytes_to_delete), (8, 8 * 4));
        let words = ["`sub` is a table", "`hudi` is a table", "`ice` is a table"];
        let counts = words.map(|words| spared(detail, words).0);
        // With UniForm, every `metadata` folder is hidden already.
        assert_eq!(counts, [2, 2, 3 - u64::from(uniform)]);
        assert_eq!(spared(detail, "hidden").0, 5);
        assert_eq!(spared(detail, "stands for a folder"), (1, "_change_data"));
        let iceberg = match uniform {
            true => "UniForm",
            false => "Iceberg table at the same root",
        };
        assert_eq!(spared(detail, iceberg).0, 2 + u64::from(uniform));
        let beside = plan
            .warnings
            .iter()
            .any(|w| w.contains("Iceberg has the same root"));
        assert_eq!(beside, !uniform);
    }
}

#[tokio::test]
async fn a_partition_column_opens_no_log() {
    let bed = Bed::new(metadata(&["_d", "."], &[])).await;
    bed.commit(&[]).await;
    for key in [
        "_delta_log/x",
        "_d=1/f",
        "_d/f",
        "_delta/f",
        "._d=1/f",
        "a/_delta_log/x",
    ] {
        bed.put(key).await;
    }
    let plan = bed.plan(&bed.request()).await.plan;
    assert_eq!(keys(&plan.vacuum.unwrap().objects), ["_d=1/f"]);
    // Mapped, the folder bears the physical name.
    let bed = Bed::new(bed::mapped("_p", "_x")).await;
    for key in ["_x=1/f", "_p=1/f"] {
        bed.put(key).await;
    }
    let plan = bed.plan(&bed.request()).await.plan;
    assert_eq!(keys(&plan.vacuum.unwrap().objects), ["_x=1/f"]);
}

/// A key with escapes is deleted under its own name, and so is one that only looks like it.
#[tokio::test]
async fn keys_with_escapes_are_decoded_once() {
    let bed = Bed::new(metadata(&["ts"], &[])).await;
    let names = [
        ("ts=2024-01-01%252010%253A00/f", "ts=2024-01-01%2010%3A00/f"),
        ("ts=a~b/f", "ts=a~b/f"),
        ("ts=a%20b/f", "ts=a b/f"),
        ("ts=a%2525b/f", "ts=a%25b/f"),
    ];
    let adds = names.map(|(raw, _)| json!({"add": bed::add(json!({"path": raw}))}));
    bed.commit(&adds).await;
    for (_, key) in names {
        bed.put(key).await;
    }
    let live = bed.plan(&bed.request()).await.plan;
    assert!(live.refused.unwrap().contains("nothing to do"));
    let removes = names.map(|(raw, _)| json!({"remove": {"path": raw, "deletionTimestamp": 5}}));
    bed.commit(&removes).await;
    let vacuum = bed.plan(&bed.request()).await;
    let detail = vacuum.plan.vacuum.clone().unwrap();
    let mut wanted = names.map(|(_, key)| key);
    wanted.sort_unstable();
    assert_eq!(keys(&detail.objects), wanted);
    assert!(detail.objects.iter().all(|o| o.origin == Origin::Removed));
    assert_eq!(detail.unrestorable, [Version(1)]);
    let done = apply(&vacuum, &signature(), &bed.host).await.unwrap();
    assert_eq!((done.deleted, done.absent, done.bytes_deleted), (4, 0, 16));
    for (_, key) in names {
        assert!(!bed.has(key).await, "{key}");
    }
}

/// What a writer that forgot to encode its paths names is needed as well.
#[tokio::test]
async fn every_reading_of_a_path_is_kept() {
    let bed = Bed::new(metadata(&[], &[])).await;
    let add = |path: &str| json!({"add": bed::add(json!({"path": path}))});
    let outside = [
        "s3://bucket/t/abs.parquet",
        "file:/mnt/t/x/abs%20two.parquet",
    ];
    let mut adds: Vec<Value> = outside.map(add).into();
    adds.push(add("a%2Fb.parquet"));
    bed.commit(&adds).await;
    for key in [
        "abs.parquet",
        "x/abs two.parquet",
        "a%2Fb.parquet",
        "a/b.parquet",
        "c.parquet",
    ] {
        bed.put(key).await;
    }
    let detail = bed.plan(&bed.request()).await.plan.vacuum.unwrap();
    assert_eq!(keys(&detail.objects), ["c.parquet"]);
    assert_eq!(spared(&detail, "absolute path").0, 2);
    // A path that is no key may mean anything.
    bed.commit(&[add("../up.parquet")]).await;
    let plan = bed.plan(&bed.request()).await.plan;
    let why = plan.refused.unwrap();
    assert!(
        why.contains("nobody can tell") && why.contains("../up.parquet"),
        "{why}"
    );
    assert_eq!(plan.files_to_delete, 0);
}

#[tokio::test]
async fn vectors_of_active_files_and_of_young_removes_are_kept() {
    let bed = Bed::new(metadata(&[], &[])).await;
    let young = bed.now.0 - HOUR - 1;
    let file = |path: &str, text: &str| json!({"path": path, "deletionVector": vector(text)});
    let mut removed = file("gone.parquet", BASE85);
    removed["deletionTimestamp"] = json!(young);
    let mut forever = json!({"path": "odd.parquet"});
    forever["deletionTimestamp"] = json!("yesterday");
    bed.commit(&[
        json!({"add": bed::add(file("live.parquet", &format!("ab{BASE85}")))}),
        json!({"remove": removed}),
        json!({"remove": forever}),
        json!({"remove": {"path": "untimed.parquet"}}),
    ])
    .await;
    let kept = [
        "live.parquet".to_owned(),
        format!("ab/deletion_vector_{UUID}.bin"),
        "gone.parquet".to_owned(),
        format!("deletion_vector_{UUID}.bin"),
        "odd.parquet".to_owned(),
    ];
    for key in kept.iter().map(String::as_str).chain(["untimed.parquet"]) {
        bed.put(key).await;
    }
    let detail = bed.plan(&bed.request()).await.plan.vacuum.unwrap();
    assert_eq!(keys(&detail.objects), ["untimed.parquet"]);
    assert_eq!(spared(&detail, "removed less than 7 days ago").0, 3);
    // An hour and more, they are old.
    let short = Request {
        retain: Some(HOUR),
        allow_short: true,
        ..bed.request()
    };
    let detail = bed.plan(&short).await.plan.vacuum.unwrap();
    assert_eq!(
        keys(&detail.objects),
        [
            &format!("deletion_vector_{UUID}.bin"),
            "gone.parquet",
            "untimed.parquet"
        ]
    );
}

#[tokio::test]
async fn a_killed_writer_leaves_exactly_its_files() {
    let job = "8f3639c5-272a-4b27-9506-e529d3bfe145";
    let bed = Bed::new(metadata(&[], &[])).await;
    let name = |n: u32| format!("part-{n:05}-{job}-c000.snappy.parquet");
    let adds: Vec<Value> = (0..20)
        .map(|n| json!({"add": bed::add(json!({"path": format!("f{n}")}))}))
        .collect();
    bed.commit(&adds).await;
    bed.commit(&[json!({"remove": {"path": "f0", "deletionTimestamp": 5}})])
        .await;
    for n in 0..20 {
        bed.put(&format!("f{n}")).await;
    }
    for n in 0..250 {
        bed.put(&name(n)).await;
    }
    let detail = bed.plan(&bed.request()).await.plan.vacuum.unwrap();
    let left: Vec<&Leftover> = detail
        .objects
        .iter()
        .filter(|o| o.origin == Origin::Uncommitted)
        .collect();
    assert_eq!(left.len(), 250);
    for (n, object) in left.iter().enumerate() {
        assert_eq!(object.key, name(n as u32));
        assert_eq!(object.writer.as_deref(), Some(job));
    }
    let removed: Vec<&str> = detail
        .objects
        .iter()
        .filter(|o| o.origin == Origin::Removed)
        .map(|o| o.key.as_str())
        .collect();
    assert_eq!(removed, ["f0"]);
    assert_eq!(detail.unrestorable, [Version(1)]);
}

#[tokio::test]
async fn the_young_wait_by_the_clock_of_the_store() {
    let bed = Bed::new(metadata(&[], &[])).await;
    bed.commit(&[]).await;
    bed.put("old").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let between = bed.clock().await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    bed.put("young").await;
    // Two clocks that disagree: the earlier one counts.
    let at = Time(between.0 + WEEK);
    for (as_of, store) in [(at, Time(at.0 + HOUR)), (Time(at.0 + 2 * HOUR), at)] {
        let request = Request {
            as_of,
            ..bed.request()
        };
        let vacuum = bed.plan_at(&request, store).await.unwrap();
        assert_eq!(vacuum.plan.as_of, at);
        let detail = vacuum.plan.vacuum.as_ref().unwrap();
        assert_eq!(keys(&detail.objects), ["old"]);
        assert_eq!(keys(&detail.waiting), ["young"]);
    }
}

#[tokio::test]
async fn pinned_versions_keep_their_files() {
    let bed = Bed::new(metadata(&[], &[])).await;
    let add = |path: &str, with: Option<&str>| {
        let mut add = json!({"path": path});
        if let Some(text) = with {
            add["deletionVector"] = vector(text);
        }
        json!({"add": bed::add(add)})
    };
    let gone = |path: &str| json!({"remove": {"path": path, "deletionTimestamp": 5}});
    bed.commit(&[add("one", None)]).await;
    bed.commit(&[gone("one"), add("two", Some(BASE85))]).await;
    let mut two = gone("two");
    two["remove"]["deletionVector"] = vector(BASE85);
    bed.commit(&[two, add("three", None)]).await;
    let key = format!("deletion_vector_{UUID}.bin");
    for key in ["one", "two", "three", key.as_str()] {
        bed.put(key).await;
    }
    let everything = bed.plan(&bed.request()).await.plan.vacuum.unwrap();
    assert_eq!(keys(&everything.objects), [key.as_str(), "one", "two"]);
    assert_eq!(everything.unrestorable, [Version(1), Version(2)]);

    let pin = Pin {
        name: "before / the 50% cut".to_owned(),
        version: Version(2),
        by: Some("ana".to_owned()),
        reason: None,
        at: Time(5),
    };
    pins::pin(&bed.root, &pin, &bed.host).await.unwrap();
    assert!(
        bed.has("_tidemark/pins/before%20%2F%20the%2050%25%20cut.json")
            .await
    );
    assert_eq!(
        pins::list(&bed.root).await.unwrap(),
        std::slice::from_ref(&pin)
    );
    let detail = bed.plan(&bed.request()).await.plan.vacuum.unwrap();
    assert_eq!(keys(&detail.objects), ["one"]);
    assert_eq!(detail.pins, std::slice::from_ref(&pin));
    assert_eq!(spared(&detail, "pinned").0, 2);
    assert_eq!(detail.unrestorable, [Version(1)]);

    // The same again is done already; another version under this name is not.
    pins::pin(&bed.root, &pin, &bed.host).await.unwrap();
    let other = Pin {
        version: Version(1),
        ..pin.clone()
    };
    let error = pins::pin(&bed.root, &other, &bed.host).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.message().contains("pins version 2"), "{error}");
    for (name, version, kind) in [
        ("", 1, Kind::Invalid),
        ("a\nb", 1, Kind::Invalid),
        (&"x".repeat(101), 1, Kind::Invalid),
        (&"ü".repeat(60), 1, Kind::Invalid),
        ("far", 9, Kind::NotFound),
    ] {
        let pin = Pin {
            name: name.to_owned(),
            version: Version(version),
            ..pin.clone()
        };
        assert_eq!(
            pins::pin(&bed.root, &pin, &bed.host)
                .await
                .unwrap_err()
                .kind(),
            kind,
            "{name:?}"
        );
    }
    pins::unpin(&bed.root, &pin.name, &bed.host).await.unwrap();
    let error = pins::unpin(&bed.root, &pin.name, &bed.host)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);

    // What a pin keeps must be known.
    bed.put_bytes("_tidemark/pins/odd.json", "{").await;
    assert_eq!(
        bed.plan_at(&bed.request(), bed.now)
            .await
            .unwrap_err()
            .kind(),
        Kind::Damaged
    );
    let lost = Pin {
        version: Version(77),
        ..pin
    };
    bed.put_bytes(
        "_tidemark/pins/odd.json",
        &serde_json::to_string(&lost).unwrap(),
    )
    .await;
    let why = bed.plan(&bed.request()).await.plan.refused.unwrap();
    assert!(why.contains("keeps version 77"), "{why}");
}

#[tokio::test]
async fn what_may_not_be_is_refused_by_name() {
    let mut bed = Bed::new(metadata(&[], &[])).await;
    bed.commit(&[]).await;
    bed.put("x").await;
    let asked = |retain, allow_short, below_an_hour| Request {
        retain: Some(retain),
        allow_short,
        below_an_hour,
        ..bed.request()
    };
    let cases = [
        (
            asked(HOUR, false, true),
            Some("shorter than the table's own of 7 days"),
        ),
        (asked(HOUR, true, false), None),
        (asked(HOUR - 1, true, false), Some("below an hour")),
        (asked(0, true, true), None),
        (asked(2 * WEEK, false, false), Some("older than 14 days")),
    ];
    for (request, refused) in cases {
        let why = bed.plan(&request).await.plan.refused;
        match refused {
            None => assert_eq!(why, None, "{request:?}"),
            Some(words) => assert!(
                why.as_ref().is_some_and(|why| why.contains(words)),
                "{why:?}"
            ),
        }
    }
    let negative = bed.plan_at(&asked(-1, true, true), bed.now).await;
    assert_eq!(negative.unwrap_err().kind(), Kind::Invalid);

    // Rows stay, so append-only does not matter; a retention nobody can read does.
    for (property, value, refused) in [
        ("delta.appendOnly", "true", None),
        (
            "delta.deletedFileRetentionDuration",
            "interval 30 days",
            Some("older than 30 days"),
        ),
        (
            "delta.deletedFileRetentionDuration",
            "interval 1 month",
            Some("cannot be read"),
        ),
        (
            "delta.deletedFileRetentionDuration",
            "interval 5 minutes",
            Some("below an hour"),
        ),
    ] {
        bed = Bed::new(metadata(&[], &[(property, value)])).await;
        bed.put("x").await;
        let plan = bed.plan(&bed.request()).await.plan;
        match refused {
            None => assert_eq!(plan.refused, None, "{value}"),
            Some(words) => assert!(plan.refused.unwrap().contains(words), "{value}"),
        }
    }
    for feature in ["catalogManaged", "somethingNew"] {
        bed = Bed::new(bed::featured(feature)).await;
        bed.put("x").await;
        let why = bed.plan(&bed.request()).await.plan.refused.unwrap();
        assert!(why.contains(feature), "{why}");
    }
    // A gap in the log.
    let bed = Bed::new(metadata(&[], &[])).await;
    for _ in 0..3 {
        bed.commit(&[]).await;
    }
    bed.put("x").await;
    bed.delete("_delta_log/00000000000000000002.json").await;
    let error = bed.plan_at(&bed.request(), bed.now).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Damaged);
    // Another head than the caller knows.
    let request = Request {
        expect: Some(Version(1)),
        ..bed.request()
    };
    assert_eq!(
        bed.plan_at(&request, bed.now).await.unwrap_err().kind(),
        Kind::Conflict
    );
}

#[tokio::test]
async fn the_id_is_of_what_was_asked() {
    let one = Bed::new(metadata(&[], &[])).await;
    let other = Bed::new(metadata(&[], &[])).await;
    one.put("x").await;
    let request = Request {
        as_of: Time(WEEK * 3_000),
        ..one.request()
    };
    let id = |bed: &Bed, request: &Request| {
        let (bed, request) = (bed.clone(), request.clone());
        async move { bed.plan_at(&request, Time(i64::MAX)).await.unwrap().plan.id }
    };
    let first = id(&one, &request).await;
    assert_eq!(first.len(), 64);
    assert_eq!(id(&other, &request).await, first);
    one.put("y").await;
    one.commit(&[]).await;
    assert_eq!(id(&one, &request).await, first);
    for changed in [
        Request {
            as_of: Time(request.as_of.0 + 1),
            ..request.clone()
        },
        Request {
            retain: Some(WEEK),
            ..request.clone()
        },
        Request {
            quarantine: true,
            ..request.clone()
        },
        Request {
            allow_short: true,
            ..request.clone()
        },
    ] {
        assert_ne!(id(&one, &changed).await, first);
    }
}

#[tokio::test]
async fn the_log_says_what_spark_says() {
    let ict = [("delta.enableInCommitTimestamps", "true")];
    let bed = Bed::new(metadata(&[], &ict)).await;
    for key in ["a", "p=1/b"] {
        bed.put(key).await;
    }
    let request = Request {
        retain: Some(0),
        allow_short: true,
        below_an_hour: true,
        ..bed.request()
    };
    let vacuum = bed.plan(&request).await;
    let done = apply(&vacuum, &signature(), &bed.host).await.unwrap();
    assert_eq!((done.start, done.end), (Version(1), Some(Version(2))));
    assert_eq!((done.deleted, done.proven_files), (2, 0));
    let (start, end) = (bed.info(1).await, bed.info(2).await);
    let wanted = json!({
        "operation": "VACUUM START",
        "operationParameters": {"retentionCheckEnabled": false, "defaultRetentionMillis": WEEK, "specifiedRetentionMillis": 0},
        "readVersion": 0, "isolationLevel": "SnapshotIsolation", "isBlindAppend": true,
        "operationMetrics": {"numFilesToDelete": "2", "sizeOfDataToDelete": "8"},
    });
    bed::holds(&start, &wanted);
    let wanted = json!({
        "operation": "VACUUM END", "operationParameters": {"status": "COMPLETED"},
        "readVersion": 1, "isolationLevel": "SnapshotIsolation", "isBlindAppend": true,
        "operationMetrics": {"numDeletedFiles": "2", "numVacuumedDirectories": "2"},
        "userMetadata": "why", "userName": "ana",
    });
    bed::holds(&end, &wanted);
    assert_ne!(start["txnId"], end["txnId"]);
    let time = |info: &Value| info["inCommitTimestamp"].as_i64().unwrap();
    assert!(time(&start) > bed::CREATED && time(&end) > time(&start));
    // Without a retention of one's own there is no word of it.
    let bed = Bed::new(metadata(&[], &[])).await;
    bed.put("a").await;
    let vacuum = bed.plan(&bed.request()).await;
    apply(&vacuum, &signature(), &bed.host).await.unwrap();
    let parameters = bed.info(1).await["operationParameters"].clone();
    assert_eq!(
        parameters,
        json!({"retentionCheckEnabled": true, "defaultRetentionMillis": WEEK})
    );
}

#[tokio::test]
async fn what_is_needed_again_is_spared() {
    let bed = Bed::new(metadata(&[], &[])).await;
    bed.commit(&[json!({"add": bed::add(json!({"path": "one"}))})])
        .await;
    bed.commit(&[json!({"remove": {"path": "one", "deletionTimestamp": 5}})])
        .await;
    for key in ["one", "stray"] {
        bed.put(key).await;
    }
    let vacuum = bed.plan(&bed.request()).await;
    // Somebody restores before the start, and another stray turns up that nobody was shown.
    bed.commit(&[json!({"add": bed::add(json!({"path": "one"}))})])
        .await;
    bed.put("later").await;
    let done = apply(&vacuum, &signature(), &bed.host).await.unwrap();
    assert_eq!((done.start, done.deleted), (Version(4), 1));
    assert_eq!(done.spared[0].example, "one");
    assert!(bed.has("one").await && bed.has("later").await && !bed.has("stray").await);
    assert_eq!(
        bed.info(4).await["operationMetrics"]["numFilesToDelete"],
        "1"
    );
    assert_eq!(done.proven_files, 1);
}

/// A host that does something when objects are being deleted.
struct Meddler(bed::Bed, std::sync::atomic::AtomicBool);

impl Host for Meddler {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> futures::future::BoxFuture<'static, ()> {
        Quiet.pause()
    }

    fn cancelled(&self) -> bool {
        // Asked before the start, then before each batch.
        if !self.1.swap(true, std::sync::atomic::Ordering::SeqCst) {
            return false;
        }
        let bed = self.0.clone();
        let meddled = async move {
            bed.commit(&[json!({"add": bed::add(json!({"path": "back"}))})])
                .await;
            let pin = Pin {
                name: "now".to_owned(),
                version: Version(1),
                by: None,
                reason: None,
                at: Time(1),
            };
            pins::pin(&bed.root, &pin, &bed.host).await.unwrap();
        };
        // A store in memory answers at once.
        meddled.now_or_never().unwrap();
        false
    }
}

#[tokio::test]
async fn what_is_committed_or_pinned_meanwhile_is_spared() {
    let bed = Bed::new(metadata(&[], &[])).await;
    bed.commit(&[json!({"add": bed::add(json!({"path": "first"}))})])
        .await;
    bed.commit(&[json!({"remove": {"path": "first", "deletionTimestamp": 5}})])
        .await;
    for key in ["first", "back", "stray"] {
        bed.put(key).await;
    }
    let vacuum = bed.plan(&bed.request()).await;
    let host: SharedHost = Arc::new(Meddler(bed.clone(), Default::default()));
    let done = apply(&vacuum, &signature(), &host).await.unwrap();
    // Version 3 starts, somebody makes 4, and 5 ends.
    assert_eq!((done.start, done.end), (Version(3), Some(Version(5))));
    assert_eq!(done.deleted, 1);
    let mut spared: Vec<(&str, &str)> = done
        .spared
        .iter()
        .map(|s| (s.example.as_str(), s.why.as_str()))
        .collect();
    spared.sort_unstable();
    assert_eq!(
        spared,
        [("back", "committed since"), ("first", "pinned since")]
    );
    assert!(bed.has("first").await && bed.has("back").await && !bed.has("stray").await);
}

/// A host on which a person says stop after the first batch.
struct Stopper(std::sync::atomic::AtomicU32);

impl Host for Stopper {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> futures::future::BoxFuture<'static, ()> {
        Quiet.pause()
    }

    fn cancelled(&self) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst) > 1
    }
}

#[tokio::test]
async fn a_person_may_stop_it_between_batches() {
    let bed = Bed::new(metadata(&[], &[])).await;
    for n in 0..1_500 {
        bed.put(&format!("f{n:04}")).await;
    }
    let vacuum = bed.plan(&bed.request()).await;
    let host: SharedHost = Arc::new(Stopper(Default::default()));
    let done = apply(&vacuum, &signature(), &host).await.unwrap();
    assert_eq!((done.deleted, done.failed.len()), (1_000, 500));
    assert!(done.failed.iter().all(|f| f.why == "stopped on request"));
    assert_eq!(bed.info(2).await["operationParameters"]["status"], "FAILED");
    assert!(!bed.has("f0999").await && bed.has("f1000").await);
    // The next one goes on from there.
    let next = bed.plan(&bed.request()).await;
    assert_eq!(next.plan.files_to_delete, 500);
    let before: SharedHost = Arc::new(Stopper(5.into()));
    let error: Error = apply(&next, &signature(), &before).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Cancelled);
    assert_eq!(bed.latest().await, 2);
}

#[tokio::test]
async fn a_quarantine_holds_what_it_took() {
    let bed = Bed::new(metadata(&["p"], &[])).await;
    for key in ["a", "p=a%20b/f", "sub/x"] {
        bed.put(key).await;
    }
    let request = Request {
        quarantine: true,
        ..bed.request()
    };
    let vacuum = bed.plan(&request).await;
    let done = apply(&vacuum, &signature(), &bed.host).await.unwrap();
    assert_eq!((done.deleted, done.bytes_deleted), (3, 12));
    let held = list_quarantine(&bed.root).await.unwrap();
    assert_eq!((held.len(), held[0].objects, held[0].bytes), (1, 3, 12));
    for key in ["a", "p=a%20b/f", "sub/x"] {
        assert!(!bed.has(key).await, "{key}");
        let aside = format!("_tidemark/quarantine/{}/{key}", held[0].name);
        assert_eq!(bed.get(&aside).await, "data", "{key}");
    }
    // It is no leftover of its own.
    assert_eq!(bed.plan(&bed.request()).await.plan.files_to_delete, 0);
    let now = bed.clock().await;
    let kept = empty_quarantine(&bed.root, HOUR, now, &bed.host)
        .await
        .unwrap();
    assert_eq!(kept.deleted, 0);
    let later = Time(now.0 + 2 * HOUR);
    let emptied = empty_quarantine(&bed.root, HOUR, later, &bed.host)
        .await
        .unwrap();
    assert_eq!(
        (emptied.deleted, emptied.bytes, emptied.failed.len()),
        (3, 12, 0)
    );
    assert_eq!(list_quarantine(&bed.root).await.unwrap(), []);
    assert!(
        bed.root
            .store
            .head(&bed.key("_delta_log/00000000000000000000.json"))
            .await
            .is_ok()
    );
}
