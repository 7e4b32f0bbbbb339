//! Pure geometry of the charts: no element, no colour, no unit but the caller's.

mod bars;
mod treemap;

pub use bars::{Bar, bars};
pub use treemap::{Rect, Tile, fold, heat, squarify, trim_label};
