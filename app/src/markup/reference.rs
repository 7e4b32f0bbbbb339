//! Elements that code reaches for.

use std::marker::PhantomData;

use leptos::html::ElementType;
use wasm_bindgen::JsCast;

use crate::signals::RwSignal;

/// An element of the page, once it is there.
pub struct NodeRef<E> {
    element: RwSignal<Option<web_sys::Element>>,
    kind: PhantomData<fn() -> E>,
}

impl<E> Clone for NodeRef<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for NodeRef<E> {}

impl<E> NodeRef<E>
where
    E: ElementType,
    E::Output: JsCast,
{
    /// No element yet.
    pub fn new() -> Self {
        Self {
            element: RwSignal::new(None),
            kind: PhantomData,
        }
    }

    /// The element, followed.
    pub fn get(self) -> Option<E::Output> {
        self.element.get().map(JsCast::unchecked_into)
    }

    /// The element as it is now; none where its owner went: a frame or an observer may still ask.
    pub fn get_untracked(self) -> Option<E::Output> {
        let element = self.element.try_with_untracked(Clone::clone).flatten();
        element.map(JsCast::unchecked_into)
    }

    /// Follows whether it is there.
    pub fn track(self) {
        self.element.track();
    }

    pub(super) fn load(self, element: &web_sys::Element) {
        self.element.try_set(Some(element.clone()));
    }
}

impl<E> Default for NodeRef<E>
where
    E: ElementType,
    E::Output: JsCast,
{
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use leptos::html::Div;
    use leptos::prelude::Owner;

    use super::NodeRef;

    #[test]
    fn nothing_is_there_once_the_owner_went() {
        let owner = Owner::new();
        let frame = owner.with(NodeRef::<Div>::new);
        assert!(frame.get_untracked().is_none());
        owner.cleanup();
        assert!(frame.get_untracked().is_none());
    }
}
