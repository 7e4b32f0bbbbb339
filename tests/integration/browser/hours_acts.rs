//! Hours put right from their pages: planned, confirmed, carried out, and seen to be so.

use std::fs;
use std::sync::Arc;

use tests::chromium::Look;
use tests::served::Served;

use super::explorer::Explorer;

#[tokio::test]
async fn hours_are_published_pointed_back_compacted_and_declared_empty() {
    let served = Arc::new(Served::own_demo());
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/zones").await;
    let page = &explorer.chromium;
    let day = explorer.day(1).await;
    let lake = served.demo_folder().unwrap();
    let hour = lake.join(format!(
        "tlp-raw/learning/progress/event_date={day}/hour=10"
    ));
    let state = async |dataset: &str, hour: u8| {
        let path = format!("/api/datasets/{dataset}/hours/{day}/{hour}");
        let report = explorer.asks(&path).await;
        report["row"]["state"].as_str().unwrap().to_owned()
    };

    // Mutated: the run as it was meant is written anew, and published with its writer's count.
    let run = fs::read_dir(&hour)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let run = run
        .into_iter()
        .find(|path| path.to_string_lossy().contains("run_id="))
        .unwrap();
    let new = hour.join("run_id=mended");
    fs::create_dir(&new).unwrap();
    for part in 0..3 {
        let name = format!("part-{part:05}.snappy.parquet");
        fs::copy(run.join(&name), new.join(&name)).unwrap();
    }
    explorer.go(&format!("/d/learning.progress/{day}/10")).await;
    page.press("button", "Publish run mended with 3 objects…")
        .await;
    let count = "How many objects did the writer of the run count?";
    page.fill("textbox", count, "4").await;
    page.press("button", "Plan it").await;
    page.reads("its writer says 4").await;
    assert!(!page.has("button", "Publish").await);
    page.fill("textbox", count, "3").await;
    page.press("button", "Plan it").await;
    page.reads("In place of").await;
    page.fill("textbox", "Why? It may stay empty", "a task came late")
        .await;
    page.press("button", "Publish").await;
    page.reads("It is now").await;
    page.reads("3 objects, 3").await;
    page.reads("superseded, does not match").await;
    assert_eq!(state("learning.progress", 10).await, "closed");

    // Racing: one of the two is pointed to.
    explorer.go(&format!("/d/learning.progress/{day}/13")).await;
    page.press("button", "Choose…").await;
    page.press("button", "Point back").await;
    page.reads("It is now").await;
    page.reads("3 objects, 3").await;
    assert_eq!(state("learning.progress", 13).await, "closed");

    // Late: the sink's loose keys become the hour's first run.
    explorer
        .go(&format!("/d/learning.progress?sel={day}T17"))
        .await;
    page.press("link", &format!("Compact {day} 17:00")).await;
    page.arrives(&format!("/d/learning.progress/{day}/17?act=compact"))
        .await;
    page.reads("Packs").await;
    page.press("button", "Compact").await;
    page.reads("It is now").await;
    page.reads("1 object, ").await;
    assert_eq!(state("learning.progress", 17).await, "closed");

    // Nothing came, and somebody says why.
    explorer
        .go(&format!("/d/learning.progress_event/{day}/17"))
        .await;
    page.press("button", "Declare that nothing happened…").await;
    page.fill(
        "textbox",
        "Why did nothing come?",
        "the course platform stood still",
    )
    .await;
    page.press("button", "Declare it empty").await;
    page.reads("It is now").await;
    page.reads("the course platform stood still").await;
    assert_eq!(state("learning.progress_event", 17).await, "empty");

    // The grid has no exception of that day any more, and the audit has all four.
    explorer
        .go(&format!("/d/learning.progress?sel={day}T00..{day}T23"))
        .await;
    page.reads("24 hours: 24 closed").await;
    explorer.go("/audit").await;
    for text in [
        "Publish",
        "Repoint",
        "Compact",
        "a task came late",
        "the course platform stood still",
    ] {
        page.reads(text).await;
    }
    explorer.close().await;
}
