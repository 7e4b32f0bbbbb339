//! `_last_checkpoint` is a hint: stale, dangling, empty or wrong, the log decides. Checkpoints
//! that cannot be read give way to the ones before them.

use lake::Kind;
use lake::answer;
use lake::table::At;
use tests::asking::Asking;
use tests::{Hint, Layout, TableBuilder};

use super::{commit_key, memory, put, snapshot};

#[tokio::test]
async fn a_wrong_hint_changes_no_answer() {
    let plain = || TableBuilder::new(46).removing_every(5);
    let ten_and_twenty = || {
        plain()
            .checkpoint(10, Layout::Classic)
            .checkpoint(20, Layout::Classic)
    };
    let thirty = || plain().checkpoint(30, Layout::Classic);
    let cases = [
        (
            "names a checkpoint that was deleted",
            thirty().hint(Hint::Dangling(40)),
        ),
        (
            "older than the newest checkpoint",
            ten_and_twenty().hint(Hint::Stale),
        ),
        ("empty", thirty().hint(Hint::Garbage(Vec::new()))),
        ("binary", thirty().hint(Hint::Garbage(vec![0, 1, 2, 255]))),
        (
            "of the wrong shape",
            thirty().hint(Hint::Garbage(b"{\"version\":\"x\"}".to_vec())),
        ),
        (
            "negative",
            thirty().hint(Hint::Garbage(b"{\"version\":-1}".to_vec())),
        ),
        ("past the end", thirty().hint(Hint::Dangling(99))),
        (
            "as far as a number goes",
            thirty().hint(Hint::Dangling(u64::MAX)),
        ),
        ("without any checkpoint", plain().hint(Hint::Dangling(40))),
        ("missing", thirty().hint(Hint::Missing)),
        (
            "with a wrong checksum",
            thirty().hint(Hint::Garbage(
                b"{\"version\":30,\"size\":3,\"checksum\":\"0123\"}".to_vec(),
            )),
        ),
    ];
    let truth = plain().build(memory(), "t").await;
    for (name, builder) in cases {
        let table = builder.build(memory(), "t").await;
        for version in [0, 9, 10, 19, 29, 30, 31, 40, 45] {
            let expected = snapshot(&truth.root, version).await.unwrap();
            let ours = snapshot(&table.root, version).await;
            let ours = ours.unwrap_or_else(|e| panic!("{name}, version {version}: {e}"));
            assert_eq!(ours.paths, expected.paths, "{name}, version {version}");
            assert_eq!(ours.rows, expected.rows, "{name}, version {version}");
        }
        let refused = Asking::of(&table.root).everything(45).await;
        assert!(refused.is_empty(), "{name}: {refused:?}");
    }
}

#[tokio::test]
async fn a_suffix_without_a_checkpoint_is_never_a_snapshot() {
    let table = TableBuilder::new(46)
        .cleaned_before(38)
        .hint(Hint::Dangling(40))
        .build(memory(), "t")
        .await;
    let newest = answer::snapshot(&table.root, At::Latest, false, &super::quiet()).await;
    let error = newest.unwrap_err();
    assert!(
        matches!(error.kind(), Kind::Damaged | Kind::NotFound),
        "{error}"
    );
    for version in 38..46 {
        let error = snapshot(&table.root, version).await.unwrap_err();
        assert!(error.to_string().contains(&version.to_string()), "{error}");
        assert!(error.location().is_some(), "{error}");
        Asking::of(&table.root).everything(version).await;
    }
}

#[tokio::test]
async fn two_histories_are_never_mixed() {
    // A table was dropped after version 3 and made again; its checkpoint is gone, its hint is not,
    // and its newest commit outlived it.
    let store = memory();
    let old = TableBuilder::new(4).hint(Hint::Dangling(3));
    old.build(std::sync::Arc::clone(&store), "t").await;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    let table = TableBuilder::new(3)
        .hint(Hint::Missing)
        .build(store, "t")
        .await;
    let error = snapshot(&table.root, 3).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Damaged, "{error}");
    assert!(error.location().is_some(), "{error}");
}

