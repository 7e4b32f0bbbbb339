//! What stands where there is nothing to show: how a lake is served.

use std::sync::Arc;

use lake::wire::http::LakeReport;
use leptos::prelude::*;

use crate::markup::{Markup, view};
use crate::parts::Empty;

/// How a folder is served, where none is.
#[component]
pub fn NoTables(lake: Arc<LakeReport>) -> Markup {
    let empty = lake.zones.is_empty();
    let title = if empty {
        "No zone is served"
    } else {
        "No table was found"
    };
    let errors = lake.zones.iter().filter_map(|zone| {
        let error = zone.error.as_ref()?;
        let text = format!("{}: {}", zone.name, error.message);
        Some(view! { <p class="go">{crate::format::shorten(&text, 300)}</p> })
    });
    let errors = errors.collect::<Markup>();
    view! {
        <Empty title>
            {errors}
            <p class="soft">
                "Tables are found by their _delta_log folder, a few levels below a zone. Serve a folder or a bucket:"
            </p>
            <pre tabindex="0">"tidemark serve ./warehouse\ntidemark serve s3://bucket/warehouse"</pre>
            <p class="soft">"or name zones in tidemark.toml:"</p>
            <pre tabindex="0">"[[zone]]\nname = \"curated\"\nurl = \"s3://bucket/curated/\""</pre>
            <p class="soft">"To look around first, tidemark demo writes a sample lake and serves it."</p>
        </Empty>
    }
}
