//! Publication markers: what one says, and whether the store still agrees.

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::dataset::Dataset;
use super::day::{Day, Slot};
use crate::table::Time;

/// Extra field of a marker: runs beside `supersedes` that raced with it.
pub const ALSO_SUPERSEDES: &str = "also_supersedes";

/// Extra field of a marker: see [`Marker::repeated_rows`].
pub(crate) const REPEATED_ROWS: &str = "repeated_rows";

/// Extra field of a marker: see [`Marker::loose_until`].
const LOOSE_UNTIL: &str = "loose_until";

/// A publication marker: an object outside the run that names it.
///
/// What it has beside the known fields is kept and written again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    /// The dataset's name.
    pub dataset: String,
    /// The zone's name.
    pub zone: String,
    /// The date.
    pub event_date: Day,
    /// The hour; absent for a whole day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<u8>,
    /// URL of the run that a reader may scan; ends with a slash.
    pub prefix: String,
    /// Data objects in it when it was published.
    pub object_count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The newest event in it.
    pub max_event_time: Time,
    /// The run.
    pub run_id: String,
    /// What the rows mean: readers ask for one version.
    pub definition_version: String,
    /// When, by the publisher's clock.
    pub published_at: Time,
    /// The run whose marker this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Marker {
    /// Reads a marker found where a slot's marker belongs. Says why where it is none, or is one of
    /// something else; such a marker closes nothing.
    pub fn parse(dataset: &Dataset, slot: Slot, bytes: &[u8]) -> Result<Self, String> {
        let marker: Self =
            serde_json::from_slice(bytes).map_err(|e| format!("the marker cannot be read: {e}"))?;
        if marker.object_count == 0 {
            return Err("the marker says that it names 0 objects".to_owned());
        }
        if marker.dataset != dataset.name {
            return Err(format!("the marker is of dataset `{}`", marker.dataset));
        }
        if marker.zone != dataset.zone {
            return Err(format!("the marker is of zone `{}`", marker.zone));
        }
        for (name, value) in [
            ("run_id", &marker.run_id),
            ("definition_version", &marker.definition_version),
        ] {
            if value.trim().is_empty() {
                return Err(format!("the marker's {name} is empty"));
            }
        }
        if (marker.event_date, marker.hour) != (slot.day, slot.hour) {
            let its = Slot {
                day: marker.event_date,
                hour: marker.hour,
            };
            return Err(format!("the marker is of {its}"));
        }
        match marker.scan(dataset) {
            None => Err(format!(
                "the marker's prefix lies outside the dataset: {}",
                marker.prefix
            )),
            Some(scan) if !scan.ends_with('/') => Err(format!(
                "the marker's prefix does not end with a slash: {}",
                marker.prefix
            )),
            Some(scan) if !scan.starts_with(&dataset.prefix_of(slot)) => Err(format!(
                "the marker's prefix is not below its own partition: {}",
                marker.prefix
            )),
            Some(_) => Ok(marker),
        }
    }

    /// The runs that this marker took the place of: the one it replaced, and those whose markers
    /// raced with it until somebody chose.
    pub fn superseded(&self) -> impl Iterator<Item = &str> {
        let also = self.extra.get(ALSO_SUPERSEDES).and_then(Value::as_array);
        let also = also.into_iter().flatten().filter_map(Value::as_str);
        self.supersedes.as_deref().into_iter().chain(also)
    }

    /// What its publisher's gate of completeness found, where the marker says so in the field
    /// `completeness`.
    pub fn stated(&self) -> Option<super::judge::Completeness> {
        #[derive(Deserialize)]
        struct Stated {
            orders: u64,
            landed: u64,
            dead_lettered: u64,
            missing: u64,
            #[serde(default)]
            letters: Option<String>,
        }
        let said = self.extra.get("completeness")?;
        let said: Stated = serde_json::from_value(said.clone()).ok()?;
        Some(super::judge::Completeness {
            orders: said.orders,
            landed: said.landed,
            dead_lettered: said.dead_lettered,
            missing: said.missing,
            letters: said.letters,
            ..Default::default()
        })
    }

    /// Rows of the run that repeat the grain of a row before them; `None` where its publisher did
    /// not count them.
    pub fn repeated_rows(&self) -> Option<u64> {
        self.extra.get(REPEATED_ROWS)?.as_u64()
    }

    /// The store's time up to which loose keys may be in the run though no list names them. Loose
    /// keys that came later are late data.
    pub fn loose_until(&self) -> Option<Time> {
        let value = self.extra.get(LOOSE_UNTIL)?;
        Time::deserialize(value).ok()
    }

    /// Says up to when loose keys are in doubt.
    #[cfg(feature = "write")]
    pub(super) fn set_loose_until(&mut self, until: Option<Time>) -> crate::Result<()> {
        self.extra.remove(LOOSE_UNTIL);
        if let Some(until) = until {
            let value = serde_json::to_value(until).map_err(|e| {
                crate::Error::new(crate::Kind::Internal, "a time that JSON cannot hold").because(e)
            })?;
            self.extra.insert(LOOSE_UNTIL.to_owned(), value);
        }
        Ok(())
    }

    /// The key prefix in the zone that a reader may scan; `None` where the URL lies outside the
    /// dataset.
    pub fn scan(&self, dataset: &Dataset) -> Option<String> {
        let inside = |key: &str| {
            let rest = key.strip_prefix(dataset.prefix.as_str())?;
            let apart = dataset.prefix.is_empty() || rest.starts_with('/');
            let plain = !key.split('/').any(|segment| matches!(segment, "." | ".."));
            (apart && plain).then(|| key.to_owned())
        };
        let key = below(&self.prefix, &dataset.url)?;
        // A URL has its keys encoded or not, as its writer liked. A key that has a percent sign itself
        // is meant as it is wherever it can be meant: below its own partition.
        let partition = dataset.prefix_of(Slot {
            day: self.event_date,
            hour: self.hour,
        });
        let own = |key: &String| !key.contains('%') || key.starts_with(&partition);
        inside(key).filter(own).or_else(|| {
            let decoded = percent_decode_str(key).decode_utf8().ok()?;
            inside(&decoded).or_else(|| inside(key))
        })
    }

    /// URL of what a reader may scan, with the characters of the keys as they are; `None` where it
    /// lies outside the dataset.
    pub fn location(&self, dataset: &Dataset) -> Option<String> {
        let scan = self.scan(dataset)?;
        Some(match self.prefix.ends_with(&scan) {
            true => self.prefix.clone(),
            false => dataset.url_of(&scan),
        })
    }
}

