//! A question to the worker or the server as the page sees it: pending, progressing, answered,
//! failed, cancelled, asked again.

use std::sync::Arc;

use futures::future::{AbortHandle, abortable};
use lake::host::Progress;
use lake::{Error, Kind, Result};
use leptos::prelude::*;

use crate::parts::{Failed, Loading};

/// An answer that arrives, and arrives anew when what was asked for changes.
///
/// The answer before stays until the new one is there. A question that nobody waits for is taken
/// back: when another one replaces it, when the page goes, and when the person cancels.
pub struct Asked<T: Send + Sync + 'static> {
    answer: LocalResource<Option<Answered<T>>>,
    run: StoredValue<u64>,
    pending: RwSignal<bool>,
    progress: RwSignal<Option<Progress>>,
    abort: StoredValue<Option<AbortHandle>>,
    again: Trigger,
}

type Answered<T> = Result<Arc<T>>;

impl<T: Send + Sync + 'static> Clone for Asked<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Asked<T> {}

impl<T: Send + Sync + 'static> Asked<T> {
    /// Asks what `question` returns, whenever a signal it read changes. `None` asks nothing.
    /// The signal it is given shows the question's progress.
    pub fn new<F, Q>(question: Q) -> Self
    where
        F: Future<Output = Result<T>> + 'static,
        Q: Fn(RwSignal<Option<Progress>>) -> Option<F> + 'static,
    {
        let run = StoredValue::new(0_u64);
        let pending = RwSignal::new(false);
        let progress = RwSignal::new(None);
        let abort = StoredValue::new(None::<AbortHandle>);
        let again = Trigger::new();
        let answer = LocalResource::new(move || {
            again.track();
            let asked = question(progress);
            let mine = run.with_value(|n| n + 1);
            run.set_value(mine);
            abort.update_value(|old| {
                if let Some(old) = old.take() {
                    old.abort();
                }
            });
            let asked = asked.map(|future| {
                let (future, handle) = abortable(future);
                abort.set_value(Some(handle));
                future
            });
            async move {
                // Not earlier: what is read here must not wake the question itself.
                pending.set(asked.is_some());
                let answered = match asked {
                    Some(future) => Some(match future.await {
                        Ok(answered) => answered.map(Arc::new),
                        Err(_) => Err(Error::new(Kind::Cancelled, "nobody waited for it")),
                    }),
                    None => None,
                };
                if run.try_with_value(|n| *n) == Some(mine) {
                    pending.try_set(false);
                    progress.try_set(None);
                }
                answered
            }
        });
        on_cleanup(move || {
            if let Some(Some(handle)) = abort.try_with_value(|h| h.clone()) {
                handle.abort();
            }
        });
        Self {
            answer,
            run,
            pending,
            progress,
            abort,
            again,
        }
    }

    /// The newest answer there is, tracked. `None` before the first.
    pub fn get(self) -> Option<Result<Arc<T>>> {
        self.answer.get().flatten()
    }

    /// The newest answer if it is one.
    pub fn ok(self) -> Option<Arc<T>> {
        self.get()?.ok()
    }

    /// Whether a question is on its way.
    pub fn pending(self) -> bool {
        self.pending.get()
    }

    /// How far it has come.
    pub fn progress(self) -> Option<Progress> {
        self.progress.get()
    }

    /// Asks the same again.
    pub fn again(self) {
        self.again.notify();
    }

    /// Takes the question back.
    pub fn cancel(self) {
        self.abort.with_value(|handle| {
            if let Some(handle) = handle {
                handle.abort();
            }
        });
    }

    /// How often it was asked.
    pub fn runs(self) -> u64 {
        self.run.get_value()
    }

    /// The answer through `view`; before it, what is waited for (`what`: `the history`) with
    /// progress and a way to cancel; instead of it, what went wrong and what to do.
    pub fn show<V: IntoView + 'static>(
        self,
        what: &'static str,
        view: impl Fn(Arc<T>) -> V + Send + Sync + 'static,
    ) -> impl IntoView {
        let body = move || match self.get() {
            Some(Ok(value)) => view(value).into_any(),
            Some(Err(error)) if !self.pending.get_untracked() => {
                let again = Callback::new(move |()| self.again());
                view! { <Failed error again /> }.into_any()
            }
            _ => ().into_any(),
        };
        let waiting = move || {
            let first = self.answer.with(Option::is_none) || !matches!(self.get(), Some(Ok(_)));
            (self.pending.get() && first).then(|| {
                let cancel = Callback::new(move |()| self.cancel());
                view! { <Loading what progress=self.progress cancel /> }
            })
        };
        view! {
            <div class="asked" aria-busy=move || self.pending.get().to_string()>
                {body}
                {waiting}
            </div>
        }
    }
}
