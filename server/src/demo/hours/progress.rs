//! `learning.progress`: every hour comes, and what can go wrong with one has gone wrong once.

use lake::Result;
use lake::hours::listing::Object;
use lake::hours::template::Template;
use lake::hours::{Slot, marker::Declared};
use lake::table::Time;

use super::{HOUR, MINUTE, Run, Writer, json, packed, published, rows};
use crate::demo::random::Random;

/// Loose keys that the sink puts in an hour.
const LOOSE: i64 = 4;
/// Objects of a run, and their rows.
const PARTS: (usize, i64) = (3, 160);
/// The same of an hour in the enrollment week, which nobody has packed.
const SMALL: (usize, i64) = (40, 6);

pub(super) fn write(writer: &Writer) -> Result<()> {
    for (ago, slot) in writer.slots() {
        let mut random = Random::new(7_001 ^ slot.start().0 as u64);
        let hour = slot.hour.unwrap_or(0);
        // What the sink put is kept for the newest days, the rest is packed and gone.
        let declared = (ago, hour) == (2, 2);
        let taken = match ago <= 1 && !declared {
            true => loose(writer, &mut random, slot)?,
            false => Vec::new(),
        };
        let mut writer = writer.clone();
        writer.taken = taken;
        let writer = &writer;
        match (ago, hour) {
            (3, 8) => superseded(writer, &mut random, slot)?,
            (3, 14) => late_data(writer, &mut random, slot)?,
            (2, 2) => empty(writer, slot)?,
            (2, 6) => lost(writer, slot)?,
            (2, 9) => illegal_key(writer, &mut random, slot)?,
            (2, 11) => invalid(writer, &mut random, slot)?,
            (2, 12..=15) => drop(publish(writer, &mut random, slot, SMALL)?),
            (1, 10) => mutated(writer, &mut random, slot)?,
            (1, 13) => racing(writer, &mut random, slot)?,
            // Its publisher failed.
            (1, 17) => {}
            _ => drop(publish(writer, &mut random, slot, PARTS)?),
        }
    }
    Ok(())
}

/// The keys that the sink puts while the hour runs.
fn loose(writer: &Writer, random: &mut Random, slot: Slot) -> Result<Vec<Object>> {
    let mut all = Vec::new();
    for nth in 0..LOOSE {
        let at = Time(slot.start().0 + (nth + 1) * HOUR / LOOSE + 9_000);
        let (batch, _) = rows::events(random, slot, PARTS.1 / 2)?;
        let offset = slot.start().0 / HOUR % 100_000 * 500 + nth * 80;
        let name = format!("progress+{}+{offset:010}.snappy.parquet", nth % 2);
        let bytes = writer.rows(slot, &name, &batch, at)?;
        all.push(Object {
            key: format!("{}{name}", writer.dataset.prefix_of(slot)),
            bytes,
            put: at,
            etag: None,
        });
    }
    Ok(all)
}

fn run(
    writer: &Writer,
    random: &mut Random,
    slot: Slot,
    (objects, count): (usize, i64),
    at: Time,
) -> Result<Run> {
    let parts = (0..objects).map(|_| rows::events(random, slot, count));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    writer.run(slot, &parts, at)
}

/// A run and its marker, as it should be.
fn publish(
    writer: &Writer,
    random: &mut Random,
    slot: Slot,
    parts: (usize, i64),
) -> Result<Option<Run>> {
    // The publisher does not leave half a run behind.
    if published(slot) > writer.now {
        return Ok(None);
    }
    let run = run(writer, random, slot, parts, packed(slot))?;
    writer.publish(&writer.marker(&run, published(slot)))?;
    Ok(Some(run))
}

/// A better run took the place of the first one.
fn superseded(writer: &Writer, random: &mut Random, slot: Slot) -> Result<()> {
    let first = run(writer, random, slot, (9, 60), packed(slot))?;
    let old = writer.marker(&first, published(slot));
    let at = Time(published(slot).0 + 5 * HOUR);
    let better = run(writer, random, slot, PARTS, Time(at.0 - 40_000))?;
    let mut current = writer.marker(&better, at);
    current.supersedes = Some(first.id.clone());
    writer.supersede(&old, Time(at.0 - 2_000))?;
    writer.publish(&current)
}

/// A key came after the hour was closed, outside its run.
fn late_data(writer: &Writer, random: &mut Random, slot: Slot) -> Result<()> {
    publish(writer, random, slot, PARTS)?;
    let (batch, _) = rows::events(random, slot, 11)?;
    let at = Time(published(slot).0 + 3 * HOUR + 12 * MINUTE);
    writer.rows(slot, "progress+1+0009120044.snappy.parquet", &batch, at)?;
    Ok(())
}

/// The platform stood still, and its owner says so.
fn empty(writer: &Writer, slot: Slot) -> Result<()> {
    let at = Time(slot.end().0 + 26 * MINUTE);
    let declared = Declared {
        reason: "planned maintenance of the event broker: nobody could learn".to_owned(),
        by: Some("raj@tlp".to_owned()),
        declared_at: at,
    };
    let key = Template::of(&writer.dataset).empty(slot);
    writer.put(&key, &json(&declared)?, at)
}

/// Somebody deleted the run that the marker names.
fn lost(writer: &Writer, slot: Slot) -> Result<()> {
    let gone = Run {
        slot,
        id: super::stamp(packed(slot)),
        objects: PARTS.0 as u64,
        bytes: 33_912,
        newest_event: Time(slot.end().0 - 1_204),
    };
    writer.publish(&writer.marker(&gone, published(slot)))
}

/// A test of the sink partitioned by learner.
fn illegal_key(writer: &Writer, random: &mut Random, slot: Slot) -> Result<()> {
    publish(writer, random, slot, PARTS)?;
    let (batch, _) = rows::events(random, slot, 3)?;
    let at = Time(slot.start().0 + 31 * MINUTE);
    writer.rows(
        slot,
        "learner_id=48213/part-00000.snappy.parquet",
        &batch,
        at,
    )?;
    Ok(())
}

/// The marker's writer was killed in the middle of a line.
fn invalid(writer: &Writer, random: &mut Random, slot: Slot) -> Result<()> {
    let run = run(writer, random, slot, PARTS, packed(slot))?;
    let text = json(&writer.marker(&run, published(slot)))?;
    let half = text.get(..text.len() / 2).unwrap_or_default();
    let key = Template::of(&writer.dataset).current(slot);
    writer.put(&key, half, published(slot))
}

/// A task of the run was late, and put its object after the marker.
fn mutated(writer: &Writer, random: &mut Random, slot: Slot) -> Result<()> {
    let Some(run) = publish(writer, random, slot, PARTS)? else {
        return Ok(());
    };
    let (batch, _) = rows::events(random, slot, 140)?;
    let at = Time(published(slot).0 + 14 * MINUTE + 2_000);
    let name = format!("run_id={}/part-00003.snappy.parquet", run.id);
    writer.rows(slot, &name, &batch, at)?;
    Ok(())
}

/// Two publishers did not look at each other's marker.
fn racing(writer: &Writer, random: &mut Random, slot: Slot) -> Result<()> {
    let one = run(writer, random, slot, PARTS, packed(slot))?;
    let other = run(
        writer,
        random,
        slot,
        (2, 200),
        Time(packed(slot).0 + 21_000),
    )?;
    let loser = writer.marker(&one, published(slot));
    writer.supersede(&loser, Time(published(slot).0 + 900))?;
    writer.publish(&writer.marker(&other, Time(published(slot).0 + 1_400)))
}
