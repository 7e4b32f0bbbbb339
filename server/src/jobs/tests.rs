use std::sync::Arc;
use std::time::Duration;

use lake::host::{Progress, SharedHost};
use lake::plan::{Act, Applied, JobState, Outcome, Plan};
use lake::table::{Time, Version};
use lake::wire::ErrorReport;
use lake::{Error, Kind, Result};

use super::{Jobs, LISTED, Order};
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
        alone: false,
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
            stopped: None,
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
        // A record may still be on its way.
        if jobs.get(id).await.is_ok_and(|job| job.state == state) {
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
    let (watched, told) = jobs.start(order("p"), work).unwrap();
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
    assert_eq!(job.step, "", "nothing is being done");
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
        let (watched, told) = jobs.start(order("p"), endless).unwrap();
        let id = watched.borrow().id.clone();
        let again = jobs.start(order("p"), endless).map(drop);
        assert_eq!(again.unwrap_err().kind(), Kind::Conflict, "twice at once");
        let other = Jobs::new(jobs.control.clone()).beating(Duration::from_secs(60));
        let asked = if own { &*jobs } else { &other };
        until(asked, &id, JobState::Running).await;
        asked.cancel(&id).await.unwrap();
        let error = told.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), Kind::Cancelled);
        until(&jobs, &id, JobState::Cancelled).await;
        until(&other, &id, JobState::Cancelled).await;
        // The plan may be carried out again now.
        let (_, told) = jobs.start(order("p"), endless).unwrap();
        jobs.stop();
        assert_eq!(told.await.unwrap().unwrap_err().kind(), Kind::Cancelled);
    }
}

#[tokio::test]
async fn a_job_whose_server_died_is_orphaned() {
    let control = control();
    let dead = Arc::new(Jobs::new(control.clone()).beating(Duration::from_secs(3600)));
    let (watched, _told) = dead.start(order("p"), endless).unwrap();
    let id = watched.borrow().id.clone();
    // It never beats again, as far as others can see.
    let other = Jobs::new(control).beating(Duration::from_millis(10));
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

/// A vacuum that keeps nothing, and another act in the same table.
#[tokio::test]
async fn a_short_vacuum_is_alone_in_its_table() {
    let of = |plan: &str, table: &str, alone: bool| Order {
        table: table.to_owned(),
        alone,
        ..order(plan)
    };
    for vacuum_first in [true, false] {
        let jobs = Arc::new(Jobs::new(control()));
        let other = Arc::new(Jobs::new(jobs.control.clone()));
        let (watched, told) = jobs.start(of("1", "t", vacuum_first), endless).unwrap();
        let id = watched.borrow().id.clone();
        until(&other, &id, JobState::Running).await;
        let here = jobs.start(of("2", "t", !vacuum_first), endless).map(drop);
        let (_, there) = other.start(of("3", "t", !vacuum_first), endless).unwrap();
        for clash in [here.unwrap_err(), there.await.unwrap().unwrap_err()] {
            assert_eq!(clash.kind(), Kind::Conflict);
            assert!(clash.to_string().contains(&id), "{clash}");
        }
        // Two others may go on beside each other, and so may what is in another table.
        if !vacuum_first {
            let (fourth, beside) = jobs.start(of("4", "t", false), endless).unwrap();
            let fourth = fourth.borrow().id.clone();
            jobs.cancel(&fourth).await.unwrap();
            assert_eq!(beside.await.unwrap().unwrap_err().kind(), Kind::Cancelled);
        }
        let (_, elsewhere) = other.start(of("5", "u", true), endless).unwrap();
        jobs.stop();
        other.stop();
        for told in [told, elsewhere] {
            assert_eq!(told.await.unwrap().unwrap_err().kind(), Kind::Cancelled);
        }
    }
    // One plan is carried out by one server.
    let jobs = Arc::new(Jobs::new(control()));
    let other = Arc::new(Jobs::new(jobs.control.clone()));
    let (watched, _told) = jobs.start(order("p"), endless).unwrap();
    let id = watched.borrow().id.clone();
    until(&other, &id, JobState::Running).await;
    let (_, twice) = other.start(order("p"), endless).unwrap();
    assert_eq!(twice.await.unwrap().unwrap_err().kind(), Kind::Conflict);
    jobs.stop();
}

#[tokio::test]
async fn a_server_that_stops_waits_for_the_ends_of_its_jobs() {
    let jobs = Arc::new(Jobs::new(control()));
    let (watched, told) = jobs.start(order("p"), endless).unwrap();
    let id = watched.borrow().id.clone();
    // Nobody waits for it.
    drop((watched, told));
    let early = tokio::time::timeout(Duration::from_millis(50), jobs.idle()).await;
    assert!(early.is_err());
    jobs.stop();
    jobs.idle().await;
    let other = Jobs::new(jobs.control.clone());
    assert_eq!(other.get(&id).await.unwrap().state, JobState::Cancelled);
    let late = jobs.start(order("q"), endless).map(drop);
    assert_eq!(late.unwrap_err().kind(), Kind::Unreachable);
    jobs.idle().await;
}

#[tokio::test]
async fn what_was_stopped_halfway_is_not_done() {
    let jobs = Arc::new(Jobs::new(control()));
    for (kind, state) in [
        (Kind::Cancelled, JobState::Cancelled),
        (Kind::Unreachable, JobState::Failed),
    ] {
        let work = move |_| async move {
            let mut outcome = outcome();
            let stopped = ErrorReport::from(&Error::new(kind, "stopped on request"));
            outcome.applied.as_mut().unwrap().stopped = Some(stopped);
            Ok(outcome)
        };
        let (watched, told) = jobs.start(order("p"), work).unwrap();
        told.await.unwrap().unwrap();
        let job = watched.borrow().clone();
        assert_eq!((job.state, job.error.unwrap().kind), (state, kind));
        assert_eq!(job.result.unwrap().deleted, 7);
    }
}

#[tokio::test]
async fn records_that_cannot_be_read_hide_no_others() {
    let jobs = Arc::new(Jobs::new(control()));
    let (_, told) = jobs.start(order("p"), |_| async { Ok(outcome()) }).unwrap();
    told.await.unwrap().unwrap();
    for n in 0..LISTED + 20 {
        let key = format!("jobs/99999999{n:05}-aaaaaaaaaaaa.json");
        jobs.control.create(&key, &7).await.unwrap();
    }
    let other = Jobs::new(jobs.control.clone());
    let (listed, unreadable) = other.list().await.unwrap();
    assert_eq!((listed.len(), unreadable), (1, LISTED as u64 + 20));
}

/// Asked through one server, shown by it before the other one has heard of it.
#[tokio::test]
async fn a_job_that_is_asked_to_stop_says_so_everywhere() {
    let control = control();
    let jobs = Arc::new(Jobs::new(control.clone()));
    let (watched, _told) = jobs.start(order("p"), endless).unwrap();
    let id = watched.borrow().id.clone();
    let other = Jobs::new(control);
    until(&other, &id, JobState::Running).await;
    other.cancel(&id).await.unwrap();
    assert_ne!(other.get(&id).await.unwrap().state, JobState::Running);
    assert_ne!(other.list().await.unwrap().0[0].state, JobState::Running);
    until(&other, &id, JobState::Cancelled).await;
}
