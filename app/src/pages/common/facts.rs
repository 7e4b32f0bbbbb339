//! Names and values, one a line: what stands in a `dl.pairs`.

use crate::format::shorten;
use crate::markup::{IntoMarkup, Markup, view};

/// One name, in our words, and its value.
pub fn fact(name: &str, value: impl IntoMarkup + 'static) -> Markup {
    pair("", name, value)
}

/// One name that is a key of the format, and its value.
pub fn key_fact(name: &str, value: impl IntoMarkup + 'static) -> Markup {
    pair("mono", name, value)
}

fn pair(class: &'static str, name: &str, value: impl IntoMarkup + 'static) -> Markup {
    view! { <div><dt class=class>{shorten(name, 80)}</dt><dd>{value}</dd></div> }
}

/// One figure in a `dl.tiles`: the figure in `b`, what stands beside it in `em`.
pub fn tile(name: &'static str, figure: impl IntoMarkup + 'static) -> Markup {
    view! { <div class="tile"><dt>{name}</dt><dd>{figure}</dd></div> }
}
