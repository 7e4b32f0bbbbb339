//! Columns of a grid: their names, widths, and which one sorts.

use leptos::prelude::*;

use crate::markup::{Markup, view};
use crate::signals::{Callback, Signal};

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    name: &'static str,
    width: &'static str,
    number: bool,
    narrow: Option<&'static str>,
    sort: Option<&'static str>,
}

impl Column {
    /// A column of this name and CSS grid width: `84px`, `minmax(0,1fr)`.
    pub fn new(name: &'static str, width: &'static str) -> Self {
        Self {
            name,
            width,
            number: false,
            narrow: Some(width),
            sort: None,
        }
    }

    /// Figures: set to the right.
    #[must_use]
    pub fn number(mut self) -> Self {
        self.number = true;
        self
    }

    /// Not shown below 720 px; its cells have the class `hide`.
    #[must_use]
    pub fn wide_only(mut self) -> Self {
        self.narrow = None;
        self
    }

    /// Its width below 720 px.
    #[must_use]
    pub fn narrow(mut self, width: &'static str) -> Self {
        self.narrow = Some(width);
        self
    }

    /// Can be pressed to sort by `key`.
    #[must_use]
    pub fn sort(mut self, key: &'static str) -> Self {
        self.sort = Some(key);
        self
    }
}

/// What rows are sorted by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The column's key.
    pub key: String,
    /// Largest first.
    pub descending: bool,
}

/// CSS grid templates for wide and for narrow screens.
pub(super) fn templates(columns: &[Column]) -> (String, String) {
    let join = |widths: Vec<&str>| widths.join(" ");
    (
        join(columns.iter().map(|c| c.width).collect()),
        join(columns.iter().filter_map(|c| c.narrow).collect()),
    )
}

/// A column's head; a button where it sorts.
#[component]
pub fn HeadCell(
    column: Column,
    sort: Option<Signal<Sort>>,
    on_sort: Option<Callback<Sort>>,
) -> Markup {
    let mut class = String::from(if column.number { "n" } else { "" });
    if column.narrow.is_none() {
        class.push_str(" hide");
    }
    let (Some(key), Some(sort), Some(on_sort)) = (column.sort, sort, on_sort) else {
        return view! { <span role="columnheader" class=class>{column.name}</span> };
    };
    let state = move || sort.with(|s| (s.key == key).then_some(s.descending));
    let spoken = move || match state() {
        Some(true) => "descending",
        Some(false) => "ascending",
        None => "none",
    };
    let arrow = move || match state() {
        Some(true) => " ↓",
        Some(false) => " ↑",
        None => "",
    };
    // Figures are looked at largest first.
    let press = move |_| {
        on_sort.run(Sort {
            key: key.to_owned(),
            descending: state().map_or(column.number, |d| !d),
        });
    };
    view! {
        <span role="columnheader" class=class aria-sort=spoken>
            <button type="button" on:click=press>{column.name}{arrow}</button>
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_screens_have_fewer_columns() {
        let columns = [
            Column::new("Path", "minmax(0,1fr)"),
            Column::new("When", "110px").wide_only(),
            Column::new("Bytes", "90px").number().narrow("72px"),
        ];
        let (wide, narrow) = templates(&columns);
        assert_eq!(wide, "minmax(0,1fr) 110px 90px");
        assert_eq!(narrow, "minmax(0,1fr) 72px");
    }
}
