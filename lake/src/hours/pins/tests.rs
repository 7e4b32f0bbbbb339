use object_store::memory::InMemory;

use super::*;
use crate::host::Quiet;
use crate::hours::judge::tests::dataset;
use crate::hours::listing::path;
use crate::table::Time;

#[tokio::test]
async fn a_run_is_pinned_listed_and_let_go() {
    let dataset = dataset();
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let host: SharedHost = Arc::new(Quiet);
    let slot = Slot::hour("2026-11-10".parse().unwrap(), 8);
    let key = path(&format!(
        "{}run_id=r1/part-0.parquet",
        dataset.prefix_of(slot)
    ))
    .unwrap();
    store.put(&key, "x".into()).await.unwrap();
    let mut run = RunPin {
        reader: "the board's report".into(),
        run_id: "r1".into(),
        until: Time(2_000_000_000_000),
        reason: None,
    };
    let name = "board/2026 ü";
    pin(&dataset, &store, slot, (name, &run), &host)
        .await
        .unwrap();
    pin(&dataset, &store, slot, (name, &run), &host)
        .await
        .unwrap();
    let listed = list(&dataset, &store).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].name.as_str(), listed[0].run_id.as_deref()),
        (name, Some("r1"))
    );
    assert_eq!((listed[0].date, listed[0].hour), (slot.day, Some(8)));

    run.until = Time(2_000_000_000_001);
    let error = pin(&dataset, &store, slot, (name, &run), &host)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.to_string().contains("pins run r1 until"));
    run.run_id = "r2".into();
    let error = pin(&dataset, &store, slot, ("other", &run), &host)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    let error = pin(
        &dataset,
        &store,
        Slot::day(slot.day),
        ("other", &run),
        &host,
    )
    .await;
    assert_eq!(error.unwrap_err().kind(), Kind::Invalid);

    unpin(&dataset, &store, slot, name).await.unwrap();
    let error = unpin(&dataset, &store, slot, name).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(list(&dataset, &store).await.unwrap().is_empty());
}
