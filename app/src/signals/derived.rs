//! Closures that are kept like values.

use std::marker::PhantomData;
use std::rc::Rc;

use super::slot::{self, Slot};
use super::{Memo, RwSignal};

/// A value that is found whenever it is looked at.
pub struct Signal<T>(Slot, PhantomData<fn() -> T>);

impl<T: 'static> Signal<T> {
    /// What `find` returns; who looks follows what it reads.
    pub fn derive(find: impl Fn() -> T + 'static) -> Self {
        let find: Rc<dyn Fn() -> T> = Rc::new(find);
        Self(slot::keep(find), PhantomData)
    }

    /// A value that stays.
    pub fn stored(value: T) -> Self
    where
        T: Clone,
    {
        Self::derive(move || value.clone())
    }

    /// The value, followed.
    pub fn get(self) -> T {
        match slot::value::<Rc<dyn Fn() -> T>>(self.0) {
            Some(find) => find(),
            None => slot::gone(),
        }
    }

    /// The value as it is now.
    pub fn get_untracked(self) -> T {
        leptos::prelude::untrack(|| self.get())
    }

    /// The value as it is now; `None` where its owner went.
    pub fn try_get_untracked(self) -> Option<T> {
        let find = slot::value::<Rc<dyn Fn() -> T>>(self.0)?;
        Some(leptos::prelude::untrack(|| find()))
    }

    /// Follows what it is found from.
    pub fn track(self) {
        drop(self.get());
    }

    /// Looks at the value and follows it.
    pub fn with<U>(self, look: impl FnOnce(&T) -> U) -> U {
        look(&self.get())
    }

    /// Looks at the value as it is now.
    pub fn with_untracked<U>(self, look: impl FnOnce(&T) -> U) -> U {
        look(&self.get_untracked())
    }
}

impl<T: Clone + 'static> From<RwSignal<T>> for Signal<T> {
    fn from(signal: RwSignal<T>) -> Self {
        Self::derive(move || signal.get())
    }
}

impl<T: Clone + 'static> From<Memo<T>> for Signal<T> {
    fn from(memo: Memo<T>) -> Self {
        Self::derive(move || memo.get())
    }
}

impl From<String> for Signal<String> {
    fn from(text: String) -> Self {
        Self::stored(text)
    }
}

impl From<&'static str> for Signal<String> {
    fn from(text: &'static str) -> Self {
        Self::stored(text.to_owned())
    }
}

/// Something that is done when it is asked for.
pub struct Callback<A, R = ()>(Slot, PhantomData<fn(A) -> R>);

impl<A, R> Clone for Callback<A, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, R> Copy for Callback<A, R> {}

impl<A: 'static, R: 'static> Callback<A, R> {
    /// Keeps `run` for as long as the owner at hand.
    pub fn new(run: impl Fn(A) -> R + 'static) -> Self {
        let run: Rc<dyn Fn(A) -> R> = Rc::new(run);
        Self(slot::keep(run), PhantomData)
    }

    /// Does it.
    pub fn run(&self, with: A) -> R {
        match slot::value::<Rc<dyn Fn(A) -> R>>(self.0) {
            Some(run) => run(with),
            None => slot::gone(),
        }
    }
}
