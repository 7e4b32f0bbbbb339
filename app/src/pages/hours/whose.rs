//! Why an hour is what it is, until when it should be closed, and what units a dataset counts in.

use lake::hours::Slot;
use lake::table::Time;
use lake::wire::hours::{DatasetReport, HourRow};

use crate::format;

/// When an hour should be closed at the latest.
pub fn deadline(dataset: &DatasetReport, slot: Slot) -> Time {
    Time(slot.end().0.saturating_add(dataset.grace.max(0)))
}

/// `96 hours`, `30 days`
pub fn counted(n: u64, hourly: bool) -> String {
    format::counted(n, if hourly { "hour" } else { "day" })
}

/// What a dataset is cut into: `hour` or `day`.
pub fn unit(dataset: &DatasetReport) -> &'static str {
    if dataset.partition.len() > 1 {
        "hour"
    } else {
        "day"
    }
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
    fn an_hour_is_due_its_grace_after_its_end() {
        let dataset = DatasetReport {
            grace: 900_000,
            ..DatasetReport::default()
        };
        let hour = Slot::hour("2026-11-10".parse().unwrap(), 8);
        assert_eq!(
            deadline(&dataset, hour).to_string(),
            "2026-11-10T09:15:00.000Z"
        );
    }
}
