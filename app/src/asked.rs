//! A question to the worker or the server as the page sees it: pending, progressing, answered,
//! failed, cancelled, asked again.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{AbortHandle, LocalBoxFuture, abortable};
use lake::host::Progress;
use lake::{Error, Kind, Result};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::markup::{IntoMarkup, Markup, view};
use crate::parts::{Failed, Loading};
use crate::signals::{Callback, RwSignal, Signal, StoredValue, effect};

/// An answer that arrives, and arrives anew when what was asked for changes.
///
/// The answer before stays until the new one is there. A question that nobody waits for is taken
/// back at once: when another one replaces it, when the page goes, and when the person cancels.
/// (`LocalResource` finishes one question before it starts the next, which is why this is not one.)
pub struct Asked<T: 'static> {
    answer: RwSignal<Option<Result<Arc<T>>>>,
    asking: Asking,
}

impl<T> Clone for Asked<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Asked<T> {}

impl<T: 'static> Asked<T> {
    /// Asks what `question` returns, whenever a signal it read changes. `None` asks nothing and
    /// leaves the answer as it is. The signal it is given shows the question's progress: pass it
    /// to [`crate::engine::Engine::watched`].
    pub fn new<F, Q>(question: Q) -> Self
    where
        F: Future<Output = Result<T>> + 'static,
        Q: Fn(RwSignal<Option<Progress>>) -> Option<F> + 'static,
    {
        let answer = RwSignal::new(None);
        let asking = Asking::new();
        asking.follow(Box::new(move || {
            let question = question(asking.progress)?;
            let kept = question.map(move |found| -> Kept {
                Box::new(move || drop(answer.try_set(Some(found.map(Arc::new)))))
            });
            Some(kept.boxed_local())
        }));
        Self { answer, asking }
    }

    /// Takes the question back and says so in place of the answer.
    pub fn stop(self) {
        self.asking.cancel();
        self.asking.settle();
        let error = Error::new(Kind::Cancelled, "the question was taken back");
        self.answer.try_set(Some(Err(error)));
    }

    /// Asks the same again.
    pub fn again(self) {
        self.asking.again.notify();
    }

    /// The newest answer there is, tracked. `None` before the first.
    pub fn get(self) -> Option<Result<Arc<T>>> {
        self.answer.get()
    }

    /// The newest answer if it is one, tracked.
    pub fn ok(self) -> Option<Arc<T>> {
        self.answer.with(|a| a.as_ref()?.as_ref().ok().cloned())
    }

    /// Whether a question is on its way, tracked.
    pub fn pending(self) -> bool {
        self.asking.pending.get()
    }

    /// How far it has come.
    pub fn progress(self) -> RwSignal<Option<Progress>> {
        self.asking.progress
    }

    /// The answer through `view`; before it, what is waited for (`what`: `the history`) with
    /// progress and a way to cancel; instead of it, what went wrong and what to do.
    pub fn show<V: IntoMarkup + 'static>(
        self,
        what: &'static str,
        view: impl Fn(Arc<T>) -> V + 'static,
    ) -> Markup {
        let again = Callback::new(move |()| self.again());
        let stop = Callback::new(move |()| self.stop());
        let body = Markup::live(move || {
            Some(match self.answer.get()? {
                Ok(value) => view(value).into_markup(),
                Err(error) => view! { <Failed error again /> },
            })
        });
        let shown = Signal::derive(move || self.answer.with(|a| matches!(a, Some(Ok(_)))));
        self.asking.frame(what, stop, shown, body)
    }
}

/// Keeps an answer.
type Kept = Box<dyn FnOnce()>;

/// A question, whatever it asks for.
type Question = LocalBoxFuture<'static, Kept>;

/// The state of a question, whatever it asks for.
#[derive(Clone, Copy)]
struct Asking {
    pending: RwSignal<bool>,
    progress: RwSignal<Option<Progress>>,
    abort: StoredValue<Option<AbortHandle>>,
    again: Trigger,
}

impl Asking {
    fn new() -> Self {
        Self {
            pending: RwSignal::new(false),
            progress: RwSignal::new(None),
            abort: StoredValue::new(None),
            again: Trigger::new(),
        }
    }

    fn follow(self, question: Box<dyn Fn() -> Option<Question>>) {
        effect(move || {
            self.again.track();
            let question = question();
            self.cancel();
            if let Some(question) = question {
                self.start(question);
            }
        });
        on_cleanup(move || self.cancel());
    }

    fn start(self, question: Question) {
        let (question, handle) = abortable(question);
        self.abort.set_value(Some(handle.clone()));
        self.pending.set(true);
        spawn_local(async move {
            let Ok(keep) = question.await else {
                return;
            };
            // Taken back for another question, or the page is gone.
            let current = self.abort.try_with_value(Option::is_some) == Some(true);
            if current && !handle.is_aborted() {
                self.settle();
                keep();
            }
        });
    }

    fn settle(self) {
        self.abort.set_value(None);
        self.progress.try_set(None);
        self.pending.try_set(false);
    }

    fn cancel(self) {
        let handle = self.abort.try_update_value(Option::take).flatten();
        if let Some(handle) = handle {
            handle.abort();
        }
    }

    fn frame(
        self,
        what: &'static str,
        stop: Callback<()>,
        shown: Signal<bool>,
        body: Markup,
    ) -> Markup {
        let progress = self.progress;
        let waiting = move || {
            let over = shown.get();
            let pending = self.pending.get();
            pending.then(|| view! { <Loading what progress stop over /> })
        };
        view! {
            <div class="asked" aria-busy=move || self.pending.get().to_string()>
                {waiting}
                {body}
            </div>
        }
    }
}
