//! Puts pieces into the page, changes them and takes them away.

use std::borrow::Cow;

use any_spawner::Executor;
use leptos::prelude::{Owner, document};
use web_sys::{Comment, Node, Text};

use super::each::Shelf;
use super::following::Following;
use super::live::{Attributed, Listening};
use super::{Element, Markup};

/// A piece that was made, in the page or on its way there.
pub(super) enum Shown {
    Text(Text, Cow<'static, str>),
    Element(Box<Standing>),
    /// Pieces, and the comment behind them, which holds the place when there are none.
    Many(Vec<Shown>, Comment),
    Live(Following<Shown>),
    Each(Shelf),
}

/// An element that was made.
pub(super) struct Standing {
    name: &'static str,
    node: web_sys::Element,
    attributes: Vec<Attributed>,
    listeners: Vec<Listening>,
    children: Vec<Shown>,
}

/// Shows what `page` makes as the document's body, for good.
pub fn mount(page: impl FnOnce() -> Markup) {
    // It fails only where it was done before.
    let _ = Executor::init_wasm_bindgen();
    let owner = Owner::new();
    owner.set();
    let shown = Shown::new(page());
    if let Some(body) = document().body() {
        shown.put(&body, None);
    }
    // Both live as long as the page does.
    std::mem::forget((owner, shown));
}

impl Shown {
    /// Makes it.
    pub(super) fn new(markup: Markup) -> Self {
        match markup {
            Markup::Nothing => Self::Many(Vec::new(), document().create_comment("")),
            Markup::Text(text) => Self::Text(document().create_text_node(&text), text),
            Markup::Element(element) => Self::Element(Box::new(Standing::new(*element))),
            Markup::Many(pieces) => Self::Many(
                pieces.into_iter().map(Self::new).collect(),
                document().create_comment(""),
            ),
            Markup::Live(make) => Self::live(make, None),
            Markup::Each(rows) => Self::Each(Shelf::new(rows)),
        }
    }

    fn live(mut make: Box<dyn FnMut() -> Markup>, before: Option<Self>) -> Self {
        let follow = move |before: Option<Self>| {
            let markup = make();
            match before {
                None => Self::new(markup),
                Some(mut shown) => {
                    shown.change(markup);
                    shown
                }
            }
        };
        Self::Live(Following::new(follow, before))
    }

    /// Makes it look like `markup`, keeping what can stay.
    pub(super) fn change(&mut self, markup: Markup) {
        let markup = match (&mut *self, markup) {
            (Self::Text(node, shown), Markup::Text(text)) => {
                if *shown != text {
                    node.set_data(&text);
                    *shown = text;
                }
                return;
            }
            (Self::Element(shown), Markup::Element(element)) => match shown.change(*element) {
                None => return,
                Some(other) => Markup::Element(Box::new(other)),
            },
            (Self::Many(shown, end), Markup::Nothing) => {
                change_all(shown, Vec::new(), end);
                return;
            }
            (Self::Many(shown, end), Markup::Many(pieces)) => {
                change_all(shown, pieces, end);
                return;
            }
            (Self::Live(effect), Markup::Live(make)) => {
                let before = effect.take_value();
                *self = Self::live(make, before);
                return;
            }
            (_, other) => other,
        };
        let other = Self::new(markup);
        if let Some(first) = self.first()
            && let Some(parent) = first.parent_node()
        {
            other.put(&parent, Some(&first));
        }
        self.remove();
        *self = other;
    }

    /// Puts it into `parent`, before a node of it or at its end.
    pub(super) fn put(&self, parent: &Node, before: Option<&Node>) {
        match self {
            Self::Text(node, _) => insert(parent, node, before),
            Self::Element(shown) => insert(parent, &shown.node, before),
            Self::Many(pieces, end) => {
                for piece in pieces {
                    piece.put(parent, before);
                }
                insert(parent, end, before);
            }
            Self::Live(effect) => {
                effect.with_value_mut(|shown| shown.put(parent, before));
            }
            Self::Each(shelf) => shelf.put(parent, before),
        }
    }

