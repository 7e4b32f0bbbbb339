use std::sync::Arc;
use std::time::Duration;

use lake::host::{Progress, SharedHost};
use lake::plan::{Act, Applied, JobState, Outcome, Plan};
use lake::table::{Time, Version};
use lake::{Error, Kind, Result};

use super::{Jobs, Order};
use crate::control::Control;
use crate::metrics::Metrics;
use crate::stores::{Cache, Opener};

fn control() -> Control {
    let metrics = Arc::new(Metrics::default());
    let opener = Opener {
        cache: Arc::new(Cache::new(0, Arc::clone(&metrics))),
        metrics,
    };
    Control::open(None, &opener).unwrap()
}

fn order(plan: &str) -> Order {
    Order {
        kind: Act::Vacuum,
        table: "users".to_owned(),
        plan_id: plan.to_owned(),
        by: None,
    }
}

fn outcome() -> Outcome {
    Outcome {
        plan: Plan::new(Act::Vacuum, "users".to_owned(), Time(0), Version(3)),
        applied: Some(Applied {
            version: Some(Version(5)),
            took_ms: 1,
            attempts: 1,
            deleted: 7,
            bytes_deleted: 70,
            failed: Vec::new(),
            proven_files: 0,
            warnings: Vec::new(),
            hours: None,
        }),
    }
}

/// Works in steps of ten milliseconds until it is told to stop.
async fn endless(host: SharedHost) -> Result<Outcome> {
    for done in 0.. {
        if host.cancelled() {
            break;
        }
        host.progress(Progress {
            step: "deleting".to_owned(),
            done,
            of: None,
        });
        host.wait(10).await;
    }
    Err(Error::new(Kind::Cancelled, "stopped after a step"))
}

async fn until(jobs: &Jobs, id: &str, state: JobState) {
    for _ in 0..500 {
        if jobs.get(id).await.unwrap().state == state {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", jobs.get(id).await);
}

#[tokio::test]
async fn a_job_is_watched_to_its_end_and_found_again() {
    let jobs = Arc::new(Jobs::new(control()));
    let work = |host: SharedHost| async move {
        host.progress(Progress {
            step: "deleting".to_owned(),
            done: 3,
            of: Some(7),
        });
        host.bytes(30, 70);
        Ok(outcome())
    };
    let (watched, told) = jobs.start(order("p"), work).await.unwrap();
    let id = watched.borrow().id.clone();
    assert_eq!(told.await.unwrap().unwrap(), outcome());
    let job = jobs.get(&id).await.unwrap();
    assert_eq!(job.state, JobState::Done);
    assert_eq!((job.done, job.of), (3, Some(7)));
    assert_eq!((job.bytes_done, job.bytes_of), (30, Some(70)));
    assert_eq!(job.result.unwrap().deleted, 7);
    // Another server reads the same from what was kept.
    let other = Jobs::new(jobs.control.clone());
    assert_eq!(other.list().await.unwrap(), jobs.list().await.unwrap());
    assert_eq!(other.get(&id).await.unwrap().state, JobState::Done);
    assert_eq!(
        other.cancel(&id).await.unwrap_err().kind(),
        Kind::Conflict,
        "it is over"
    );
}

#[tokio::test]
async fn a_job_stops_after_its_step_whichever_server_is_asked() {
    let beat = Duration::from_millis(20);
    for own in [true, false] {
        let jobs = Arc::new(Jobs::new(control()).beating(beat));
        let (watched, told) = jobs.start(order("p"), endless).await.unwrap();
        let id = watched.borrow().id.clone();
        let again = jobs.start(order("p"), endless).await.map(drop);
        assert_eq!(again.unwrap_err().kind(), Kind::Conflict, "twice at once");
        let other = Jobs::new(jobs.control.clone()).beating(Duration::from_secs(60));
        let asked = if own { &*jobs } else { &other };
        asked.cancel(&id).await.unwrap();
        let error = told.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), Kind::Cancelled);
        until(&jobs, &id, JobState::Cancelled).await;
        until(&other, &id, JobState::Cancelled).await;
        // The plan may be carried out again now.
        let (_, told) = jobs.start(order("p"), endless).await.unwrap();
        jobs.stop();
        assert_eq!(told.await.unwrap().unwrap_err().kind(), Kind::Cancelled);
    }
}

#[tokio::test]
async fn a_job_whose_server_died_is_orphaned() {
    let control = control();
    let dead = Arc::new(Jobs::new(control.clone()).beating(Duration::from_secs(3600)));
    let (watched, _told) = dead.start(order("p"), endless).await.unwrap();
    let id = watched.borrow().id.clone();
    // It never beats again, as far as others can see.
    let other = Jobs::new(control).beating(Duration::from_millis(10));
    assert_eq!(other.get(&id).await.unwrap().state, JobState::Running);
    until(&other, &id, JobState::Orphaned).await;
    assert!(other.get(&id).await.unwrap().ended.is_some());
    dead.stop();
}

#[tokio::test]
async fn what_is_no_id_is_no_job() {
    let jobs = Jobs::new(control());
    for id in ["", "../audit/x", "1796000000000-00000000000g", "a/b"] {
        assert_eq!(jobs.get(id).await.unwrap_err().kind(), Kind::NotFound);
        assert_eq!(jobs.cancel(id).await.unwrap_err().kind(), Kind::NotFound);
    }
}
