//! The pages that the first paint does not need.
//!
//! `scripts/split.sh` moves their code, by its names, into a module of its own, which is fetched
//! while the first page is shown. Nothing here may be called before [`Late::ready`].

use lake::{Error, Kind, Result};
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::markup::{Markup, view};
use crate::pages;
use crate::route::Route;
use crate::session::session;
use crate::signals::RwSignal;

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

    /// `None` while it is fetched, followed.
    pub fn ready(self) -> Option<Result<()>> {
        self.state.get()
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
        Route::Hours { .. } => view! { <pages::hours::Page /> },
        Route::Hour { .. } => view! { <pages::hour::Page /> },
        Route::DatasetLayout { .. } => view! { <pages::dataset_layout::Page /> },
        // What it calls out of hours; the rest of it comes with the first paint.
        Route::Lake => called_out(),
        Route::Closed => view! { <pages::closed::Page /> },
        Route::Zones => view! { <pages::zones::Page /> },
        Route::Unknown { path } => view! { <pages::unknown::Page path=path.clone() /> },
        Route::Audit => view! { <pages::audit::Page /> },
        _ => Markup::Nothing,
    }
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
