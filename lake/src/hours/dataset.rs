//! What a dataset is declared to be. Everything is declared, nothing is crawled.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::day::{Day, HOUR, Slot};
use super::state::State;
use crate::table::Time;

/// A dataset as the configuration declares it: a prefix of one zone, and what is promised of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// Its name: `learning.progress`.
    pub name: String,
    /// The zone it lies in.
    pub zone: String,
    /// URL of the zone, which ends with a slash.
    pub url: String,
    /// Key prefix in the zone, without a slash at either end.
    pub prefix: String,
    /// Partition columns: that of the date, and that of the hour where there are hours.
    pub partition: Vec<String>,
    /// Which objects close an hour.
    pub marker: MarkerRule,
    /// Milliseconds after an hour's end until it should be closed.
    pub grace: i64,
    /// Whether each hour must come; else an hour without objects is empty.
    pub every_hour: bool,
    /// Before it nothing is expected.
    pub first: Option<Day>,
    /// Names that no key may have before a `=`, also as a part of the name.
    pub banned_keys: Vec<String>,
    /// Column whose values lie inside the partition's hour.
    pub event_time: Option<String>,
    /// Columns that together occur once.
    pub grain: Vec<String>,
    /// Columns that no file may have.
    pub prohibited_columns: Vec<String>,
    /// Columns that each file has, with their types.
    pub columns: IndexMap<String, String>,
    /// Whose the data is.
    pub owner: Option<String>,
    /// Whose a failed publish is.
    pub publisher: Option<String>,
    /// Whose an hour over budget is.
    pub compaction_owner: Option<String>,
    /// The live product that an open hour's page offers.
    pub stream: Option<Stream>,
    /// What a publish writes into its marker where nobody says another.
    pub definition_version: Option<String>,
    /// How many objects of what size an hour may have.
    pub budget: Budget,
    /// The zone's retention, with what the dataset overrides.
    pub retention: Retention,
    /// The completeness gate.
    pub complete: Option<Complete>,
    /// The catalog's table that learns of each closed hour.
    pub metastore: Option<Metastore>,
    /// Datasets that it is built from: it waits while their hours are not closed.
    #[serde(default)]
    pub reads: Vec<String>,
}

/// Which objects close an hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkerRule {
    /// Whose markers they are.
    pub kind: MarkerKind,
    /// Key below the dataset's prefix with `{column}` for each partition value. Of `tidemark` and
    /// `custom` markers; the others have names of their own.
    pub template: String,
    /// Whether a foreign marker closes a whole day.
    pub whole_day: bool,
}

/// Whose markers close the hours of a dataset. Foreign ones are read, never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkerKind {
    /// Ours: JSON that names a run, its count and its bytes.
    #[default]
    Tidemark,
    /// `_SUCCESS` beside the files, as Hadoop's committers put it.
    Success,
    /// `_committed_<id>` beside the files, which lists them, as Databricks' committer puts it.
    Committed,
    /// An object whose presence is the whole statement.
    Custom,
}

/// The live product beside the closed hours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub url: String,
}

/// How an hour should be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Data objects of an hour, at most.
    pub objects: Option<u64>,
    /// Bytes of its median object, at least.
    pub median_bytes: Option<u64>,
}

/// How long things are kept. `None` where nobody promised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// How long the topic can be replayed.
    pub topic: Option<Promise>,
    /// What a replay needs on top.
    pub replay_margin: Option<Promise>,
    /// How long a superseded run stays readable.
    pub audit: Option<Promise>,
    /// How long the objects are kept.
    pub keep: Option<Promise>,
}

/// A duration, and who promised it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// As it was written: `7d`.
    pub text: String,
    /// Milliseconds.
    pub millis: i64,
    /// Where the promise comes from.
    pub source: Option<String>,
}

/// The gate of a dataset whose lines are numbered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complete {
    /// Column of the order.
    pub key: String,
    /// Column of the line's number in it, from 1.
    pub sequence: String,
    /// Whether dead-lettered lines are reported and do not block.
    pub report: bool,
    /// Key prefix in the zone where the dead letters land, without a slash at either end.
    pub dead_letters: Option<String>,
}

/// A table of a Hive metastore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metastore {
    /// `thrift://host:port`
    pub uri: String,
    /// `database.table`
    pub table: String,
}

impl Dataset {
    /// Whether it lies on a disk, which has folders, and not in a bucket.
    pub fn on_disk(&self) -> bool {
        self.url.starts_with("file:")
    }

