//! What stands in the page and follows signals.

use leptos::prelude::RenderEffect;

/// A render effect that takes what it made along when it goes.
///
/// Leptos's own keeps its value until its task is polled once more. What is nested in the value
/// would follow its signals until then, although their owner is gone.
pub(super) struct Following<T: 'static>(RenderEffect<T>);

impl<T: 'static> Following<T> {
    /// Runs `follow` now, with this value before, and again whenever a signal that it read has
    /// changed.
    pub(super) fn new(follow: impl FnMut(Option<T>) -> T + 'static, before: Option<T>) -> Self {
        Self(RenderEffect::new_with_value(follow, before))
    }

    /// Looks at the value and may change it.
    pub(super) fn with_value_mut<U>(&self, look: impl FnOnce(&mut T) -> U) -> Option<U> {
        self.0.with_value_mut(look)
    }

    /// Takes the value out.
    pub(super) fn take_value(&self) -> Option<T> {
        self.0.take_value()
    }
}

impl<T: 'static> Drop for Following<T> {
    fn drop(&mut self) {
        drop(self.take_value());
    }
}
