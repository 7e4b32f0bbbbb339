//! A grid in a page that scrolls: which rows are seen, and how one is brought into sight.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

use crate::markup::NodeRef;
use crate::signals::{RwSignal, Signal, StoredValue, effect};

use super::super::window::{Window, scroll_of, window as rows_in_view};

/// Pixels of the page's header and of the grid's own, which cover what is scrolled below them.
const COVERED: f64 = 44.0 + 30.0;

/// Rows that are printed at most: some eighty sheets.
const PRINTED: usize = 2_000;

/// Rows of a list that paper holds: from the top, as far as they were `read`.
pub(super) fn printed(count: usize, read: usize) -> usize {
    count.min(read).min(PRINTED)
}

/// Keeps `seen` at what is near the viewport: on scroll, on resize, and when the list or what is
/// above it changes height. On paper it is the list from its top.
pub(crate) fn follow_scroll(
    body: NodeRef<Div>,
    count: Signal<usize>,
    read: Signal<usize>,
    row_height: f64,
    seen: RwSignal<Window>,
) {
    let printing = StoredValue::new(false);
    let measure = move || {
        if printing.try_get_value() != Some(false) {
            return;
        }
        let Some(body) = body.get_untracked() else {
            return;
        };
        let Some(count) = count.try_get_untracked() else {
            return;
        };
        let viewport = window().inner_height().ok().and_then(|h| h.as_f64());
        let above = -body.get_bounding_client_rect().top();
        let now = rows_in_view(count, row_height, above, viewport.unwrap_or(800.0));
        if seen.try_with_untracked(|s| *s != now) == Some(true) {
            seen.try_set(now);
        }
    };
    let handles = [
        window_event_listener_untyped("scroll", move |_| measure()),
        window_event_listener_untyped("resize", move |_| measure()),
        window_event_listener_untyped("beforeprint", move |_| {
            printing.set_value(true);
            seen.update(|seen| {
                (seen.first, seen.offset) = (0, 0.0);
                seen.last = printed(count.get_untracked(), read.get_untracked());
            });
        }),
        window_event_listener_untyped("afterprint", move |_| {
            printing.set_value(false);
            measure();
        }),
    ];
    on_cleanup(move || handles.into_iter().for_each(|h| h.remove()));
    effect(move || {
        count.track();
        body.track();
        request_animation_frame(measure);
    });
    // What is above the grid changes its height when answers arrive.
    let changed = Closure::<dyn FnMut()>::new(measure);
    let observer = web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()).ok();
    if let (Some(observer), Some(page)) = (&observer, document().body()) {
        observer.observe(&page);
    }
    let kept = send_wrapper::SendWrapper::new((observer, changed));
    on_cleanup(move || {
        if let Some(observer) = &kept.0 {
            observer.disconnect();
        }
    });
}

/// Scrolls the page so that row `index` is seen; not at all where it is.
pub(crate) fn reveal(body: &web_sys::HtmlDivElement, index: usize, count: usize, row_height: f64) {
    let viewport = window().inner_height().ok().and_then(|h| h.as_f64());
    let viewport = viewport.unwrap_or(800.0);
    let page = window().scroll_y().unwrap_or(0.0);
    let top = body.get_bounding_client_rect().top();
    let place = top + scroll_of(index, count, row_height, viewport);
    let bottom = viewport - row_height - 8.0;
    if place < COVERED {
        let far = place < -viewport;
        let margin = if far { viewport / 3.0 } else { COVERED };
        window().scroll_to_with_x_and_y(0.0, page + place - margin);
    } else if place > bottom {
        let far = place > viewport * 2.0;
        let to = if far {
            place - viewport / 3.0
        } else {
            place - bottom
        };
        window().scroll_to_with_x_and_y(0.0, page + to);
    }
}

/// The first row that no header covers.
pub(super) fn first_seen(window: Window, row_height: f64) -> usize {
    match window.top {
        0 => 0,
        top => top + (COVERED / row_height).ceil() as usize,
    }
}
