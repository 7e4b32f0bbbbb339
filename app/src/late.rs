//! The pages that the first paint does not need, and the parts of the first pages that it does
//! not need.
//!
//! `scripts/split.sh` moves their code, by its names, into a module of its own, which is fetched
//! while the first page is shown. What makes them here is called through [`Late::show`] only.

use lake::{Error, Kind, Result};
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::app::search::{Searching, found::Found};
use crate::markup::{Maker, Markup, view};
use crate::pages;
use crate::pages::timeline::{Timeline, jump, picked};
use crate::parts::Failed;
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, RwSignal};

/// Whether the code of the late pages is there.
#[derive(Clone, Copy)]
pub struct Late {
    state: RwSignal<Option<Result<()>>>,
}

impl Late {
    /// Starts to fetch it.
    pub fn start() -> Self {
        let late = Self {
            state: RwSignal::new(None),
        };
        late.again();
        late
    }

    /// Whether it is there, followed; `None` while it is fetched.
    pub fn ready(self) -> Option<Result<()>> {
        self.state.get()
    }

    /// What `make` makes once the code is there; before that, that it is fetched.
    pub fn show(self, make: impl Into<Maker>) -> Markup {
        let make = make.into();
        Markup::live(move || match self.state.get() {
            None => view! {
                <div class="loading" role="status"><progress></progress><span class="step">"Loading the page"</span></div>
            },
            Some(Err(error)) => {
                let again = Callback::new(move |()| self.again());
                view! { <Failed error again /> }
            }
            Some(Ok(())) => make.make(),
        })
    }

    /// Fetches it again, after a failure.
    pub fn again(self) {
        self.state.set(None);
        spawn_local(async move {
            let fetched = fetch().await.map_err(|error| {
                let said = error
                    .dyn_ref::<js_sys::Error>()
                    .map(|e| String::from(e.message()));
                let said = said.unwrap_or_else(|| "no reason given".to_owned());
                Error::new(
                    Kind::Unreachable,
                    format!("the rest of the page cannot be loaded: {said}"),
                )
            });
            self.state.try_set(Some(fetched));
        });
    }
}

/// The module finds what it shares with the first one, memory and functions, in the exports of
/// that, and puts its own functions into their common table.
async fn fetch() -> std::result::Result<(), JsValue> {
    let window = web_sys::window().ok_or(JsValue::NULL)?;
    let document = window.document().ok_or(JsValue::NULL)?;
    // While the page is developed its code is not split.
    let Some(link) = document.get_element_by_id("late") else {
        return Ok(());
    };
    let address = link.get_attribute("href").unwrap_or_default();
    let shared = js_sys::Object::new();
    js_sys::Reflect::set(&shared, &"primary".into(), &wasm_bindgen::exports())?;
    let response = window.fetch_with_str(&address);
    JsFuture::from(js_sys::WebAssembly::instantiate_streaming(
        &response, &shared,
    ))
    .await?;
    Ok(())
}

/// The page of a route.
#[inline(never)]
pub fn page(route: &Route) -> Markup {
    match route {
        Route::Commit { .. } => view! { <pages::commit::Page /> },
        Route::Snapshot { .. } => view! { <pages::snapshot::Page /> },
        Route::Diff { .. } => view! { <pages::diff::Page /> },
        Route::File { .. } => view! { <pages::file::Page /> },
        Route::Layout { .. } => view! { <pages::layout::Page /> },
        Route::Restore { .. } => view! { <pages::restore::Page /> },
        Route::Maintenance { .. } => view! { <pages::maintenance::Page /> },
        Route::Hours { .. } => known(|| view! { <pages::hours::Page /> }),
        Route::Hour { .. } => known(|| view! { <pages::hour::Page /> }),
        Route::DatasetLayout { .. } => known(|| view! { <pages::dataset_layout::Page /> }),
        // What it calls out of hours; the rest of it comes with the first paint.
        Route::Lake => called_out(),
        Route::Closed => view! { <pages::closed::Page /> },
        Route::Zones => view! { <pages::zones::Page /> },
        Route::Unknown { path } => view! { <pages::unknown::Page path=path.clone() /> },
        Route::Audit => view! { <pages::audit::Page /> },
        _ => Markup::Nothing,
    }
}

/// What a search finds.
#[inline(never)]
pub fn found(search: Searching) -> Markup {
    view! { <Found search /> }
}

/// The form that goes to a version or a time.
#[inline(never)]
pub fn jump(timeline: Timeline, open: RwSignal<bool>) -> Markup {
    view! { <jump::Form timeline open /> }
}

/// What can be done with the picked versions.
#[inline(never)]
pub fn picked(timeline: Timeline) -> Markup {
    view! { <picked::Picked timeline /> }
}

fn known(page: fn() -> Markup) -> Markup {
    let page = Maker::from(page);
    view! { <pages::hours::known::Known page /> }
}

fn called_out() -> Markup {
    Markup::live(|| {
        let lake = session().lake.ok()?;
        Some(match lake.tables.is_empty() && lake.datasets.is_empty() {
            true => view! { <pages::nothing::NoTables lake /> },
            false => view! { <pages::closed::called_out::CalledOut lake /> },
        })
    })
}
