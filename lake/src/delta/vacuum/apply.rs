//! A planned vacuum carried out: said in the log, done in batches, said again.

use std::collections::BTreeSet;

use hashbrown::HashSet;
use object_store::path::Path;

use super::find::Tally;
use super::guard::Guard;
use super::log::{End, end, start};
use super::quarantine::{copy_aside, place};
use super::references::{Need, References};
use super::{Vacuum, full_key};
use crate::delta::log::Log;
use crate::delta::presence::gone;
use crate::delta::write::{Signature, TRIES, read_back};
use crate::host::{Progress, SharedHost};
use crate::plan::{Failed, Leftover, Spared};
use crate::store::erase::{Eraser, Gone};
use crate::table::Version;
use crate::wire::ErrorReport;
use crate::{Error, Kind, Result};

/// Objects deleted between two looks at what became needed.
const BATCH: usize = 1_000;

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Vacuumed {
    /// The version that said that it starts.
    pub start: Version,
    /// The version that said that it ended; `None` where that could not be committed.
    pub end: Option<Version>,
    /// Objects that were deleted or moved aside, as the store confirmed.
    pub deleted: u64,
    /// Their bytes.
    pub bytes_deleted: u64,
    /// Objects that were gone before they could be deleted.
    pub absent: u64,
    /// Keys that may still be there, each with the reason.
    pub failed: Vec<Failed>,
    /// Objects of the plan that are needed again.
    pub spared: Vec<Spared>,
    /// Active files of the newest version, none of which was deleted.
    pub proven_files: u64,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// Why it ended before all was done.
    pub stopped: Option<ErrorReport>,
}

/// Carries a plan out.
///
/// An error means that nothing was deleted, unless it says otherwise. What becomes needed while
/// objects are deleted is spared as soon as it is known.
pub async fn apply(vacuum: &Vacuum, signature: &Signature, host: &SharedHost) -> Result<Vacuumed> {
    if let Some(why) = &vacuum.plan.refused {
        return Err(Error::new(Kind::Invalid, why.clone()));
    }
    if host.cancelled() {
        return Err(Error::new(Kind::Cancelled, "stopped before it began"));
    }
    let (version, again) = start(vacuum, signature, host).await?;
    let mut run = Run {
        vacuum,
        log: vacuum.log(),
        version,
        deleted: HashSet::new(),
        bytes: 0,
        absent: 0,
        failed: Vec::new(),
        spared: Tally::default(),
    };
    let again = match again {
        Ok(again) => again,
        Err(error) => {
            let objects = vacuum.objects();
            let why = error.within("stopped: what is needed now is not known");
            objects
                .iter()
                .for_each(|object| run.fail(object, why.to_string()));
            return run.finish(signature, Some(why), host).await;
        }
    };
    let now = again.as_ref().unwrap_or(vacuum).objects();
    let other = |object: &&Leftover| {
        let found = now.binary_search_by(|other| other.key.cmp(&object.key));
        found.is_err()
    };
    let others: Vec<&Leftover> = vacuum.objects().iter().filter(other).collect();
    run.spare_all(&others, host).await;
    let stopped = run.delete(now, signature, host).await;
    run.finish(signature, stopped, host).await
}

/// A vacuum that is under way.
struct Run<'a> {
    vacuum: &'a Vacuum,
    log: Log,
    version: Version,
    /// Keys that are gone by our doing.
    deleted: HashSet<Path>,
    bytes: u64,
    absent: u64,
    failed: Vec<Failed>,
    spared: Tally,
}

