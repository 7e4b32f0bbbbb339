//! Accounts as the table has them: columns, and a batch of rows.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int32Array, Int64Array, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use lake::Result;
use serde_json::json;

use crate::demo::people::User;

pub(super) fn schema_string() -> String {
    let field = |name: &str, kind: serde_json::Value, nullable: bool| json!({"name": name, "type": kind, "nullable": nullable, "metadata": {}});
    let address = json!({"type": "struct", "fields": [
        field("city", "string".into(), true), field("postcode", "string".into(), true),
    ]});
    let topics = json!({"type": "array", "elementType": "string", "containsNull": false});
    let fields = json!([
        field("user_id", "long".into(), false),
        field("name", "string".into(), true),
        field("email", "string".into(), true),
        field("address", address, true),
        field("plan", "string".into(), true),
        field("topics", topics, true),
        field("signup_date", "date".into(), true),
        field("last_seen", "timestamp".into(), true),
        field("courses_started", "integer".into(), true),
        field("credit", "decimal(10,2)".into(), true),
        field("letters", "boolean".into(), true),
        field("region", "string".into(), true),
    ]);
    json!({"type": "struct", "fields": fields}).to_string()
}

pub(super) fn batch(users: &[User]) -> Result<RecordBatch> {
    let text = |of: fn(&User) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(users.iter().map(of)))
    };
    let place = Fields::from(vec![
        Field::new("city", DataType::Utf8, true),
        Field::new("postcode", DataType::Utf8, true),
    ]);
    let address = vec![text(|u| u.city.to_owned()), text(|u| u.postcode.clone())];
    let address = StructArray::try_new(place, address, None)?;
    let element = Arc::new(Field::new("element", DataType::Utf8, false));
    let mut topics = ListBuilder::new(StringBuilder::new()).with_field(element);
    for user in users {
        for topic in &user.topics {
            topics.values().append_value(topic);
        }
        topics.append(true);
    }
    let seen = users.iter().map(|u| u.last_seen);
    let seen = TimestampMicrosecondArray::from_iter_values(seen).with_timezone("UTC");
    let credit = Decimal128Array::from_iter_values(users.iter().map(|u| u.credit));
    let letters: BooleanArray = users.iter().map(|u| u.letters).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "user_id",
            Arc::new(Int64Array::from_iter_values(users.iter().map(|u| u.id))),
        ),
        ("name", text(|u| u.name.clone())),
        ("email", text(User::email)),
        ("address", Arc::new(address)),
        ("plan", text(|u| u.plan.to_owned())),
        ("topics", Arc::new(topics.finish())),
        (
            "signup_date",
            Arc::new(Date32Array::from_iter_values(
                users.iter().map(|u| u.signup),
            )),
        ),
        ("last_seen", Arc::new(seen)),
        (
            "courses_started",
            Arc::new(Int32Array::from_iter_values(
                users.iter().map(|u| u.courses),
            )),
        ),
        ("credit", Arc::new(credit.with_precision_and_scale(10, 2)?)),
        ("letters", Arc::new(letters)),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), *name != "user_id"))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(RecordBatch::try_new(schema, arrays)?)
}