/// The rest of a URL below another one. Schemes that mean one store are one.
pub(super) fn below<'a>(url: &'a str, base: &str) -> Option<&'a str> {
    let (scheme, rest) = url.split_once("://")?;
    let (base_scheme, base) = base.split_once("://")?;
    let same = |scheme: &str| match scheme {
        "s3a" | "s3n" => "s3".to_owned(),
        "abfs" | "abfss" | "az" | "azure" | "adl" => "az".to_owned(),
        "gcs" => "gs".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    (same(scheme) == same(base_scheme)).then_some(())?;
    rest.strip_prefix(base)
}

/// Whether a listing is what a marker published: at least one object, exactly as many as it says,
/// each below its prefix, and their bytes. `scan` is the marker's prefix as keys have it and ends
/// with a slash. Fails closed.
pub fn publication_ok<'a>(
    marker: &Marker,
    scan: &str,
    listed: impl IntoIterator<Item = (&'a str, u64)>,
) -> bool {
    let mut count = 0u64;
    let mut bytes = 0u64;
    for (key, size) in listed {
        if !scan.ends_with('/') || !key.starts_with(scan) || key.len() == scan.len() {
            return false;
        }
        count += 1;
        bytes = bytes.saturating_add(size);
    }
    marker.object_count > 0 && count == marker.object_count && bytes == marker.bytes
}

/// That nothing happened in an hour, by somebody who knows: `hour=13.empty.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// Why nothing came.
    pub reason: String,
    /// Who says so.
    #[serde(default)]
    pub by: Option<String>,
    /// When, by the publisher's clock.
    pub declared_at: Time,
}

/// That a reader still needs a run, beside the markers: `hour=13.pins/<name>.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPin {
    /// Who reads.
    pub reader: String,
    /// Which run.
    pub run_id: String,
    /// Until when.
    pub until: Time,
    /// Why, in the reader's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
