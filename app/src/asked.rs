//! A question to the worker or the server as the page sees it: pending, progressing, answered,
//! failed, cancelled, asked again.

use std::sync::Arc;

use crate::markup::{IntoMarkup, Markup, view};
use futures::future::{AbortHandle, abortable};
use lake::host::Progress;
use lake::{Error, Kind, Result};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::parts::{Failed, Loading};

/// An answer that arrives, and arrives anew when what was asked for changes.
///
/// The answer before stays until the new one is there. A question that nobody waits for is taken
/// back at once: when another one replaces it, when the page goes, and when the person cancels.
/// (`LocalResource` finishes one question before it starts the next, which is why this is not one.)
pub struct Asked<T: Send + Sync + 'static> {
    answer: RwSignal<Option<Result<Arc<T>>>>,
    pending: RwSignal<bool>,
    progress: RwSignal<Option<Progress>>,
    abort: StoredValue<Option<AbortHandle>>,
    again: Trigger,
}

impl<T: Send + Sync + 'static> Clone for Asked<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Asked<T> {}

impl<T: Send + Sync + 'static> Asked<T> {
    /// Asks what `question` returns, whenever a signal it read changes. `None` asks nothing and
    /// leaves the answer as it is. The signal it is given shows the question's progress: pass it
    /// to [`crate::engine::Engine::watched`].
    pub fn new<F, Q>(question: Q) -> Self
    where
        F: Future<Output = Result<T>> + 'static,
        Q: Fn(RwSignal<Option<Progress>>) -> Option<F> + 'static,
    {
        let asked = Self {
            answer: RwSignal::new(None),
            pending: RwSignal::new(false),
            progress: RwSignal::new(None),
            abort: StoredValue::new(None),
            again: Trigger::new(),
        };
        Effect::new(move || {
            asked.again.track();
            let question = question(asked.progress);
            asked.cancel();
            if let Some(question) = question {
                asked.start(question);
            }
        });
        on_cleanup(move || asked.cancel());
        asked
    }

    fn start(self, question: impl Future<Output = Result<T>> + 'static) {
        let (question, handle) = abortable(question);
        self.abort.set_value(Some(handle.clone()));
        self.pending.set(true);
        spawn_local(async move {
            let answer = match question.await {
                Ok(answer) => answer.map(Arc::new),
                Err(_) => Err(Error::new(Kind::Cancelled, "nobody waited for the answer")),
            };
            // Taken back for another question, or the page is gone.
            let current = self.abort.try_with_value(Option::is_some) == Some(true);
            if current && !handle.is_aborted() {
                self.finish(answer);
            }
        });
    }

    fn finish(self, answer: Result<Arc<T>>) {
        self.abort.try_set_value(None);
        self.progress.try_set(None);
        self.pending.try_set(false);
        self.answer.try_set(Some(answer));
    }

    fn cancel(self) {
        let handle = self.abort.try_update_value(Option::take).flatten();
        if let Some(handle) = handle {
            handle.abort();
        }
    }

    /// Takes the question back and says so in place of the answer.
    pub fn stop(self) {
        self.cancel();
        self.finish(Err(Error::new(
            Kind::Cancelled,
            "the question was taken back",
        )));
    }

    /// Asks the same again.
    pub fn again(self) {
        self.again.notify();
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
        self.pending.get()
    }

    /// How far it has come.
    pub fn progress(self) -> ReadSignal<Option<Progress>> {
        self.progress.read_only()
    }

    /// The answer through `view`; before it, what is waited for (`what`: `the history`) with
    /// progress and a way to cancel; instead of it, what went wrong and what to do.
    pub fn show<V: IntoMarkup + 'static>(
        self,
        what: &'static str,
        view: impl Fn(Arc<T>) -> V + Send + Sync + 'static,
    ) -> Markup {
        let again = Callback::new(move |()| self.again());
        let stop = Callback::new(move |()| self.stop());
        let body = move || match self.answer.get()? {
            Ok(value) => Some(view(value).into_markup()),
            Err(error) => Some(view! { <Failed error again /> }),
        };
        let waiting = move || {
            let shown = self.answer.with(|a| matches!(a, Some(Ok(_))));
            self.pending
                .get()
                .then(|| view! { <Loading what progress=self.progress() stop over=shown /> })
        };
        view! {
            <div class="asked" aria-busy=move || self.pending.get().to_string()>
                {waiting}
                {body}
            </div>
        }
    }
}
