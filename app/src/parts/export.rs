//! Buttons that save what is shown.

use leptos::prelude::*;

use crate::copy::download;
use crate::markup::{Markup, view};
use crate::signals::{Callback, Signal};

/// `CSV` and `JSON` buttons for one list.
#[component]
pub fn Export(
    /// The file's name without its ending: `users-history`.
    #[prop(into)]
    name: Signal<String>,
    /// The list as CSV.
    csv: Callback<(), String>,
    /// The list as JSON.
    json: Callback<(), String>,
) -> Markup {
    let file = move |ending: &str| {
        // A table's name may hold what a file's name may not.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name: String = name.get_untracked();
        let name = name.replace(|c| !plain(c), "-");
        format!("{name}.{ending}")
    };
    let save_csv = move |_| download(&file("csv"), "text/csv;charset=utf-8", &csv.run(()));
    let save_json = move |_| download(&file("json"), "application/json", &json.run(()));
    view! {
        <span class="export">
            <button type="button" class="btn small quiet" title="Save as CSV" on:click=save_csv>"CSV"</button>
            <button type="button" class="btn small quiet" title="Save as JSON" on:click=save_json>"JSON"</button>
        </span>
    }
}
