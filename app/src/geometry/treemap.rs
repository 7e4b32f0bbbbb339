//! Squarified treemap: areas in proportion to weights, tiles as square as the order allows.

use crate::order::sorted;

/// A rectangle, in the caller's units, `y` growing downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// What one tile stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tile {
    /// The item at this position of the caller's list.
    One(usize),
    /// This many of the smallest items, drawn as one tile.
    Rest(usize),
}

/// Which items get a tile of their own: the `most - 1` heaviest, heaviest first, and the rest as
/// one tile. Items without weight are part of the rest, or left out where nothing else is.
pub fn fold(weights: &[f64], most: usize) -> Vec<(Tile, f64)> {
    let order: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
    let order = sorted(order, |a, b| b.1.total_cmp(&a.1));
    let weighty = order.iter().take_while(|(_, w)| *w > 0.0).count();
    let own = if weighty > most {
        most.saturating_sub(1)
    } else {
        weighty
    };
    let mut tiles: Vec<(Tile, f64)> = order
        .iter()
        .take(own)
        .map(|(i, w)| (Tile::One(*i), *w))
        .collect();
    let rest: f64 = order.iter().skip(own).map(|(_, w)| w.max(0.0)).sum();
    if rest > 0.0 {
        tiles.push((Tile::Rest(order.len() - own), rest));
    }
    tiles
}

/// Lays `weights` (positive, heaviest first) out in `area`, in the same order.
///
/// The tiles cover the area without overlap; each area is in proportion to its weight.
pub fn squarify(weights: &[f64], area: Rect) -> Vec<Rect> {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 || area.w <= 0.0 || area.h <= 0.0 {
        return vec![Rect::default(); weights.len()];
    }
    let scale = area.w * area.h / total;
    let mut out = Vec::with_capacity(weights.len());
    let mut free = area;
    let mut rest = weights;
    while !rest.is_empty() {
        let side = free.w.min(free.h);
        let taken = row_length(rest, side, scale);
        let (row, after) = rest.split_at(taken);
        free = place(row, free, scale, &mut out);
        rest = after;
    }
    out
}

/// How many of the next weights make the best row along `side`.
fn row_length(weights: &[f64], side: f64, scale: f64) -> usize {
    let mut sum = 0.0;
    let mut best = f64::INFINITY;
    let largest = weights.first().copied().unwrap_or_default() * scale;
    for (taken, weight) in weights.iter().enumerate() {
        let smallest = weight * scale;
        sum += smallest;
        // The worst aspect ratio of a row is that of its largest or of its smallest tile.
        let worst = (side * side * largest / (sum * sum)).max(sum * sum / (side * side * smallest));
        if worst > best {
            return taken.max(1);
        }
        best = worst;
    }
    weights.len()
}

/// Puts one row at the short side of `free` and returns what is left.
fn place(row: &[f64], free: Rect, scale: f64, out: &mut Vec<Rect>) -> Rect {
    let sum: f64 = row.iter().sum::<f64>() * scale;
    let upright = free.w >= free.h;
    let side = if upright { free.h } else { free.w };
    let thick = if side > 0.0 { sum / side } else { 0.0 };
    let mut along = 0.0;
    for weight in row {
        let length = if thick > 0.0 {
            weight * scale / thick
        } else {
            0.0
        };
        out.push(if upright {
            Rect {
                x: free.x,
                y: free.y + along,
                w: thick,
                h: length,
            }
        } else {
            Rect {
                x: free.x + along,
                y: free.y,
                w: length,
                h: thick,
            }
        });
        along += length;
    }
    if upright {
        Rect {
            x: free.x + thick,
            w: (free.w - thick).max(0.0),
            ..free
        }
    } else {
        Rect {
            y: free.y + thick,
            h: (free.h - thick).max(0.0),
            ..free
        }
    }
}

/// The step of the five-step heat scale that a share belongs to: even fifths, so that the legend
/// says what a colour means.
pub fn heat(part: u64, whole: u64) -> usize {
    if whole == 0 {
        return 0;
    }
    let share = part as f64 / whole as f64;
    ((share * 5.0) as usize).min(4)
}

