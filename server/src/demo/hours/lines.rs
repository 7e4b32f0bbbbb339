//! `commerce.purchase_line`: lines are numbered, so that it can be told which are missing. At night
//! nobody buys.

use lake::Result;
use lake::hours::Slot;
use lake::table::Time;
use serde_json::Map;

use super::rows::{Line, dead_letters, lines, orders};
use super::{MINUTE, Writer, complete, packed, published};
use crate::demo::random::Random;

/// Orders of an hour.
const ORDERS: i64 = 60;

pub(super) fn write(writer: &Writer) -> Result<()> {
    for (ago, slot) in writer.slots() {
        let hour = slot.hour.unwrap_or(0);
        if !(7..23).contains(&hour) {
            continue;
        }
        let mut random = Random::new(7_002 ^ slot.start().0 as u64);
        let mut all = orders(&mut random, slot, ORDERS);
        let hole = match (ago, hour) {
            // One line of the hour could not be read, and lies among the dead letters.
            (2, 15) => Some(take(&mut all, 1)),
            _ => None,
        };
        // Two lines of another hour are nowhere.
        let gone = ((ago, hour) == (1, 11)).then(|| take(&mut all, 2));
        if let Some(dead) = &hole {
            let batch = dead_letters(dead, "amount_cents: expected a number")?;
            dead_letter(writer, slot, &batch)?;
        }
        loose(writer, ago, slot, &all)?;
        let whole = hole.is_none() && gone.is_none();
        publish(writer, slot, &all, whole)?;
    }
    Ok(())
}

/// Takes lines out of orders that have others.
fn take(all: &mut Vec<Line>, count: usize) -> Vec<Line> {
    let mut taken = Vec::new();
    while taken.len() < count {
        // The second line of some order, so that the first one, or the last, stays.
        let Some(at) = all.iter().rposition(|line| {
            line.seq == 1 && all.iter().any(|l| l.order == line.order && l.seq > 1)
        }) else {
            break;
        };
        taken.push(all.remove(at));
    }
    taken
}

/// Lands a dead letter where the gate looks for it.
fn dead_letter(writer: &Writer, slot: Slot, batch: &arrow_array::RecordBatch) -> Result<()> {
    let gate = writer.dataset.complete.as_ref();
    let Some(prefix) = gate.and_then(|gate| gate.dead_letters.as_deref()) else {
        return Ok(());
    };
    let key = format!(
        "{prefix}/{}/purchase_line.dlq+0+0000000311.snappy.parquet",
        writer.dataset.partition_of(slot)
    );
    let packing = crate::demo::data::Packing::Written("order_id");
    let bytes = crate::demo::data::parquet_bytes(batch, packing)?;
    writer.put(&key, &bytes, Time(slot.start().0 + 47 * MINUTE))
}

/// What the sink put, of an hour that is not closed yet.
fn loose(writer: &Writer, ago: i32, slot: Slot, all: &[Line]) -> Result<()> {
    if ago > 0 || published(slot) <= writer.now {
        return Ok(());
    }
    for (nth, part) in all.chunks(all.len().div_ceil(4).max(1)).enumerate() {
        let at = Time(slot.start().0 + (nth as i64 + 1) * 15 * MINUTE + 4_000);
        let (batch, _) = lines(part)?;
        let name = format!("purchase_line+0+{:010}.snappy.parquet", nth * 40);
        writer.rows(slot, &name, &batch, at)?;
    }
    Ok(())
}

fn publish(writer: &Writer, slot: Slot, all: &[Line], whole: bool) -> Result<()> {
    if published(slot) > writer.now {
        return Ok(());
    }
    let parts = all.chunks(all.len().div_ceil(2).max(1)).map(lines);
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let run = writer.run(slot, &parts, packed(slot))?;
    let mut marker = writer.marker(&run, published(slot));
    // A job that knows no gate published the hours with holes.
    marker.extra = match whole {
        true => complete(ORDERS as u64, all.len() as u64),
        false => Map::from_iter([("publisher".to_owned(), "backfill.sh".into())]),
    };
    writer.publish(&marker)
}
