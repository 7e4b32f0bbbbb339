//! The browser's store in a browser, against the real server.
//!
//! `tests/integration/reads.rs` serves this page and the server from one address, with a relay
//! between that counts requests and makes them fail: below `/relay/{name}/{fault}` answers the
//! server, at `/relay/{name}` what was asked there so far.

#![cfg(target_arch = "wasm32")]

use std::time::Duration;

use app::worker::store::HttpStore;
use app::worker::turn::sleep;
use futures::future::{join_all, select};
use futures::{StreamExt, TryStreamExt};
use lake::store::conformance;
use lake::{Error, Kind};
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt};
use serde::Deserialize;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[derive(Debug, Default, Deserialize, PartialEq)]
struct Asked {
    gets: u32,
    heads: u32,
    lists: u32,
    batches: u32,
    /// Answers that nobody waited for to their end.
    dropped: u32,
}

fn store(name: &str, fault: &str) -> HttpStore {
    HttpStore::new(&format!("/relay/{name}/{fault}"), "conformance")
}

async fn asked(name: &str) -> Asked {
    let url = format!("/relay/{name}");
    let response = gloo_net::http::Request::get(&url).send().await.unwrap();
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

fn many(n: usize) -> Path {
    Path::from(format!("{}/many/{n:05}.json", conformance::ROOT))
}

fn hello() -> Path {
    Path::from(format!("{}/hello.txt", conformance::ROOT))
}

fn large() -> Path {
    Path::from(format!("{}/large.bin", conformance::ROOT))
}

async fn read(store: &HttpStore, path: &Path) -> Result<usize, Error> {
    let result = store.get(path).await?;
    Ok(result.bytes().await?.len())
}

fn range(range: std::ops::Range<u64>) -> GetOptions {
    GetOptions {
        range: Some(range.into()),
        ..GetOptions::default()
    }
}

#[wasm_bindgen_test]
async fn the_store_conforms() {
    let deviations = conformance::reads(&store("conforms", "none")).await;
    assert_eq!(deviations, Vec::<String>::new());
}

#[wasm_bindgen_test]
async fn reads_asked_for_together_travel_together() {
    let store = store("together", "none");
    let reads = (0..100).map(|n| {
        let (store, path) = (&store, many(n));
        async move { read(store, &path).await.unwrap() }
    });
    assert_eq!(join_all(reads).await, [1; 100]);
    let one = Asked {
        batches: 1,
        ..Asked::default()
    };
    assert_eq!(asked("together").await, one);
}

#[wasm_bindgen_test]
async fn a_window_of_reads_gathers_into_few_requests() {
    let store = store("window", "none");
    let reads = futures::stream::iter(0..500).map(|n| {
        let (store, path) = (&store, many(n));
        async move { read(store, &path).await.unwrap() }
    });
    let lengths: Vec<_> = reads.buffer_unordered(32).collect().await;
    assert_eq!(lengths, [1; 500]);
    let asked = asked("window").await;
    assert!(asked.batches + asked.gets < 120, "{asked:?}");
}

#[wasm_bindgen_test]
async fn a_read_alone_and_a_large_one_go_by_themselves() {
    let store = store("alone", "none");
    assert_eq!(read(&store, &hello()).await.unwrap(), 11);
    let parts = [0..1 << 20, 5..(2 << 20) + 5];
    let parts = store.get_ranges(&large(), &parts).await.unwrap();
    assert_eq!(parts.iter().map(|p| p.len()).sum::<usize>(), 3 << 20);
    let asked = asked("alone").await;
    assert_eq!((asked.gets, asked.batches), (3, 0), "{asked:?}");
}

#[wasm_bindgen_test]
async fn a_listing_costs_the_pages_that_are_taken() {
    let store = store("listing", "none");
    let prefix = Path::from(format!("{}/many", conformance::ROOT));
    let first: Vec<_> = store
        .list(Some(&prefix))
        .take(1000)
        .try_collect()
        .await
        .unwrap();
    assert_eq!((first.len(), asked("listing").await.lists), (1000, 1));
    let keys: Vec<_> = store.list(Some(&prefix)).try_collect().await.unwrap();
    assert_eq!((keys.len(), asked("listing").await.lists), (1100, 3));
    drop(store.list(Some(&prefix)));
    assert_eq!(asked("listing").await.lists, 3);
}

#[wasm_bindgen_test]
async fn passing_faults_pass() {
    let alone = store("unwell", "unwell-2");
    assert_eq!(read(&alone, &hello()).await.unwrap(), 11);
    assert_eq!(asked("unwell").await.gets, 3);

    let together = store("unwell-batch", "unwell-2");
    let reads = [0, 1, 2].map(many);
    let lengths = join_all(reads.iter().map(|path| read(&together, path))).await;
    assert!(lengths.iter().all(|l| matches!(l, Ok(1))), "{lengths:?}");
    assert_eq!(asked("unwell-batch").await.batches, 3);

    let cut = store("cut", "cut-1");
    let reads = (0..40).map(many).collect::<Vec<_>>();
    let lengths = join_all(reads.iter().map(|path| read(&cut, path))).await;
    assert!(lengths.iter().all(|l| matches!(l, Ok(1))), "{lengths:?}");
    assert_eq!(asked("cut").await.batches, 2);

    let broken = store("broken", "cut-1");
    let bytes = broken.get(&large()).await.unwrap().bytes().await.unwrap();
    let whole = store("unbroken", "none").get(&large()).await.unwrap();
    assert!(bytes == whole.bytes().await.unwrap());
    assert_eq!(asked("broken").await.gets, 2);
}

#[wasm_bindgen_test]
async fn a_fault_that_stays_is_said() {
    let ill = store("ill", "unwell-99");
    let error = read(&ill, &hello()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable, "{error}");
    assert!(error.message().contains("the store is unwell"), "{error}");
    let reads = [0, 1].map(many);
    for result in join_all(reads.iter().map(|path| read(&ill, path))).await {
        assert_eq!(result.unwrap_err().kind(), Kind::Unreachable);
    }
    let short = store("short", "cut-99");
    assert!(read(&short, &large()).await.is_err());
    let denied = store("denied", "denied");
    let error = read(&denied, &hello()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Denied, "{error}");
    assert_eq!(asked("denied").await.gets, 1);
    let nowhere = HttpStore::new("", "no such zone");
    let error = read(&nowhere, &hello()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound, "{error}");
}

#[wasm_bindgen_test]
async fn a_whole_object_is_never_taken_for_a_part() {
    let store = store("whole", "whole");
    let result = store.get_opts(&hello(), range(7..9)).await.unwrap();
    assert_eq!(&result.bytes().await.unwrap()[..], b"ti");
    let parts = store
        .get_ranges(&large(), &[2 << 20..2 << 21])
        .await
        .unwrap();
    assert_eq!(parts[0].len(), 1 << 20);
}

#[wasm_bindgen_test]
async fn a_read_nobody_waits_for_is_taken_back() {
    let hanging = store("hanging", "hang");
    let one = Box::pin(async { read(&hanging, &large()).await });
    let _ = select(one, Box::pin(sleep(300))).await;
    let before = settled("hanging").await;
    assert!(before > 0);

    let reads = [0, 1].map(many);
    let mut first = Box::pin(read(&hanging, &reads[0]));
    let mut second = Box::pin(read(&hanging, &reads[1]));
    let both = Box::pin(futures::future::join(&mut first, &mut second));
    let _ = select(both, Box::pin(sleep(300))).await;
    assert_eq!(asked("hanging").await.batches, 1);
    drop(first);
    sleep(300).await;
    assert_eq!(asked("hanging").await.dropped, before);
    drop(second);
    until("hanging", before + 1).await;
}

/// Requests dropped so far, once a second has passed without another: a busy machine is late.
async fn settled(name: &str) -> u32 {
    let mut dropped = asked(name).await.dropped;
    for _ in 0..50 {
        sleep(1_000).await;
        let now = asked(name).await.dropped;
        if now == dropped && now > 0 {
            break;
        }
        dropped = now;
    }
    dropped
}

async fn until(name: &str, dropped: u32) {
    for _ in 0..50 {
        if asked(name).await.dropped == dropped {
            return;
        }
        sleep(Duration::from_millis(100).as_millis() as u32).await;
    }
    panic!("{:?} instead of {dropped} dropped", asked(name).await);
}

#[wasm_bindgen_test]
async fn a_store_that_lets_no_page_in_is_named() {
    let error = read(&store("blocked", "redirect-blocked"), &large()).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), Kind::Denied, "{error}");
    assert!(error.message().contains("CORS"), "{error}");
    let open = store("open", "redirect-open");
    assert_eq!(read(&open, &large()).await.unwrap(), 3 << 20);
    let tag = open.head(&hello()).await.unwrap().e_tag;
    let options = GetOptions {
        if_match: tag,
        ..range(0..2 << 20)
    };
    let result = open.get_opts(&large(), options).await;
    assert!(matches!(
        result,
        Err(object_store::Error::Precondition { .. })
    ));
    let deviations = conformance::reads(&open).await;
    assert_eq!(deviations, Vec::<String>::new());
}
