//! What the bars measure.

use lake::wire::CommitRow;

/// The chosen measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Measure {
    #[default]
    Rows,
    Bytes,
    Files,
}

impl Measure {
    pub(super) const ALL: [Self; 3] = [Self::Rows, Self::Bytes, Self::Files];

    /// In the address and on the page.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Bytes => "bytes",
            Self::Files => "files",
        }
    }

    /// Rows where the name is none.
    pub(super) fn from_name(name: Option<&str>) -> Self {
        let found = Self::ALL.into_iter().find(|m| Some(m.name()) == name);
        found.unwrap_or_default()
    }

    /// What came and what went; `None` where the commit does not state it.
    pub(super) fn of(self, commit: &CommitRow) -> Option<(u64, u64)> {
        let (came, went) = match self {
            Self::Rows => (commit.rows_added, commit.rows_removed),
            Self::Bytes => (commit.bytes_added, commit.bytes_removed),
            Self::Files => (commit.files_added, commit.files_removed),
        };
        Some((came?, went?))
    }

    /// A figure of this measure in words.
    pub(super) fn write(self, n: u64) -> String {
        match self {
            Self::Bytes => crate::format::bytes(n),
            Self::Rows => crate::format::counted(n, "row"),
            Self::Files => crate::format::counted(n, "file"),
        }
    }
}

/// Rows that came and went for whoever reads the table. A rewrite puts the same rows into other
/// files: none came and none went.
pub(super) fn rows_of(commit: &CommitRow) -> (Option<u64>, Option<u64>) {
    match rewrites(commit) {
        true => (Some(0), Some(0)),
        false => (commit.rows_added, commit.rows_removed),
    }
}

/// Whether the commit has the same rows in other files.
pub(super) fn rewrites(commit: &CommitRow) -> bool {
    !commit.data_change && commit.rows_added.unwrap_or(1) > 0
}

#[cfg(test)]
mod tests {
    use super::super::sample::commit;
    use super::*;

    #[test]
    fn a_rewrite_brings_no_rows() {
        let mut packed = commit(21, "OPTIMIZE");
        (packed.rows_added, packed.rows_removed) = (Some(727), Some(727));
        assert_eq!(rows_of(&packed), (Some(727), Some(727)));
        packed.data_change = false;
        assert_eq!(rows_of(&packed), (Some(0), Some(0)));
        (packed.rows_added, packed.rows_removed) = (None, None);
        assert_eq!(rows_of(&packed), (Some(0), Some(0)));
    }
}
