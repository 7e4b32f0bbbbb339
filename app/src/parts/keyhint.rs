//! The key that does the same as the button it stands in.

use leptos::prelude::*;

use crate::markup::{Markup, view};

/// A key's name, drawn as a key. Readers of screens have the help for it.
#[component]
pub fn KeyHint(key: &'static str) -> Markup {
    view! { <kbd aria-hidden="true">{key}</kbd> }
}
