//! What goes, what stays, and what is found out too late to go.

use object_store::memory::InMemory;
use object_store::{ObjectStoreExt, PutPayload};

use super::*;
use crate::delta::write::Signature;
use crate::host::Quiet;
use crate::hours::dataset::Promise;
use crate::hours::day::DAY;
use crate::hours::judge::tests::dataset;
use crate::hours::judge::{Evidence, judge};
use crate::hours::listing::{SlotObjects, path};
use crate::hours::marker::RunPin;
use crate::hours::pins::pin;
use crate::hours::publish::look::look;
use crate::hours::publish::{self, Claim, Over, Request, Takes, What};
use crate::hours::state::State;
use crate::hours::taken::INLINE;
use crate::store::Request as Call;
use crate::store::fault::{Failure, FaultStore, Rule};

struct Lab {
    dataset: Dataset,
    store: Arc<dyn ObjectStore>,
    slot: Slot,
}

fn host() -> SharedHost {
    Arc::new(Quiet)
}

impl Lab {
    /// An hour with two consumed loose keys, a superseded run, a current one, and a run that nobody
    /// published.
    async fn new() -> Self {
        let mut dataset = dataset();
        dataset.retention.audit = Some(Promise {
            text: "30d".into(),
            millis: 30 * DAY,
            source: None,
        });
        let lab = Self {
            dataset,
            store: Arc::new(InMemory::new()),
            slot: Slot::hour("2026-11-10".parse().unwrap(), 8),
        };
        lab.put("loose-0.parquet").await;
        lab.put("loose-1.parquet").await;
        lab.run("r1", 3).await;
        let first = Claim {
            takes: Takes::Loose,
            ..claim("r1", 3, lab.slot)
        };
        lab.publish(What::Run(first)).await;
        lab.run("r2", 1).await;
        lab.publish(What::Run(claim("r2", 1, lab.slot))).await;
        lab.run("r9", 1).await;
        lab
    }

    async fn put(&self, rest: &str) {
        let key = path(&format!("{}{rest}", self.dataset.prefix_of(self.slot))).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        self.store
            .put(&key, PutPayload::from_static(b"0123456789"))
            .await
            .unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }

    async fn run(&self, run: &str, count: u64) {
        for n in 0..count {
            self.put(&format!("run_id={run}/part-{n}.parquet")).await;
        }
    }

    async fn publish(&self, what: What) {
        let request = Request {
            slot: self.slot,
            what,
            as_of: Time(0),
            over: Over::Any,
        };
        let now = Time(i64::MAX / 2);
        let host = host();
        let planned = publish::plan(&self.dataset, &self.store, &request, now, &host);
        let planned = planned.await.unwrap();
        assert_eq!(planned.plan.refused, None);
        let signature = Signature {
            now: Time(0),
            txn_id: "x".into(),
            user: None,
            reason: None,
            engine: "tidemark/test".into(),
        };
        let told = publish::apply(&self.dataset, &self.store, &planned, &signature, &host);
        told.await.unwrap();
    }

    async fn plan_at(&self, days: i64) -> Planned {
        let what = What::Empty;
        let proved = publish::prove(&self.dataset, &self.store, &what, "clock");
        let now = Time(proved.await.unwrap().store_time.0 + days * DAY);
        plan(&self.dataset, &self.store, Time(0), now, &host())
            .await
            .unwrap()
    }

    async fn apply(&self, planned: &Planned) -> Erased {
        apply(&self.dataset, &self.store, planned, &host())
            .await
            .unwrap()
    }

    /// The superseded markers.
    async fn history(&self) -> Vec<Object> {
        let (trees, _) = listed(&self.dataset, &self.store, &host()).await.unwrap();
        let all = trees[&self.slot].iter().cloned();
        let old = all.filter(|(tree, _)| matches!(tree, Tree::Superseded(_)));
        old.map(|(_, object)| object).collect()
    }

    /// How the hour stands, long after its deadline.
    async fn state(&self) -> State {
        let seen = look(&self.dataset, &self.store, self.slot).await.unwrap();
        let evidence = Evidence {
            slot: self.slot,
            markers: &seen.markers,
            objects: &seen.objects,
            completeness: None,
            now: Time(i64::MAX / 2),
        };
        judge(&self.dataset, evidence).state
    }

