//! Datasets of the other zones: the hours conformed, the days curated, a partner's files.

use lake::Result;
use lake::table::Time;

use super::{HOUR, MINUTE, Writer, packed, published, rows};
use crate::demo::random::Random;

/// Hours of yesterday whose raw hour cannot be read, so that nobody conformed them.
const WAITING: [u8; 3] = [10, 13, 17];
/// The same of the day before.
const WAITING_BEFORE: [u8; 3] = [2, 6, 11];

/// `learning.progress_event`: one run an hour, twenty minutes after raw's.
pub(super) fn events(writer: &Writer) -> Result<()> {
    for (ago, slot) in writer.slots() {
        let hour = slot.hour.unwrap_or(0);
        let waits = match ago {
            1 => WAITING.contains(&hour),
            2 => WAITING_BEFORE.contains(&hour),
            _ => false,
        };
        let at = Time(published(slot).0 + 20 * MINUTE);
        if waits || at > writer.now {
            continue;
        }
        let mut random = Random::new(7_003 ^ slot.start().0 as u64);
        let parts = [rows::events(&mut random, slot, 240)?];
        let run = writer.run(slot, &parts, Time(at.0 - 30_000))?;
        writer.publish(&writer.marker(&run, at))?;
    }
    Ok(())
}

/// `learning.progress_daily`: a day is published in the night after it.
pub(super) fn daily(writer: &Writer) -> Result<()> {
    for (_, slot) in writer.slots() {
        let at = Time(packed(slot).0 + 2 * HOUR);
        if at > writer.now {
            continue;
        }
        let mut random = Random::new(7_004 ^ slot.start().0 as u64);
        let parts = [(rows::daily(&mut random)?, Time(slot.end().0 - 1))];
        let run = writer.run(slot, &parts, Time(at.0 - 30_000))?;
        writer.publish(&writer.marker(&run, at))?;
    }
    Ok(())
}

/// `partner.enrollment`: a file a day, as the partner exports it, with a column that may not be
/// there.
pub(super) fn enrollment(writer: &Writer) -> Result<()> {
    for (_, slot) in writer.slots() {
        let at = Time(slot.end().0 + 5 * HOUR + 12 * MINUTE);
        let mut random = Random::new(7_005 ^ slot.start().0 as u64);
        let mut text = "learner_ref,email,course_id,enrolled_at\n".to_owned();
        for _ in 0..40 {
            let learner = random.between(10_000, 94_000);
            let course = random.pick(crate::demo::people::COURSES);
            let enrolled = Time(random.between(slot.start().0, slot.end().0));
            text.push_str(&format!(
                "p-{learner},{learner}@partner.example,{course},{enrolled}\n"
            ));
        }
        let prefix = writer.dataset.prefix_of(slot);
        writer.put(&format!("{prefix}enrollment.csv"), text.as_bytes(), at)?;
        writer.put(&format!("{prefix}_SUCCESS"), b"", Time(at.0 + 3_000))?;
    }
    Ok(())
}
