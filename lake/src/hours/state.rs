//! How an hour stands, worst first, and why.

use serde::{Deserialize, Serialize};

use crate::table::Time;

/// How an hour stands. The order is from worst to best: of all that apply, the least is the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The marker names a prefix with no objects left.
    Lost,
    /// Marker and listing disagree.
    Mutated,
    /// Two markers claim the hour.
    Racing,
    /// The marker cannot be parsed, or points elsewhere.
    Invalid,
    /// The completeness gate fails.
    Incomplete,
    /// Past its deadline, data there or expected, no marker.
    Late,
    /// Closed, with more or smaller objects than its budget allows.
    OverBudget,
    /// A marker, and everything matches.
    Closed,
    /// No marker, before the deadline.
    Open,
    /// Has not started.
    Future,
    /// Past, and nothing happened: declared, or not expected.
    Empty,
}

impl State {
    /// All of them, worst first.
    pub const ALL: [Self; 11] = [
        Self::Lost,
        Self::Mutated,
        Self::Racing,
        Self::Invalid,
        Self::Incomplete,
        Self::Late,
        Self::OverBudget,
        Self::Closed,
        Self::Open,
        Self::Future,
        Self::Empty,
    ];

    /// Whether a reader may scan it.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::OverBudget | Self::Closed)
    }

    /// Whether "closed up to" passes it.
    pub fn lets_pass(self) -> bool {
        self.is_closed() || self == Self::Empty
    }

    /// Whether a person has something to do.
    pub fn needs_attention(self) -> bool {
        self <= Self::OverBudget
    }

    /// One letter each, for a day as a word of twenty-four.
    pub fn letter(self) -> char {
        match self {
            Self::Lost => 'L',
            Self::Mutated => 'M',
            Self::Racing => 'R',
            Self::Invalid => 'I',
            Self::Incomplete => 'P',
            Self::Late => 'T',
            Self::OverBudget => 'B',
            Self::Closed => 'C',
            Self::Open => 'O',
            Self::Future => 'F',
            Self::Empty => 'E',
        }
    }

    /// The state of a letter.
    pub fn of_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.letter() == letter)
    }

    /// As people read it: `over budget`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Mutated => "mutated",
            Self::Racing => "racing",
            Self::Invalid => "invalid",
            Self::Incomplete => "incomplete",
            Self::Late => "late",
            Self::OverBudget => "over budget",
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Future => "future",
            Self::Empty => "empty",
        }
    }
}

/// What must be known of a closed hour before it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Keys came that its run does not have.
    LateData,
    /// Nobody knows whether it is complete.
    NotChecked,
}

impl Remark {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::LateData, Self::NotChecked];

    /// One letter each, beside those of [`State::letter`].
    pub fn letter(self) -> char {
        match self {
            Self::LateData => 'L',
            Self::NotChecked => 'N',
        }
    }

    /// The remark of a letter.
    pub fn of_letter(letter: char) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|remark| remark.letter() == letter)
    }

    /// As people read it, after the state: `late data`.
    pub fn words(self) -> &'static str {
        match self {
            Self::LateData => "late data",
            Self::NotChecked => "completeness not checked",
        }
    }
}

/// One thing that is so of an hour, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The state that it alone would make; [`State::Closed`] for what only should be known.
    pub state: State,
    /// A sentence with its figures.
    pub message: String,
    /// The key it is about, relative to the zone.
    pub key: Option<String>,
    /// When the store says that key was put.
    pub put: Option<Time>,
    /// Bytes of that key.
    pub bytes: Option<u64>,
}

/// How a reason begins that is about keys which came after those that the published run took in.
pub(super) const LATE_DATA: &str = "late data: ";

impl Reason {
    /// Whether it names a key that the published run lacks because it came later.
    pub fn is_late_data(&self) -> bool {
        self.state == State::Closed && self.message.starts_with(LATE_DATA)
    }

    /// A reason without a key.
    pub fn new(state: State, message: impl Into<String>) -> Self {
        Self {
            state,
            message: message.into(),
            key: None,
            put: None,
            bytes: None,
        }
    }
}