    /// Its dead letters, as if they were a dataset: they lie in the same partitions below a prefix of
    /// their own.
    pub fn letters(&self) -> Option<Self> {
        let prefix = self.complete.as_ref()?.dead_letters.clone()?;
        Some(Self {
            prefix,
            ..self.clone()
        })
    }

    /// Whether a slot lies before the first day, so that nothing is said of it.
    pub fn before_first(&self, slot: Slot) -> bool {
        self.first.is_some_and(|first| slot.day < first)
    }

    /// Whether a partition is an hour, and not a day.
    pub fn hourly(&self) -> bool {
        self.partition.len() > 1
    }

    /// Whose it is to mend an hour that stands like this: objects and late keys are whose the
    /// compaction is, anything else is whose the publishing is; `None` where nothing is to be mended
    /// or nobody says.
    pub fn owner_of(&self, state: State, late_data: bool) -> Option<&str> {
        let whose = match state {
            State::OverBudget => &self.compaction_owner,
            state if state.needs_attention() => &self.publisher,
            _ if late_data => &self.compaction_owner,
            _ => return None,
        };
        whose.as_deref().or(self.owner.as_deref())
    }

    /// The column of the date.
    pub fn date_column(&self) -> &str {
        self.partition.first().map_or("", String::as_str)
    }

    /// The column of the hour.
    pub fn hour_column(&self) -> Option<&str> {
        self.partition.get(1).map(String::as_str)
    }

    /// The slots of a day, first to last.
    pub fn slots(&self, day: Day) -> impl DoubleEndedIterator<Item = Slot> + Clone {
        let hours: i16 = if self.hourly() { 24 } else { 0 };
        let whole = (hours == 0).then_some(Slot::day(day));
        whole
            .into_iter()
            .chain((0..hours).map(move |hour| Slot::hour(day, hour as u8)))
    }

    /// The slot an instant lies in.
    pub fn slot_of(&self, time: Time) -> Slot {
        let day = Day::of(time);
        match self.hourly() {
            true => Slot::hour(day, ((time.0 - day.start().0) / HOUR).clamp(0, 23) as u8),
            false => Slot::day(day),
        }
    }

    /// When a slot without a marker becomes late.
    pub fn deadline(&self, slot: Slot) -> Time {
        Time(slot.end().0.saturating_add(self.grace))
    }

    /// Whether data must come for a slot.
    pub fn expects(&self, slot: Slot) -> bool {
        self.every_hour && self.first.is_none_or(|first| slot.day >= first)
    }

    /// The hive partition of a slot below the dataset's prefix: `event_date=2026-11-10/hour=08`.
    pub fn partition_of(&self, slot: Slot) -> String {
        match (self.hour_column(), slot.hour) {
            (Some(column), Some(hour)) => {
                format!("{}={}/{column}={hour:02}", self.date_column(), slot.day)
            }
            _ => format!("{}={}", self.date_column(), slot.day),
        }
    }

    /// The key prefix of a slot in the zone, with a slash at its end.
    pub fn prefix_of(&self, slot: Slot) -> String {
        join(&self.prefix, &format!("{}/", self.partition_of(slot)))
    }

    /// URL of a key of the zone, the characters as they are.
    pub fn url_of(&self, key: &str) -> String {
        format!("{}{key}", self.url)
    }

    /// The catalog's table: the configured one, else named after dataset and zone.
    pub fn catalog_table(&self) -> String {
        match &self.metastore {
            Some(metastore) => metastore.table.clone(),
            None => format!("{}_{}", self.name, self.zone),
        }
    }
}

/// A key below a prefix that may be empty.
pub(crate) fn join(prefix: &str, rest: &str) -> String {
    match prefix {
        "" => rest.to_owned(),
        prefix => format!("{prefix}/{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::hours::State;
    use crate::hours::judge::tests::dataset;

    #[test]
    fn what_is_wrong_says_whose_it_is() {
        let named = |text: &str| Some(text.to_owned());
        let mut dataset = dataset();
        (dataset.owner, dataset.publisher) = (named("learning"), named("sink"));
        dataset.compaction_owner = named("platform");
        assert_eq!(dataset.owner_of(State::Mutated, false), Some("sink"));
        assert_eq!(dataset.owner_of(State::Late, true), Some("sink"));
        assert_eq!(dataset.owner_of(State::OverBudget, false), Some("platform"));
        assert_eq!(dataset.owner_of(State::Closed, true), Some("platform"));
        assert_eq!(dataset.owner_of(State::Closed, false), None);
        (dataset.publisher, dataset.compaction_owner) = (None, None);
        assert_eq!(dataset.owner_of(State::Late, false), Some("learning"));
        assert_eq!(dataset.owner_of(State::OverBudget, false), Some("learning"));
    }
}
