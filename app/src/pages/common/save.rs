//! What is shown, as a file: CSV made here, JSON by the server, whose figures are the same.

use crate::copy::download;
use crate::markup::{Markup, view};

use super::Here;

/// A link to the server's JSON of a question about the table: `snapshot`, `version=3`.
///
/// The page holds no code that writes reports; the server does, with the same functions.
pub fn json_link(here: Here, question: &str, parameters: &str, title: &'static str) -> Markup {
    let href = here.api(question, parameters);
    let name = format!("{question}.json");
    view! { <a class="btn small quiet" href=href download=name title=title>"JSON"</a> }
}

/// A button that saves what `text` returns as CSV.
pub fn csv_button(
    name: String,
    title: &'static str,
    text: impl Fn() -> String + 'static,
) -> Markup {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = format!("{}.csv", name.replace(|c| !plain(c), "-"));
    let save = move |_| download(&name, "text/csv;charset=utf-8", &text());
    view! {
        <button type="button" class="btn small quiet" title=title on:click=save>"CSV"</button>
    }
}
