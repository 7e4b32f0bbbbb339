//! An element: its name, its attributes, its listeners, its children.

use std::borrow::Cow;

use leptos::html::ElementType;
use leptos::prelude::Owner;
use leptos::tachys::html::event::EventDescriptor;
use wasm_bindgen::JsCast;

use super::{IntoMarkup, IntoValue, Markup, NodeRef, Setting, Value};

/// An element that was not put into the page yet.
pub struct Element {
    pub(super) name: &'static str,
    pub(super) svg: bool,
    pub(super) attributes: Vec<Attribute>,
    pub(super) listeners: Vec<Listener>,
    pub(super) references: Vec<Referrer>,
    pub(super) children: Vec<Markup>,
}

/// Is told the element once it is in the page.
pub(super) type Referrer = Box<dyn FnOnce(&web_sys::Element)>;

/// What is done when an event comes.
pub(super) type Handler = Box<dyn FnMut(web_sys::Event)>;

/// A handler and the events that it is for.
pub(super) struct Listener {
    pub(super) name: Cow<'static, str>,
    /// Whether it comes before those of the elements inside.
    pub(super) capture: bool,
    pub(super) handler: Handler,
}

/// Something about an element that has a name and a value.
pub(super) struct Attribute {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    pub(super) value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Attribute,
    /// A property of the object, as `value` of a field that was typed into.
    Property,
    /// One class among others.
    Class,
}

impl Element {
    /// An element of HTML.
    #[inline(never)]
    pub fn html(name: &'static str) -> Box<Self> {
        Self::new(name, false)
    }

    /// An element of SVG.
    #[inline(never)]
    pub fn svg(name: &'static str) -> Box<Self> {
        Self::new(name, true)
    }

    fn new(name: &'static str, svg: bool) -> Box<Self> {
        Box::new(Self {
            name,
            svg,
            attributes: Vec::new(),
            listeners: Vec::new(),
            references: Vec::new(),
            children: Vec::new(),
        })
    }

    #[inline(never)]
    fn push(&mut self, kind: Kind, name: &'static str, value: Value) {
        self.attributes.push(Attribute { kind, name, value });
    }

    /// An attribute that never changes.
    #[inline(never)]
    pub fn fixed(&mut self, name: &'static str, value: &'static str) {
        self.push(
            Kind::Attribute,
            name,
            Value::Fixed(Setting::Text(value.into())),
        );
    }

    /// An attribute: absent for `false` and `None`, empty for `true`.
    pub fn attribute(&mut self, name: &'static str, value: impl IntoValue) {
        self.push(Kind::Attribute, name, value.into_value());
    }

    /// A property of the element's object.
    pub fn property(&mut self, name: &'static str, value: impl IntoValue) {
        self.push(Kind::Property, name, value.into_value());
    }

    /// A class that is there while the value is `true`.
    pub fn toggle(&mut self, class: &'static str, value: impl IntoValue) {
        self.push(Kind::Class, class, value.into_value());
    }

    /// Calls the handler for each event of the kind.
    pub fn on<E>(&mut self, event: E, mut handler: impl FnMut(E::EventType) + 'static)
    where
        E: EventDescriptor,
        E::EventType: JsCast,
    {
        let handler = move |event: web_sys::Event| handler(event.unchecked_into());
        self.listen(event.name(), E::CAPTURE, Box::new(handler));
    }

    #[inline(never)]
    fn listen(&mut self, name: Cow<'static, str>, capture: bool, mut handler: Handler) {
        // What a handler asks its context for is what the component that made it would find.
        let handler: Handler = match Owner::current() {
            Some(owner) => Box::new(move |event| owner.with(|| handler(event))),
            None => handler,
        };
        self.listeners.push(Listener {
            name,
            capture,
            handler,
        });
    }

    /// Fills the reference with the element once it exists.
    pub fn reference<E>(&mut self, reference: NodeRef<E>)
    where
        E: ElementType,
        E::Output: JsCast + 'static,
        E: 'static,
    {
        let load = move |element: &web_sys::Element| reference.load(element);
        self.references.push(Box::new(load));
    }

    /// Text in it that never changes.
    #[inline(never)]
    pub fn text(&mut self, text: &'static str) {
        self.put(super::text(text));
    }

    /// An element in it.
    #[inline(never)]
    pub fn element(&mut self, element: Box<Element>) {
        self.put(Markup::Element(element));
    }

    /// Something in it.
    pub fn child(&mut self, child: impl IntoMarkup) {
        self.put(child.into_markup());
    }

    #[inline(never)]
    fn put(&mut self, child: Markup) {
        self.children.push(child);
    }
}