/// `text` if it fits into `width`, else its end after an ellipsis: partition values differ at
/// their ends. `None` where fewer than four characters fit.
pub fn trim_label(text: &str, width: f64, char_width: f64) -> Option<String> {
    let room = (width / char_width).floor().max(0.0) as usize;
    let length = text.chars().count();
    if length <= room {
        return Some(text.to_owned());
    }
    if room < 4 {
        return None;
    }
    let tail: String = text.chars().skip(length - (room - 1)).collect();
    Some(format!("…{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect {
        x: 10.0,
        y: 20.0,
        w: 600.0,
        h: 400.0,
    };

    #[test]
    fn areas_are_in_proportion_and_cover_everything() {
        let weights = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let tiles = squarify(&weights, AREA);
        assert_eq!(tiles.len(), weights.len());
        let unit = AREA.w * AREA.h / 24.0;
        for (tile, weight) in tiles.iter().zip(weights) {
            assert!((tile.w * tile.h - weight * unit).abs() < 1e-6, "{tile:?}");
            assert!(tile.x >= AREA.x - 1e-9 && tile.y >= AREA.y - 1e-9);
            assert!(tile.x + tile.w <= AREA.x + AREA.w + 1e-6);
            assert!(tile.y + tile.h <= AREA.y + AREA.h + 1e-6);
        }
    }

    #[test]
    fn tiles_do_not_overlap() {
        let weights: Vec<f64> = (1..=60).rev().map(f64::from).collect();
        let tiles = squarify(&weights, AREA);
        for (i, a) in tiles.iter().enumerate() {
            for b in tiles.iter().skip(i + 1) {
                let wide = (a.x + a.w).min(b.x + b.w) - a.x.max(b.x);
                let high = (a.y + a.h).min(b.y + b.h) - a.y.max(b.y);
                assert!(wide <= 1e-6 || high <= 1e-6, "{a:?} over {b:?}");
            }
        }
    }

    #[test]
    fn the_textbook_example_stays_square() {
        // Bruls, Huizing and van Wijk: 6 × 4 with areas 6 6 4 3 2 2 1; their first tiles are 3 × 2.
        let area = Rect {
            x: 0.0,
            y: 0.0,
            w: 6.0,
            h: 4.0,
        };
        let tiles = squarify(&[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0], area);
        assert!((tiles[0].w - 3.0).abs() < 1e-9 && (tiles[0].h - 2.0).abs() < 1e-9);
        assert!((tiles[1].y - 2.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_lay_out_is_nothing() {
        assert!(squarify(&[], AREA).is_empty());
        assert_eq!(squarify(&[0.0], AREA), vec![Rect::default()]);
        assert_eq!(squarify(&[3.0], AREA), vec![AREA]);
    }

    #[test]
    fn the_smallest_are_one_tile() {
        let weights = [1.0, 5.0, 0.0, 2.0, 3.0];
        assert_eq!(
            fold(&weights, 3),
            vec![
                (Tile::One(1), 5.0),
                (Tile::One(4), 3.0),
                (Tile::Rest(3), 3.0)
            ]
        );
        assert_eq!(fold(&weights, 9).len(), 4, "without weight, without a tile");
        assert!(fold(&[0.0], 9).is_empty());
    }

    #[test]
    fn heat_has_five_even_steps() {
        let steps: Vec<usize> = [0, 19, 20, 45, 60, 79, 80, 100]
            .map(|p| heat(p, 100))
            .to_vec();
        assert_eq!(steps, [0, 0, 1, 2, 3, 3, 4, 4]);
        assert_eq!(heat(0, 0), 0);
    }

    #[test]
    fn labels_keep_their_ends() {
        assert_eq!(trim_label("2026-11-01", 100.0, 7.0).unwrap(), "2026-11-01");
        assert_eq!(trim_label("2026-11-01", 43.0, 7.0).unwrap(), "…11-01");
        assert_eq!(trim_label("2026-11-01", 20.0, 7.0), None);
    }
}
