use super::super::sample::commit;
use super::*;

fn commits(versions: std::ops::RangeInclusive<u64>) -> Commits {
    versions
        .map(|v| (v, Arc::new(commit(v, "WRITE"))))
        .collect()
}

fn folding() -> Shape {
    Shape {
        fold: true,
        ..Shape::default()
    }
}

#[test]
fn a_long_history_is_rows_before_it_is_read() {
    let items = Items::new(99_999, 0, &Commits::new(), &[], &Shape::default());
    assert_eq!(items.len(), 100_000);
    assert_eq!(items.at(0), Some(Item::Waiting(99_999)));
    assert_eq!(items.at(99_999), Some(Item::Waiting(0)));
    assert_eq!(items.at(100_000), None);
    assert_eq!(items.index_of(50_000), Some(49_999));
}

#[test]
fn what_is_read_replaces_what_waits() {
    let mut read = commits(90..=99);
    read.remove(&95);
    let items = Items::new(199, 0, &read, &[(99, 90)], &Shape::default());
    assert_eq!(items.len(), 200);
    assert_eq!(items.at(99), Some(Item::Waiting(100)));
    assert!(matches!(items.at(100), Some(Item::Commit(c)) if c.version.0 == 99));
    assert_eq!(items.at(104), Some(Item::Missing(95)));
    assert_eq!(items.at(110), Some(Item::Waiting(89)));
    for version in [0, 42, 89, 90, 95, 99, 100, 199] {
        let index = items.index_of(version).unwrap();
        assert_eq!(index, 199 - version as usize);
    }
}

#[test]
fn runs_of_small_commits_fold() {
    let mut all = commits(0..=20);
    all.insert(10, Arc::new(commit(10, "DELETE")));
    let mut whole = commit(10, "DELETE");
    whole.files_removed = Some(3);
    all.insert(10, Arc::new(whole));
    let items = Items::new(20, 0, &all, &[(20, 0)], &folding());
    assert_eq!((items.len(), items.shown, items.folded), (3, 1, 20));
    let Some(Item::Fold(run)) = items.at(0) else {
        unreachable!("{items:?}")
    };
    assert_eq!((run.newest, run.oldest, run.commits), (20, 11, 10));
    assert_eq!((run.rows, run.files), (Some(100), Some(10)));
    assert_eq!(run.by.as_deref(), Some("job 8812"));
    assert_eq!(items.index_of(15), Some(0));
    assert_eq!(items.index_of(10), Some(1));
    assert_eq!(items.index_of(3), Some(2));

    let open = Shape {
        unfolded: vec![(20, 11)],
        ..folding()
    };
    let items = Items::new(20, 0, &all, &[(20, 0)], &open);
    assert_eq!((items.len(), items.shown, items.folded), (12, 11, 10));

    let kept = Shape {
        kept: vec![20],
        ..folding()
    };
    let items = Items::new(20, 0, &all, &[(20, 0)], &kept);
    assert!(matches!(items.at(0), Some(Item::Commit(c)) if c.version.0 == 20));
}

#[test]
fn an_unknown_figure_makes_the_sum_unknown() {
    let mut all = commits(0..=5);
    let mut odd = commit(3, "WRITE");
    odd.rows_added = None;
    odd.user = Some("job 8899".to_owned());
    all.insert(3, Arc::new(odd));
    let items = Items::new(5, 0, &all, &[(5, 0)], &folding());
    let Some(Item::Fold(run)) = items.at(0) else {
        unreachable!("{items:?}")
    };
    assert_eq!((run.rows, run.files), (None, Some(6)));
    assert_eq!(run.by.as_deref(), Some("job 88…"));
}

#[test]
fn a_search_says_what_it_did_not_search() {
    let shape = Shape {
        filter: Filter::parse("delete", false),
        ..Shape::default()
    };
    let mut all = commits(90..=99);
    all.insert(92, Arc::new(commit(92, "DELETE")));
    let items = Items::new(99, 0, &all, &[(99, 90)], &shape);
    assert_eq!(items.len(), 2);
    assert_eq!(items.at(1), Some(Item::Unsearched(89, 0)));
    assert_eq!((items.shown, items.left_out), (1, 9));
    assert_eq!(items.index_of(95), Some(0));
    assert_eq!(items.index_of(40), Some(1));
}
