//! Whether a table can be written to, asked before anybody is offered the button.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lake::answer::Root;
use lake::delta::write::probe;
use lake::{Kind, Result};
use uuid::Uuid;

/// How long a store that keeps its promise is believed; acts ask it again anyway.
const TRUSTED: Duration = Duration::from_secs(3600);

/// How long a store that does not is not asked again.
const REFUSED: Duration = Duration::from_secs(30);

/// What was found out, by table.
#[derive(Default)]
pub struct Writable(Mutex<HashMap<String, Known>>);

struct Known {
    at: Instant,
    refused: Option<String>,
}

impl Writable {
    /// Why the store cannot be written to, on a scratch key below the table; `None` where it can.
    pub async fn refusal(&self, root: &Root) -> Result<Option<String>> {
        if let Some(known) = self.known(&root.location) {
            return Ok(known);
        }
        let probed = probe(&root.store, &root.path, &Uuid::new_v4().to_string()).await;
        let refused = match probed {
            Ok(_) => None,
            Err(error) => match error.kind() {
                Kind::Unsupported => Some(error.message().to_owned()),
                Kind::Denied => Some(format!(
                    "the store does not let this server write there: {}",
                    error.message()
                )),
                // Not an answer. Whoever acts is told.
                _ => return Ok(None),
            },
        };
        let known = Known {
            at: Instant::now(),
            refused: refused.clone(),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(root.location.clone(), known);
        Ok(refused)
    }

    fn known(&self, table: &str) -> Option<Option<String>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(table)?;
        let good_for = match known.refused {
            None => TRUSTED,
            Some(_) => REFUSED,
        };
        (known.at.elapsed() < good_for).then(|| known.refused.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lake::store::fault::Failure;
    use lake::store::{CountingStore, FaultStore, Request, Rule};
    use object_store::ObjectStore;
    use object_store::memory::InMemory;
    use object_store::path::Path;

    use super::*;

    fn root(store: Arc<dyn ObjectStore>) -> Root {
        Root {
            store,
            path: Path::from("t"),
            location: "t".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_store_is_asked_once_and_its_answer_told() {
        let counted = Arc::new(CountingStore::new(Arc::new(InMemory::new())));
        let writable = Writable::default();
        let good = root(Arc::clone(&counted) as Arc<dyn ObjectStore>);
        for _ in 0..3 {
            assert_eq!(writable.refusal(&good).await.unwrap(), None);
        }
        assert_eq!(counted.counts().requests(), 4, "two puts, a head, a delete");

        let careless = FaultStore::new(Arc::new(InMemory::new()));
        careless.add(Rule::on(None).forgets());
        let careless = root(Arc::new(careless));
        let why = Writable::default().refusal(&careless).await.unwrap();
        assert!(why.unwrap().contains("If-None-Match"));

        let faulty = FaultStore::new(Arc::new(InMemory::new()));
        faulty.add(Rule::on(Request::Put).fails(Failure::PermissionDenied));
        let denied = root(Arc::new(faulty));
        let why = Writable::default().refusal(&denied).await.unwrap();
        assert!(why.unwrap().contains("does not let this server write"));
    }
}