#[tokio::test]
async fn a_checkpoint_that_cannot_be_read_gives_way_to_the_one_before() {
    let layouts = [
        Layout::Classic,
        Layout::MultiPart(3),
        Layout::V2Json(2),
        Layout::V2Parquet(2),
    ];
    for layout in layouts {
        let whole = TableBuilder::new(25).removing_every(4);
        let truth = whole.clone().build(memory(), "t").await;
        let damaged = whole.checkpoint(10, Layout::Classic).checkpoint(20, layout);
        let table = damaged.clone().incomplete().build(memory(), "t").await;
        same(
            &truth.root,
            &table.root,
            &format!("{layout:?} without its last file"),
        )
        .await;

        let table = damaged.build(memory(), "t").await;
        let keys = keys_of(&table.root, "00000000000000000020.checkpoint").await;
        assert!(!keys.is_empty());
        for (name, bytes) in [
            ("empty", Vec::new()),
            ("binary", vec![7; 300]),
            (
                "PAR1 at both ends",
                [b"PAR1".as_slice(), &[0; 64], b"PAR1"].concat(),
            ),
        ] {
            for key in &keys {
                put(&table.root, key, bytes.clone()).await;
            }
            same(
                &truth.root,
                &table.root,
                &format!("{layout:?} that is {name}"),
            )
            .await;
        }
    }
}

#[tokio::test]
async fn a_damaged_checkpoint_without_another_way_is_an_error_with_its_key() {
    let table = TableBuilder::new(25)
        .checkpoint(20, Layout::Classic)
        .cleaned_before(20)
        .build(memory(), "t")
        .await;
    assert_eq!(snapshot(&table.root, 24).await.unwrap().files, 24);
    let key = "_delta_log/00000000000000000020.checkpoint.parquet";
    put(&table.root, key, vec![1; 64]).await;
    let error = snapshot(&table.root, 24).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Damaged, "{error}");
    assert!(
        error.to_string().contains("00000000000000000020"),
        "{error}"
    );
    assert!(!error.to_string().contains(&commit_key(24)), "{error}");
    Asking::of(&table.root).everything(24).await;
}

#[tokio::test]
async fn every_state_of_a_log_gives_the_same_table() {
    let plain = || TableBuilder::new(40).removing_every(3);
    let truth = plain().build(memory(), "t").await;
    let states = [
        plain().checkpoint(20, Layout::Classic),
        plain().checkpoint(20, Layout::MultiPart(4)),
        plain().checkpoint(20, Layout::V2Json(3)),
        plain().checkpoint(20, Layout::V2Parquet(3)),
        plain().checkpoint(20, Layout::V2Json(0)),
        plain().checkpoint(20, Layout::V2Parquet(0)),
        plain().compacted(5, 25).compacted(26, 39),
        plain().checkpoint(20, Layout::Classic).compacted(15, 30),
        plain()
            .checkpoint(10, Layout::Classic)
            .checkpoint(30, Layout::V2Json(2)),
    ];
    for state in states {
        let table = state.build(memory(), "t").await;
        same(&truth.root, &table.root, &format!("{state:?}")).await;
    }
    let cleaned = plain().checkpoint(20, Layout::Classic).cleaned_before(20);
    let cleaned = cleaned.build(memory(), "t").await;
    let ours = snapshot(&cleaned.root, 39).await.unwrap();
    let expected = snapshot(&truth.root, 39).await.unwrap();
    assert_eq!(ours.paths, expected.paths);
    assert!(snapshot(&cleaned.root, 19).await.is_err());
}

/// Newest and some older versions of two tables hold the same files.
async fn same(truth: &lake::answer::Root, other: &lake::answer::Root, about: &str) {
    let latest = super::history(truth).await.latest_version.0;
    for version in [0, 9, latest - 1, latest] {
        let expected = snapshot(truth, version).await.unwrap();
        let ours = snapshot(other, version).await;
        let ours = ours.unwrap_or_else(|e| panic!("{about}, version {version}: {e}"));
        assert_eq!(ours.paths, expected.paths, "{about}, version {version}");
        assert_eq!(ours.bytes, expected.bytes, "{about}, version {version}");
        assert_eq!(ours.rows, expected.rows, "{about}, version {version}");
    }
}

async fn keys_of(root: &lake::answer::Root, part: &str) -> Vec<String> {
    use futures::TryStreamExt;
    let all = root.store.list(Some(&root.path));
    let all: Vec<_> = all.try_collect().await.unwrap();
    let own = format!("{}/", root.path);
    all.iter()
        .filter_map(|meta| meta.location.as_ref().strip_prefix(&own))
        .filter(|key| key.contains(part))
        .map(str::to_owned)
        .collect()
}
