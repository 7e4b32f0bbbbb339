//! The page at this address.

use leptos::prelude::*;

use crate::parts::{Head, Tabs};
use crate::session::session;

/// The page.
#[component]
pub fn Page() -> impl IntoView {
    let session = session();
    let title = Signal::derive(move || {
        session
            .route
            .with(|r| r.table().unwrap_or("Lake").to_owned())
    });
    view! { <Head title /> <Tabs /> }
}
