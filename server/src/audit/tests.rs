use lake::plan::{Act, AuditRecord, Ended};
use lake::table::{Time, Version};

use super::{PAGE, key, page};
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
