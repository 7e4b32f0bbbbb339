//! The pages about a dataset, once it is known that there is one.

use leptos::prelude::*;

use crate::format;
use crate::markup::{Maker, Markup, view};
use crate::pages::common::asking_lake;
use crate::parts::{Empty, Head};
use crate::session::session;
use crate::signals::Memo;

/// The page, or that its address names no dataset.
#[component]
pub fn Known(page: Maker) -> Markup {
    let session = session();
    let name = session
        .route
        .with_untracked(|r| r.dataset().unwrap_or_default().to_owned());
    let known = {
        let name = name.clone();
        Memo::new(move |_| {
            // Where the lake cannot be read, what the page asks for says why.
            match session.lake.get()? {
                Ok(lake) => Some(lake.datasets.iter().any(|d| d.name == name)),
                Err(_) => Some(true),
            }
        })
    };
    Markup::live(move || match known.get() {
        None => asking_lake(),
        Some(true) => untrack(|| page.make()),
        Some(false) => {
            let title = format::shorten(&name, 80);
            view! {
                <Head title />
                <Empty title="No such dataset">
                    <p>"The lake's page lists the datasets that there are. One is served once tidemark.toml declares it as a [[dataset]]."</p>
                    <p><a class="btn" href="/">"All tables and datasets"</a></p>
                </Empty>
            }
        }
    })
}