impl Run<'_> {
    fn spare(&mut self, why: &str, object: &Leftover) {
        self.spared.add(why.to_owned(), &object.key, object.bytes);
    }

    /// Objects of the plan that are no candidates any more: gone, or needed.
    async fn spare_all(&mut self, objects: &[&Leftover], host: &SharedHost) {
        let root = &self.vacuum.root;
        let keys = objects.iter().map(|o| full_key(&root.path, &o.key));
        let keys: BTreeSet<Path> = keys.filter_map(Result::ok).collect();
        // What the store does not say is there, as far as anybody knows.
        let gone = gone(&root.store, keys, host).await.unwrap_or_default();
        for object in objects {
            match full_key(&root.path, &object.key) {
                Ok(key) if gone.contains(&key) => self.absent += 1,
                _ => self.spare("needed since the plan was made", object),
            }
        }
    }

    fn fail(&mut self, object: &Leftover, why: impl Into<String>) {
        self.failed.push(Failed {
            key: object.key.clone(),
            why: why.into(),
        });
    }

    /// Deletes batch by batch; why it stopped, if it did.
    async fn delete(
        &mut self,
        objects: &[Leftover],
        signature: &Signature,
        host: &SharedHost,
    ) -> Option<Error> {
        let root = &self.vacuum.root;
        let detail = self.vacuum.plan.vacuum.as_ref();
        let pins = detail.map_or(&[][..], |detail| &detail.pins);
        let mut guard = Guard::new(root, self.log.clone(), self.version, pins);
        let mut eraser = Eraser::new(&root.store, host);
        let id = self.vacuum.plan.id.get(..12).unwrap_or_default();
        let aside = place(&root.path, &format!("{}-{id}", signature.now.0));
        let (of, all_bytes) = (objects.len() as u64, super::bytes(objects));
        let (mut done, mut bytes_done) = (0u64, 0u64);
        for (number, batch) in objects.chunks(BATCH).enumerate() {
            let stop = match host.cancelled() {
                true => Some(Error::new(Kind::Cancelled, "stopped on request")),
                false => self.look(&mut guard, host).await,
            };
            if let Some(why) = stop {
                let rest = objects.iter().skip(number * BATCH);
                rest.for_each(|object| self.fail(object, why.to_string()));
                return Some(why);
            }
            self.delete_batch(batch, &mut guard, &mut eraser, &aside, host)
                .await;
            done += batch.len() as u64;
            bytes_done = bytes_done.saturating_add(super::bytes(batch));
            host.progress(Progress {
                step: match self.vacuum.request.quarantine {
                    true => "moving objects aside".to_owned(),
                    false => "deleting objects".to_owned(),
                },
                done,
                of: Some(of),
            });
            host.bytes(bytes_done, all_bytes);
            host.pause().await;
        }
        None
    }

    /// Looks for what became needed; why nobody knows, where the store or the log does not tell.
    async fn look(&self, guard: &mut Guard<'_>, host: &SharedHost) -> Option<Error> {
        let mut attempt = 0;
        loop {
            match guard.look(host).await {
                Ok(()) => return None,
                Err(error) if error.kind() == Kind::Unreachable && attempt < TRIES => {
                    attempt += 1;
                    host.wait(50 << attempt).await;
                }
                Err(error) => {
                    let what = "stopped: what was committed or pinned since is not known";
                    return Some(error.within(what));
                }
            }
        }
    }

    async fn delete_batch(
        &mut self,
        batch: &[Leftover],
        guard: &mut Guard<'_>,
        eraser: &mut Eraser,
        aside: &Path,
        host: &SharedHost,
    ) {
        let root = &self.vacuum.root;
        let mut going: Vec<&Leftover> = Vec::with_capacity(batch.len());
        let mut keys: Vec<Path> = Vec::with_capacity(batch.len());
        for object in batch {
            match full_key(&root.path, &object.key) {
                Ok(key) => match guard.needs(&key) {
                    Some(why) => self.spare(why, object),
                    None => {
                        going.push(object);
                        keys.push(key);
                    }
                },
                Err(error) => self.fail(object, error.to_string()),
            }
        }
        if self.vacuum.request.quarantine {
            let copied = copy_aside(&root.store, &root.path, aside, &going, host).await;
            let all = std::mem::take(&mut going)
                .into_iter()
                .zip(std::mem::take(&mut keys));
            // Copies take a while, in which more may have become needed. What is spared now keeps a
            // copy aside, which harms nobody.
            let unknown = self.look(guard, host).await;
            for ((object, key), gone) in all.zip(copied) {
                match (gone, &unknown, guard.needs(&key)) {
                    (Some(gone), _, _) => self.note(object, key, gone),
                    (None, Some(why), _) => self.fail(object, why.to_string()),
                    (None, None, Some(why)) => self.spare(why, object),
                    (None, None, None) => {
                        going.push(object);
                        keys.push(key);
                    }
                }
            }
        }
        let outcome = eraser.erase(&keys).await;
        for ((object, key), gone) in going.into_iter().zip(keys).zip(outcome) {
            self.note(object, key, gone);
        }
    }

    fn note(&mut self, object: &Leftover, key: Path, gone: Gone) {
        match gone {
            Gone::Deleted => {
                self.bytes = self.bytes.saturating_add(object.bytes);
                self.deleted.insert(key);
            }
            Gone::Absent => self.absent += 1,
            Gone::Failed(why) => self.fail(object, why),
        }
    }

    /// Says in the log how it ended, and proves that no active file is gone.
    async fn finish(
        self,
        signature: &Signature,
        stopped: Option<Error>,
        host: &SharedHost,
    ) -> Result<Vacuumed> {
        let told = End {
            deleted: self.deleted.len() as u64,
            folders: self.vacuum.folders,
            completed: stopped.is_none() && self.failed.is_empty(),
        };
        let mut warnings: Vec<String> = stopped.iter().map(ToString::to_string).collect();
        let ended = match end(&self.log, signature, told, host).await {
            Ok(version) => Some(version),
            Err(error) => {
                warnings.push(format!(
                    "the log does not say how it ended: VACUUM END was not committed: {error}"
                ));
                None
            }
        };
        let newest = ended.unwrap_or(self.version);
        let proven_files = match read_back(&self.log, newest, host).await {
            Ok(snapshot) => {
                let mut active = References::new(&self.log.root);
                active.take_snapshot(&snapshot, Need::Active)?;
                let lost = self.deleted.iter().find(|key| active.get(key).is_some());
                if let Some(key) = lost {
                    let what = format!(
                        "a file of version {newest} was deleted while somebody committed it"
                    );
                    return Err(Error::damaged(what).at("key", key));
                }
                // Names may deceive, as links do; what is looked for is there or is not.
                let still = |key: &&Path| active.get(key).is_some();
                let sample = self.vacuum.sample.iter().filter(still).cloned();
                match gone(&self.log.store, sample.collect(), host).await {
                    Ok(gone) => match gone.first() {
                        None => snapshot.files.len() as u64,
                        Some(key) => {
                            let what = format!(
                                "a file of version {newest} was there when this began and is gone"
                            );
                            return Err(Error::damaged(what).at("key", key));
                        }
                    },
                    Err(error) => {
                        warnings.push(format!(
                            "nobody could look whether active files are still there: {error}"
                        ));
                        0
                    }
                }
            }
            Err(error) => {
                warnings.push(format!(
                    "{} objects were deleted, and nobody could prove that no active file is among them: {error}",
                    told.deleted
                ));
                0
            }
        };
        Ok(Vacuumed {
            start: self.version,
            end: ended,
            deleted: told.deleted,
            bytes_deleted: self.bytes,
            absent: self.absent,
            failed: self.failed,
            spared: self.spared.finish(),
            proven_files,
            warnings,
            stopped: stopped.as_ref().map(ErrorReport::from),
        })
    }
}