    async fn data(&self) -> Vec<String> {
        let (_, listing) = listed(&self.dataset, &self.store, &host()).await.unwrap();
        let slot = &listing.slots[&self.slot];
        let keys = slot
            .data()
            .map(|object| object.key.rsplit("hour=08/").next().unwrap());
        keys.map(String::from).collect()
    }
}

fn claim(run: &str, count: u64, slot: Slot) -> Claim {
    Claim {
        run: run.into(),
        count,
        replace: true,
        definition_version: Some("1".into()),
        max_event_time: Some(slot.start()),
        ..Claim::default()
    }
}

fn reasons(planned: &Planned) -> Vec<(&str, u64)> {
    let detail = planned
        .plan
        .hours
        .as_ref()
        .unwrap()
        .expire
        .as_ref()
        .unwrap();
    detail
        .spared
        .iter()
        .map(|s| (s.why.as_str(), s.objects))
        .collect()
}

#[tokio::test]
async fn old_runs_and_consumed_keys_go_and_nothing_else() {
    let lab = Lab::new().await;
    let early = lab.plan_at(29).await;
    assert_eq!(early.plan.files_to_delete, 0);
    assert_eq!(
        reasons(&early),
        [
            ("the audit window of the superseded run is not over", 3),
            ("the audit window of the consumed keys is not over", 2),
            ("no marker names the run", 1),
        ]
    );
    let planned = lab.plan_at(31).await;
    // The marker of the superseded run goes with it.
    let marker = lab.history().await;
    assert_eq!(marker.len(), 1);
    let bytes = 50 + marker[0].bytes;
    assert_eq!(
        (planned.plan.files_to_delete, planned.plan.bytes_to_delete),
        (6, bytes)
    );
    assert_eq!(reasons(&planned), [("no marker names the run", 1)]);
    let erased = lab.apply(&planned).await;
    assert_eq!(
        (erased.deleted, erased.bytes, erased.failed.len()),
        (6, bytes, 0)
    );
    assert_eq!(lab.history().await, []);
    assert_eq!(lab.state().await, State::Closed);
    assert_eq!(
        lab.data().await,
        ["run_id=r2/part-0.parquet", "run_id=r9/part-0.parquet"]
    );
    let again = lab.plan_at(31).await;
    assert_eq!(again.plan.files_to_delete, 0);
    assert_ne!(again.plan.id, planned.plan.id);
}

#[tokio::test]
async fn what_is_pinned_late_or_needed_for_repair_stays() {
    let lab = Lab::new().await;
    lab.put("late.parquet").await;
    let mine = RunPin {
        reader: "report".into(),
        run_id: "r1".into(),
        until: Time(i64::MAX / 2),
        reason: None,
    };
    pin(
        &lab.dataset,
        &lab.store,
        lab.slot,
        ("report", &mine),
        &host(),
    )
    .await
    .unwrap();
    let planned = lab.plan_at(31).await;
    assert_eq!(
        planned.plan.files_to_delete, 2,
        "the consumed loose keys alone"
    );
    let pinned = reasons(&planned)
        .into_iter()
        .any(|(why, n)| why.starts_with("pinned by report") && n == 3);
    assert!(pinned, "{:?}", reasons(&planned));
    assert!(reasons(&planned).contains(&("late data: no run has taken the key in", 1)));

    lab.put("run_id=r2/part-1.parquet").await;
    let planned = lab.plan_at(31).await;
    assert_eq!(planned.plan.files_to_delete, 0);
    assert_eq!(reasons(&planned), [("the hour is mutated", 7)]);
}

