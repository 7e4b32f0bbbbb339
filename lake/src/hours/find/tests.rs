//! What a window costs, and what is not asked for twice.

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};

use super::*;
use crate::host::Quiet;
use crate::hours::judge::tests::dataset;
use crate::hours::template::Template;
use crate::store::{CountingStore, LIST_PAGE};

/// A dataset of closed hours, `objects` in each, from its first day on.
async fn filled(days: i32, objects: usize) -> (Source, Arc<CountingStore>) {
    let dataset = Arc::new(dataset());
    let store = InMemory::new();
    let template = Template::of(&dataset);
    let first = dataset.first.unwrap();
    for day in first.to(first.plus(days - 1)) {
        for slot in dataset.slots(day) {
            let run = format!("{}run_id=r1/", dataset.prefix_of(slot));
            for n in 0..objects {
                let key = Path::from(format!("{run}part-{n:03}.parquet"));
                store
                    .put(&key, PutPayload::from_static(b"0123456789"))
                    .await
                    .unwrap();
            }
            let marker = serde_json::json!({
                "dataset": dataset.name, "zone": "raw", "event_date": day, "hour": slot.hour,
                "prefix": format!("s3://tlp-raw/{run}"), "object_count": objects,
                "bytes": objects * 10, "max_event_time": slot.end(), "run_id": "r1",
                "definition_version": "1", "published_at": slot.end(),
            });
            let body = serde_json::to_vec(&marker).unwrap();
            store
                .put(&Path::from(template.current(slot)), body.into())
                .await
                .unwrap();
        }
    }
    let counted = Arc::new(CountingStore::new(Arc::new(store)));
    let source = Source {
        dataset,
        store: Arc::clone(&counted) as Arc<dyn ObjectStore>,
    };
    (source, counted)
}

fn host() -> SharedHost {
    Arc::new(Quiet)
}

/// Pages of a thousand keys that a listing of so many objects takes.
fn pages(objects: u64) -> u64 {
    objects.div_ceil(LIST_PAGE).max(1)
}

#[tokio::test]
async fn a_month_is_a_handful_of_rounds() {
    let (source, store) = filled(30, 12).await;
    let memory = Memory::default();
    let first = source.dataset.first.unwrap();
    let days = Days::new(first, first.plus(29));
    let now = Time(first.plus(30).start().0 + 3_600_000);
    let window = window(&source, &memory, days, Fresh::Known, now, &host())
        .await
        .unwrap();
    let closed = window
        .verdicts()
        .iter()
        .filter(|(_, v)| v.state == State::OverBudget)
        .count();
    assert_eq!(
        closed, 720,
        "twelve objects, of which the budget allows four"
    );
    let counts = store.take();
    assert_eq!(counts.gets, 720, "each marker once");
    // A day's keys fit into one page; the marker tree is one listing of a page.
    assert_eq!(counts.lists, 31);
    assert!(counts.round_trips <= 3, "{counts:?}");
    // As the browser asks: a request for each page of a listing, one for a thousand markers.
    let requests = 30 * pages(24 * 12) + pages(720) + 720_u64.div_ceil(1000) + 1;
    assert!(requests <= 40, "{requests}");

    // The same again costs nothing, and a refresh the marker tree, the open day and one in turn.
    super::window(&source, &memory, days, Fresh::Known, now, &host())
        .await
        .unwrap();
    assert_eq!(store.take(), crate::store::Counts::default());
    super::window(&source, &memory, days, Fresh::Refresh, now, &host())
        .await
        .unwrap();
    let counts = store.take();
    assert_eq!((counts.lists, counts.gets), (2, 0), "no day is open");
}

