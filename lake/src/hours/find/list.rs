//! Listings: of days, of the marker tree, of the dead letters, and of what lies beside the days.

use std::collections::BTreeMap;

use futures::stream::BoxStream;
use futures::{StreamExt, try_join};
use object_store::path::Path;

use super::Finder;
use super::plan::in_data;
use super::tally::Tally;
use crate::hours::dataset::{Dataset, MarkerKind};
use crate::hours::day::{Day, Slot};
use crate::hours::key::partition;
use crate::hours::letters;
use crate::hours::listing::{Listing, Object, SlotObjects, prefix_path};
use crate::hours::spelled::keys_of;
use crate::hours::template::{Template, Tree};
use crate::{Error, Kind, Result};

/// One listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The keys of neighbouring days.
    Days(Day, Day),
    /// The keys of one slot alone.
    Slot(Slot),
    /// The markers of neighbouring days.
    Tree(Day, Day),
    /// The dead letters of neighbouring days.
    Letters(Day, Day),
    /// Folders and keys directly below the dataset's prefix.
    Root,
}

/// A marker's place and its object.
pub(super) type InTree = (Slot, Tree, Object);

/// What a listing told.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// By slot; those without keys left out.
    pub(super) slots: BTreeMap<Slot, SlotObjects>,
    /// Hidden keys in no slot, by day.
    pub(super) hidden: BTreeMap<Day, Vec<Object>>,
    /// Objects of the marker tree.
    pub(super) tree: Vec<InTree>,
    /// What is wrong with keys, by day.
    pub(super) tally: BTreeMap<Day, Tally>,
    /// Folders directly below the prefix, and keys.
    pub(super) folders: Vec<String>,
    pub(super) keys: Vec<Object>,
    /// The first key of each day that is data of no slot.
    pub(super) stray: BTreeMap<Day, String>,
    /// What lies among the dead letters and in no day.
    pub(super) beside: Option<String>,
    /// Whether the store would not list, where that is not the end of everything.
    pub(super) refused: Option<String>,
}

impl Finder {
    /// Takes one listing.
    pub(super) async fn piece(&self, piece: Piece) -> Result<Listed> {
        match piece {
            Piece::Days(first, last) => self.days(first, last).await,
            Piece::Slot(slot) => {
                let keys = keys_of(&self.dataset, &self.store, slot).await?;
                self.collect(&self.dataset, keys, (slot.day, slot.day))
                    .await
            }
            Piece::Tree(first, last) => self.tree(first, last).await,
            Piece::Letters(first, last) => self.letters(first, last).await,
            Piece::Root => self.root().await,
        }
    }

    async fn days(&self, first: Day, last: Day) -> Result<Listed> {
        let keys = between(self, &self.dataset, first, last)?;
        self.collect(&self.dataset, keys, (first, last)).await
    }

    /// Sorts the keys of some days, which come in their order or, of one day, in any.
    async fn collect(
        &self,
        dataset: &Dataset,
        mut keys: BoxStream<'static, object_store::Result<object_store::ObjectMeta>>,
        (first, last): (Day, Day),
    ) -> Result<Listed> {
        let template = in_data(dataset).then(|| Template::of(dataset));
        let ours = matches!(
            dataset.marker.kind,
            MarkerKind::Tidemark | MarkerKind::Custom
        );
        let end = dataset.prefix_of(Slot::day(last));
        let mut listed = Listed::default();
        let mut listing = Listing::default();
        let mut tally = Tally::default();
        let mut day = first;
        let mut before = String::new();
        let mut sorted = true;
        while let Some(meta) = keys.next().await {
            let object = Object::from(meta.map_err(|e| Error::from(e).at("prefix", &end))?);
            sorted &= before <= object.key;
            let beyond = object.key > end && !object.key.starts_with(&end);
            if beyond && sorted {
                break;
            }
            before.clone_from(&object.key);
            let its = day_of(dataset, &object.key);
            if beyond || its.is_some_and(|its| its < first) {
                continue;
            }
            let its = its.unwrap_or(first);
            if its != day {
                put(&mut listed.tally, day, std::mem::take(&mut tally));
                day = its;
            }
            if let Some((slot, tree)) = template
                .as_ref()
                .filter(|_| ours)
                .and_then(|template| template.read(&object.key))
            {
                listed.tree.push((slot, tree, object));
                continue;
            }
            let strays = listing.stray.len();
            tally.key(dataset, &object);
            listing.add(dataset, object);
            if listing.stray.len() > strays
                && let Some(stray) = listing.stray.pop()
            {
                tally.stray(&stray);
                listed.stray.entry(its).or_insert(stray.key);
            }
        }
        put(&mut listed.tally, day, tally);
        listed.slots = listing.slots;
        for object in listing.hidden {
            let its = day_of(dataset, &object.key).unwrap_or(first);
            listed.hidden.entry(its).or_default().push(object);
        }
        Ok(listed)
    }

