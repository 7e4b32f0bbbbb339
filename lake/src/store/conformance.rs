//! What every store must do when it is read, as checks that any store can be put to.
//!
//! The caller fills a store with [`seed`] and reads it through the one under test, which may be the
//! same or one that cannot write: `let deviations = reads(&store).await` is empty for a store that
//! conforms.

mod bytes;
mod fixture;
mod listing;
mod swap;

use std::sync::Arc;

use object_store::ObjectStore;

pub use fixture::{ROOT, seed};

/// What a check found wrong, in words.
type Checked = Result<(), String>;

/// Reads the fixture in every way and returns what deviates: one line each, with the check's name.
pub async fn reads(store: &dyn ObjectStore) -> Vec<String> {
    let results = [
        ("whole objects", bytes::whole_objects(store).await),
        ("ranges", bytes::ranges(store).await),
        ("ranges outside", bytes::ranges_outside(store).await),
        ("many at once", bytes::many_at_once(store).await),
        ("metadata", bytes::metadata(store).await),
        ("conditions", bytes::conditions(store).await),
        ("missing", bytes::missing(store).await),
        ("strange keys", listing::strange_keys(store).await),
        ("prefixes", listing::prefixes(store).await),
        ("offsets", listing::offsets(store).await),
        ("delimiter", listing::delimiter(store).await),
        ("pages", listing::pages(store).await),
    ];
    let deviations = results
        .into_iter()
        .filter_map(|(name, result)| Some(format!("{name}: {}", result.err()?)));
    deviations.collect()
}

/// Creates and swaps objects below `scratch`, a folder that is empty, and returns what deviates.
pub async fn writes(store: &Arc<dyn ObjectStore>, scratch: &str) -> Vec<String> {
    let results = [
        ("create", swap::create(store, scratch).await),
        ("swap", swap::swap(store, scratch).await),
        ("swap what is not there", swap::absent(store, scratch).await),
        ("swaps at once", swap::at_once(store, scratch).await),
    ];
    let deviations = results
        .into_iter()
        .filter_map(|(name, result)| Some(format!("{name}: {}", result.err()?)));
    deviations.collect()
}

/// Fails with what came and what was wanted, unless they are equal.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Checked {
    if got == wanted {
        return Ok(());
    }
    Err(format!("{what}: {got:?} instead of {wanted:?}"))
}

fn ok<T>(what: &str, result: object_store::Result<T>) -> Result<T, String> {
    result.map_err(|e| format!("{what}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fault::{FaultStore, Rule};
    use crate::store::{CountingStore, Request};
    use object_store::memory::InMemory;

    async fn seeded() -> Arc<dyn ObjectStore> {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        seed(&store).await.unwrap();
        store
    }

    #[tokio::test]
    async fn memory_and_our_wrappers_conform() {
        let memory = seeded().await;
        assert_eq!(reads(&memory).await, Vec::<String>::new());
        let counting = CountingStore::new(Arc::clone(&memory));
        assert_eq!(reads(&counting).await, Vec::<String>::new());
        let faulty = FaultStore::new(memory);
        assert_eq!(reads(&faulty).await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn memory_and_our_wrappers_swap() {
        let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        assert_eq!(writes(&memory, "a").await, Vec::<String>::new());
        let counting: Arc<dyn ObjectStore> = Arc::new(CountingStore::new(Arc::clone(&memory)));
        assert_eq!(writes(&counting, "b").await, Vec::<String>::new());
        let faulty = Arc::new(FaultStore::new(memory));
        let store: Arc<dyn ObjectStore> = Arc::clone(&faulty) as _;
        assert_eq!(writes(&store, "c").await, Vec::<String>::new());
        faulty.add(Rule::on(None).forgets());
        let deviations = writes(&store, "d").await;
        for name in ["create", "swap", "swap what is not there", "swaps at once"] {
            let told = |deviation: &String| deviation.starts_with(&format!("{name}:"));
            assert!(deviations.iter().any(told), "{name}: {deviations:?}");
        }
    }

    #[tokio::test]
    async fn a_store_that_damages_bytes_does_not_conform() {
        let store = FaultStore::new(seeded().await);
        store.add(
            Rule::on(Request::Get)
                .key("hello")
                .damages(|b| b.slice(1..)),
        );
        let deviations = reads(&store).await;
        assert!(deviations.iter().any(|d| d.starts_with("whole objects")));
        assert!(deviations.iter().any(|d| d.starts_with("ranges:")));
    }
}
