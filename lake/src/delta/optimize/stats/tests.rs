use std::sync::Arc;

use arrow_array::{
    BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array, ListArray,
    StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow_schema::{Field as ArrowField, Fields, Schema, TimeUnit};
use serde_json::{Value, json};

use super::*;

/// Statistics of one column of these values.
fn of(array: ArrayRef) -> Value {
    let data_type = array.data_type().clone();
    let schema = Schema::new(vec![ArrowField::new("c", data_type.clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![array]).unwrap();
    let mut stats = Stats {
        rows: 0,
        columns: vec![(0, leaf("c", &data_type))],
    };
    stats.take(&batch);
    serde_json::from_str(&stats.finish().unwrap()).unwrap()
}

fn leaf(name: &str, data_type: &DataType) -> Node {
    let kind = match data_type {
        DataType::Struct(fields) => {
            let children = fields.iter().enumerate();
            Kind::Struct(
                children
                    .map(|(at, f)| (at, leaf(f.name(), f.data_type())))
                    .collect(),
            )
        }
        leaf => Kind::Leaf {
            nulls: 0,
            bounds: Bounds::of(leaf),
        },
    };
    Node {
        name: Value::from(name).to_string(),
        kind,
    }
}

fn bounds(array: ArrayRef) -> (Value, Value) {
    let stats = of(array);
    (
        stats["minValues"]["c"].clone(),
        stats["maxValues"]["c"].clone(),
    )
}

#[test]
fn bounds_are_what_json_can_say() {
    let cases: Vec<(ArrayRef, Value, Value)> = vec![
        (
            Arc::new(Int32Array::from(vec![Some(7), None, Some(-7)])),
            json!(-7),
            json!(7),
        ),
        (
            Arc::new(Int32Array::from(vec![None, None])),
            Value::Null,
            Value::Null,
        ),
        (
            Arc::new(Float64Array::from(vec![1.5, f64::NAN, -2.0])),
            json!(-2.0),
            Value::Null,
        ),
        (
            Arc::new(Float64Array::from(vec![f64::INFINITY, 3.0])),
            json!(3.0),
            Value::Null,
        ),
        (
            Arc::new(Float64Array::from(vec![0.0])),
            json!(-0.0),
            json!(0.0),
        ),
        (
            Arc::new(Float32Array::from(vec![0.1])),
            json!(0.1),
            json!(0.1),
        ),
        (
            Arc::new(BooleanArray::from(vec![true])),
            Value::Null,
            Value::Null,
        ),
        (
            Arc::new(Date32Array::from(vec![-719_162, 2_932_896])),
            json!("0001-01-01"),
            json!("9999-12-31"),
        ),
        (
            Arc::new(Date32Array::from(vec![2_932_897])),
            Value::Null,
            Value::Null,
        ),
    ];
    for (array, min, max) in cases {
        let about = format!("{array:?}");
        assert_eq!(bounds(array), (min, max), "{about}");
    }
}

#[test]
fn decimals_keep_every_digit() {
    let digits = vec![-5, 123_456_789_012_345_678_901_234_567_890];
    let array = Decimal128Array::from(digits)
        .with_precision_and_scale(38, 10)
        .unwrap();
    let schema = Schema::new(vec![ArrowField::new("c", array.data_type().clone(), true)]);
    let data_type = array.data_type().clone();
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(array)]).unwrap();
    let mut stats = Stats {
        rows: 0,
        columns: vec![(0, leaf("c", &data_type))],
    };
    stats.take(&batch);
    let text = stats.finish().unwrap();
    assert!(
        text.contains(r#""minValues":{"c":-0.0000000005}"#),
        "{text}"
    );
    assert!(
        text.contains(r#""maxValues":{"c":12345678901234567890.1234567890}"#),
        "{text}"
    );
}

#[test]
fn times_are_milliseconds_that_hold_all_values() {
    let micros = TimestampMicrosecondArray::from(vec![-1, 1_700_000_000_123_456]);
    let utc = micros.clone().with_timezone("UTC");
    assert_eq!(
        bounds(Arc::new(utc)),
        (
            json!("1969-12-31T23:59:59.999Z"),
            json!("2023-11-14T22:13:20.124Z")
        )
    );
    assert_eq!(
        bounds(Arc::new(micros)),
        (
            json!("1969-12-31T23:59:59.999"),
            json!("2023-11-14T22:13:20.124")
        )
    );
    // Rounded up, the last microsecond would be in the year 10000.
    let last = TimestampMicrosecondArray::from(vec![253_402_300_799_999_999]);
    assert_eq!(
        last.data_type(),
        &DataType::Timestamp(TimeUnit::Microsecond, None)
    );
    assert_eq!(
        bounds(Arc::new(last)),
        (json!("9999-12-31T23:59:59.999"), Value::Null)
    );
}

#[test]
fn long_texts_are_cut_to_what_still_bounds_them() {
    let ae = "ä".repeat(40);
    let texts = StringArray::from(vec![ae.as_str(), "b"]);
    let (min, max) = bounds(Arc::new(texts));
    assert_eq!(min, json!("b"));
    assert_eq!(max, json!("ä".repeat(32) + "\u{10ffff}"));
    assert!(max.as_str().unwrap() > ae.as_str());
    let greatest = format!("{}{}", "z".repeat(32), "\u{10ffff}".repeat(2));
    let (min, max) = bounds(Arc::new(StringArray::from(vec![greatest.as_str()])));
    assert_eq!(min, json!("z".repeat(32)));
    assert_eq!(max, json!(greatest));
    let (min, max) = bounds(Arc::new(StringArray::from(vec!["a\"b"])));
    assert_eq!((min, max), (json!("a\"b"), json!("a\"b")));
}

#[test]
fn what_lies_in_a_null_is_null() {
    let inner = Arc::new(Int32Array::from(vec![Some(1), Some(99), None]));
    let item = Arc::new(ArrowField::new("element", DataType::Int32, true));
    let list = ListArray::new_null(item, 3);
    let fields = Fields::from(vec![
        ArrowField::new("x", DataType::Int32, true),
        ArrowField::new("l", list.data_type().clone(), true),
    ]);
    let nulls = Some(NullBuffer::from(vec![true, false, true]));
    let array = StructArray::new(fields, vec![inner, Arc::new(list)], nulls);
    let stats = of(Arc::new(array));
    assert_eq!(
        stats,
        json!({
            "numRecords": 3, "tightBounds": true,
            "minValues": {"c": {"x": 1}}, "maxValues": {"c": {"x": 1}},
            "nullCount": {"c": {"x": 2, "l": 3}},
        })
    );
}
