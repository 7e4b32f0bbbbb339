//! A vacuum planned: what is needed first, then everything that there is.

use hashbrown::HashSet;
use object_store::path::Path;

use super::find::{Found, Object, find};
use super::past::Past;
use super::references::{Need, References};
use super::retention::{Retention, retention};
use super::rules::Rules;
use super::{Request, bytes, full_key, writer};
use crate::answer::Root;
use crate::delta::log::{Head, Log};
use crate::delta::pins;
use crate::delta::snapshot::Snapshot;
use crate::delta::write::{duration_in_words, exhausted, refusal};
use crate::host::SharedHost;
use crate::plan::{Act, Leftover, Origin, Plan, VacuumDetail};
use crate::store::survey::survey;
use crate::table::{Time, Version};
use crate::{Error, Kind, Result};

/// Versions that one sentence names; the rest is counted.
const NAMED: usize = 5;

/// Active files that are looked for again when all is done.
const SAMPLE: usize = 64;

/// What is planned, and what carrying it out needs to know.
pub(super) struct Planned {
    /// The plan without its id.
    pub(super) plan: Plan,
    /// Folders that were looked through.
    pub(super) folders: u64,
    /// Some of the active files that were there.
    pub(super) sample: Vec<Path>,
}

/// What a plan is made from.
pub(super) struct Planning<'a> {
    pub(super) root: &'a Root,
    pub(super) log: &'a Log,
    pub(super) head: &'a Head,
    pub(super) request: &'a Request,
    pub(super) base: &'a Snapshot,
    /// The instant taken as now.
    pub(super) as_of: Time,
    pub(super) host: &'a SharedHost,
}

impl Planning<'_> {
    pub(super) async fn plan(&self) -> Result<Planned> {
        let state = &self.base.state;
        let location = self.root.location.clone();
        let mut plan = Plan::new(Act::Vacuum, location, self.as_of, state.version);
        let (retention, short) = retention(&state.metadata, self.request)?;
        let mut detail = VacuumDetail {
            retention_ms: retention.millis,
            table_retention_ms: retention.table,
            quarantine: self.request.quarantine,
            objects: Vec::new(),
            waiting: Vec::new(),
            unrestorable: Vec::new(),
            pins: pins::list(self.root).await?,
            spared: Vec::new(),
        };
        plan.warnings.extend(state.warnings.iter().cloned());
        // Rows stay as they are, so an append-only table may be vacuumed.
        // Its start and its end are a version each.
        plan.refused = refusal(&state.protocol, &state.metadata, false)
            .or(exhausted(state.version, 2))
            .or(short);
        let (mut folders, mut sample) = (0, Vec::new());
        if plan.refused.is_none() {
            (folders, sample) = self.fill(&mut plan, &mut detail, retention).await?;
        }
        plan.files_to_delete = detail.objects.len() as u64;
        plan.bytes_to_delete = bytes(&detail.objects);
        plan.vacuum = Some(detail);
        Ok(Planned {
            plan,
            folders,
            sample,
        })
    }

    /// Looks for objects that may go; answers how many folders were looked through, and some of the
    /// active files that were seen there.
    async fn fill(
        &self,
        plan: &mut Plan,
        detail: &mut VacuumDetail,
        retention: Retention,
    ) -> Result<(u64, Vec<Path>)> {
        let nothing = || Ok((0, Vec::new()));
        let before = Time(self.as_of.0.saturating_sub(retention.millis));
        let mut references = References::new(&self.root.path);
        let unclear = |e: Error| format!("nobody can tell which objects are needed: {e}");
        if let Err(error) = references.take_snapshot(self.base, Need::Active) {
            plan.refused = Some(unclear(error));
            return nothing();
        }
        let tombstones = self
            .log
            .tombstones(self.head, self.base, before, self.host)
            .await?;
        for tombstone in tombstones.iter().filter(|t| t.deleted >= before) {
            let vector = tombstone.vector.as_ref();
            if let Err(error) = references.take(&tombstone.path, vector, Need::Removed) {
                plan.refused = Some(unclear(error));
                return nothing();
            }
        }
        if let Some(why) = self.take_pins(detail, &mut references).await? {
            plan.refused = Some(why);
            return nothing();
        }
        let surveyed = survey(&self.root.store, &self.root.path).await?;
        if let Some(really) = &surveyed.really {
            plan.refused = Some(format!(
                "the table's root is reached through a link: vacuum it where it lies, as `{really}`"
            ));
            return nothing();
        }
        let mut rules = Rules::new(&self.base.state);
        let found = find(
            self.root,
            &mut references,
            &mut rules,
            (retention, before),
            (&surveyed, self.request.quarantine),
            self.host,
        )
        .await?;
        for format in rules.beside() {
            plan.warnings.push(format!(
                "a table of {format} has the same root: data files that it alone names look unreferenced"
            ));
        }
        let full = |objects: &[Object]| -> Result<Vec<Path>> {
            let keys = objects.iter().map(|o| full_key(&self.root.path, &o.key));
            keys.collect()
        };
        let (old, young) = (full(&found.old)?, full(&found.young)?);
        let Found {
            old: going,
            young: waiting,
            spared,
            left,
            folders,
        } = found;
        let staying: HashSet<Path> = young.iter().cloned().chain(left).collect();
        let mut past = Past::new(
            &self.root.path,
            &references,
            old.iter().cloned().collect(),
            staying,
        );
        if !old.is_empty() || !young.is_empty() {
            past.take_tombstones(&tombstones);
            past.read(self.log, self.head, self.host).await?;
        }
        detail.objects = leftovers(going, &old, &past);
        detail.waiting = leftovers(waiting, &young, &past);
        detail.unrestorable = std::mem::take(&mut past.unrestorable);
        detail.spared = spared;
        plan.warnings.append(&mut past.warnings);
        plan.warnings.extend(lost(&detail.unrestorable));
        if detail.objects.is_empty() {
            plan.refused = Some(format!(
                "nothing to do: no object is unreferenced and older than {}",
                duration_in_words(retention.millis)
            ));
        }
        Ok((folders, references.sample(self.base, SAMPLE)))
    }

    /// What the pinned versions need; why not, where one of them cannot be rebuilt.
    async fn take_pins(
        &self,
        detail: &VacuumDetail,
        references: &mut References,
    ) -> Result<Option<String>> {
        let mut taken = HashSet::new();
        for pin in &detail.pins {
            if !taken.insert(pin.version) {
                continue;
            }
            let kept = pinned(self.log, self.head, pin.version, references, self.host).await;
            match kept {
                Ok(()) => {}
                Err(error) if error.kind() == Kind::Unreachable => return Err(error),
                Err(error) => {
                    return Ok(Some(format!(
                        "the pin `{}` keeps version {}, whose files are not known any more ({error}): \
                         unpin it to vacuum",
                        pin.name, pin.version
                    )));
                }
            }
        }
        Ok(None)
    }
}

