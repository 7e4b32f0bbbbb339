//! Requests and rounds, held to numbers.

use lake::hours::State;
use lake::wire::hours::Fresh;

use crate::bed::{Bed, dataset, day, hour};

/// Reads that the browser's store sends in one request.
const BATCH: u64 = 256;

/// A month of twelve objects an hour, whose last day is not over.
async fn month() -> Bed {
    let bed = Bed::new(dataset("2026-10-11"), "2026-11-10T14:30:00Z");
    bed.close_days(day("2026-10-11"), day("2026-11-10"), 12)
        .await;
    bed
}

#[tokio::test]
async fn a_month_costs_a_listing_a_day_and_a_read_a_marker() {
    let bed = month().await;
    let (from, to) = (day("2026-10-11"), day("2026-11-10"));
    let report = bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    let counts = bed.counts();
    println!("a month, cold: {counts}");
    let markers = 30 * 24 + 14;
    assert_eq!(report.counts[0], (State::Closed, markers));
    assert_eq!(counts.gets, markers);
    assert_eq!(counts.heads, 0);
    // 31 days, the marker tree, and what lies beside the days.
    assert_eq!(counts.lists, 33);
    assert!(counts.round_trips <= 6, "{counts}");
    let browser = counts.lists + counts.gets.div_ceil(BATCH);
    println!("a month, cold, from the browser: {browser} requests");
    assert!(browser <= 40, "{browser}");
    assert_eq!(report.sizes.objects, markers * 12);
    assert_eq!(report.closed.up_to, Some(hour("2026-11-10", 13).end()));

    // Again: nothing is asked at all.
    let again = bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    assert_eq!(again, report);
    assert_eq!(bed.counts().requests(), 0);
}

#[tokio::test]
async fn a_refresh_lists_markers_open_days_and_one_day_in_turn() {
    let mut bed = month().await;
    let (from, to) = (day("2026-10-11"), day("2026-11-10"));
    bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    bed.counts();

    bed.finder().grid(from, to, Fresh::Refresh).await.unwrap();
    let quiet = bed.counts();
    println!("a refresh, nothing new: {quiet}");
    // Markers, today, and the day in turn.
    assert_eq!((quiet.lists, quiet.gets), (3, 0));

    // The open hour is closed meanwhile: its marker is read, its day was listed anyway.
    bed.now = hour("2026-11-10", 15).start();
    bed.close(hour("2026-11-10", 14), 12).await;
    let report = bed.finder().grid(from, to, Fresh::Refresh).await.unwrap();
    let counts = bed.counts();
    println!("a refresh, one hour more: {counts}");
    assert_eq!((counts.lists, counts.gets), (3, 1));
    assert_eq!(report.closed.up_to, Some(hour("2026-11-10", 14).end()));

    // Shortly after midnight two days have open hours.
    bed.now = hour("2026-11-11", 0).start();
    bed.finder()
        .grid(from, day("2026-11-11"), Fresh::Known)
        .await
        .unwrap();
    bed.counts();
    bed.finder()
        .grid(from, day("2026-11-11"), Fresh::Refresh)
        .await
        .unwrap();
    let midnight = bed.counts();
    println!("a refresh at midnight: {midnight}");
    assert!(midnight.lists - 1 <= 4, "{midnight}");
    assert!(midnight.round_trips <= 3, "{midnight}");
}

#[tokio::test]
async fn closed_days_are_listed_again_in_turn() {
    let bed = month().await;
    let (from, to) = (day("2026-10-11"), day("2026-11-10"));
    bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    let mut listed = Vec::new();
    for _ in 0..30 {
        let before = bed.counting.asked().len();
        bed.finder().grid(from, to, Fresh::Refresh).await.unwrap();
        let asked = bed.counting.asked().split_off(before);
        let keys = asked.into_iter().map(|asked| asked.key);
        let mut days: Vec<String> = keys.filter(|key| key.contains("/event_date=")).collect();
        days.retain(|key| !key.ends_with("2026-11-10"));
        listed.extend(days);
    }
    // Newest first, each once before any comes again.
    let expected: Vec<String> = day("2026-10-11")
        .to(day("2026-11-09"))
        .rev()
        .map(|day| format!("learning/progress/event_date={day}"))
        .collect();
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn a_year_in_quarters_is_a_few_hundred_requests() {
    let bed = Bed::new(dataset("2025-11-11"), "2026-11-10T23:59:00Z");
    bed.close_days(day("2025-11-11"), day("2026-11-10"), 12)
        .await;
    let (mut gets, mut requests, mut hours, mut objects, mut rounds) = (0, 0, 0, 0, 0);
    for (from, to) in [
        ("2026-08-11", "2026-11-10"),
        ("2026-05-11", "2026-08-10"),
        ("2026-02-11", "2026-05-10"),
        ("2025-11-11", "2026-02-10"),
    ] {
        let report = bed
            .finder()
            .grid(day(from), day(to), Fresh::Known)
            .await
            .unwrap();
        let counts = bed.counts();
        println!("a quarter: {counts}");
        gets += counts.gets;
        rounds = rounds.max(counts.round_trips);
        requests += counts.lists + counts.gets.div_ceil(BATCH);
        hours += report.days.iter().map(|d| d.states.len()).sum::<usize>();
        objects += report.sizes.objects;
    }
    println!("a year: {requests} requests from the browser, {gets} markers, {objects} objects");
    assert_eq!((hours, gets), (8_760, 8_759));
    assert_eq!(objects, 8_759 * 12);
    assert!(requests <= 250, "{requests}");
    assert!(rounds <= 6, "{rounds}");

    // All of it is remembered, and with the rest of the way it says up to when all is closed.
    let closed = bed.finder().closed().await.unwrap();
    assert_eq!(bed.counts().requests(), 0);
    assert_eq!(closed.up_to, Some(hour("2026-11-10", 22).end()));
}
