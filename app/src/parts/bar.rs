//! A bar that diverges: what went to the left, what came to the right.

use leptos::prelude::*;

use crate::format::decimal;
use crate::markup::{Markup, view};

/// Width of one half of a bar in pixels.
pub const SHARE_OF_BAR: f64 = 44.0;

/// How much of a bar `value` fills beside the largest: by the square root, so that small ones
/// remain visible; never less than a fortieth where there is anything at all.
pub fn share(value: u64, largest: u64) -> f64 {
    if value == 0 || largest == 0 {
        return 0.0;
    }
    (value as f64 / largest as f64).sqrt().clamp(0.025, 1.0)
}

/// The bar. It repeats figures that stand beside it, so readers of screens are spared it.
#[component]
pub fn Bar(
    /// What came.
    came: u64,
    /// What went.
    went: u64,
    /// What fills one half.
    largest: u64,
    /// Whether the same rows came and went.
    #[prop(optional)]
    rewrite: bool,
) -> Markup {
    let width = |value| {
        let width = decimal(share(value, largest) * SHARE_OF_BAR, 1);
        format!("width:{width}px")
    };
    let class = if rewrite { "bar rewrite" } else { "bar" };
    view! {
        <span class=class aria-hidden="true">
            <i class="went" style=width(went)></i>
            <i class="axis"></i>
            <i class="came" style=width(came)></i>
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ones_remain_visible() {
        assert_eq!(share(0, 10), 0.0);
        assert_eq!(share(10, 10), 1.0);
        assert_eq!(share(1, 4), 0.5);
        assert_eq!(share(1, u64::MAX), 0.025);
        assert_eq!(share(5, 0), 0.0);
        assert_eq!(share(20, 10), 1.0);
    }
}
