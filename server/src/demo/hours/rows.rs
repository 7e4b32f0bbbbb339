//! Rows of the datasets.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use lake::Result;
use lake::hours::Slot;
use lake::table::Time;

use crate::demo::people::COURSES;
use crate::demo::random::Random;

const EVENTS: &[&str] = &[
    "lesson_started",
    "lesson_paused",
    "lesson_resumed",
    "lesson_finished",
];

fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

fn texts(values: impl IntoIterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn times(millis: &[i64]) -> ArrayRef {
    let micros = millis.iter().map(|time| time * 1_000);
    Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone("UTC"))
}

/// Sorted event times within a slot.
fn instants(random: &mut Random, slot: Slot, count: i64) -> Vec<i64> {
    let (start, end) = (slot.start().0, slot.end().0);
    let mut all: Vec<i64> = (0..count).map(|_| random.between(start, end)).collect();
    all.sort_unstable();
    all
}

fn newest(millis: &[i64]) -> Time {
    Time(millis.last().copied().unwrap_or_default())
}

/// Events of a slot, with the newest event's time.
pub(super) fn events(random: &mut Random, slot: Slot, count: i64) -> Result<(RecordBatch, Time)> {
    let at = instants(random, slot, count);
    let rows = || 0..count;
    let ids: Vec<String> = rows().map(|_| random.uuid()).collect();
    let learners = rows().map(|_| random.between(10_000, 94_000).to_string());
    let learners: Vec<String> = learners.collect();
    let courses: Vec<&str> = rows().map(|_| random.pick(COURSES)).collect();
    let lessons: Vec<String> = courses
        .iter()
        .map(|course| format!("{course}/{:02}", random.below(24)))
        .collect();
    let kinds: Vec<String> = rows().map(|_| random.pick(EVENTS).to_owned()).collect();
    let batch = batch(vec![
        ("event_id", texts(ids)),
        ("learner_id", texts(learners)),
        ("course_id", texts(courses.into_iter().map(str::to_owned))),
        ("lesson_id", texts(lessons)),
        ("event_time", times(&at)),
        ("event_type", texts(kinds)),
    ])?;
    Ok((batch, newest(&at)))
}

/// One line of an order.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) order: String,
    pub(super) seq: i32,
    course: &'static str,
    cents: i64,
    at: i64,
}

/// The lines of all orders of a slot, each order's from 1 on.
pub(super) fn orders(random: &mut Random, slot: Slot, count: i64) -> Vec<Line> {
    let mut lines = Vec::new();
    for (nth, at) in instants(random, slot, count).into_iter().enumerate() {
        let order = format!("o-{}-{:02}-{nth:04}", slot.day, slot.hour.unwrap_or(0));
        let last = random.between(1, 5) as i32;
        lines.extend((1..=last).map(|seq| Line {
            order: order.clone(),
            seq,
            course: random.pick(COURSES),
            cents: random.between(9, 199) * 100,
            at,
        }));
    }
    lines
}

/// Lines as rows, with the newest event's time.
pub(super) fn lines(lines: &[Line]) -> Result<(RecordBatch, Time)> {
    let at: Vec<i64> = lines.iter().map(|line| line.at).collect();
    let newest = at.iter().copied().max().unwrap_or_default();
    let seq = lines.iter().map(|line| line.seq);
    let cents = lines.iter().map(|line| line.cents);
    let batch = batch(vec![
        ("order_id", texts(lines.iter().map(|l| l.order.clone()))),
        (
            "line_id",
            texts(lines.iter().map(|l| format!("{}/{}", l.order, l.seq))),
        ),
        (
            "course_id",
            texts(lines.iter().map(|l| l.course.to_owned())),
        ),
        (
            "amount_cents",
            Arc::new(Int64Array::from_iter_values(cents)),
        ),
        ("event_time", times(&at)),
        ("line_seq", Arc::new(Int32Array::from_iter_values(seq))),
    ])?;
    Ok((batch, Time(newest)))
}

/// Lines that the sink could not read, as it lands them.
pub(super) fn dead_letters(lines: &[Line], error: &str) -> Result<RecordBatch> {
    let seq = lines.iter().map(|line| line.seq);
    batch(vec![
        ("order_id", texts(lines.iter().map(|l| l.order.clone()))),
        ("line_seq", Arc::new(Int32Array::from_iter_values(seq))),
        ("error", texts(lines.iter().map(|_| error.to_owned()))),
    ])
}

/// A day of each course.
pub(super) fn daily(random: &mut Random) -> Result<RecordBatch> {
    let mut number = |from, to| {
        let numbers = COURSES.iter().map(|_| random.between(from, to));
        Arc::new(Int64Array::from_iter_values(numbers)) as ArrayRef
    };
    batch(vec![
        ("course_id", texts(COURSES.iter().map(|c| (*c).to_owned()))),
        ("learners", number(80, 900)),
        ("lessons_finished", number(200, 4_000)),
    ])
}
