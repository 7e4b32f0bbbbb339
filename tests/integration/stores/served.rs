//! The server's reads of a store that demands signatures: handed through, and by signed links.

use lake::store::conformance;
use lake::wire::frame::FrameDecoder;
use lake::wire::http::ListPage;
use object_store::prefix::PrefixStore;
use reqwest::header::{CONTENT_RANGE, ETAG, IF_NONE_MATCH, LOCATION, RANGE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use serde_json::json;
use tempfile::TempDir;
use tests::seaweed::{BUCKET, SeaweedFs};
use tests::served::Served;

const HELLO: &str = "/api/zones/raw/object?key=conformance%2Fhello.txt";

/// A server over a zone of the bucket that holds the conformance fixture; its reads are answered
/// as `reads` says.
async fn serve(seaweed: &SeaweedFs, reads: &str) -> Served {
    let prefix = format!("served-{reads}");
    let store = PrefixStore::new(seaweed.store(), prefix.as_str());
    conformance::seed(&store).await.unwrap();
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("tidemark.toml");
    let text = format!(
        "[server]\nreads = \"{reads}\"\n\
         [[zone]]\nname = \"raw\"\nurl = \"s3://{BUCKET}/{prefix}/\"\n"
    );
    std::fs::write(&config, text).unwrap();
    Served::config(&config, seaweed.environment())
}

/// A client that shows a redirect instead of following it.
fn client() -> Client {
    tests::http().redirect(Policy::none()).build().unwrap()
}

async fn ranged(url: &str, range: &str) -> Response {
    client().get(url).header(RANGE, range).send().await.unwrap()
}

#[tokio::test]
async fn reads_are_handed_through() {
    let seaweed = SeaweedFs::shared();
    let served = serve(&seaweed, "proxy").await;
    let url = served.at(HELLO);

    let whole = client().get(&url).send().await.unwrap();
    assert_eq!(whole.status(), StatusCode::OK);
    let tag = whole.headers()[ETAG].clone();
    assert_eq!(whole.text().await.unwrap(), "hello, tide");

    let known = client()
        .get(&url)
        .header(IF_NONE_MATCH, tag)
        .send()
        .await
        .unwrap();
    assert_eq!(known.status(), StatusCode::NOT_MODIFIED);

    let part = ranged(&url, "bytes=1-4").await;
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.headers()[CONTENT_RANGE], "bytes 1-4/11");
    assert_eq!(part.text().await.unwrap(), "ello");

    let end = ranged(&url, "bytes=-4").await;
    assert_eq!(end.headers()[CONTENT_RANGE], "bytes 7-10/11");
    assert_eq!(end.text().await.unwrap(), "tide");

    let beyond = ranged(&url, "bytes=11-").await;
    assert_eq!(beyond.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(beyond.headers()[CONTENT_RANGE], "bytes */11");

    let missing = served.at("/api/zones/raw/object?key=conformance%2Fnone");
    let missing = client().get(missing).send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn listings_come_in_pages() {
    let seaweed = SeaweedFs::shared();
    let served = serve(&seaweed, "proxy").await;
    let mut keys = Vec::new();
    let mut after = None;
    let mut pages = 0;
    loop {
        let prefix = "/api/zones/raw/list?prefix=conformance%2Fmany%2F&limit=500";
        let mut url = served.at(prefix);
        if let Some(after) = &after {
            url.push_str(&format!("&after={after}"));
        }
        let page: ListPage = client()
            .get(url)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        pages += 1;
        assert!(page.objects.len() <= 500);
        keys.extend(page.objects.into_iter().map(|object| object.key));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!((keys.len(), pages), (1100, 3));
    assert!(keys.is_sorted());
}

#[tokio::test]
async fn a_batch_answers_each_read_in_one_stream() {
    let seaweed = SeaweedFs::shared();
    let served = serve(&seaweed, "proxy").await;
    let reads = json!({ "reads": [
        { "key": "conformance/hello.txt" },
        { "key": "conformance/none" },
        { "key": "conformance/hello.txt", "range": "bytes=-4" },
    ]});
    let url = served.at("/api/zones/raw/batch");
    let answer = client().post(url).json(&reads).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);

    let mut decoder = FrameDecoder::default();
    decoder.push(&answer.bytes().await.unwrap());
    let mut frames = Vec::new();
    while let Some((header, body)) = decoder.next_frame().unwrap() {
        frames.push((header.index, header.status, body));
    }
    frames.sort_by_key(|frame| frame.0);

    let bodies = frames
        .iter()
        .map(|(i, status, body)| (*i, *status, &body[..]));
    let wanted: [(u32, u16, &[u8]); 3] =
        [(0, 200, b"hello, tide"), (1, 404, b""), (2, 206, b"tide")];
    assert!(bodies.eq(wanted), "{frames:?}");
}

#[tokio::test]
async fn reads_are_redirected_to_links_that_soon_expire() {
    let seaweed = SeaweedFs::shared();
    let served = serve(&seaweed, "redirect").await;
    let answer = client().get(served.at(HELLO)).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::TEMPORARY_REDIRECT);

    let link = answer.headers()[LOCATION].to_str().unwrap();
    let link = url::Url::parse(link).unwrap();
    assert!(link.as_str().starts_with(seaweed.endpoint()), "{link}");
    let seconds = link.query_pairs().find(|(name, _)| name == "X-Amz-Expires");
    let seconds: u32 = seconds.expect("the link expires").1.parse().unwrap();
    assert!(seconds <= 60, "{seconds}");

    let end = ranged(link.as_str(), "bytes=-4").await;
    assert_eq!(end.text().await.unwrap(), "tide");
    let unsigned = link.as_str().split('?').next().unwrap();
    let refused = client().get(unsigned).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);

    // A listing has no link; it is answered here.
    let list = served.at("/api/zones/raw/list?prefix=conformance%2Flist%2F&delimiter=%2F");
    let page: ListPage = client()
        .get(list)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(page.prefixes, ["conformance/list/sub"]);
}