/// Takes what a pinned version needs.
pub(super) async fn pinned(
    log: &Log,
    head: &Head,
    version: Version,
    references: &mut References,
    host: &SharedHost,
) -> Result<()> {
    if version > head.latest {
        return Err(Error::not_found(format!(
            "the newest version is {}",
            head.latest
        )));
    }
    let snapshot = log.snapshot(head, version, host).await?;
    references.take_snapshot(&snapshot, Need::Pinned)
}

fn leftovers(objects: Vec<Object>, keys: &[Path], past: &Past<'_>) -> Vec<Leftover> {
    let origin = |key| match past.named(key) {
        true => Origin::Removed,
        false => Origin::Uncommitted,
    };
    let objects = objects.into_iter().zip(keys);
    objects
        .map(|(object, key)| Leftover {
            writer: writer::writer(&object.key),
            key: object.key,
            bytes: object.bytes,
            modified: object.modified,
            origin: origin(key),
        })
        .collect()
}

fn lost(versions: &[Version]) -> Option<String> {
    let noun = match versions.len() {
        0 => return None,
        1 => "version",
        _ => "versions",
    };
    Some(format!(
        "{} {noun} can be restored now and cannot afterwards: {}; pin what must stay",
        versions.len(),
        ranges(versions)
    ))
}

/// `3–14, 17`: versions in order, neighbours together; the rest is said to be more.
fn ranges(versions: &[Version]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for version in versions {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(version.0) => *last = version.0,
            _ => ranges.push((version.0, version.0)),
        }
    }
    let more = ranges.len() > NAMED;
    let shown = ranges.iter().take(NAMED);
    let mut shown: Vec<String> = shown
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}–{last}"),
        })
        .collect();
    if more {
        shown.push("and more".to_owned());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_are_lost_stand_in_ranges() {
        let of =
            |versions: &[u64]| lost(&versions.iter().copied().map(Version).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        let one = of(&[4]).unwrap();
        assert_eq!(
            one,
            "1 version can be restored now and cannot afterwards: 4; pin what must stay"
        );
        assert!(of(&[0, 1, 2, 5, 7, 8]).unwrap().contains(": 0–2, 5, 7–8;"));
        let many = of(&[1, 3, 5, 7, 9, 11]).unwrap();
        assert!(many.contains(": 1, 3, 5, 7, 9, and more;"), "{many}");
        assert!(of(&[u64::MAX, u64::MAX]).is_some());
    }
}
