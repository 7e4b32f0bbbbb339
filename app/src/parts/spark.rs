//! A line without axes: the shape of some figures.

use leptos::prelude::*;

use crate::format::decimal;
use crate::markup::{Markup, view};

/// A sparkline, oldest first; a gap where a figure is unknown.
#[component]
pub fn Spark(
    values: Vec<Option<f64>>,
    /// What it shows, in one sentence, for those who cannot see it.
    #[prop(into)]
    says: String,
    #[prop(default = 220.0)] width: f64,
    #[prop(default = 24.0)] height: f64,
) -> Markup {
    let path = spark_path(&values, width, height);
    let name = says.clone();
    view! {
        <svg class="spark" viewBox=format!("0 0 {} {}", decimal(width, 1), decimal(height, 1)) preserveAspectRatio="none"
            role="img" aria-label=name>
            <title>{says}</title>
            <path d=path vector-effect="non-scaling-stroke" />
        </svg>
    }
}

fn spark_path(values: &[Option<f64>], width: f64, height: f64) -> String {
    let known = || values.iter().copied().flatten();
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    // A level line is drawn in the middle, not at an edge.
    let (low, span) = if high > low {
        (low, high - low)
    } else {
        (low - 0.5, 1.0)
    };
    let step = width / values.len().saturating_sub(1).max(1) as f64;
    let (mut path, mut drawing) = (String::new(), false);
    for (i, value) in values.iter().enumerate() {
        let Some(value) = value else {
            drawing = false;
            continue;
        };
        let x = i as f64 * step;
        let y = 2.0 + (height - 4.0) * (1.0 - (value - low) / span);
        let verb = if drawing { 'L' } else { 'M' };
        path.push_str(&format!("{verb}{} {}", decimal(x, 1), decimal(y, 1)));
        drawing = true;
    }
    // One figure is a point, and a line needs two.
    if known().count() == 1 && values.len() == 1 {
        path.push_str(&format!(
            "L{} {}",
            decimal(width, 1),
            decimal(height / 2.0, 1)
        ));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_is_low_and_gaps_are_gaps() {
        let path = spark_path(&[Some(0.0), Some(10.0), None, Some(5.0)], 30.0, 24.0);
        assert_eq!(path, "M0.0 22.0L10.0 2.0M30.0 12.0");
    }

    #[test]
    fn a_level_line_is_in_the_middle() {
        assert_eq!(
            spark_path(&[Some(7.0), Some(7.0)], 10.0, 24.0),
            "M0.0 12.0L10.0 12.0"
        );
        assert_eq!(spark_path(&[Some(7.0)], 10.0, 24.0), "M0.0 12.0L10.0 12.0");
        assert_eq!(spark_path(&[], 10.0, 24.0), "");
        assert_eq!(spark_path(&[None], 10.0, 24.0), "");
    }
}
