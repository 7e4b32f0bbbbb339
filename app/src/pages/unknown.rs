//! No page has this address.

use leptos::prelude::*;

use crate::format::shorten;
use crate::markup::{Markup, view};
use crate::parts::{Empty, Head};

/// Says so, and where to go on.
#[component]
pub fn Page(path: String) -> Markup {
    view! {
        <Head title="No such page" />
        <Empty title=shorten(&path, 200)>
            <p>
                "This address names no page. Tables are at " <code>"/t/name"</code> ", their versions at "
                <code>"/t/name/v/12"</code> ", hours at " <code>"/d/name/2026-11-30/23"</code> "."
            </p>
            <p><a class="btn" href="/">"All tables"</a></p>
        </Empty>
    }
}
