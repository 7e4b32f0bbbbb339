//! The rows of the mart, and the shape that its schema has at a time.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use lake::Result;
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use serde_json::{Value, json};

use crate::demo::people::COURSES;
use crate::demo::random::Random;

/// One attempt at a lesson.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) learner: i64,
    pub(super) lesson: String,
    attempt: i64,
    /// Microseconds since 1970.
    completed_at: i64,
    pub(super) score: f64,
    seconds: Option<i32>,
    definition: &'static str,
}

impl Attempt {
    /// An attempt on the day that begins at `midnight` (milliseconds).
    pub(super) fn new(random: &mut Random, midnight: i64, definition: &'static str) -> Self {
        let lesson = format!("{}/{:02}", random.pick(COURSES), random.below(24));
        let score = (random.below(600) + random.below(401)) as f64 / 10.0;
        // The third definition counts a lesson given up in the first minute as no attempt.
        let floor = if definition == "completion-v3" { 60 } else { 5 };
        Self {
            learner: random.between(10_000, 94_000),
            lesson,
            attempt: 1 + random.below(3) as i64 * random.below(2) as i64,
            completed_at: (midnight + random.between(0, 86_400_000)) * 1_000,
            score,
            seconds: (!random.per_mille(40)).then(|| floor + random.below(3_000) as i32),
            definition,
        }
    }
}

/// What the table's schema looks like at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Whether columns are mapped by name.
    pub(super) mapped: bool,
    /// Whether `attempt_number` was widened.
    pub(super) attempt_is_long: bool,
    /// What the score is called.
    pub(super) score_name: &'static str,
    /// Physical name of the time spent, once there is such a column.
    pub(super) time_spent: Option<&'static str>,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            mapped: false,
            attempt_is_long: false,
            score_name: "score",
            time_spent: None,
        }
    }
}

/// A column: logical name, physical name, type as Delta spells it, and its id.
pub(super) struct Column {
    logical: &'static str,
    physical: &'static str,
    kind: &'static str,
    id: i64,
}

impl Shape {
    /// The columns that data files hold.
    pub(super) fn columns(&self) -> Vec<Column> {
        let attempt = if self.attempt_is_long {
            "long"
        } else {
            "integer"
        };
        let mut columns = vec![
            ("learner_id", "learner_id", "long"),
            ("lesson_id", "lesson_id", "string"),
            ("attempt_number", "attempt_number", attempt),
            ("completed_at", "completed_at", "timestamp"),
            (self.score_name, "score", "double"),
            ("passed", "passed", "boolean"),
            ("definition_version", "definition_version", "string"),
        ];
        if let Some(physical) = self.time_spent {
            columns.push(("time_spent_seconds", physical, "integer"));
        }
        // The partition column has the id after the first seven.
        let ids = (1..8).chain(9..);
        let column = |((logical, physical, kind), id)| Column {
            logical,
            physical,
            kind,
            id,
        };
        columns.into_iter().zip(ids).map(column).collect()
    }

    /// The schema as Delta writes it.
    pub(super) fn schema_string(&self) -> String {
        let mut columns = self.columns();
        let partition = Column {
            logical: "completion_date",
            physical: "completion_date",
            kind: "date",
            id: 8,
        };
        columns.insert(7, partition);
        let fields: Vec<Value> = columns.iter().map(|c| self.field(c)).collect();
        json!({"type": "struct", "fields": fields}).to_string()
    }

    fn field(&self, column: &Column) -> Value {
        let mut metadata = json!({});
        if self.mapped {
            metadata["delta.columnMapping.id"] = column.id.into();
            metadata["delta.columnMapping.physicalName"] = column.physical.into();
        }
        if column.logical == "attempt_number" && self.attempt_is_long {
            let change = json!([{"toType": "long", "fromType": "integer"}]);
            metadata["delta.typeChanges"] = change;
        }
        json!({
            "name": column.logical, "type": column.kind, "nullable": true, "metadata": metadata,
        })
    }

    /// The attempts as a data file holds them.
    pub(super) fn batch(&self, rows: &[Attempt]) -> Result<RecordBatch> {
        let columns = self.columns();
        let arrays = columns
            .iter()
            .map(|c| self.array(c.physical, rows))
            .collect();
        Ok(RecordBatch::try_new(
            Arc::new(self.arrow(&columns)),
            arrays,
        )?)
    }

    /// Rows before and after an update, as a file of changed rows holds them.
    pub(super) fn change_batch(
        &self,
        before: &[Attempt],
        after: &[Attempt],
    ) -> Result<RecordBatch> {
        let both: Vec<Attempt> = before.iter().chain(after).cloned().collect();
        let batch = self.batch(&both)?;
        let kinds = std::iter::repeat_n("update_preimage", before.len())
            .chain(std::iter::repeat_n("update_postimage", after.len()));
        let kinds: ArrayRef = Arc::new(StringArray::from_iter_values(kinds));
        let mut fields: Vec<Field> = batch
            .schema()
            .fields()
            .iter()
            .map(|f| f.as_ref().clone())
            .collect();
        fields.push(Field::new("_change_type", kinds.data_type().clone(), true));
        let mut arrays = batch.columns().to_vec();
        arrays.push(kinds);
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
    }

    fn arrow(&self, columns: &[Column]) -> Schema {
        let field = |column: &Column| {
            let kind = self.array(column.physical, &[]).data_type().clone();
            let field = Field::new(column.physical, kind, true);
            if !self.mapped {
                return field;
            }
            let id = (PARQUET_FIELD_ID_META_KEY.to_owned(), column.id.to_string());
            field.with_metadata(HashMap::from([id]))
        };
        Schema::new(columns.iter().map(field).collect::<Vec<_>>())
    }

    fn array(&self, physical: &str, rows: &[Attempt]) -> ArrayRef {
        let long = |of: fn(&Attempt) -> i64| Int64Array::from_iter_values(rows.iter().map(of));
        match physical {
            "learner_id" => Arc::new(long(|a| a.learner)),
            "lesson_id" => {
                let lessons = rows.iter().map(|a| a.lesson.as_str());
                Arc::new(StringArray::from_iter_values(lessons))
            }
            "attempt_number" if self.attempt_is_long => Arc::new(long(|a| a.attempt)),
            "attempt_number" => {
                let attempts = rows.iter().map(|a| a.attempt as i32);
                Arc::new(Int32Array::from_iter_values(attempts))
            }
            "completed_at" => {
                let times = rows.iter().map(|a| a.completed_at);
                Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"))
            }
            "score" => Arc::new(Float64Array::from_iter_values(rows.iter().map(|a| a.score))),
            "passed" => {
                let passed: BooleanArray = rows.iter().map(|a| Some(a.score >= 50.0)).collect();
                Arc::new(passed)
            }
            "definition_version" => {
                let definitions = rows.iter().map(|a| a.definition);
                Arc::new(StringArray::from_iter_values(definitions))
            }
            _ => Arc::new(rows.iter().map(|a| a.seconds).collect::<Int32Array>()),
        }
    }
}