#[tokio::test]
async fn a_marker_stays_while_an_older_one_hangs_on_it() {
    let lab = Lab::new().await;
    lab.run("r3", 1).await;
    lab.publish(What::Run(claim("r3", 1, lab.slot))).await;
    // r1 is pinned: r3 supersedes r2, and r2 alone says that it superseded r1.
    let mine = RunPin {
        reader: "report".into(),
        run_id: "r1".into(),
        until: Time(i64::MAX / 2),
        reason: None,
    };
    let named = ("report", &mine);
    pin(&lab.dataset, &lab.store, lab.slot, named, &host())
        .await
        .unwrap();
    lab.apply(&lab.plan_at(31).await).await;
    let data = lab.data().await;
    assert!(
        !data.iter().any(|key| key.contains("run_id=r2")),
        "{data:?}"
    );
    assert_eq!(lab.history().await.len(), 2, "r1's and r2's");
    assert_eq!(lab.state().await, State::Closed);
    // Without the pin, both go, r2's though its run went long before.
    let key = Template::of(&lab.dataset).pin(lab.slot, "report");
    lab.store.delete(&path(&key).unwrap()).await.unwrap();
    let planned = lab.plan_at(31).await;
    assert_eq!(planned.plan.files_to_delete, 3 + 2);
    assert_eq!(lab.apply(&planned).await.deleted, 3 + 2);
    assert_eq!(lab.history().await, []);
    assert_eq!(lab.state().await, State::Closed);
    assert_eq!(lab.plan_at(31).await.plan.files_to_delete, 0);
}

#[tokio::test]
async fn late_data_stays_where_an_older_run_is_current_again() {
    let lab = Lab::new().await;
    lab.put("late.parquet").await;
    lab.run("r3", 1).await;
    lab.publish(What::Run(claim("r3", 1, lab.slot))).await;
    lab.publish(What::Repoint { run: "r1".into() }).await;
    let planned = lab.plan_at(31).await;
    let erased = lab.apply(&planned).await;
    assert_eq!(erased.failed, []);
    let left = lab.data().await;
    assert!(
        left.contains(&"late.parquet".to_owned()),
        "r1 never saw it: {left:?}"
    );
    assert!(
        left.contains(&"run_id=r1/part-2.parquet".to_owned()),
        "{left:?}"
    );
    assert!(
        !left.contains(&"run_id=r3/part-0.parquet".to_owned()),
        "{left:?}"
    );
}

#[tokio::test]
async fn markers_are_looked_at_again_before_the_deletes() {
    let lab = Lab::new().await;
    let planned = lab.plan_at(31).await;
    lab.publish(What::Repoint { run: "r1".into() }).await;
    let erased = lab.apply(&planned).await;
    assert_eq!(
        erased.deleted, 2,
        "the loose keys, which r1 took in: {erased:?}"
    );
    assert_eq!(
        (erased.spared[0].why.as_str(), erased.spared[0].objects),
        ("a marker names it again", 3)
    );
    assert_eq!(lab.data().await.len(), 5);

    let lab = Lab::new().await;
    let planned = lab.plan_at(31).await;
    let key = Template::of(&lab.dataset).pin(lab.slot, "odd");
    lab.store
        .put(&path(&key).unwrap(), "{".into())
        .await
        .unwrap();
    let erased = lab.apply(&planned).await;
    assert_eq!((erased.deleted, erased.spared[0].objects), (0, 5));
    assert!(erased.spared[0].why.contains("cannot be read"));
    assert_eq!(lab.history().await.len(), 1);
}

#[tokio::test]
async fn a_key_that_is_put_again_after_the_plan_stays() {
    let lab = Lab::new().await;
    let planned = lab.plan_at(31).await;
    lab.put("loose-0.parquet").await;
    let gone = format!("{}loose-1.parquet", lab.dataset.prefix_of(lab.slot));
    lab.store.delete(&path(&gone).unwrap()).await.unwrap();
    let erased = lab.apply(&planned).await;
    assert_eq!((erased.deleted, erased.absent), (4, 1), "r1 and its marker");
    assert!(erased.spared[0].why.contains("was replaced"), "{erased:?}");
    assert!(lab.data().await.contains(&"loose-0.parquet".to_owned()));
}

