//! Which objects below a table's root are never a vacuum's business, by their key alone.

use std::collections::BTreeSet;

use crate::delta::path::{LOG, OWN};
use crate::delta::schema::{Mapping, partition_names};
use crate::delta::snapshot::State;

/// Folders of data although they look hidden.
const SHOWN: [&str; 2] = ["_change_data", "_delta_index"];

/// Where Hudi keeps its log.
const HUDI: &str = ".hoodie";

/// Where Iceberg keeps its log.
const ICEBERG: &str = "metadata";

/// Why an Iceberg log at this very root is left alone.
const BESIDE: &str = "`metadata` is the log of an Iceberg table at the same root";

/// What a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// An object of the table: deleted where no version needs it.
    Ours,
    /// The table's log, or ours; nobody asks about it.
    Log,
    /// Left alone, and why.
    Spared(String),
}

/// The rules for one table. Tables that lie inside it become known as keys are looked at.
#[derive(Debug)]
pub(super) struct Rules {
    /// `name=` of every partition column, as folders have it.
    partitions: Vec<String>,
    uniform: bool,
    nested: BTreeSet<String>,
    /// Formats that have a log of their own at this very root.
    beside: BTreeSet<&'static str>,
}

impl Rules {
    pub(super) fn new(state: &State) -> Self {
        let names = partition_names(&state.metadata, &state.schema).into_iter();
        let partitions = names.map(|(logical, physical)| match state.mapping {
            Mapping::None => format!("{logical}="),
            Mapping::Name | Mapping::Id => format!("{physical}="),
        });
        let formats = "delta.universalFormat.enabledFormats";
        let formats = state.metadata.configuration.get(formats);
        let iceberg = |formats: &String| {
            let mut formats = formats.split(',');
            formats.any(|format| format.trim().eq_ignore_ascii_case("iceberg"))
        };
        Self {
            partitions: partitions.collect(),
            uniform: formats.is_some_and(iceberg),
            nested: BTreeSet::new(),
            beside: BTreeSet::new(),
        }
    }

    /// Looks at a key relative to the root, for what it tells of other tables and for what it is.
    pub(super) fn look(&mut self, key: &str) -> Verdict {
        let parts: Vec<&str> = key.split('/').collect();
        if parts
            .first()
            .is_some_and(|first| [LOG, OWN].contains(first))
        {
            return Verdict::Log;
        }
        let (folders, file) = match parts.split_last() {
            Some((file, folders)) => (folders, *file),
            None => return Verdict::Log,
        };
        let marker = folders.iter().enumerate().find(|(at, folder)| {
            let iceberg = **folder == ICEBERG && at + 1 == folders.len() && is_metadata(file);
            **folder == LOG || **folder == HUDI || iceberg
        });
        if let Some((at, folder)) = marker {
            if at > 0 {
                let inside = parts[..at].join("/");
                let why = nested_words(&inside);
                self.nested.insert(inside);
                return Verdict::Spared(why);
            }
            match *folder {
                HUDI => self.beside.insert("Hudi"),
                _ => !self.uniform && self.beside.insert("Iceberg"),
            };
            if *folder == ICEBERG && !self.uniform {
                return Verdict::Spared(BESIDE.to_owned());
            }
        }
        if self.uniform && folders.contains(&ICEBERG) {
            return Verdict::Spared(
                "`metadata` is the table's Iceberg log (UniForm is on)".to_owned(),
            );
        }
        match parts.iter().find(|part| self.is_hidden(part)) {
            Some(_) => {
                Verdict::Spared("hidden: a name on the way starts with `_` or `.`".to_owned())
            }
            None => Verdict::Ours,
        }
    }

    /// Why an object belongs to another table, inside this one or beside it. Asked when all keys were
    /// looked at.
    pub(super) fn foreign(&self, key: &str) -> Option<String> {
        let iceberg = key
            .split_once('/')
            .is_some_and(|(first, _)| first == ICEBERG);
        if iceberg && self.beside.contains("Iceberg") {
            return Some(BESIDE.to_owned());
        }
        let folders = key.match_indices('/').filter_map(|(at, _)| key.get(..at));
        let mut inside = folders.filter(|folder| self.nested.contains(*folder));
        inside.next().map(nested_words)
    }

    /// Other formats that keep a log at this very root, whose files nobody can tell from leftovers.
    pub(super) fn beside(&self) -> impl Iterator<Item = &'static str> {
        self.beside.iter().copied()
    }

    /// Whether an engine would not see this name on its way down.
    fn is_hidden(&self, part: &str) -> bool {
        part.starts_with(['_', '.'])
            && !SHOWN.contains(&part)
            && !self.partitions.iter().any(|p| part.starts_with(p.as_str()))
    }
}

fn is_metadata(file: &str) -> bool {
    [".metadata.json", ".metadata.json.gz"]
        .iter()
        .any(|end| file.ends_with(end))
}

fn nested_words(folder: &str) -> String {
    format!("`{folder}` is a table of its own")
}
