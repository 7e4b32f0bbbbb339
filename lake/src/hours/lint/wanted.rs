//! The right lifecycle configuration, for the user to apply.

use serde_json::{Value, json};

use super::bucket::{Bucket, Places};
use super::lifecycle::LANDING;
use super::retention::{needed, whole_days};
use super::{Purpose, ZoneDecl, of};
use crate::hours::dataset::Dataset;

/// A lifecycle configuration and what it leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// As `put-bucket-lifecycle-configuration` takes it.
    pub configuration: Value,
    /// What a person should know of it.
    pub notes: Vec<String>,
}

/// The lifecycle rules of a zone's bucket: a put replaces all of them, so its neighbours' are
/// there too.
pub fn lifecycle(zone: &ZoneDecl, zones: &[ZoneDecl], datasets: &[&Dataset]) -> Wanted {
    let bucket = Bucket::of(zone).id;
    let near = zones.iter().filter(|zone| Bucket::of(zone).id == bucket);
    let (mut rules, mut notes) = (Vec::new(), Vec::new());
    for zone in near {
        rules_of(zone, datasets, &mut rules, &mut notes);
    }
    Wanted {
        configuration: json!({ "Rules": rules }),
        notes,
    }
}

fn rules_of(
    zone: &ZoneDecl,
    datasets: &[&Dataset],
    rules: &mut Vec<Value>,
    notes: &mut Vec<String>,
) {
    let bucket = Bucket::of(zone);
    rules.push(json!({
        "ID": format!("{}-uploads", zone.name),
        "Filter": { "Prefix": bucket.base },
        "Status": "Enabled",
        "AbortIncompleteMultipartUpload": { "DaysAfterInitiation": 1 },
    }));
    let mut expire = |name: String, prefix: &str, days: i64| {
        rules.push(json!({
            "ID": name,
            "Filter": { "Prefix": prefix },
            "Status": "Enabled",
            "Expiration": { "Days": days.max(1) },
        }));
    };
    if zone.purpose() == Purpose::Landing {
        let keep = zone.retention.keep.as_ref();
        let days = keep.map_or(LANDING, |keep| whole_days(keep.millis));
        return expire(format!("{}-window", zone.name), &bucket.base, days);
    }
    for dataset in of(zone, datasets) {
        let Some(keep) = &dataset.retention.keep else {
            notes.push(format!(
                "{}: nothing says how long it is kept, so nothing expires",
                dataset.name
            ));
            continue;
        };
        let long = keep.millis.max(needed(&dataset.retention).unwrap_or(0));
        if long > keep.millis {
            notes.push(format!(
                "{}: kept {}d, because {} is less than what was promised",
                dataset.name,
                whole_days(long),
                keep.text
            ));
        }
        let days = whole_days(long);
        let places = Places::of(&bucket, dataset);
        let name = |part: &str| format!("{}-{}-{part}", zone.name, dataset.name);
        expire(name("runs"), &places.runs, days);
        match &places.markers {
            // Put after the run that it names, a marker never goes before it.
            Some(markers) => expire(name("markers"), markers, days),
            None => notes.push(format!(
                "{}: its markers lie among its data, no prefix keeps them apart",
                dataset.name
            )),
        }
        if let Some(letters) = &places.dead_letters {
            expire(name("dead-letters"), letters, days);
        }
    }
}
