//! Writes an hour of tiny objects, as a sink does that flushes too often:
//! `bench-hour FOLDER OBJECTS ROWS`, below `FOLDER/learning/progress/event_date=2026-11-10/hour=13/`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, TimestampMillisecondArray};
use lake::hours::{Day, Slot};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (folder, objects, rows) = (arguments.next(), arguments.next(), arguments.next());
    let number = |text: Option<String>| text.and_then(|text| text.parse::<i64>().ok());
    let (Some(folder), Some(objects), Some(rows)) = (folder, number(objects), number(rows)) else {
        eprintln!("bench-hour: say which folder, how many objects and how many rows in each");
        std::process::exit(2);
    };
    let day: Day = "2026-11-10".parse().expect("a day");
    let hour = "learning/progress/event_date=2026-11-10/hour=13";
    let hour = PathBuf::from(folder).join(hour);
    std::fs::create_dir_all(&hour).expect("the folder can be made");
    for object in 0..objects {
        write(&hour, Slot::hour(day, 13), object, objects, rows);
    }
}

/// One object: the sink's batch of a moment, which lies in the hour as far as the object in all.
fn write(folder: &Path, slot: Slot, object: i64, objects: i64, rows: i64) {
    let length = slot.end().0 - slot.start().0;
    let moment = slot.start().0 + length * object / objects;
    let all = object * rows..(object + 1) * rows;
    // Different for each row, and the same on each machine.
    let mixed = |n: i64| (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let text = |of: fn(i64, u64) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            all.clone().map(|n| of(n, mixed(n))),
        ))
    };
    let times = all.clone().map(|n| moment + n % rows);
    let times = TimestampMillisecondArray::from_iter_values(times).with_timezone("UTC");
    let columns: [(&str, ArrayRef); 6] = [
        ("event_id", text(|n, mixed| format!("{mixed:016x}-{n:08x}"))),
        (
            "learner_id",
            text(|_, mixed| format!("learner-{}", mixed % 50_000)),
        ),
        (
            "course_id",
            text(|_, mixed| format!("course-{}", mixed % 300)),
        ),
        (
            "lesson_id",
            text(|_, mixed| format!("lesson-{}", mixed % 9_000)),
        ),
        ("event_time", Arc::new(times)),
        (
            "event_type",
            text(|n, _| ["lesson_started", "lesson_finished", "quiz_taken"][n as usize % 3].into()),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let snappy = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let mut bytes = Vec::new();
    let writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(snappy.build()));
    let mut writer = writer.expect("a plain schema");
    writer.write(&batch).expect("memory takes it");
    writer.close().expect("memory takes it");
    let name = format!(
        "progress+{}+{:010}.snappy.parquet",
        object % 3,
        object * rows
    );
    std::fs::write(folder.join(name), bytes).expect("the object can be written");
}
