//! The channel to the worker: who waits for what, and what happens when the worker breaks.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use futures::channel::oneshot;
use lake::host::Progress;
use lake::wire::{Ask, Envelope, Message};
use lake::{Error, Kind, Result};
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use web_sys::{Event, MessageEvent, Worker};

use crate::signals::RwSignal;

use super::BUILD;
use super::read::from_json;

/// Says in the session's storage which build the page was reloaded for, so that a page and a
/// worker that never agree do not reload for ever.
const RELOADED: &str = "tidemark.reloaded-for";

/// One worker at a time, and everybody who waits for it.
pub(super) struct Link {
    base: String,
    me: Weak<Self>,
    running: RefCell<Option<Running>>,
    waiting: RefCell<HashMap<u64, Waiting>>,
    last_id: Cell<u64>,
}

struct Running {
    worker: Worker,
    /// Posted once the worker says that it listens; `None` from then on. A worker drops what comes
    /// before that.
    unsent: Option<Vec<Envelope>>,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(Event)>,
}

struct Waiting {
    answer: oneshot::Sender<Result<String>>,
    progress: Option<RwSignal<Option<Progress>>>,
}

impl Link {
    pub(super) fn new(base: String) -> Rc<Self> {
        Rc::new_cyclic(|me| Self {
            base,
            me: Weak::clone(me),
            running: RefCell::default(),
            waiting: RefCell::default(),
            last_id: Cell::new(0),
        })
    }

    /// Starts a worker unless one runs.
    pub(super) fn connect(&self) -> Result<()> {
        if self.running.borrow().is_some() {
            return Ok(());
        }
        let worker = Worker::new(&format!("{}/worker-loader.js", self.base))
            .map_err(|e| broken(format!("the worker cannot be started: {}", text_of(&e))))?;
        let me = Weak::clone(&self.me);
        let source = worker.clone();
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(link) = me.upgrade() {
                link.receive(&source, &event);
            }
        });
        let me = Weak::clone(&self.me);
        let source = worker.clone();
        let on_error = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            if let Some(link) = me.upgrade() {
                link.crash(&source, &event_text(&event));
            }
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let hello = Envelope::Hello {
            build: BUILD.to_owned(),
            base: self.base.clone(),
        };
        *self.running.borrow_mut() = Some(Running {
            worker,
            unsent: Some(vec![hello]),
            _on_message: on_message,
            _on_error: on_error,
        });
        Ok(())
    }

    /// Posts a question. The future is its answer.
    pub(super) fn post(
        &self,
        ask: Ask,
        progress: Option<RwSignal<Option<Progress>>>,
    ) -> Result<Reply> {
        self.connect()?;
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let (answer, receiver) = oneshot::channel();
        let waiting = Waiting { answer, progress };
        self.waiting.borrow_mut().insert(id, waiting);
        self.send(Envelope::Ask { id, ask });
        Ok(Reply {
            id,
            receiver,
            link: Weak::clone(&self.me),
        })
    }

    fn send(&self, envelope: Envelope) {
        let mut running = self.running.borrow_mut();
        match running.as_mut() {
            Some(Running {
                unsent: Some(unsent),
                ..
            }) => unsent.push(envelope),
            Some(running) => running.send(&envelope),
            None => {}
        }
    }

    /// Takes a question back, unless it was answered.
    fn cancel(&self, id: u64) {
        let waiting = self.waiting.borrow_mut().remove(&id);
        if let Some(waiting) = waiting {
            show(waiting.progress, None);
            self.send(Envelope::Cancel { id });
        }
    }

    fn receive(&self, source: &Worker, event: &MessageEvent) {
        if !self.is_current(source) {
            return;
        }
        // A message, and the answer beside it: whoever asked knows how to read that.
        let data = js_sys::Array::from(&event.data());
        let text = |place| data.get(place).as_string().unwrap_or_default();
        let message = match from_json::<Message>(&text(0)) {
            Ok(message) => message,
            Err(e) => return self.crash(source, &format!("its message cannot be read: {e}")),
        };
        match message {
            Message::Ready { build } if build != BUILD => self.disagree(source, &build),
            Message::Ready { .. } => {
                if let Some(running) = self.running.borrow_mut().as_mut() {
                    for envelope in running.unsent.take().into_iter().flatten() {
                        running.send(&envelope);
                    }
                }
            }
            Message::Progress { id, progress } => {
                let signal = self.waiting.borrow().get(&id).and_then(|w| w.progress);
                show(signal, Some(progress));
            }
            Message::Answer { id } => self.answer(id, Ok(text(1))),
            Message::Failed { id, error } => self.answer(id, Err(error.into())),
            Message::Crashed { message } => self.crash(source, &message),
        }
    }

    fn answer(&self, id: u64, answer: Result<String>) {
        let waiting = self.waiting.borrow_mut().remove(&id);
        if let Some(waiting) = waiting {
            waiting.end(answer);
        }
    }

    /// Whoever waits is told; the next question starts another worker.
    fn crash(&self, source: &Worker, message: &str) {
        if self.is_current(source) {
            self.stop(&broken(format!("the worker stopped: {message}")));
        }
    }

    fn stop(&self, error: &Error) {
        if let Some(running) = self.running.borrow_mut().take() {
            running.worker.set_onmessage(None);
            running.worker.set_onerror(None);
            running.worker.terminate();
        }
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        for (_, waiting) in waiting {
            waiting.end(Err(error.clone()));
        }
    }

    /// The worker is of another release than the page: one of them came from a cache.
    fn disagree(&self, source: &Worker, build: &str) {
        let window = web_sys::window();
        let storage = window.as_ref().and_then(|w| w.session_storage().ok()?);
        let reloaded = storage.as_ref().and_then(|s| s.get_item(RELOADED).ok()?);
        if reloaded.as_deref() != Some(build)
            && let (Some(window), Some(storage)) = (window, storage)
            && storage.set_item(RELOADED, build).is_ok()
            && window.location().reload().is_ok()
        {
            return;
        }
        self.crash(
            source,
            &format!("it is of build {build} and the page of {BUILD}; reload without the cache"),
        );
    }

    fn is_current(&self, source: &Worker) -> bool {
        let running = self.running.borrow();
        running.as_ref().is_some_and(|r| r.worker == *source)
    }
}

