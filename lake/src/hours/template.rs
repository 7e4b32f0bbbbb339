//! Where the markers of a dataset lie, from slot to key and back.

use super::dataset::{Dataset, join};
use super::day::{Day, Slot};

/// What lies in the marker tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// The current marker of its slot.
    Current,
    /// A superseded one, named after its run.
    Superseded(String),
    /// The declaration that nothing happened.
    Empty,
    /// A reader's pin, by its name.
    Pin(String),
    /// A list of the loose keys that a run took in.
    Taken(String),
}

/// The marker keys of one dataset.
#[derive(Clone, Debug)]
pub struct Template<'a> {
    dataset: &'a Dataset,
    /// The template without its last extension, and that extension with its dot.
    stem: &'a str,
    extension: &'a str,
}

impl<'a> Template<'a> {
    /// The template that the dataset declares.
    pub fn of(dataset: &'a Dataset) -> Self {
        let template = dataset.marker.template.as_str();
        let name = template.rfind('/').map_or(0, |slash| slash + 1);
        let placeholder_end = template.rfind('}').map_or(0, |at| at + 1);
        let dot = template
            .rfind('.')
            .filter(|dot| *dot > name && *dot >= placeholder_end);
        let (stem, extension) = template.split_at(dot.unwrap_or(template.len()));
        Self {
            dataset,
            stem,
            extension,
        }
    }

    /// Key of a slot's current marker.
    pub fn current(&self, slot: Slot) -> String {
        format!("{}{}", self.stem(slot), self.extension)
    }

    /// Key of the marker of a superseded run.
    pub fn superseded(&self, slot: Slot, run: &str) -> String {
        format!("{}/{run}{}", self.stem(slot), self.extension)
    }

    /// Key of the declaration that nothing happened.
    pub fn empty(&self, slot: Slot) -> String {
        format!("{}.empty{}", self.stem(slot), self.extension)
    }

    /// Key of a reader's pin.
    pub fn pin(&self, slot: Slot, name: &str) -> String {
        format!("{}.pins/{name}{}", self.stem(slot), self.extension)
    }

    /// Key of a list of the loose keys that a run took in.
    pub fn taken(&self, slot: Slot, name: &str) -> String {
        format!("{}.taken/{name}{}", self.stem(slot), self.extension)
    }

    /// The prefix that all markers lie below, without a slash at its end.
    pub fn root(&self) -> String {
        let before = self.before_date();
        let folder = before.rfind('/').map_or("", |slash| &before[..slash]);
        match (self.dataset.prefix.as_str(), folder) {
            (prefix, "") => prefix.to_owned(),
            (prefix, folder) => join(prefix, folder),
        }
    }

    /// A key that sorts before every marker of `day` and of later days, and after those of earlier
    /// ones, which may have the same text before their date.
    pub fn before(&self, day: Day) -> String {
        join(
            &self.dataset.prefix,
            &format!("{}{day}", self.before_date()),
        )
    }

    /// What a listing starts after that gives the markers of `day` and of later days: not the name
    /// of a folder, for a store that keeps folders leaves out what lies below that one.
    pub fn start_after(&self, day: Day) -> String {
        format!("{}~", self.before(day.plus(-1)))
    }

    fn before_date(&self) -> &'a str {
        self.stem.split('{').next().unwrap_or_default()
    }

    fn stem(&self, slot: Slot) -> String {
        let mut stem = self
            .stem
            .replace(&braced(self.dataset.date_column()), &slot.day.to_string());
        if let (Some(column), Some(hour)) = (self.dataset.hour_column(), slot.hour) {
            stem = stem.replace(&braced(column), &format!("{hour:02}"));
        }
        join(&self.dataset.prefix, &stem)
    }

    /// What a key of the zone is in the marker tree; `None` for what is no marker's.
    pub fn read(&self, key: &str) -> Option<(Slot, Tree)> {
        let below = match self.dataset.prefix.as_str() {
            "" => key,
            prefix => key.strip_prefix(prefix)?.strip_prefix('/')?,
        };
        let (slot, rest) = self.slot(below)?;
        if rest == self.extension {
            return Some((slot, Tree::Current));
        }
        let name = |prefix: &str| {
            let name = rest.strip_prefix(prefix)?.strip_suffix(self.extension)?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        let tree = match rest.strip_suffix(self.extension) {
            Some(".empty") => Tree::Empty,
            _ => match (name(".pins/"), name(".taken/")) {
                (Some(pin), _) => Tree::Pin(pin),
                (None, Some(list)) => Tree::Taken(list),
                (None, None) => Tree::Superseded(name("/")?),
            },
        };
        Some((slot, tree))
    }

    /// Reads the stem at the start of a key; gives the slot and what follows.
    fn slot<'k>(&self, key: &'k str) -> Option<(Slot, &'k str)> {
        let (mut day, mut hour) = (None::<Day>, None::<u8>);
        let (mut pattern, mut key) = (self.stem, key);
        while let Some((literal, after)) = pattern.split_once('{') {
            key = key.strip_prefix(literal)?;
            let (column, next) = after.split_once('}')?;
            if column == self.dataset.date_column() {
                let (text, rest) = key.split_at_checked(10)?;
                let found: Day = text.parse().ok()?;
                (day.is_none_or(|day| day == found)).then_some(())?;
                (day, key) = (Some(found), rest);
            } else {
                let (text, rest) = key.split_at_checked(2)?;
                let digits = text.bytes().all(|b| b.is_ascii_digit());
                let found = text
                    .parse::<u8>()
                    .ok()
                    .filter(|hour| digits && *hour < 24)?;
                (hour.is_none_or(|hour| hour == found)).then_some(())?;
                (hour, key) = (Some(found), rest);
            }
            pattern = next;
        }
        let rest = key.strip_prefix(pattern)?;
        Some((Slot { day: day?, hour }, rest))
    }
}

fn braced(column: &str) -> String {
    format!("{{{column}}}")
}