#[tokio::test]
async fn a_delete_that_is_refused_is_told_with_its_key() {
    let lab = Lab::new().await;
    let planned = lab.plan_at(31).await;
    let faulty = Arc::new(FaultStore::new(Arc::clone(&lab.store)));
    let denied = Rule::on(Call::Delete).key("run_id=r1/part-1");
    faulty.add(denied.fails(Failure::PermissionDenied));
    let store: Arc<dyn ObjectStore> = faulty;
    let erased = apply(&lab.dataset, &store, &planned, &host())
        .await
        .unwrap();
    assert_eq!((erased.deleted, erased.failed.len()), (4, 1));
    assert!(erased.failed[0].key.ends_with("run_id=r1/part-1.parquet"));
    assert!(
        erased.failed[0].why.contains("Object Lock"),
        "{:?}",
        erased.failed
    );
    // A run of which something is left has its marker, and loses it with the rest.
    assert_eq!(lab.history().await.len(), 1);
    let planned = lab.plan_at(31).await;
    assert_eq!(planned.plan.files_to_delete, 2);
    assert_eq!(lab.apply(&planned).await.deleted, 2);
    assert_eq!(lab.history().await, []);

    let lab = Lab::new().await;
    let planned = lab.plan_at(31).await;
    let faulty = Arc::new(FaultStore::new(Arc::clone(&lab.store)));
    faulty.add(Rule::on(Call::List).fails(Failure::Generic));
    let store: Arc<dyn ObjectStore> = faulty;
    let erased = apply(&lab.dataset, &store, &planned, &host())
        .await
        .unwrap();
    assert_eq!((erased.deleted, erased.failed.len()), (0, 5));
}

#[tokio::test]
async fn without_an_audit_window_nothing_expires() {
    let mut lab = Lab::new().await;
    lab.dataset.retention.audit = None;
    let planned = lab.plan_at(3100).await;
    assert!(
        planned
            .plan
            .refused
            .as_deref()
            .unwrap()
            .contains("no audit window")
    );
    lab.dataset.marker.kind = MarkerKind::Success;
    let planned = lab.plan_at(3100).await;
    assert!(
        planned
            .plan
            .refused
            .as_deref()
            .unwrap()
            .contains("not ours to delete")
    );
}

#[tokio::test]
async fn what_nobody_says_was_taken_in_stays() {
    let lab = Lab::new().await;
    // It came late to r2, and r3 does not say that it has its rows.
    lab.put("late.parquet").await;
    lab.run("r3", 1).await;
    // As it is the one that is put between a run and its marker.
    lab.put("between.parquet").await;
    lab.publish(What::Run(claim("r3", 1, lab.slot))).await;
    // A sink tries again a key that was taken in long ago.
    lab.put("loose-1.parquet").await;
    let planned = lab.plan_at(31).await;
    for (why, objects) in [
        (
            "nobody says whether the run has the rows of the loose key",
            2,
        ),
        (
            "late data: the key was replaced after the run took it in",
            1,
        ),
    ] {
        assert!(
            reasons(&planned).contains(&(why, objects)),
            "{:?}",
            reasons(&planned)
        );
    }
    assert_eq!(lab.apply(&planned).await.failed, []);
    assert_eq!(
        lab.data().await,
        [
            "between.parquet",
            "late.parquet",
            "loose-1.parquet",
            "run_id=r3/part-0.parquet",
            "run_id=r9/part-0.parquet",
        ]
    );
}