impl Waiting {
    fn end(self, answer: Result<String>) {
        show(self.progress, None);
        // Whoever asked may have gone in this very turn.
        let _ = self.answer.send(answer);
    }
}

/// A signal may be gone before its question is.
fn show(signal: Option<RwSignal<Option<Progress>>>, progress: Option<Progress>) {
    if let Some(signal) = signal {
        let _ = signal.try_set(progress);
    }
}

impl Running {
    fn send(&self, envelope: &Envelope) {
        // Both can only fail on values that an envelope does not hold.
        if let Ok(text) = serde_json::to_string(envelope) {
            let _ = self.worker.post_message(&JsValue::from_str(&text));
        }
    }
}

/// An answer to come. Dropping it takes the question back.
pub(super) struct Reply {
    id: u64,
    receiver: oneshot::Receiver<Result<String>>,
    link: Weak<Link>,
}

impl Future for Reply {
    type Output = Result<String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.receiver)
            .poll(context)
            .map(|answer| answer.unwrap_or_else(|_| Err(broken("the worker is gone".to_owned()))))
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(link) = self.link.upgrade() {
            link.cancel(self.id);
        }
    }
}

fn broken(message: String) -> Error {
    Error::new(Kind::Internal, message)
}

fn event_text(event: &Event) -> String {
    match event.dyn_ref::<web_sys::ErrorEvent>() {
        Some(error) => error.message(),
        None => "its script cannot be loaded".to_owned(),
    }
}

fn text_of(value: &JsValue) -> String {
    let error = value.dyn_ref::<js_sys::Error>();
    error.map_or_else(|| format!("{value:?}"), |e| String::from(e.message()))
}
