//! Rows of equal height, of which only those near the viewport exist: one to millions.
//!
//! The page scrolls, not the grid. Rows are found with the arrow keys, `j` and `k`, opened with
//! Enter; the row that has the attention is the grid's active descendant.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::format::decimal;
use crate::keys::Command;
use crate::markup::{Each, Markup, NodeRef, view};
use crate::session::session;
use crate::signals::{Callback, RwSignal, Signal, effect};

use super::window::Window;

pub mod column;
pub(crate) mod scroll;

pub use column::{Column, Sort};

use column::{HeadCell, templates};
use scroll::{first_seen, follow_scroll, printed, reveal};

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A grid of `count` rows. `row` makes the cells of one row; each cell is an element with
/// `role="gridcell"` and, where its column is not shown on narrow screens, the class `hide`.
#[component]
pub fn Grid(
    /// What the rows are, for those who hear it: `Commits, newest first`.
    #[prop(into)]
    label: Signal<String>,
    columns: Vec<Column>,
    #[prop(into)] count: Signal<usize>,
    /// Cells of row `i`. Called again when `key` of the row changes.
    #[prop(into)]
    row: RowFn,
    /// What row `i` shows, as text; rows with the same key are not made anew. The index alone
    /// where it is not given.
    #[prop(into, optional)]
    key: Option<KeyFn>,
    /// Class of row `i`: `dim`, `on`.
    #[prop(into, optional)]
    row_class: Option<KeyFn>,
    /// Opens row `i`: Enter or a click.
    #[prop(into, optional)]
    on_open: Option<Callback<usize>>,
    /// The row that has the attention.
    #[prop(optional)]
    active: Option<RwSignal<Option<usize>>>,
    /// Is told which rows exist, whenever that changes.
    #[prop(optional)]
    seen: Option<RwSignal<Window>>,
    /// Rows from the top that were read, where not all were: no more are printed.
    #[prop(into, optional)]
    read: Option<Signal<usize>>,
    /// Whether `j`, `k` and Enter anywhere on the page are this grid's. One grid a page.
    #[prop(default = true)]
    hotkeys: bool,
    /// What the rows are sorted by, where columns can be pressed.
    #[prop(optional, into)]
    sort: Option<Signal<Sort>>,
    /// Sorts by a column.
    #[prop(optional, into)]
    on_sort: Option<Callback<Sort>>,
    /// Height of a row in pixels.
    #[prop(default = 32.0)]
    row_height: f64,
) -> Markup {
    let id = format!("grid-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let body = NodeRef::<Div>::new();
    let seen = seen.unwrap_or_else(|| RwSignal::new(Window::default()));
    let active = active.unwrap_or_else(|| RwSignal::new(None));
    let read = read.unwrap_or(count);
    follow_scroll(body, count, read, row_height, seen);
    let cut = move || {
        let (count, printed) = (count.get(), printed(count.get(), read.get()));
        let of = |n: usize| crate::format::count(n as u64);
        (printed < count).then(|| {
            let said = match printed < read.get() {
                true => ": the CSV has all",
                false => ": the others were not read",
            };
            view! { <p class="print-only">{of(printed)}" of "{of(count)}" printed"{said}</p> }
        })
    };

    effect(move || {
        if let (Some(index), Some(body)) = (active.get(), body.get_untracked()) {
            reveal(&body, index, count.get_untracked(), row_height);
        }
    });
    let step = move |by: isize| {
        let last = count.get_untracked().checked_sub(1);
        let Some(last) = last else { return false };
        active.update(|a| {
            let next = match *a {
                Some(i) => i.saturating_add_signed(by),
                // What is seen, not what was scrolled past.
                None => first_seen(seen.get_untracked(), row_height),
            };
            *a = Some(next.min(last));
        });
        true
    };
    let open = move || match (active.get_untracked(), on_open) {
        (Some(index), Some(open)) => {
            open.run(index);
            true
        }
        _ => false,
    };
    if hotkeys {
        session().keys.on(move |command| match command {
            Command::Down => step(1),
            Command::Up => step(-1),
            Command::Open => open(),
            _ => false,
        });
    }
    let keydown = move |event: ev::KeyboardEvent| {
        let page = 20;
        let done = match event.key().as_str() {
            "ArrowDown" => step(1),
            "ArrowUp" => step(-1),
            "PageDown" => step(page),
            "PageUp" => step(-page),
            "Home" => step(isize::MIN),
            "End" => step(isize::MAX),
            "Enter" if event.target() == event.current_target() => open(),
            _ => false,
        };
        if done {
            event.prevent_default();
        }
    };

    let (wide, narrow) = templates(&columns);
    let style = format!(
        "--columns:{wide};--columns-narrow:{narrow};--row:{}px",
        decimal(row_height, 2)
    );
    let heads = columns.into_iter();
    let heads = heads.map(|column| view! { <HeadCell column sort on_sort /> });
    let keyed = move || {
        let range = seen.get();
        let key = key.clone();
        (range.first..range.last.min(count.get()))
            .map(|i| (i, key.as_ref().map(|k| k.at(i)).unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let row_id = {
        let id = id.clone();
        move |i: usize| format!("{id}-{i}")
    };
    let current = {
        let row_id = row_id.clone();
        move || active.get().map(&row_id)
    };
    let openable = on_open.is_some();
    let make = move |(i, _): (usize, String)| {
        let cells = row.at(i);
        let row_class = row_class.clone();
        let class = move || {
            let own = row_class.as_ref().map(|c| c.at(i)).unwrap_or_default();
            let on = if active.get() == Some(i) {
                " active"
            } else {
                ""
            };
            let open = if openable { " open" } else { "" };
            format!("row {own}{on}{open}")
        };
        view! {
            <div role="row" id=row_id(i) class=class aria-rowindex=(i + 2).to_string()
                aria-selected=move || (active.get() == Some(i)).to_string()
                on:click=move |event| {
                    if by_itself(&event) {
                        active.set(Some(i));
                        open();
                    }
                }>
                {cells}
            </div>
        }
    };
    view! {
        <div class="grid" role="grid" id=id tabindex="0" style=style
            aria-label=move || label.get()
            aria-rowcount=move || (count.get() + 1).to_string()
            aria-activedescendant=current
            on:keydown=keydown>
            <div class="grid-head" role="rowgroup">
                <div class="row" role="row" aria-rowindex="1">{heads.collect::<Markup>()}</div>
            </div>
            <div class="grid-body" role="rowgroup" node_ref=body
                style=move || format!("height:{}px", decimal(seen.get().height, 2))>
                <div role="presentation" class="grid-rows"
                    style=move || format!("transform:translateY({}px)", decimal(seen.get().offset, 2))>
                    <Each each=keyed key=|k| k.clone() children=make />
                </div>
            </div>
        </div>
        {cut}
    }
}

/// Makes the cells of a row.
#[derive(Clone)]
pub struct RowFn(Arc<dyn Fn(usize) -> Markup + Send + Sync>);

impl<F: Fn(usize) -> Markup + Send + Sync + 'static> From<F> for RowFn {
    fn from(f: F) -> Self {
        Self(Arc::new(f))
    }
}

impl RowFn {
    fn at(&self, i: usize) -> Markup {
        (self.0)(i)
    }
}

/// Says something about a row.
#[derive(Clone)]
pub struct KeyFn(Arc<dyn Fn(usize) -> String + Send + Sync>);

impl<F: Fn(usize) -> String + Send + Sync + 'static> From<F> for KeyFn {
    fn from(f: F) -> Self {
        Self(Arc::new(f))
    }
}

impl KeyFn {
    fn at(&self, i: usize) -> String {
        (self.0)(i)
    }
}

/// Whether a click meant the row and not a link or button in it, nor selected text.
fn by_itself(event: &ev::MouseEvent) -> bool {
    let target = event
        .target()
        .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
    let inner = target.and_then(|t| t.closest("a,button,input,label").ok().flatten());
    let selecting = window().get_selection().ok().flatten();
    let selecting = selecting.is_some_and(|s| !s.is_collapsed());
    inner.is_none() && !selecting && !event.default_prevented()
}
