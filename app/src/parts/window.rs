//! Which rows of a long list are near the viewport: pure geometry.

/// Browsers stop laying out boxes that are higher than some 16 million pixels.
const TALLEST: f64 = 12_000_000.0;

/// Rows kept above and below what is seen, so that a flick of the wheel shows no hole.
const OVERSCAN: usize = 12;

/// The part of a list that exists in the page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// First row.
    pub first: usize,
    /// One past the last row.
    pub last: usize,
    /// First row that is seen.
    pub top: usize,
    /// Pixels from the list's top to the first row that exists.
    pub offset: f64,
    /// Height of the whole list in pixels.
    pub height: f64,
}

/// The window of a list of `count` rows of `row` pixels, of which `scrolled` pixels lie above a
/// viewport of `viewport` pixels.
///
/// A list too tall for a browser is squeezed: one pixel of scrolling is then more than a pixel of
/// the list, and every row is still reached.
pub(super) fn window(count: usize, row: f64, scrolled: f64, viewport: f64) -> Window {
    let full = count as f64 * row;
    let height = full.min(TALLEST);
    let scrolled = scrolled.clamp(0.0, (height - viewport).max(0.0));
    // Where the viewport's top is in the list as if it were not squeezed.
    let range = (height - viewport).max(1.0);
    let place = if full > height {
        scrolled / range * (full - viewport)
    } else {
        scrolled
    };
    let top = ((place / row) as usize).min(count.saturating_sub(1));
    let seen = (viewport / row).ceil() as usize + 1;
    let first = top.saturating_sub(OVERSCAN);
    let last = (top + seen + OVERSCAN).min(count);
    // The first row that is seen sits at the viewport's top, less the part scrolled past.
    let offset = scrolled - (place - first as f64 * row);
    Window {
        first,
        last,
        top,
        offset: offset.max(0.0),
        height,
    }
}

/// Pixels to scroll so that row `index` is at the top of the viewport.
pub(super) fn scroll_of(index: usize, count: usize, row: f64, viewport: f64) -> f64 {
    let full = count as f64 * row;
    let height = full.min(TALLEST);
    let place = index as f64 * row;
    if full > height {
        place / (full - viewport).max(1.0) * (height - viewport).max(0.0)
    } else {
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_list_exists_whole() {
        let w = window(10, 32.0, 0.0, 800.0);
        assert_eq!((w.first, w.last, w.offset, w.height), (0, 10, 0.0, 320.0));
        assert_eq!(window(0, 32.0, 0.0, 800.0).last, 0);
    }

    #[test]
    fn a_long_list_exists_where_it_is_seen() {
        let w = window(100_000, 32.0, 1_600_000.0, 800.0);
        assert_eq!(w.top, 50_000);
        assert_eq!(w.first, 50_000 - OVERSCAN);
        assert_eq!(w.last, 50_000 + 26 + OVERSCAN);
        assert_eq!(w.offset, (50_000 - OVERSCAN) as f64 * 32.0);
        assert_eq!(w.height, 3_200_000.0);
    }

    #[test]
    fn every_row_of_a_squeezed_list_is_reached() {
        let count = 10_000_000;
        let end = window(count, 32.0, f64::MAX, 800.0);
        assert_eq!(end.height, TALLEST);
        assert_eq!(end.last, count);
        for index in [0, 1, 77, 5_000_000, 9_999_000] {
            let w = window(count, 32.0, scroll_of(index, count, 32.0, 800.0), 800.0);
            assert!(w.top.abs_diff(index) <= 1, "{index}: {w:?}");
        }
    }

    #[test]
    fn odd_scrolling_does_no_harm() {
        for scrolled in [-50.0, f64::NAN, 1e300] {
            let w = window(1_000, 32.0, scrolled, 800.0);
            assert!(w.first <= w.last && w.last <= 1_000, "{w:?}");
        }
    }
}
