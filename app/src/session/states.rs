//! How each table is, as far as it was looked at: the dots of the rail.

use std::collections::HashMap;

use crate::signals::{Memo, RwSignal};

/// How a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableState {
    /// Not looked at since the page was opened.
    #[default]
    Unknown,
    /// Nothing needs a person.
    Calm,
    /// Something needs a person.
    Attention,
    /// It cannot be read.
    Broken,
}

impl TableState {
    /// Class of its dot.
    pub fn class(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Calm => "calm",
            Self::Attention => "attention",
            Self::Broken => "broken",
        }
    }

    /// The same in words.
    pub fn says(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Calm => "nothing needs a person",
            Self::Attention => "needs a person",
            Self::Broken => "cannot be read",
        }
    }
}

/// States by the tables' names.
#[derive(Clone, Copy)]
pub struct TableStates {
    all: RwSignal<HashMap<String, TableState>>,
}

impl TableStates {
    pub(super) fn new() -> Self {
        Self {
            all: RwSignal::new(HashMap::new()),
        }
    }

    /// Notes how a table was found.
    pub fn note(self, table: &str, state: TableState) {
        if self
            .all
            .with_untracked(|all| all.get(table) != Some(&state))
        {
            self.all.update(|all| {
                let _ = all.insert(table.to_owned(), state);
            });
        }
    }

    /// How many of these were last found so, followed.
    pub fn count<'a>(self, names: impl Iterator<Item = &'a String>, state: TableState) -> u64 {
        let so = |all: &HashMap<String, TableState>| {
            names.filter(|name| all.get(*name) == Some(&state)).count()
        };
        self.all.with(so) as u64
    }

    /// How a table was last found.
    pub fn of(self, table: &str) -> Memo<TableState> {
        let table = table.to_owned();
        let all = self.all;
        Memo::new(move |_| all.with(|all| all.get(&table).copied().unwrap_or_default()))
    }
}
