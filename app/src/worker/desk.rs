//! The worker's message loop: a task for each question, dropped when it is taken back.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::{AbortHandle, abortable};
use lake::answer::Reader;
use lake::host::SharedHost;
use lake::wire::{Answer, Ask, Envelope, ErrorReport, Message};
use lake::{Error, Kind};
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use crate::engine::BUILD;

use super::host::WorkerHost;
use super::roots::ServerRoots;

/// Listens to the page for as long as the worker lives.
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        post(&Message::Crashed {
            message: panic.to_string(),
        });
    }));
    let desk = Rc::new(Desk::default());
    let listen = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        desk.receive(&event.data());
    });
    let listener = listen.into_js_value();
    scope().set_onmessage(Some(listener.unchecked_ref()));
    post(&Message::Ready {
        build: BUILD.to_owned(),
    });
}

#[derive(Default)]
struct Desk {
    reader: RefCell<Option<Rc<Reader>>>,
    running: RefCell<HashMap<u64, AbortHandle>>,
}

impl Desk {
    fn receive(self: &Rc<Self>, data: &JsValue) {
        let text = data.as_string().unwrap_or_default();
        // Only this build's page posts here: what cannot be read is a fault of ours.
        let Ok(envelope) = serde_json::from_str::<Envelope>(&text) else {
            let message = "the page's message cannot be read".to_owned();
            return post(&Message::Crashed { message });
        };
        match envelope {
            Envelope::Hello { base, .. } => {
                let roots = Arc::new(ServerRoots::new(base));
                let datasets = Arc::clone(&roots);
                let reader = Reader::new(roots).with_datasets(datasets);
                self.reader.replace(Some(Rc::new(reader)));
            }
            Envelope::Ask { id, ask } => self.answer(id, ask),
            Envelope::Cancel { id } => {
                if let Some(task) = self.running.borrow_mut().remove(&id) {
                    task.abort();
                }
            }
        }
    }

    fn answer(self: &Rc<Self>, id: u64, ask: Ask) {
        let reader = self.reader.borrow().clone();
        let host: SharedHost = Arc::new(WorkerHost::new(move |progress| {
            post(&Message::Progress { id, progress });
        }));
        let (task, handle) = abortable(async move {
            match reader {
                Some(reader) => reader.answer(ask, host).await,
                None => Err(Error::new(
                    Kind::Internal,
                    "the page asked before it said hello",
                )),
            }
        });
        self.running.borrow_mut().insert(id, handle);
        let desk = Rc::clone(self);
        spawn_local(async move {
            let Ok(answer) = task.await else {
                return;
            };
            desk.running.borrow_mut().remove(&id);
            match answer {
                Ok(answer) => post_with(&Message::Answer { id }, Some(&answer)),
                Err(error) => post(&failed(id, &error)),
            }
        });
    }
}

fn failed(id: u64, error: &Error) -> Message {
    Message::Failed {
        id,
        error: ErrorReport::from(error),
    }
}

fn post(message: &Message) {
    post_with(message, None);
}

/// A message, and an answer beside it.
fn post_with(message: &Message, answer: Option<&Answer>) {
    let texts = serde_json::to_string(message)
        .and_then(|message| Ok((message, answer.map(serde_json::to_string).transpose()?)));
    let (message, answer) = texts.unwrap_or_else(|e| {
        // A worker that cannot say its answer must not leave the page waiting for it.
        let crashed = format!(
            r#"{{"crashed":{{"message":"an answer cannot be written, {:?}"}}}}"#,
            e.classify()
        );
        (crashed, None)
    });
    let post = js_sys::Array::of1(&JsValue::from_str(&message));
    if let Some(answer) = answer {
        post.push(&JsValue::from_str(&answer));
    }
    // Fails for values that cannot be cloned; text can.
    let _ = scope().post_message(&post);
}

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}
