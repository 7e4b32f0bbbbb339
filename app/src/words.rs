//! Sentences: what a diff, a commit, a layout says, in words a person reads. Pure text.

mod diff;
mod feature;
mod figure;
mod file;
mod layout;
#[cfg(test)]
mod samples;
mod sql;

use std::fmt;

pub use diff::{changes, scope, verdict, verdict_of};
pub use feature::{Meaning, features, meaning};
pub use figure::{count_of, joined, number_word, plural};
pub use file::contents;
pub use lake::predicate::flat;
pub use layout::{headline, packing};
pub use sql::sql_path;

/// A predicate as a person would write it. `None` where there is none.
pub fn predicate_text(value: &serde_json::Value) -> Option<String> {
    lake::predicate::predicate_text(value, |text| crate::engine::read::from_json(text).ok())
}

/// A piece of a [`Sentence`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it is.
    Text(String),
    /// The half that matters.
    Strong(String),
    /// A key, a name, a predicate: what a machine would read.
    Code(String),
}

/// Text in pieces, so that the page can set names apart without markup in strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(pub Vec<Part>);

impl Sentence {
    /// A sentence without words yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Text(text.into()));
        self
    }

    /// Adds the half that matters.
    #[must_use]
    pub fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Strong(text.into()));
        self
    }

    /// Adds a name.
    #[must_use]
    pub fn code(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Code(text.into()));
        self
    }

    /// Adds another sentence's pieces.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

/// The words alone: for copies, labels and tests.
impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) | Part::Strong(text) | Part::Code(text) => f.write_str(text),
        })
    }
}

/// An act in a word or two, as lists have it.
pub fn act_name(kind: lake::plan::Act) -> &'static str {
    use lake::plan::Act;
    match kind {
        Act::Restore => "Restore",
        Act::Vacuum => "Vacuum",
        Act::Optimize => "Optimize",
        Act::Publish => "Publish",
        Act::Repoint => "Repoint",
        Act::Compact => "Compact",
        Act::ExpireRuns => "Expire runs",
    }
}