#[tokio::test]
async fn closed_days_are_listed_again_in_turn() {
    let (source, store) = filled(4, 1).await;
    let memory = Memory::default();
    let first = source.dataset.first.unwrap();
    let days = Days::new(first, first.plus(3));
    let now = Time(first.plus(3).start().0 + 12 * 3_600_000);
    let look = |fresh| window(&source, &memory, days, fresh, now, &HOST);
    static HOST: std::sync::LazyLock<SharedHost> = std::sync::LazyLock::new(host);
    look(Fresh::Known).await.unwrap();
    // The second day loses a key behind our back.
    let slot = Slot::hour(first.plus(1), 5);
    let key = format!(
        "{}run_id=r1/part-000.parquet",
        source.dataset.prefix_of(slot)
    );
    source.store.delete(&Path::from(key)).await.unwrap();
    store.take();
    let state = |window: &Window| window.verdict(slot).state;
    let mut looks = 0;
    while state(&look(Fresh::Refresh).await.unwrap()) != State::Lost {
        looks += 1;
        assert!(looks < 4, "each closed day has its turn");
        // The marker tree, the open day, the day whose turn it is.
        assert_eq!(store.take().lists, 3);
    }
    assert_eq!(state(&look(Fresh::Again).await.unwrap()), State::Lost);
}

#[tokio::test]
async fn a_changed_marker_is_read_again_and_a_gone_one_forgotten() {
    let (source, store) = filled(1, 2).await;
    let memory = Memory::default();
    let first = source.dataset.first.unwrap();
    let days = Days::new(first, first);
    let now = Time(first.plus(1).start().0 + 3_600_000);
    let look = || window(&source, &memory, days, Fresh::Refresh, now, &HOST);
    static HOST: std::sync::LazyLock<SharedHost> = std::sync::LazyLock::new(host);
    look().await.unwrap();
    let template = Template::of(&source.dataset);
    let [broken, gone] = [3, 4].map(|hour| Slot::hour(first, hour));
    source
        .store
        .put(&Path::from(template.current(broken)), "{".into())
        .await
        .unwrap();
    source
        .store
        .delete(&Path::from(template.current(gone)))
        .await
        .unwrap();
    store.take();
    let window = look().await.unwrap();
    assert_eq!(store.take().gets, 1);
    assert_eq!(window.verdict(broken).state, State::Invalid);
    assert_eq!(window.verdict(gone).state, State::Late);
}

#[test]
fn a_year_costs_little_more_than_its_pages() {
    // By quarters, as the page asks.
    let day = |text: &str| text.parse::<Day>().unwrap();
    let quarters = [
        ("2025-01-01", "2025-03-31"),
        ("2025-04-01", "2025-06-30"),
        ("2025-07-01", "2025-09-30"),
        ("2025-10-01", "2025-12-31"),
    ];
    let mut requests = 1;
    for (from, to) in quarters {
        let days = Days::new(day(from), day(to));
        let wanted: BTreeSet<Day> = days.iter().collect();
        let parts = parts(days, &wanted);
        assert!(parts.len() <= 31, "{}", parts.len());
        let covered: i32 = parts.iter().map(|part| part.to.since(part.from) + 1).sum();
        assert_eq!(covered as usize, wanted.len());
        let hours = 24 * wanted.len() as u64;
        let keys = parts
            .iter()
            .map(|p| pages(24 * 12 * (p.to.since(p.from) + 1) as u64));
        requests += keys.sum::<u64>() + pages(hours) + hours.div_ceil(1000);
    }
    assert!(requests <= 250, "{requests}");
}

#[tokio::test]
async fn hours_that_others_close_are_judged_by_their_markers() {
    let mut dataset = dataset();
    dataset.marker.kind = MarkerKind::Committed;
    let dataset = Arc::new(dataset);
    let store = Arc::new(InMemory::new());
    let first = dataset.first.unwrap();
    let slot = Slot::hour(first, 8);
    let put = |name: &str, body: &'static str| {
        let key = Path::from(format!("{}{name}", dataset.prefix_of(slot)));
        let store = Arc::clone(&store);
        async move {
            store
                .put(&key, PutPayload::from_static(body.as_bytes()))
                .await
                .unwrap()
        }
    };
    put("a", "rows").await;
    put("_committed_7", r#"{"added":["a"],"removed":[]}"#).await;
    let source = Source {
        dataset: Arc::clone(&dataset),
        store,
    };
    let now = Time(slot.end().0 + 3_600_000);
    let memory = Memory::default();
    let days = Days::new(first, first);
    let window = window(&source, &memory, days, Fresh::Known, now, &host())
        .await
        .unwrap();
    assert_eq!(window.verdict(slot).state, State::Closed);
    assert_eq!(window.verdict(Slot::hour(first, 7)).state, State::Late);
}
