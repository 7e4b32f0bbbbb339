//! Rows that are known by a key: one is made when its key comes and taken away when it goes.

use std::collections::HashMap;

use leptos::prelude::{Owner, component, document};
use web_sys::{Comment, Node};

use super::following::Following;
use super::shown::{Shown, insert};
use super::{IntoMarkup, Markup};

/// What a row is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A number.
    Number(u64),
    /// A place and what stands there.
    Place(usize, String),
}

impl From<u64> for Key {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Key {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl From<(usize, String)> for Key {
    fn from((place, name): (usize, String)) -> Self {
        Self::Place(place, name)
    }
}

/// A row that is made when it is wanted.
type Row = (Key, Box<dyn FnOnce() -> Markup>);

/// Says which rows there are.
pub struct Rows(Box<dyn FnMut() -> Vec<Row>>);

/// A row for each of the items. `children` is called once for an item whose key is new; of two
/// items with one key, the first is shown.
#[component]
pub fn Each<T, K, M>(
    /// The items; asked again whenever a signal read in it has changed.
    each: impl Fn() -> Vec<T> + 'static,
    /// An item's key.
    key: impl Fn(&T) -> K + 'static,
    /// An item's row.
    children: impl Fn(T) -> M + Clone + 'static,
) -> Markup
where
    T: 'static,
    K: Into<Key> + 'static,
    M: IntoMarkup + 'static,
{
    Markup::Each(Rows(Box::new(move || {
        let row = |item: T| -> Row {
            let children = children.clone();
            (
                key(&item).into(),
                Box::new(move || children(item).into_markup()),
            )
        };
        each().into_iter().map(row).collect()
    })))
}

/// Rows in the page.
pub(super) struct Shelf {
    end: Comment,
    rows: Following<Vec<Kept>>,
}

/// A row in the page. What was made with it goes when its owner is dropped.
struct Kept {
    key: Key,
    shown: Shown,
    _owner: Owner,
}

impl Shelf {
    pub(super) fn new(mut rows: Rows) -> Self {
        let end = document().create_comment("");
        // Rows outlive the runs of the effect that makes them.
        let parent = Owner::current();
        let follow = {
            let end = end.clone();
            move |before: Option<Vec<Kept>>| {
                let wanted = (rows.0)();
                arrange(before.unwrap_or_default(), wanted, &end, parent.as_ref())
            }
        };
        let rows = Following::new(follow, None);
        Self { end, rows }
    }

    pub(super) fn put(&self, parent: &Node, before: Option<&Node>) {
        self.rows.with_value_mut(|rows| {
            for row in rows {
                row.shown.put(parent, before);
            }
        });
        insert(parent, &self.end, before);
    }

    pub(super) fn remove(&self) {
        self.rows.with_value_mut(|rows| {
            for row in rows {
                row.shown.remove();
            }
        });
        self.end.remove();
    }

    pub(super) fn first(&self) -> Option<Node> {
        let first = |rows: &mut Vec<Kept>| rows.first().and_then(|row| row.shown.first());
        let first = self.rows.with_value_mut(first).flatten();
        first.or_else(|| Some(Node::clone(&self.end)))
    }
}

/// Keeps the rows whose keys are wanted, makes those that are new, and puts all into order from
/// the last to the first, moving only those that do not stand where they should.
fn arrange(
    before: Vec<Kept>,
    wanted: Vec<Row>,
    end: &Comment,
    parent: Option<&Owner>,
) -> Vec<Kept> {
    let mut kept: HashMap<Key, Kept> = before
        .into_iter()
        .map(|row| (row.key.clone(), row))
        .collect();
    let mut rows: Vec<Kept> = Vec::with_capacity(wanted.len());
    let mut fresh: HashMap<Key, ()> = HashMap::new();
    for (key, make) in wanted {
        if fresh.insert(key.clone(), ()).is_some() {
            continue;
        }
        rows.push(kept.remove(&key).unwrap_or_else(|| {
            let owner = parent.map_or_else(Owner::new, Owner::child);
            let shown = owner.with(|| Shown::new(make()));
            Kept {
                key,
                shown,
                _owner: owner,
            }
        }));
    }
    for gone in kept.values() {
        gone.shown.remove();
    }
    if let Some(parent) = end.parent_node() {
        let mut next = Node::clone(end);
        for row in rows.iter().rev() {
            let first = row.shown.first();
            if last_of(&row.shown, first.as_ref()) != next.previous_sibling() {
                row.shown.put(&parent, Some(&next));
            }
            if let Some(first) = first {
                next = first;
            }
        }
    }
    rows
}

/// The last node of a row of one element is its first; another row is always put.
fn last_of(shown: &Shown, first: Option<&Node>) -> Option<Node> {
    match shown {
        Shown::Element(_) | Shown::Text(..) => first.cloned(),
        _ => None,
    }
}
