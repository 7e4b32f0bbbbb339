use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::Owner;

use super::*;

#[test]
fn a_memo_is_found_again_only_when_it_could_be_another() {
    let owner = Owner::new();
    owner.with(|| {
        let found = Rc::new(Cell::new(0));
        let number = RwSignal::new(1_u32);
        let even = Memo::new({
            let found = Rc::clone(&found);
            move |_| {
                found.set(found.get() + 1);
                number.get().is_multiple_of(2)
            }
        });
        let follows = Rc::new(Cell::new(0));
        let label = Memo::new({
            let follows = Rc::clone(&follows);
            move |_| {
                follows.set(follows.get() + 1);
                if even.get() { "even" } else { "odd" }
            }
        });
        assert_eq!(label.get_untracked(), "odd");
        number.set(3);
        assert_eq!(label.get_untracked(), "odd");
        assert_eq!((found.get(), follows.get()), (2, 1));
        number.update(|n| *n += 1);
        assert_eq!(label.get_untracked(), "even");
        assert_eq!((found.get(), follows.get()), (3, 2));
    });
}

#[test]
fn a_memo_knows_what_it_was() {
    let owner = Owner::new();
    owner.with(|| {
        let number = RwSignal::new(5_u32);
        let highest = Memo::new(move |before: Option<&u32>| {
            number.get().max(before.copied().unwrap_or_default())
        });
        assert_eq!(highest.get_untracked(), 5);
        number.set(2);
        assert_eq!(highest.get_untracked(), 5);
        number.set(7);
        assert_eq!(highest.get_untracked(), 7);
    });
}

#[test]
fn what_is_kept_goes_with_its_owner() {
    let owner = Owner::new();
    let (signal, stored, derived) = owner.with(|| {
        let signal = RwSignal::new("here".to_owned());
        (
            signal,
            StoredValue::new(1),
            Signal::derive(move || signal.get()),
        )
    });
    assert_eq!(signal.try_set("there".to_owned()), None);
    assert_eq!(derived.try_get_untracked().as_deref(), Some("there"));
    stored.update_value(|n| *n += 1);
    assert_eq!(stored.try_get_value(), Some(2));
    owner.cleanup();
    assert_eq!(signal.try_set("gone".to_owned()).as_deref(), Some("gone"));
    assert_eq!(signal.try_with_untracked(String::len), None);
    assert_eq!(stored.try_get_value(), None);
    assert_eq!(derived.try_get_untracked(), None);
    // Who sets a value late is not at fault.
    stored.set_value(3);
    signal.update(|text| text.clear());
}

#[test]
fn a_callback_answers() {
    let owner = Owner::new();
    owner.with(|| {
        let length = Callback::new(|text: &'static str| text.len());
        assert_eq!(length.run("four"), 4);
    });
}
