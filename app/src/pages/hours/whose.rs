//! Whose it is to act on an hour, until when it should be closed, and what units a dataset counts in.

use lake::hours::{Slot, State};
use lake::table::Time;
use lake::wire::hours::{DatasetReport, HourRow};

use crate::format;

/// Who must act: object sizes are the compaction owner's, what is not published well is the
/// publisher's; whose the data is where neither is named.
pub fn owner(dataset: &DatasetReport, state: State) -> Option<&str> {
    let named = match state {
        State::OverBudget => &dataset.compaction_owner,
        state if state < State::OverBudget => &dataset.publisher,
        _ => return None,
    };
    named.as_deref().or(dataset.owner.as_deref())
}

/// When an hour should be closed at the latest.
pub fn deadline(dataset: &DatasetReport, slot: Slot) -> Time {
    Time(slot.end().0.saturating_add(dataset.grace.max(0)))
}

/// `96 hours`, `30 days`
pub fn counted(n: u64, hourly: bool) -> String {
    format::counted(n, if hourly { "hour" } else { "day" })
}

/// The slot of a row.
pub fn slot_of(row: &HourRow) -> Slot {
    Slot {
        day: row.date,
        hour: row.hour,
    }
}

/// The run that a row's marker names.
pub fn run_of(row: &HourRow) -> Option<&str> {
    row.marker.as_ref()?.get("run_id")?.as_str()
}

/// Why an hour is what it is, in a sentence.
pub fn why(row: &HourRow) -> Option<String> {
    let reason = row.reasons.first()?;
    Some(format::capital(&format::visible(&reason.message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_says_whose_it_is() {
        let named = |text: &str| Some(text.to_owned());
        let mut dataset = DatasetReport {
            owner: named("learning"),
            publisher: named("sink"),
            compaction_owner: named("platform"),
            grace: 900_000,
            ..DatasetReport::default()
        };
        assert_eq!(owner(&dataset, State::Mutated), Some("sink"));
        assert_eq!(owner(&dataset, State::Late), Some("sink"));
        assert_eq!(owner(&dataset, State::OverBudget), Some("platform"));
        assert_eq!(owner(&dataset, State::Closed), None);
        (dataset.publisher, dataset.compaction_owner) = (None, None);
        assert_eq!(owner(&dataset, State::Late), Some("learning"));
        assert_eq!(owner(&dataset, State::OverBudget), Some("learning"));
        let hour = Slot::hour("2026-11-10".parse().unwrap(), 8);
        assert_eq!(
            deadline(&dataset, hour).to_string(),
            "2026-11-10T09:15:00.000Z"
        );
    }
}