    /// Takes it out of the page.
    pub(super) fn remove(&self) {
        match self {
            Self::Text(node, _) => node.remove(),
            Self::Element(shown) => shown.node.remove(),
            Self::Many(pieces, end) => {
                pieces.iter().for_each(Self::remove);
                end.remove();
            }
            Self::Live(effect) => {
                effect.with_value_mut(|shown| shown.remove());
            }
            Self::Each(shelf) => shelf.remove(),
        }
    }

    /// Its first node.
    pub(super) fn first(&self) -> Option<Node> {
        match self {
            Self::Text(node, _) => Some(Node::clone(node)),
            Self::Element(shown) => Some(Node::clone(&shown.node)),
            Self::Many(pieces, end) => pieces
                .first()
                .and_then(Self::first)
                .or_else(|| Some(Node::clone(end))),
            Self::Live(effect) => effect.with_value_mut(|shown| shown.first()).flatten(),
            Self::Each(shelf) => shelf.first(),
        }
    }
}

impl Standing {
    fn new(element: Element) -> Self {
        let document = document();
        let made = match element.svg {
            false => document.create_element(element.name),
            true => document.create_element_ns(Some("http://www.w3.org/2000/svg"), element.name),
        };
        // Refused are names that are none, and ours stand in the code.
        let node = made.unwrap_or_else(|_| wasm_bindgen::throw_str(element.name));
        let set = |attribute| Attributed::new(attribute, &node);
        let attributes = element.attributes.into_iter().map(set).collect();
        let listen = |listener| Listening::new(listener, &node);
        let listeners = element.listeners.into_iter().map(listen).collect();
        let children: Vec<_> = element.children.into_iter().map(Shown::new).collect();
        for child in &children {
            child.put(&node, None);
        }
        for fill in element.references {
            fill(&node);
        }
        Self {
            name: element.name,
            node,
            attributes,
            listeners,
            children,
        }
    }

    /// Makes it look like `element`; gives that back where it is of another kind.
    fn change(&mut self, element: Element) -> Option<Element> {
        let alike = self.name == element.name
            && self.children.len() == element.children.len()
            && self
                .attributes
                .iter()
                .map(|a| (a.kind, a.name))
                .eq(element.attributes.iter().map(|a| (a.kind, a.name)))
            && self
                .listeners
                .iter()
                .map(|l| (&l.name, l.capture))
                .eq(element.listeners.iter().map(|l| (&l.name, l.capture)));
        if !alike {
            return Some(element);
        }
        for (shown, attribute) in self.attributes.iter_mut().zip(element.attributes) {
            shown.change(attribute, &self.node);
        }
        for (shown, listener) in self.listeners.iter_mut().zip(element.listeners) {
            shown.change(listener.handler);
        }
        for (shown, child) in self.children.iter_mut().zip(element.children) {
            shown.change(child);
        }
        for fill in element.references {
            fill(&self.node);
        }
        None
    }
}

fn change_all(shown: &mut Vec<Shown>, pieces: Vec<Markup>, end: &Comment) {
    let mut pieces = pieces.into_iter();
    let mut kept = 0;
    for (shown, piece) in shown.iter_mut().zip(pieces.by_ref()) {
        shown.change(piece);
        kept += 1;
    }
    for gone in shown.drain(kept..) {
        gone.remove();
    }
    let parent = end.parent_node();
    for piece in pieces {
        let more = Shown::new(piece);
        if let Some(parent) = &parent {
            more.put(parent, Some(end));
        }
        shown.push(more);
    }
}

/// The browser refuses only what would put a node into itself.
pub(super) fn insert(parent: &Node, node: &Node, before: Option<&Node>) {
    drop(parent.insert_before(node, before));
}
