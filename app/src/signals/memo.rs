//! Values that follow from others.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

use leptos::prelude::{Get, GetUntracked};
use send_wrapper::SendWrapper;

use super::slot::{self, Slot};

/// A value that is found again when what it was found from has changed. Those who follow it are
/// told only when it is another.
pub struct Memo<T> {
    /// Counts the values there were.
    stamp: leptos::prelude::Memo<u64>,
    newest: Slot,
    kind: PhantomData<fn() -> T>,
}

impl<T: PartialEq + 'static> Memo<T> {
    /// `find` is given the value before.
    pub fn new(find: impl Fn(Option<&T>) -> T + 'static) -> Self {
        let newest = Rc::new(RefCell::new(None));
        let kept = slot::keep(Rc::clone(&newest));
        let stamp = erased(Box::new(move || {
            let next = find(newest.borrow().as_ref());
            let other = newest.borrow().as_ref() != Some(&next);
            if other {
                drop(newest.replace(Some(next)));
            }
            other
        }));
        Self {
            stamp,
            newest: kept,
            kind: PhantomData,
        }
    }
}

/// `find` says whether the value is another.
fn erased(find: Box<dyn Fn() -> bool>) -> leptos::prelude::Memo<u64> {
    let find = SendWrapper::new(find);
    leptos::prelude::Memo::new(move |stamp: Option<&u64>| {
        let stamp = stamp.copied().unwrap_or_default();
        if find() { stamp + 1 } else { stamp }
    })
}

impl<T: 'static> Memo<T> {
    /// Looks at the value and follows it.
    pub fn with<U>(self, look: impl FnOnce(&T) -> U) -> U {
        self.track();
        self.look(look)
    }

    /// Looks at the value as it is now.
    pub fn with_untracked<U>(self, look: impl FnOnce(&T) -> U) -> U {
        self.stamp.get_untracked();
        self.look(look)
    }

    /// Follows it.
    pub fn track(self) {
        self.stamp.get();
    }

    fn look<U>(self, look: impl FnOnce(&T) -> U) -> U {
        let Some(newest) = slot::value::<Rc<RefCell<Option<T>>>>(self.newest) else {
            slot::gone()
        };
        match &*newest.borrow() {
            Some(value) => look(value),
            None => slot::gone(),
        }
    }
}
