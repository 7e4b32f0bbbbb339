//! What lies below a folder and is no plain object: links, unfinished uploads, names that are no
//! keys. Only a disk has such things, and its listings show none of them as what they are.

use std::sync::{Arc, Mutex, PoisonError};

use object_store::path::Path;
use object_store::{Extensions, GetOptions, ObjectStore};

use crate::delta::path::OWN;
use crate::table::Time;
use crate::{Error, Kind, Result};

/// What a store says of one folder. Keys are whole, as listings have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surveyed {
    /// Where the folder really lies, where it is itself reached through a link.
    pub really: Option<String>,
    /// Keys of links: what is listed at them or below them lies elsewhere.
    pub links: Vec<String>,
    /// Where the links lead: what lies there may be named by the link.
    pub targets: Vec<String>,
    /// Uploads that were begun and not ended, which listings leave out.
    pub unfinished: Vec<Unfinished>,
    /// What no key can name.
    pub nameless: Vec<Nameless>,
}

/// An upload that was begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Its key, which deletes alone accept.
    pub key: Path,
    /// Bytes.
    pub bytes: u64,
    /// When it was last written to.
    pub modified: Time,
}

/// Something that listings leave out because no key can name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nameless {
    /// Its name as far as it can be shown.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Why no key names it.
    pub why: &'static str,
}

/// A question that rides on a request for a key that never exists. A store that does not know it
/// has nothing to tell.
#[derive(Clone, Debug, Default)]
pub struct Survey(Arc<Mutex<Option<Result<Surveyed>>>>);

impl Survey {
    /// The question, where a request carries it.
    pub fn on(options: &GetOptions) -> Option<&Self> {
        options.extensions.get::<Self>()
    }

    /// Answers it.
    pub fn answer(&self, told: Result<Surveyed>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }

    /// The folder that a request's key asks about.
    pub fn folder(key: &Path) -> Path {
        let parts: Vec<_> = key.parts().collect();
        let kept = parts.len().saturating_sub(2);
        parts.into_iter().take(kept).collect()
    }

    fn take(&self) -> Option<Result<Surveyed>> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.take()
    }
}

/// Asks a store what lies below `root` and is no plain object.
pub async fn survey(store: &Arc<dyn ObjectStore>, root: &Path) -> Result<Surveyed> {
    let question = Survey::default();
    let mut extensions = Extensions::new();
    extensions.insert(question.clone());
    let options = GetOptions {
        head: true,
        extensions,
        ..GetOptions::default()
    };
    let key = root.clone().join(OWN).join("survey");
    let answer = store.get_opts(&key, options).await;
    match (question.take(), answer) {
        (Some(told), _) => told,
        (None, Ok(_)) => Ok(Surveyed::default()),
        (None, Err(error)) => match Error::from(error) {
            // Nobody knows whether the store would have had something to tell.
            error if error.kind() == Kind::Unreachable => Err(error.at("key", &key)),
            _ => Ok(Surveyed::default()),
        },
    }
}

/// Rides on a HEAD that is to see unfinished uploads too.
#[derive(Clone, Copy, Debug)]
pub struct Unhidden;

/// Whether there is an object, or an unfinished upload, of this key.
pub async fn exists(store: &Arc<dyn ObjectStore>, key: &Path) -> object_store::Result<bool> {
    let mut extensions = Extensions::new();
    extensions.insert(Unhidden);
    let options = GetOptions {
        head: true,
        extensions,
        ..GetOptions::default()
    };
    match store.get_opts(key, options).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;

    #[test]
    fn a_question_names_its_folder() {
        let of = |key: &str| Survey::folder(&Path::from(key)).to_string();
        assert_eq!(of("a/t/_tidemark/survey"), "a/t");
        assert_eq!(of("_tidemark/survey"), "");
    }

    #[tokio::test]
    async fn a_store_that_does_not_know_it_tells_nothing() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let told = survey(&store, &Path::from("t")).await.unwrap();
        assert_eq!(told, Surveyed::default());
    }
}