    async fn tree(&self, first: Day, last: Day) -> Result<Listed> {
        let template = Template::of(&self.dataset);
        let root = prefix_path(&template.root())?;
        let offset =
            Path::parse(template.start_after(first)).map_err(|e| not_a_key(e, &self.dataset))?;
        let end = template.before(last);
        let mut keys = self.store.list_with_offset(root.as_ref(), &offset);
        let mut listed = Listed::default();
        while let Some(meta) = keys.next().await {
            let object = Object::from(meta.map_err(|e| Error::from(e).at("prefix", &offset))?);
            if object.key > end && !object.key.starts_with(&end) {
                break;
            }
            match template.read(&object.key) {
                Some((slot, tree)) if (first..=last).contains(&slot.day) => {
                    listed.tree.push((slot, tree, object));
                }
                _ => {}
            }
        }
        Ok(listed)
    }

    /// The dead letters lie in the same partitions below a prefix of their own. That they may
    /// not be listed is for the gate to say.
    async fn letters(&self, first: Day, last: Day) -> Result<Listed> {
        let Some(dataset) = self.dataset.letters() else {
            return Ok(Listed::default());
        };
        let keys = between(self, &dataset, first, last)?;
        let days = self.collect(&dataset, keys, (first, last));
        match try_join!(days, letters::beside(&dataset, &self.store)) {
            Ok((listed, beside)) => Ok(Listed { beside, ..listed }),
            Err(error) if error.kind() == Kind::Denied => Ok(Listed {
                refused: Some(error.to_string()),
                ..Listed::default()
            }),
            Err(error) => Err(error),
        }
    }

    async fn root(&self) -> Result<Listed> {
        let prefix = prefix_path(&self.dataset.prefix)?;
        let level = self.store.list_with_delimiter(prefix.as_ref()).await;
        let level = level.map_err(|e| Error::from(e).at("prefix", &self.dataset.prefix))?;
        Ok(Listed {
            folders: level
                .common_prefixes
                .into_iter()
                .map(String::from)
                .collect(),
            keys: level.objects.into_iter().map(Object::from).collect(),
            ..Listed::default()
        })
    }
}

/// The keys from the first day on: of one day by its own prefix, which every store lists as such.
fn between(
    finder: &Finder,
    dataset: &Dataset,
    first: Day,
    last: Day,
) -> Result<BoxStream<'static, object_store::Result<object_store::ObjectMeta>>> {
    let folder = dataset.prefix_of(Slot::day(first));
    let folder = prefix_path(folder.trim_end_matches('/'))?;
    if first == last {
        return Ok(finder.store.list(folder.as_ref()));
    }
    let prefix = prefix_path(&dataset.prefix)?;
    // No folder's name: a store that keeps folders leaves out what lies below the one that a
    // listing starts after.
    let before = dataset.prefix_of(Slot::day(first.plus(-1)));
    let offset = prefix_path(&format!("{}~", before.trim_end_matches('/')))?.unwrap_or_default();
    Ok(finder.store.list_with_offset(prefix.as_ref(), &offset))
}

/// The day whose folder a key lies in.
pub(super) fn day_of(dataset: &Dataset, key: &str) -> Option<Day> {
    let below = match dataset.prefix.as_str() {
        "" => key,
        prefix => key.strip_prefix(prefix)?.strip_prefix('/')?,
    };
    let (name, value) = partition(below.split('/').next()?)?;
    (name == dataset.date_column()).then_some(())?;
    value?.parse().ok()
}

fn put(tallies: &mut BTreeMap<Day, Tally>, day: Day, tally: Tally) {
    tallies.entry(day).or_default().merge(&tally);
}

fn not_a_key(error: object_store::path::Error, dataset: &Dataset) -> Error {
    Error::invalid("the marker's template makes no key")
        .because(error)
        .at("template", &dataset.marker.template)
}