#[tokio::test]
async fn a_long_list_stays_as_long_as_a_marker_names_it() {
    let lab = Lab::new().await;
    for n in 0..INLINE {
        lab.put(&format!("more-{n:02}.parquet")).await;
    }
    lab.run("r3", 1).await;
    let all = Claim {
        takes: Takes::Loose,
        ..claim("r3", 1, lab.slot)
    };
    lab.publish(What::Run(all.clone())).await;
    let lists = async || {
        let (trees, _) = listed(&lab.dataset, &lab.store, &host()).await.unwrap();
        let tree = trees[&lab.slot].iter();
        tree.filter(|(tree, _)| matches!(tree, Tree::Taken(_)))
            .count()
    };
    assert_eq!(lists().await, 1);
    // r4 has it from r3, and keeps it when r3 goes.
    lab.run("r4", 1).await;
    lab.publish(What::Run(claim("r4", 1, lab.slot))).await;
    assert_eq!(lab.state().await, State::Closed);
    lab.apply(&lab.plan_at(31).await).await;
    assert_eq!(
        lab.data().await,
        ["run_id=r4/part-0.parquet", "run_id=r9/part-0.parquet"]
    );
    assert_eq!((lists().await, lab.history().await.len()), (1, 0));
    // A key of that name again is one that was taken in, and has other bytes.
    lab.put("more-07.parquet").await;
    let planned = lab.plan_at(31).await;
    assert_eq!(planned.plan.files_to_delete, 0);
    assert_eq!(
        reasons(&planned)[0].0,
        "late data: the key was replaced after the run took it in"
    );
    // Without the list nothing is known.
    let (trees, _) = listed(&lab.dataset, &lab.store, &host()).await.unwrap();
    let list = trees[&lab.slot]
        .iter()
        .find(|(tree, _)| matches!(tree, Tree::Taken(_)));
    let (_, list) = list.unwrap();
    lab.store.delete(&path(&list.key).unwrap()).await.unwrap();
    let planned = lab.plan_at(31).await;
    let gone = reasons(&planned)
        .iter()
        .any(|(why, _)| why.ends_with("is gone"));
    assert!(gone, "{:?}", reasons(&planned));
    // A marker of its own list takes the place of all that.
    lab.run("r5", 1).await;
    lab.publish(What::Run(Claim {
        run: "r5".into(),
        ..all
    }))
    .await;
    lab.apply(&lab.plan_at(31).await).await;
    assert_eq!(
        lab.data().await,
        ["run_id=r5/part-0.parquet", "run_id=r9/part-0.parquet"]
    );
    assert_eq!(lists().await, 0);
}

#[tokio::test]
async fn a_pin_keeps_a_run_that_its_marker_calls_otherwise() {
    for named in ["r1", "job-1"] {
        let lab = Lab::new().await;
        // Somebody's marker of r1, and of r2 after it.
        let rename = async |key: String| {
            let key = path(&key).unwrap();
            let body = lab.store.get(&key).await.unwrap().bytes().await.unwrap();
            let text = String::from_utf8(body.to_vec()).unwrap();
            let text = text.replace("\"r1\"", "\"job-1\"");
            lab.store.put(&key, text.into()).await.unwrap();
        };
        rename(lab.history().await[0].key.clone()).await;
        rename(Template::of(&lab.dataset).current(lab.slot)).await;
        let mine = RunPin {
            reader: "report".into(),
            run_id: named.into(),
            until: Time(i64::MAX / 2),
            reason: None,
        };
        let (named_as, host) = (("report", &mine), host());
        let pinned = pin(&lab.dataset, &lab.store, lab.slot, named_as, &host);
        pinned.await.unwrap();
        let planned = lab.plan_at(31).await;
        assert_eq!(planned.plan.files_to_delete, 2, "the loose keys");
        lab.apply(&planned).await;
        let data = lab.data().await;
        let kept = data.iter().filter(|key| key.contains("run_id=r1"));
        assert_eq!(kept.count(), 3, "{named}: {data:?}");
    }
}

/// On a disk, a run may be a link to another one: deleting the one deletes the other.
#[test]
fn files_that_what_stays_reads_by_a_link_stay() {
    let object = |key: &str, tag: &str| Object {
        key: key.into(),
        bytes: 10,
        put: Time(0),
        etag: Some(tag.into()),
    };
    let mut dataset = dataset();
    for (url, left) in [("file:///lake/raw/", 1), ("s3://tlp-raw/", 2)] {
        dataset.url = url.into();
        let old = [
            object("d/run_id=A/x", "1-2-a"),
            object("d/run_id=A/y", "1-3-a"),
        ];
        let mut objects = SlotObjects::default();
        objects.runs.insert("d/run_id=A/".into(), old.to_vec());
        let link = vec![object("d/run_id=B/x", "1-2-a")];
        objects.runs.insert("d/run_id=B/".into(), link);
        let mut decided = rules::Decided {
            groups: vec![Found {
                run: Some("A".into()),
                by: "B".into(),
                at: Time(0),
                objects: old.to_vec(),
                markers: Vec::new(),
            }],
            spared: Vec::new(),
        };
        rules::linked(&dataset, &objects, &mut decided);
        assert_eq!(decided.groups[0].objects.len(), left, "{url}");
        assert_eq!(decided.spared.len(), 2 - left);
    }
}
