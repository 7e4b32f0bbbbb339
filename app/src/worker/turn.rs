//! The event loop's turns: letting messages in, and waiting.

use std::cell::RefCell;
use std::collections::VecDeque;

use futures::channel::oneshot;
use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{MessageChannel, MessagePort};

/// Ends after every message that is waiting has been taken.
///
/// A timer of zero would do too, but a browser makes the fifth one in a row wait four
/// milliseconds.
pub async fn next_turn() {
    let (sender, receiver) = oneshot::channel();
    let posted = DOOR.with(|door| {
        door.waiting.borrow_mut().push_back(sender);
        door.knock()
    });
    if posted {
        // The sender lives in the door until the message arrives.
        let _ = receiver.await;
    }
}

struct Door {
    outside: Option<MessagePort>,
    waiting: RefCell<VecDeque<oneshot::Sender<()>>>,
}

thread_local! {
    static DOOR: Door = Door::new();
}

impl Door {
    fn new() -> Self {
        let channel = MessageChannel::new().ok();
        if let Some(channel) = &channel {
            let open = Closure::<dyn Fn()>::new(|| {
                let next = DOOR.with(|door| door.waiting.borrow_mut().pop_front());
                if let Some(sender) = next {
                    let _ = sender.send(());
                }
            });
            let handler = open.into_js_value();
            channel.port1().set_onmessage(Some(handler.unchecked_ref()));
        }
        Self {
            outside: channel.map(|c| c.port2()),
            waiting: RefCell::default(),
        }
    }

    fn knock(&self) -> bool {
        let port = self.outside.as_ref();
        port.is_some_and(|port| port.post_message(&JsValue::NULL).is_ok())
    }
}

/// Ends after `millis` milliseconds.
pub async fn sleep(millis: u32) {
    let promise = Promise::new(&mut |resolve, _| {
        let timer = Reflect::get(&js_sys::global(), &JsValue::from_str("setTimeout"));
        if let Ok(timer) = timer
            && let Ok(timer) = timer.dyn_into::<Function>()
        {
            let _ = timer.call2(&JsValue::UNDEFINED, &resolve, &JsValue::from(millis));
        }
    });
    let _ = JsFuture::from(promise).await;
}
