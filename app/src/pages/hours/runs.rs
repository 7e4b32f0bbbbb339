//! A day's states as runs of equal neighbours: few elements, however many hours.

use lake::hours::{Remark, State};

/// Hours next to each other in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Their state.
    pub state: State,
    /// The first of them, from 0.
    pub first: usize,
    /// How many.
    pub length: usize,
}

impl Run {
    /// Its sign, where it is a single hour.
    pub fn sign(self) -> &'static str {
        if self.length == 1 {
            glyph(self.state)
        } else {
            ""
        }
    }
}

/// The runs of a day's letters. A state that needs a person stays in single hours where `apart`,
/// so that each has its sign.
pub fn runs(states: &str, apart: bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (first, letter) in states.chars().enumerate() {
        // A letter of another build is not guessed at.
        let state = State::of_letter(letter).unwrap_or(State::Invalid);
        match runs.last_mut() {
            Some(run) if run.state == state && !(apart && state.needs_attention()) => {
                run.length += 1
            }
            _ => runs.push(Run {
                state,
                first,
                length: 1,
            }),
        }
    }
    runs
}

/// Its class in the style sheet.
pub fn class(state: State) -> &'static str {
    match state {
        State::Lost => "lost",
        State::Mutated => "mutated",
        State::Racing => "racing",
        State::Invalid => "invalid",
        State::Incomplete => "incomplete",
        State::Late => "late",
        State::OverBudget => "budget",
        State::Closed => "closed",
        State::Open => "open",
        State::Future => "future",
        State::Empty => "empty",
    }
}

/// Its sign, for those to whom colours say nothing.
pub fn glyph(state: State) -> &'static str {
    match state {
        State::Lost => "∅",
        State::Mutated => "✕",
        State::Racing => "≠",
        State::Invalid => "?",
        State::Late => "!",
        _ => "",
    }
}

/// The sign of a remark, over the cell of a closed hour.
pub fn remark_sign(remark: Remark) -> &'static str {
    match remark {
        Remark::LateData => "+",
        Remark::NotChecked => "○",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one() {
        let day = "CCCCCCCCMMBBCCCCCCCCCCCC";
        let lengths: Vec<_> = runs(day, false).iter().map(|run| run.length).collect();
        assert_eq!(lengths, [8, 2, 2, 12]);
        let apart: Vec<_> = runs(day, true).iter().map(|run| run.length).collect();
        assert_eq!(apart, [8, 1, 1, 1, 1, 12]);
        assert_eq!(
            runs(day, true)[1],
            Run {
                state: State::Mutated,
                first: 8,
                length: 1
            }
        );
        assert!(runs("", true).is_empty());
        assert_eq!(runs("*", false)[0].state, State::Invalid);
    }
}
