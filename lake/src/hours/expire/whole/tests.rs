//! What nothing goes of.

use std::sync::Arc;

use object_store::{ObjectStore, ObjectStoreExt};

use super::super::{Erased, Planned, apply, plan};
use crate::hours::dataset::Promise;
use crate::hours::day::DAY;
use crate::hours::fixture::host;
use crate::hours::judge::tests::slot;
use crate::hours::listing::path;
use crate::hours::publish::What;
use crate::hours::publish::asked::tests::Till;
use crate::hours::state::State;
use crate::plan::PublishedOutcome;
use crate::store::Request as Call;
use crate::store::fault::{Failure, FaultStore, Rule};
use crate::table::Time;

/// An hour whose run B took the place of A, long ago, and that has a line less.
async fn replaced() -> Till {
    let mut till = Till::new();
    till.dataset.retention.audit = Some(Promise {
        text: "1s".into(),
        millis: 1000,
        source: None,
    });
    till.run("A", &[1, 2, 3]).await;
    till.publish("A", false).await;
    till.run("B", &[1, 2]).await;
    let told = till.publish("B", true).await;
    assert_eq!(told.state, Some(State::Closed));
    till
}

async fn planned(till: &Till) -> Planned {
    planned_over(till, &till.shop.store).await
}

async fn planned_over(till: &Till, store: &Arc<dyn ObjectStore>) -> Planned {
    let now = Time(till.now().await.0 + DAY);
    plan(&till.dataset, store, now, now, &host()).await.unwrap()
}

async fn applied(till: &Till, planned: &Planned) -> Erased {
    apply(&till.dataset, &till.shop.store, planned, &host())
        .await
        .unwrap()
}

async fn has_run(till: &Till, run: &str) -> bool {
    let key = format!(
        "{}run_id={run}/part-0.parquet",
        till.dataset.prefix_of(slot())
    );
    till.shop.store.head(&path(&key).unwrap()).await.is_ok()
}

/// What goes, and why what stays does.
fn told(planned: &Planned) -> (u64, Vec<&str>) {
    let detail = planned
        .plan
        .hours
        .as_ref()
        .unwrap()
        .expire
        .as_ref()
        .unwrap();
    let why = detail.spared.iter().map(|spared| spared.why.as_str());
    (planned.plan.files_to_delete, why.collect())
}

#[tokio::test]
async fn the_run_that_mends_an_incomplete_hour_stays() {
    let till = replaced().await;
    till.letter(3).await;
    let now = planned(&till).await;
    assert_eq!(told(&now), (0, vec!["the hour is incomplete"]));
    assert_eq!(applied(&till, &now).await.deleted, 0);
    assert!(has_run(&till, "A").await);
    let back = till.act(What::Repoint { run: "A".into() }).await;
    assert_eq!(
        (back.outcome, back.state),
        (PublishedOutcome::Published, Some(State::Closed))
    );
    // B goes then, as any run that nobody needs, with its marker.
    let now = planned(&till).await;
    assert_eq!(applied(&till, &now).await.deleted, now.plan.files_to_delete);
    assert!(has_run(&till, "A").await && !has_run(&till, "B").await);
}

#[tokio::test]
async fn an_hour_that_turns_incomplete_after_the_plan_loses_nothing() {
    let till = replaced().await;
    let before = planned(&till).await;
    assert_eq!(told(&before), (2, vec![]), "A and its marker");
    till.letter(3).await;
    let erased = applied(&till, &before).await;
    assert_eq!((erased.deleted, erased.spared.len()), (0, 1));
    assert_eq!(erased.spared[0].why, "the hour is incomplete");
    assert!(has_run(&till, "A").await);
}

#[tokio::test]
async fn a_complete_hour_is_read_once_and_loses_what_was_planned() {
    let till = replaced().await;
    let now = planned(&till).await;
    till.shop.counting.take();
    assert_eq!(applied(&till, &now).await.deleted, 2);
    let reads = till.shop.counting.take();
    // Both markers, before the run goes and before its marker does: no line is read again.
    assert_eq!(reads.gets, 4);
    assert!(!has_run(&till, "A").await && has_run(&till, "B").await);
}

#[tokio::test]
async fn a_hole_that_no_gate_was_asked_about_keeps_the_older_run() {
    let mut till = replaced().await;
    let rule = till.dataset.complete.take();
    till.run("C", &[1, 3]).await;
    till.publish("C", true).await;
    till.dataset.complete = rule;
    let now = planned(&till).await;
    assert_eq!(told(&now), (0, vec!["the hour is incomplete"]));
    till.dataset.complete.as_mut().unwrap().dead_letters = None;
    assert_eq!(
        told(&planned(&till).await),
        (0, vec!["the hour is incomplete"])
    );
}

#[tokio::test]
async fn where_the_gate_cannot_be_asked_everything_stays() {
    let till = replaced().await;
    let faulty = FaultStore::new(Arc::clone(&till.shop.store));
    faulty.add(Rule::on(Call::List).key("dlq").fails(Failure::Generic));
    let store: Arc<dyn ObjectStore> = Arc::new(faulty);
    let now = planned_over(&till, &store).await;
    let (files, why) = told(&now);
    assert_eq!((files, why.len()), (0, 1));
    assert!(
        why[0].starts_with("nobody can say whether the hour is complete: "),
        "{why:?}"
    );
    // Nor may what was planned before.
    let before = planned(&till).await;
    assert_eq!(before.plan.files_to_delete, 2);
    let erased = apply(&till.dataset, &store, &before, &host())
        .await
        .unwrap();
    assert_eq!((erased.deleted, erased.spared[0].objects), (0, 1));
    assert!(erased.spared[0].why.starts_with("nobody can say"));
    assert!(has_run(&till, "A").await);
}
