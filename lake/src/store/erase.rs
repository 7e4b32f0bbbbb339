//! Objects deleted, many at once where the store can, and what came of each.

use std::sync::Arc;

use futures::{StreamExt, stream};
use hashbrown::HashSet;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt};

use crate::delta::write::TRIES;
use crate::error::lasting;
use crate::host::SharedHost;
use crate::store::survey::exists;

/// Single requests in flight at once.
const PARALLEL: usize = 16;

/// What came of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It was there and is not any more.
    Deleted,
    /// It was gone already.
    Absent,
    /// It may still be there.
    Failed(String),
}

/// Deletes.
pub(crate) struct Eraser {
    store: Arc<dyn ObjectStore>,
    host: SharedHost,
    /// Whether the store answers for many keys in one request.
    bulk: bool,
}

/// The answer about one key.
enum Answer {
    Yes,
    No(StoreError),
    /// None of its own: the request for many failed as a whole, for this reason.
    Silence(String),
}

/// Why nobody knows yet what came of a key.
struct Doubt {
    why: String,
    /// Whether the same request may be answered otherwise later.
    passes: bool,
    /// Whether the store said that there is no such object.
    absent: bool,
}

impl Doubt {
    fn of(error: &StoreError) -> Self {
        Self {
            why: error.to_string(),
            passes: passes(error),
            absent: matches!(error, StoreError::NotFound { .. }),
        }
    }
}

impl Eraser {
    pub(crate) fn new(store: &Arc<dyn ObjectStore>, host: &SharedHost) -> Self {
        Self {
            store: Arc::clone(store),
            host: Arc::clone(host),
            bulk: true,
        }
    }

    /// Deletes objects that were there a moment ago: what became of each, in order.
    ///
    /// A key that is not answered for is looked for, so that nothing is called deleted that is
    /// there, nor the other way round.
    pub(crate) async fn erase(&mut self, keys: &[Path]) -> Vec<Gone> {
        let mut outcome: Vec<Option<Gone>> = vec![None; keys.len()];
        let mut asked: HashSet<usize> = HashSet::new();
        let mut pending: Vec<usize> = (0..keys.len()).collect();
        for attempt in 0..=TRIES {
            if pending.is_empty() {
                break;
            }
            if attempt > 0 {
                self.host.wait(100 << attempt).await;
            }
            let answers = self.ask(keys, &pending).await;
            let mut unclear: Vec<(usize, Doubt)> = Vec::new();
            for (at, answer) in pending.drain(..).zip(answers) {
                match answer {
                    Answer::Yes => set(&mut outcome, at, Gone::Deleted),
                    Answer::No(error) => unclear.push((at, Doubt::of(&error))),
                    Answer::Silence(why) => unclear.push((
                        at,
                        Doubt {
                            why,
                            passes: true,
                            absent: false,
                        },
                    )),
                }
            }
            let seen = self.look(keys, unclear.iter().map(|(at, _)| *at)).await;
            for ((at, doubt), there) in unclear.into_iter().zip(seen) {
                let first = asked.insert(at);
                let again = doubt.passes && attempt < TRIES;
                match there {
                    // An earlier try may have done it, and its answer been lost.
                    Ok(false) if doubt.absent && first => set(&mut outcome, at, Gone::Absent),
                    Ok(false) => set(&mut outcome, at, Gone::Deleted),
                    _ if again => pending.push(at),
                    Ok(true) => set(&mut outcome, at, Gone::Failed(doubt.why)),
                    Err(_) => {
                        let why = doubt.why;
                        let why = format!("nobody knows whether it is still there: {why}");
                        set(&mut outcome, at, Gone::Failed(why));
                    }
                }
            }
        }
        let unanswered = || Gone::Failed("the store did not answer".to_owned());
        let outcome = outcome.into_iter();
        outcome
            .map(|gone| gone.unwrap_or_else(unanswered))
            .collect()
    }

    /// Asks once for these keys: an answer for each, in order.
    async fn ask(&mut self, keys: &[Path], which: &[usize]) -> Vec<Answer> {
        let wanted: Vec<Path> = which
            .iter()
            .filter_map(|at| keys.get(*at).cloned())
            .collect();
        if self.bulk && wanted.len() > 1 {
            let (answers, whole) = self.ask_at_once(wanted).await;
            self.bulk = whole;
            return answers;
        }
        let singles = wanted.into_iter().map(|key| {
            let store = Arc::clone(&self.store);
            async move { answer(store.delete(&key).await.map(|()| key)) }
        });
        stream::iter(singles).buffered(PARALLEL).collect().await
    }

    /// One request for many keys. Also whether each was answered for.
    async fn ask_at_once(&self, keys: Vec<Path>) -> (Vec<Answer>, bool) {
        let of = keys.len();
        let asked = stream::iter(keys.clone()).map(Ok).boxed();
        let told: Vec<Result<Path, StoreError>> = self.store.delete_stream(asked).collect().await;
        if told.len() == of {
            // Answers come in the order of the keys.
            return (told.into_iter().map(answer).collect(), true);
        }
        let mut why = "the store answered for some of the keys only".to_owned();
        let mut gone: HashSet<Path> = HashSet::new();
        for told in told {
            match told {
                Ok(key) => {
                    gone.insert(key);
                }
                Err(error) => why = error.to_string(),
            }
        }
        let answers = keys.iter().map(|key| match gone.contains(key) {
            true => Answer::Yes,
            false => Answer::Silence(why.clone()),
        });
        (answers.collect(), false)
    }

    /// Whether each of these objects is there.
    async fn look(
        &self,
        keys: &[Path],
        which: impl Iterator<Item = usize>,
    ) -> Vec<Result<bool, StoreError>> {
        let wanted: Vec<Path> = which.filter_map(|at| keys.get(at).cloned()).collect();
        let heads = wanted.into_iter().map(|key| {
            let store = Arc::clone(&self.store);
            async move { exists(&store, &key).await }
        });
        stream::iter(heads).buffered(PARALLEL).collect().await
    }
}

fn set(outcome: &mut [Option<Gone>], at: usize, gone: Gone) {
    if let Some(outcome) = outcome.get_mut(at) {
        *outcome = Some(gone);
    }
}

fn answer(told: Result<Path, StoreError>) -> Answer {
    match told {
        Ok(_) => Answer::Yes,
        Err(error) => Answer::No(error),
    }
}

/// Whether the same request may be answered otherwise later. What S3 says of one key of many comes
/// as text alone.
pub(crate) fn passes(error: &StoreError) -> bool {
    match error {
        lasts if lasting(lasts) => false,
        other => {
            let text = other.to_string();
            let lasting = [
                "AccessDenied",
                "MethodNotAllowed",
                "NotImplemented",
                "InvalidArgument",
                "ObjectLocked",
            ];
            !lasting.iter().any(|code| text.contains(code))
        }
    }
}
