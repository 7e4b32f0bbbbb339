//! Aligned columns of text.

/// Which side a column is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Rows under headings.
#[derive(Debug)]
pub(super) struct Grid {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A grid without rows.
    pub(super) fn new(columns: &[(&'static str, Side)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of as many cells as there are columns.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// The lines; nothing where there are no rows.
    pub(super) fn render(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let heading: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| (*name).into())
            .collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = self.rows.iter().chain([&heading]);
                let lengths = cells
                    .filter_map(|row| row.get(at))
                    .map(|c| c.chars().count());
                lengths.max().unwrap_or_default()
            })
            .collect();
        let mut out = String::new();
        for row in [&heading].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for ((cell, width), (_, side)) in row.iter().zip(&widths).zip(&self.columns) {
                let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
                match side {
                    Side::Left => line.push_str(&format!("{cell}{gap}  ")),
                    Side::Right => line.push_str(&format!("{gap}{cell}  ")),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Names and values, one pair a line.
pub(super) fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or_default();
    pairs
        .iter()
        .map(|(name, value)| format!("{name:width$}  {value}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::new(&[("NAME", Side::Left), ("ROWS", Side::Right)]);
        assert_eq!(grid.render(), "");
        grid.row(["é".to_owned(), "1,204".to_owned()]);
        grid.row(["longer".to_owned(), "7".to_owned()]);
        assert_eq!(
            grid.render(),
            "NAME     ROWS\né       1,204\nlonger      7\n"
        );
    }
}
