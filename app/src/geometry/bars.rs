//! Bars of a histogram.

/// One bar of a histogram, its foot on the base line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height; 0 where there is nothing to count.
    pub h: f64,
}

/// Bars for `values` over a base line at `height`, `gap` apart, the highest as high as the chart.
/// What is not zero is never invisible: at least two units high.
pub fn bars(values: &[u64], width: f64, height: f64, gap: f64) -> Vec<Bar> {
    let most = values.iter().copied().max().unwrap_or_default();
    let step = width / values.len().max(1) as f64;
    values
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let h = match (*value, most) {
                (0, _) | (_, 0) => 0.0,
                (value, most) => (value as f64 / most as f64 * height).max(2.0),
            };
            Bar {
                x: i as f64 * step + gap / 2.0,
                y: height - h,
                w: (step - gap).max(1.0),
                h,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bar_fills_the_chart() {
        let bars = bars(&[10, 0, 1, 100_000], 400.0, 100.0, 4.0);
        assert_eq!(bars.len(), 4);
        assert_eq!((bars[3].h, bars[3].y), (100.0, 0.0));
        assert_eq!(bars[1].h, 0.0);
        assert_eq!(bars[2].h, 2.0, "one file is still seen");
        assert_eq!((bars[1].x, bars[1].w), (102.0, 96.0));
    }

    #[test]
    fn an_empty_chart_has_flat_bars() {
        assert!(bars(&[], 400.0, 100.0, 4.0).is_empty());
        assert_eq!(bars(&[0, 0], 400.0, 100.0, 4.0)[0].h, 0.0);
    }
}
