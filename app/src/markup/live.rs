//! What stands in the page and follows signals: attributes and listeners.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::RenderEffect;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Element;

use super::element::{Attribute, Handler, Kind, Listener};
use super::{Setting, Value};

/// An attribute of an element of the page.
pub(super) struct Attributed {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    held: Held,
}

enum Held {
    Fixed(Setting),
    /// Its effect, dropped with it.
    Live(RenderEffect<Setting>),
}

impl Attributed {
    pub(super) fn new(attribute: Attribute, element: &Element) -> Self {
        let Attribute { kind, name, value } = attribute;
        let held = hold(kind, name, value, element, None);
        Self { kind, name, held }
    }

    /// Makes it look like `attribute`, which is of the same kind and name.
    pub(super) fn change(&mut self, attribute: Attribute, element: &Element) {
        let before = match &self.held {
            Held::Fixed(setting) => Some(setting.clone()),
            Held::Live(effect) => effect.take_value(),
        };
        self.held = hold(self.kind, self.name, attribute.value, element, before);
    }
}

fn hold(
    kind: Kind,
    name: &'static str,
    value: Value,
    element: &Element,
    before: Option<Setting>,
) -> Held {
    match value {
        Value::Fixed(setting) => {
            set(kind, name, &setting, before.as_ref(), element);
            Held::Fixed(setting)
        }
        Value::Live(mut find) => {
            let element = element.clone();
            let follow = move |before: Option<Setting>| {
                let setting = find();
                set(kind, name, &setting, before.as_ref(), &element);
                setting
            };
            Held::Live(RenderEffect::new_with_value(follow, before))
        }
    }
}

/// Sets it, unless it is so already. The browser refuses nothing that a name of ours could be.
fn set(kind: Kind, name: &str, setting: &Setting, before: Option<&Setting>, element: &Element) {
    if before == Some(setting) {
        return;
    }
    match (kind, setting) {
        // A new element has none.
        (Kind::Attribute | Kind::Class, Setting::Off) if before.is_none() => {}
        (Kind::Attribute, Setting::Off) => drop(element.remove_attribute(name)),
        (Kind::Attribute, Setting::On) => drop(element.set_attribute(name, "")),
        (Kind::Attribute, Setting::Text(text)) => drop(element.set_attribute(name, text)),
        (Kind::Class, Setting::Off) => drop(element.class_list().remove_1(name)),
        (Kind::Class, _) => drop(element.class_list().add_1(name)),
        (Kind::Property, setting) => {
            let value = match setting {
                Setting::Off => JsValue::FALSE,
                Setting::On => JsValue::TRUE,
                Setting::Text(text) => JsValue::from_str(text),
            };
            drop(js_sys::Reflect::set(element, &name.into(), &value));
        }
    }
}

/// A listener of an element of the page; it stops listening when it is dropped.
pub(super) struct Listening {
    pub(super) name: Cow<'static, str>,
    pub(super) capture: bool,
    element: Element,
    handler: Rc<RefCell<Option<Handler>>>,
    function: Closure<dyn FnMut(web_sys::Event)>,
}

impl Listening {
    pub(super) fn new(listener: Listener, element: &Element) -> Self {
        let Listener {
            name,
            capture,
            handler,
        } = listener;
        let handler = Rc::new(RefCell::new(Some(handler)));
        let shared = Rc::clone(&handler);
        let function = Closure::<dyn FnMut(web_sys::Event)>::new(move |event| {
            // An event may come while one is handled: a handler that moves the focus makes some.
            let Some(mut handle) = shared.take() else {
                return;
            };
            handle(event);
            shared.borrow_mut().get_or_insert(handle);
        });
        let listener = function.as_ref().unchecked_ref();
        drop(element.add_event_listener_with_callback_and_bool(&name, listener, capture));
        Self {
            name,
            capture,
            element: element.clone(),
            handler,
            function,
        }
    }

    /// Calls another handler from now on.
    pub(super) fn change(&mut self, handler: Handler) {
        self.handler.replace(Some(handler));
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let listener = self.function.as_ref().unchecked_ref();
        drop(self.element.remove_event_listener_with_callback_and_bool(
            &self.name,
            listener,
            self.capture,
        ));
    }
}
