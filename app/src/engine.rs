//! The page's end of the worker: ask, watch, cancel.
//!
//! The page holds no table and no store. It asks; the worker reads and answers. A question nobody
//! waits for is taken back, and a worker that broke is replaced for the next question.

mod asks;
mod link;
pub mod read;

use std::rc::Rc;

use lake::host::Progress;
use lake::wire::Ask;
use lake::{Error, Kind, Result};
use send_wrapper::SendWrapper;
use serde::de::DeserializeOwned;

use crate::signals::RwSignal;

use link::Link;
use read::from_json;

/// Which build this is. Page, worker and server of one release say the same.
pub const BUILD: &str = match option_env!("TIDEMARK_BUILD") {
    Some(build) => build,
    None => env!("CARGO_PKG_VERSION"),
};

/// The worker, as the page sees it. Clones share it; it lives in the page's context.
#[derive(Clone)]
pub struct Engine {
    link: SendWrapper<Rc<Link>>,
    progress: Option<RwSignal<Option<Progress>>>,
}

impl Engine {
    /// Starts the worker of this site.
    ///
    /// `base` is where site and server answer, without a slash at the end: empty for the root of
    /// the page's own host.
    pub fn start(base: impl Into<String>) -> Self {
        let link = Link::new(base.into());
        // A worker that cannot start says so to whoever asks first.
        let _ = link.connect();
        Self {
            link: SendWrapper::new(link),
            progress: None,
        }
    }

    /// The same worker; questions asked through this handle show their progress in `signal`, and
    /// set it to `None` when they end.
    #[must_use]
    pub fn watched(&self, signal: RwSignal<Option<Progress>>) -> Self {
        Self {
            link: self.link.clone(),
            progress: Some(signal),
        }
    }

    /// Asks. Dropping the future takes the question back, in the worker and at the server.
    async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T> {
        let text = self.link.post(ask, self.progress)?.await?;
        from_json(&text).map_err(|_| {
            Error::new(
                Kind::Internal,
                "the worker's answer is not what was asked for",
            )
        })
    }
}
