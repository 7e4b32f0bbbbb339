//! Leptos's signals with one body for all types.
//!
//! Leptos compiles its signals for each type that is kept in one and for each closure that looks
//! at one: a third of the page. These are handles of the same shape and the same names over one
//! trigger, one memo and one effect of its, whose values are told apart when they are looked at.

mod derived;
mod memo;
mod slot;

use std::cell::RefCell;
use std::marker::PhantomData;

pub use derived::{Callback, Signal};
pub use memo::Memo;
use slot::Slot;

/// A value that whoever reads it follows.
pub struct RwSignal<T>(StoredValue<T>);

/// A value that is kept until its owner goes, and that nobody follows.
pub struct StoredValue<T>(Slot, PhantomData<fn() -> T>);

/// Runs `run`, now and whenever a signal that it read has changed.
pub fn effect(run: impl FnMut() + 'static) {
    erased_effect(Box::new(run));
}

fn erased_effect(mut run: Box<dyn FnMut()>) {
    leptos::prelude::Effect::new(move |_: Option<()>| run());
}

macro_rules! handles {
    ($($handle:ident)*) => {$(
        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $handle<T> {}
    )*};
}
handles!(RwSignal StoredValue Memo Signal);

macro_rules! readable {
    ($($handle:ident)*) => {$(
        impl<T: 'static> $handle<T> {
            /// The value, followed.
            pub fn get(self) -> T
            where
                T: Clone,
            {
                self.with(T::clone)
            }

            /// The value as it is now.
            pub fn get_untracked(self) -> T
            where
                T: Clone,
            {
                self.with_untracked(T::clone)
            }
        }
    )*};
}
readable!(RwSignal Memo);

impl<T: 'static> RwSignal<T> {
    /// Keeps a value for as long as the owner at hand.
    pub fn new(value: T) -> Self {
        Self(StoredValue::new(value))
    }

    /// Looks at the value and follows it.
    pub fn with<U>(self, look: impl FnOnce(&T) -> U) -> U {
        self.track();
        self.with_untracked(look)
    }

    /// Looks at the value as it is now.
    pub fn with_untracked<U>(self, look: impl FnOnce(&T) -> U) -> U {
        self.0.with_value(look)
    }

    /// As [`Self::with_untracked`]; `None` where its owner went.
    pub fn try_with_untracked<U>(self, look: impl FnOnce(&T) -> U) -> Option<U> {
        self.0.try_with_value(look)
    }

    /// Follows it.
    pub fn track(self) {
        slot::track(self.0.0);
    }

    /// Keeps another value.
    pub fn set(self, value: T) {
        self.try_set(value);
    }

    /// Keeps another value; gives it back where its owner went.
    pub fn try_set(self, value: T) -> Option<T> {
        let refused = self.0.try_set_value(value);
        slot::notify(self.0.0);
        refused
    }

    /// Changes the value.
    pub fn update(self, change: impl FnOnce(&mut T)) {
        self.0.update_value(change);
        slot::notify(self.0.0);
    }
}

impl<T: 'static> StoredValue<T> {
    /// Keeps a value for as long as the owner at hand.
    pub fn new(value: T) -> Self {
        Self(slot::keep(RefCell::new(value)), PhantomData)
    }

    /// The value.
    pub fn get_value(self) -> T
    where
        T: Clone,
    {
        self.with_value(T::clone)
    }

    /// The value; `None` where its owner went.
    pub fn try_get_value(self) -> Option<T>
    where
        T: Clone,
    {
        self.try_with_value(T::clone)
    }

    /// Looks at the value.
    pub fn with_value<U>(self, look: impl FnOnce(&T) -> U) -> U {
        self.try_with_value(look).unwrap_or_else(|| slot::gone())
    }

    /// As [`Self::with_value`]; `None` where its owner went.
    pub fn try_with_value<U>(self, look: impl FnOnce(&T) -> U) -> Option<U> {
        let cell = slot::cell::<T>(self.0)?;
        let value = cell.borrow();
        Some(look(&value))
    }

    /// Keeps another value, where its owner is still there.
    pub fn set_value(self, value: T) {
        self.try_set_value(value);
    }

    /// Keeps another value; gives it back where its owner went.
    pub fn try_set_value(self, value: T) -> Option<T> {
        let Some(cell) = slot::cell::<T>(self.0) else {
            return Some(value);
        };
        drop(cell.replace(value));
        None
    }

    /// Changes the value, where its owner is still there.
    pub fn update_value(self, change: impl FnOnce(&mut T)) {
        self.try_update_value(change);
    }

    /// Changes the value; `None` where its owner went.
    pub fn try_update_value<U>(self, change: impl FnOnce(&mut T) -> U) -> Option<U> {
        let cell = slot::cell::<T>(self.0)?;
        let mut value = cell.borrow_mut();
        Some(change(&mut value))
    }
}

#[cfg(test)]
mod tests;
