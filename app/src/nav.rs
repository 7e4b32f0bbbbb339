//! The address bar as a signal: one place, links that are real links, and scroll that comes back.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement, HtmlElement, MouseEvent};

use crate::route::{Place, Query, Route};
use crate::signals::{Memo, RwSignal};

/// Where the page is. Everything that a link should carry is in here.
#[derive(Clone, Copy)]
pub struct Nav {
    place: RwSignal<Place>,
}

impl Nav {
    /// Reads the address bar and follows it from now on: back, forward, and every link to this
    /// site that is clicked without a modifier.
    pub fn start() -> Self {
        let nav = Self {
            place: RwSignal::new(current()),
        };
        if let Ok(history) = window().history() {
            let _ = history.set_scroll_restoration(web_sys::ScrollRestoration::Manual);
        }
        let _ = window_event_listener(ev::popstate, move |event| {
            nav.place.set(current());
            scroll_back(event.state().as_f64().unwrap_or(0.0), 60);
        });
        let _ = window_event_listener(ev::click, move |event| nav.follow(&event));
        nav
    }

    /// The place, tracked.
    pub fn place(self) -> Place {
        self.place.get()
    }

    /// The route alone; changes of parameters do not wake what reads it.
    pub fn route(self) -> Memo<Route> {
        Memo::new(move |_| self.place.with(|p| p.route.clone()))
    }

    /// The parameters alone.
    pub fn query(self) -> Memo<Query> {
        Memo::new(move |_| self.place.with(|p| p.query.clone()))
    }

    /// Goes to a place; back returns here, scrolled as it is now.
    pub fn go(self, to: impl Into<Place>) {
        let to = to.into();
        if self.place.with_untracked(|here| *here == to) {
            return;
        }
        if let Ok(history) = window().history() {
            let y = JsValue::from_f64(window().scroll_y().unwrap_or(0.0));
            let _ = history.replace_state_with_url(&y, "", None);
            let _ = history.push_state_with_url(&JsValue::from_f64(0.0), "", Some(&to.href()));
        }
        let other_page = self.place.with_untracked(|here| here.route != to.route);
        self.place.set(to);
        if other_page {
            window().scroll_to_with_x_and_y(0.0, 0.0);
            focus_main();
        }
    }

    /// Changes one parameter without a step in the history: typing is not navigating.
    pub fn set(self, key: &str, value: Option<impl std::fmt::Display>) {
        let here = self.place.get_untracked();
        let to = here.route.with(here.query.with(key, value));
        if self.place.with_untracked(|here| *here == to) {
            return;
        }
        if let Ok(history) = window().history() {
            let state = history.state().unwrap_or(JsValue::NULL);
            let _ = history.replace_state_with_url(&state, "", Some(&to.href()));
        }
        self.place.set(to);
    }

    fn follow(self, event: &MouseEvent) {
        let modified = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
        if event.default_prevented() || event.button() != 0 || modified {
            return;
        }
        let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
        let anchor = target.and_then(|t| t.closest("a[href]").ok().flatten());
        let Some(anchor) = anchor.and_then(|a| a.dyn_into::<HtmlAnchorElement>().ok()) else {
            return;
        };
        let here = window().location();
        let elsewhere = here.origin().is_ok_and(|origin| origin != anchor.origin());
        let in_page = anchor
            .get_attribute("href")
            .is_some_and(|h| h.starts_with('#'));
        let special = anchor.has_attribute("download") || !anchor.target().is_empty();
        if elsewhere || in_page || special || anchor.pathname().starts_with("/api/") {
            return;
        }
        event.prevent_default();
        self.go(Place::parse(&anchor.pathname(), &anchor.search()));
    }
}

fn current() -> Place {
    let here = window().location();
    let path = here.pathname().unwrap_or_default();
    Place::parse(&path, &here.search().unwrap_or_default())
}

/// Scrolls to `y` as soon as the page is tall enough; gives up after `frames`.
fn scroll_back(y: f64, frames: u32) {
    let height = document()
        .document_element()
        .map_or(0, |root| root.scroll_height());
    let viewport = window().inner_height().ok().and_then(|h| h.as_f64());
    if f64::from(height) >= y + viewport.unwrap_or(0.0) || frames == 0 {
        window().scroll_to_with_x_and_y(0.0, y);
    } else {
        request_animation_frame(move || scroll_back(y, frames - 1));
    }
}

/// Puts the focus where a reader starts after a page changed.
fn focus_main() {
    let main = document().get_element_by_id("main");
    if let Some(main) = main.and_then(|m| m.dyn_into::<HtmlElement>().ok()) {
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        let _ = main.focus_with_options(&options);
    }
}
