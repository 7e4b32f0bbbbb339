use lake::plan::{Act, AuditRecord, Ended, Job, JobState};
use lake::table::{Time, Version};

use super::{PAGE, add_orphans, key, page};
use crate::control::Control;
use crate::metrics::Metrics;
use crate::stores::{Cache, Opener};

fn control() -> Control {
    let metrics = std::sync::Arc::new(Metrics::default());
    let opener = Opener {
        cache: std::sync::Arc::new(Cache::new(0, std::sync::Arc::clone(&metrics))),
        metrics,
    };
    Control::open(None, &opener).unwrap()
}

fn record(at: i64) -> AuditRecord {
    AuditRecord {
        id: format!("{at}"),
        at: Time(at),
        by: None,
        table: "users".to_owned(),
        kind: Act::Restore,
        date: None,
        hour: None,
        what: None,
        plan_id: "p".to_owned(),
        base_version: Some(Version(1)),
        target_version: Some(Version(0)),
        reason: None,
        ended: Ended::Applied,
        version: Some(Version(2)),
        message: String::new(),
    }
}

#[tokio::test]
async fn pages_go_back_in_time_and_miss_nothing() {
    const HOUR: i64 = 3_600_000;
    let control = control();
    // Nine days of an act every hour and a half.
    let mut all: Vec<i64> = (0..144)
        .map(|n| 1_796_000_000_000 + n * HOUR * 3 / 2)
        .collect();
    for at in &all {
        let record = record(*at);
        control.create(&key(&record), &record).await.unwrap();
    }
    // What another build wrote is no record of this one, and hides none.
    control.create("audit/2026-11-29/x.json", &7).await.unwrap();
    all.reverse();
    let mut seen = Vec::new();
    let mut before = None;
    let mut pages = 0;
    loop {
        let page = page(&control, before.as_deref()).await.unwrap();
        assert!(page.records.len() <= PAGE);
        seen.extend(page.records.iter().map(|record| record.at.0));
        pages += 1;
        before = page.next_before;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, all);
    assert_eq!(pages, 3);
    // A record is never written over.
    let again = control.create(&key(&record(all[0])), &record(all[0])).await;
    assert_eq!(again.unwrap_err().kind(), lake::Kind::Conflict);
}

#[tokio::test]
async fn records_that_cannot_be_read_are_counted_and_hide_none() {
    let control = control();
    let first = record(1_796_000_000_000);
    control.create(&key(&first), &first).await.unwrap();
    for n in 0..70 {
        let key = format!("audit/2026-12-0{}/99999999999{n:02}-x.json", n % 3 + 1);
        control.create(&key, &"garbage").await.unwrap();
    }
    let page = page(&control, None).await.unwrap();
    assert_eq!((page.records, page.unreadable), (vec![first], 70));
    assert_eq!(page.next_before, None);
}

#[tokio::test]
async fn an_act_whose_server_died_is_listed_where_it_belongs() {
    let control = control();
    for at in [5, 100, 200] {
        let record = record(1_796_000_000_000 + at);
        control.create(&key(&record), &record).await.unwrap();
    }
    let job = |at: i64, plan: &str| Job {
        id: format!("{at}"),
        kind: Act::Optimize,
        location: "users".to_owned(),
        plan_id: plan.to_owned(),
        state: JobState::Orphaned,
        by: Some("ana".to_owned()),
        started: Time(0),
        ended: Some(Time(1_796_000_000_000 + at)),
        step: String::new(),
        done: 0,
        of: None,
        bytes_done: 0,
        bytes_of: None,
        error: None,
        result: None,
    };
    // One whose end was written down after all, one of this page, one of an older one.
    let jobs = vec![job(150, "q"), job(160, "p"), job(1, "r")];
    let mut newest = page(&control, None).await.unwrap();
    newest.records.truncate(2);
    newest.next_before = Some(key(&record(1_796_000_000_000 + 100)));
    add_orphans(&mut newest, jobs.clone(), None);
    let ids: Vec<&str> = newest.records.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["1796000000200", "150", "1796000000100"]);
    assert!(
        newest.records[1]
            .message
            .starts_with("begun, and its server ended")
    );
    let before = newest.next_before.clone();
    let mut older = page(&control, before.as_deref()).await.unwrap();
    add_orphans(&mut older, jobs, before.as_deref());
    let ids: Vec<&str> = older.records.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["1796000000005", "1"]);
}

#[tokio::test]
async fn a_folder_that_is_gone_is_no_empty_list() {
    let folder = tempfile::TempDir::new().unwrap();
    let url = format!(
        "file://{}/control/",
        folder.path().canonicalize().unwrap().display()
    );
    let address = crate::stores::Address::parse(&url).unwrap();
    let metrics = std::sync::Arc::new(Metrics::default());
    let opener = Opener {
        cache: std::sync::Arc::new(Cache::new(0, std::sync::Arc::clone(&metrics))),
        metrics,
    };
    let control = Control::open(Some(&address), &opener).unwrap();
    assert_eq!(page(&control, None).await.unwrap().records, []);
    let place = folder.path().join("control");
    std::fs::remove_dir(&place).unwrap();
    std::fs::write(&place, "x").unwrap();
    let told = page(&control, None).await.unwrap_err();
    assert_eq!(told.kind(), lake::Kind::Unreachable);
    let told = control.create("audit/x", &7).await.unwrap_err();
    assert!(told.to_string().contains("is not there"), "{told}");
}
