//! Where values are kept: in Leptos's arena, as values of one type.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::{ArcTrigger, LocalStorage, Notify, StoredValue, Track, WithValue};

/// A place in the arena. What is in it goes with the owner it was kept under.
pub(super) type Slot = StoredValue<Kept, LocalStorage>;

/// A value and what is told when it changes.
pub(super) struct Kept {
    changed: ArcTrigger,
    value: Rc<dyn Any>,
}

/// Keeps a value under the owner at hand.
pub(super) fn keep(value: impl Any) -> Slot {
    keep_any(Rc::new(value))
}

#[inline(never)]
fn keep_any(value: Rc<dyn Any>) -> Slot {
    StoredValue::new_local(Kept {
        changed: ArcTrigger::new(),
        value,
    })
}

/// What is kept; `None` where its owner went.
#[inline(never)]
pub(super) fn value<V: Any>(slot: Slot) -> Option<Rc<V>> {
    value_any(slot)?.downcast().ok()
}

/// What is kept and may change; `None` where its owner went.
pub(super) fn cell<T: 'static>(slot: Slot) -> Option<Rc<RefCell<T>>> {
    value(slot)
}

#[inline(never)]
fn value_any(slot: Slot) -> Option<Rc<dyn Any>> {
    slot.try_with_value(|kept| Rc::clone(&kept.value))
}

#[inline(never)]
fn changed(slot: Slot) -> Option<ArcTrigger> {
    slot.try_with_value(|kept| kept.changed.clone())
}

/// Makes whoever runs now run again when the value has changed.
#[inline(never)]
pub(super) fn track(slot: Slot) {
    if let Some(changed) = changed(slot) {
        changed.track();
    }
}

/// Tells those who follow that the value has changed.
#[inline(never)]
pub(super) fn notify(slot: Slot) {
    if let Some(changed) = changed(slot) {
        changed.notify();
    }
}

/// A signal is read that went with its owner: the reader should have gone, too.
#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "a fault of the page's own, as in Leptos")]
pub(super) fn gone() -> ! {
    panic!("a signal was read whose owner is gone")
}
