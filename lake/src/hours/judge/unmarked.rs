//! A slot that nothing closes.

use super::{Evidence, about, duration, early, early_words};
use crate::figures;
use crate::hours::dataset::Dataset;
use crate::hours::day::Slot;
use crate::hours::listing::Object;
use crate::hours::state::{Reason, State};
use crate::table::Time;

/// A slot without a current marker.
pub(super) fn unmarked<'a>(
    dataset: &Dataset,
    evidence: Evidence<'a>,
    counted: &mut Vec<&'a Object>,
    reasons: &mut Vec<Reason>,
) {
    counted.extend(evidence.objects.data());
    let Evidence { slot, now, .. } = evidence;
    let deadline = dataset.deadline(slot);
    if let Some((object, read)) = &evidence.markers.declared {
        match read {
            _ if early(object, slot, now) => {
                let state = unpublished(dataset, slot, counted.len() as u64, now).state;
                let message = format!(
                    "a declaration that it is empty, {}: it does not count",
                    early_words(slot)
                );
                reasons.push(about(state, message, object));
            }
            Err(why) => reasons.push(about(State::Invalid, why.clone(), object)),
            Ok(declared) if counted.is_empty() => {
                let by = declared
                    .by
                    .as_ref()
                    .map(|by| format!(", says {by}"))
                    .unwrap_or_default();
                let message = format!("declared empty{by}: {}", declared.reason);
                reasons.push(about(State::Empty, message, object));
                return;
            }
            Ok(_) => {
                let message = format!(
                    "declared empty, and yet there are {}",
                    figures::counted(counted.len() as u64, "object")
                );
                reasons.push(about(
                    if now >= deadline {
                        State::Late
                    } else {
                        State::Open
                    },
                    message,
                    object,
                ));
            }
        }
    }
    reasons.push(unpublished(dataset, slot, counted.len() as u64, now));
}

/// The state of a slot that nothing closes.
pub(in crate::hours) fn unpublished(dataset: &Dataset, slot: Slot, data: u64, now: Time) -> Reason {
    let deadline = dataset.deadline(slot);
    if now < slot.start() {
        let message = match data {
            0 => "it has not begun".to_owned(),
            n => format!(
                "it has not begun, and yet there are {}: does the writer's clock run ahead?",
                figures::counted(n, "object")
            ),
        };
        return Reason::new(State::Future, message);
    }
    if now < deadline {
        let ends = match now < slot.end() {
            true => format!(
                "it ends at {} and should be closed by {}",
                slot.end().minute(),
                deadline.minute()
            ),
            false => format!("it has ended and should be closed by {}", deadline.minute()),
        };
        return Reason::new(State::Open, ends);
    }
    let since = duration(now.0.saturating_sub(deadline.0));
    match (data, dataset.expects(slot)) {
        (0, true) => Reason::new(
            State::Late,
            format!("no object and no marker, {since} after its deadline"),
        ),
        (0, false) => Reason::new(State::Empty, "no objects, and none were expected"),
        (n, _) => Reason::new(
            State::Late,
            format!(
                "{} without a marker, {since} after its deadline",
                figures::counted(n, "object")
            ),
        ),
    }
}
