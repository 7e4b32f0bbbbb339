//! Pieces of the page as data.
//!
//! Leptos gives its views types, and compiles code to make, change and remove each type. Here a
//! piece is a value of one type, and that code exists once. Signals, effects, components and
//! events are Leptos's.

pub mod each;
mod element;
mod following;
mod into;
mod live;
mod reference;
mod shown;
mod value;

use std::borrow::Cow;
use std::rc::Rc;

pub use each::{Each, Key};
pub use element::Element;
pub use into::IntoMarkup;
pub use markup::view;
pub use reference::NodeRef;
pub use shown::mount;
pub use value::{IntoSetting, IntoValue, Setting, Value};

/// A piece of the page that was not put into it yet.
#[derive(Default)]
pub enum Markup {
    /// Nothing to see.
    #[default]
    Nothing,
    /// Text.
    Text(Cow<'static, str>),
    /// An element with what is in it.
    Element(Box<Element>),
    /// One after the other.
    Many(Vec<Markup>),
    /// Made again whenever a signal that was read in making it has changed. What stands in the
    /// page is changed to look like it, so that focus and selection stay.
    Live(Box<dyn FnMut() -> Markup>),
    /// Rows that stay as they are while their keys stay.
    Each(each::Rows),
}

impl<M: IntoMarkup> FromIterator<M> for Markup {
    fn from_iter<I: IntoIterator<Item = M>>(pieces: I) -> Self {
        Self::Many(pieces.into_iter().map(M::into_markup).collect())
    }
}

impl Markup {
    /// What `make` makes, again whenever a signal it read has changed.
    pub fn live<M: IntoMarkup>(mut make: impl FnMut() -> M + 'static) -> Self {
        Self::Live(Box::new(move || make().into_markup()))
    }
}

/// Text as it is.
pub fn text(text: &'static str) -> Markup {
    Markup::Text(Cow::Borrowed(text))
}

/// What stands between a component's tags.
pub struct Children(Box<dyn FnOnce() -> Markup>);

impl Children {
    /// Makes it.
    pub fn make(self) -> Markup {
        (self.0)()
    }
}

impl<F: FnOnce() -> Markup + 'static> From<F> for Children {
    fn from(children: F) -> Self {
        Self(Box::new(children))
    }
}

/// A piece that can be made often.
#[derive(Clone)]
pub struct Maker(Rc<dyn Fn() -> Markup>);

impl Maker {
    /// Makes one.
    pub fn make(&self) -> Markup {
        (self.0)()
    }
}

impl Default for Maker {
    fn default() -> Self {
        Self(Rc::new(Markup::default))
    }
}

impl<M: IntoMarkup, F: Fn() -> M + 'static> From<F> for Maker {
    fn from(make: F) -> Self {
        Self(Rc::new(move || make().into_markup()))
    }
}
