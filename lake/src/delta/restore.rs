//! RESTORE: an earlier version's files, schema and properties as a new commit. No byte of data is
//! read, written or moved.
//!
//! What is committed follows what Spark writes, and the protocol where Spark does not.

mod apply;
mod difference;
mod digest;
mod kept;
mod presence;
mod rows;
mod streams;
mod words;

use std::sync::Arc;

use hashbrown::HashSet;

use super::action::{Domain, Metadata, Protocol};
use super::files::FileRef;
use super::key::Key;
use super::log::{Head, Log};
use super::schema::{Mapping, mapping};
use super::snapshot::Snapshot;
use super::vacuum::aside;
use super::verbatim::Fields;
use super::write::{Partitions, arrived, as_remove, check_partitions, exhausted, merge, refusal};
use crate::answer::Root;
use crate::diff::schema::schema_changes;
use crate::diff::{key_changes, protocol_keys};
use crate::host::SharedHost;
use crate::plan::{Act, Plan, RestoreDetail};
use crate::table::{At, Time, Version};
use crate::wire::{CommitRow, HistoryQuery};
use crate::{Error, Result};
pub use apply::{Committed, apply};
use difference::differing;
use digest::digest;

/// Commits of what is undone that are listed; the rest is counted.
const UNDONE: u32 = 1_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The version to go back to.
    pub at: At,
    /// Only files of these partitions.
    pub partitions: Partitions,
    /// Leave out files that the store no longer has.
    pub allow_missing: bool,
    /// The instant taken as now.
    pub as_of: Time,
    /// The newest version as the caller knows it; another one is [`crate::Kind::Conflict`].
    pub expect: Option<Version>,
}

/// A plan with all that is needed to carry it out.
#[derive(Debug)]
pub struct Restore {
    /// What a person reads.
    pub plan: Plan,
    log: Log,
    by_time: Option<Time>,
    metadata: Option<Metadata>,
    head_metadata: Metadata,
    protocol: Option<Protocol>,
    adds: Vec<Fields>,
    removes: Vec<Fields>,
    domains: Vec<Domain>,
    /// Every active file of the new version.
    after: Vec<Key>,
    bytes_after: u64,
    head_time: Option<Time>,
}

/// Plans a restore. A refusal is a plan that says why; an error means that there is no plan.
pub async fn plan(root: &Root, request: &Request, host: &SharedHost) -> Result<Restore> {
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    if let Some(expected) = request.expect
        && expected != head.latest
    {
        return Err(arrived(&log, &head, expected, host).await);
    }
    let target = log.resolve(&head, request.at).await?;
    let base = log.snapshot(&head, head.latest, host).await?;
    let back = log.snapshot(&head, target, host).await.map_err(|e| {
        let sentence = format!("version {target} cannot be restored: it cannot be rebuilt");
        let places = e.context().to_vec();
        let told = Error::new(e.kind(), sentence).because(e);
        places
            .into_iter()
            .fold(told, |e, (name, at)| e.at(name, at))
    })?;
    let planning = Planning {
        root,
        log: &log,
        head: &head,
        request,
        base: &base,
        back: &back,
        host,
    };
    planning.plan().await
}

struct Planning<'a> {
    root: &'a Root,
    log: &'a Log,
    head: &'a Head,
    request: &'a Request,
    base: &'a Snapshot,
    back: &'a Snapshot,
    host: &'a SharedHost,
}

impl Planning<'_> {
    async fn plan(&self) -> Result<Restore> {
        let (base, back) = (self.base, self.back);
        let whole = self.request.partitions.is_empty();
        check_partitions(
            &base.state.metadata.partition_columns,
            &self.request.partitions,
        )?;
        let undone = self.undone().await?;
        let mut plan = Plan::new(
            Act::Restore,
            self.root.location.clone(),
            self.request.as_of,
            base.state.version,
        );
        plan.target_version = Some(back.state.version);
        plan.undone = undone;
        let merged = merge(&base.state.protocol, &back.state.protocol);
        let metadata = match whole {
            true => Some(kept::metadata(&base.state.metadata, &back.state.metadata)?),
            false => None,
        };
        let protocol = Some(merged).filter(|p| whole && !same_protocol(p, &base.state.protocol));
        plan.refused = self.refused(protocol.as_ref());
        let domains = match whole {
            true => self.clustering(),
            false => Vec::new(),
        };

        let (mut coming, going) = differing(back, base, self.request);
        let settings_change = metadata.as_ref().is_some_and(|m| *m != base.state.metadata)
            || protocol.is_some()
            || !domains.is_empty();
        if plan.refused.is_none() && coming.is_empty() && going.is_empty() && !settings_change {
            plan.refused = Some(match back.state.version == base.state.version {
                true => format!(
                    "nothing to do: version {} is the newest",
                    back.state.version
                ),
                false => format!(
                    "nothing to do: the table is as it was at version {}",
                    back.state.version
                ),
            });
            if !whole {
                // Commits to other partitions are not undone by it.
                plan.undone.clear();
            }
        }

        let looked = self.look(&coming).await?;
        let missing = looked.missing_files(&coming);
        plan.missing_files = looked.missing.iter().cloned().collect();
        if !missing.is_empty() && self.request.allow_missing {
            plan.warnings.push(words::left_out(&coming, &missing));
            coming.retain(|f| !missing.contains(&f.key()));
        } else if !missing.is_empty() && plan.refused.is_none() {
            let mut why = words::missing(back.state.version, &plan.missing_files);
            why.push_str(&words::aside(aside(self.root, &looked.missing).await));
            plan.refused = Some(why);
        }
        if looked.outside > 0 {
            plan.warnings.push(format!(
                "{} files lie outside the table and were not looked for",
                looked.outside
            ));
        }

        let mut adds = self.verbatim(back, &coming).await?;
        let mut removes = self.verbatim(base, &going).await?;
        let after_protocol = protocol.as_ref().unwrap_or(&base.state.protocol);
        let tracking = rows::track(
            self.log,
            base,
            after_protocol,
            back.state.version,
            &mut adds,
        )
        .await?;
        let domains: Vec<Domain> = domains.into_iter().chain(tracking).collect();
        for fields in &mut adds {
            rows::as_add(fields)?;
        }
        for fields in &mut removes {
            as_remove(fields, true)?;
        }

        self.count(&mut plan, &coming, &going);
        self.settings(&mut plan, metadata.as_ref(), protocol.as_ref());
        self.warn(&mut plan, metadata.as_ref(), protocol.as_ref());
        let dropped: HashSet<Key> = going.iter().map(|f| f.key()).collect();
        let mut after: Vec<Key> = Vec::with_capacity(base.files.len());
        let mut bytes_after = 0u64;
        let mut rows_after = Some(0u64);
        let mut stay = |key: Key, file: &FileRef<'_>| {
            bytes_after = bytes_after.saturating_add(file.bytes());
            rows_after = rows_after.and_then(|sum| sum.checked_add(file.rows()?));
            after.push(key);
        };
        for file in base.files.iter() {
            let key = file.key();
            if !dropped.contains(&key) {
                stay(key, &file);
            }
        }
        for file in &coming {
            stay(file.key(), file);
        }
        plan.restore = Some(RestoreDetail {
            target_time: back.state.timestamp,
            files_after: after.len() as u64,
            bytes_after,
            rows_after,
        });
        let mut restore = Restore {
            plan,
            log: self.log.clone(),
            by_time: match self.request.at {
                At::Time(time) => Some(time),
                _ => None,
            },
            metadata,
            head_metadata: base.state.metadata.clone(),
            protocol,
            adds,
            removes,
            domains,
            after,
            bytes_after,
            head_time: base.state.timestamp,
        };
        restore.plan.id = digest(&restore, self.request)?;
        Ok(restore)
    }

    /// Why this restore must not be, whatever the files.
    fn refused(&self, protocol: Option<&Protocol>) -> Option<String> {
        let (base, back) = (&self.base.state, &self.back.state);
        let after = protocol.unwrap_or(&base.protocol);
        let why = refusal(after, &base.metadata, true).or(exhausted(base.version, 1));
        if why.is_some() {
            return why;
        }
        if self.request.partitions.is_empty() {
            let (from, to) = (mapping(&base.metadata), mapping(&back.metadata));
            return (to == Mapping::Id && from != Mapping::Id).then(|| {
                let word = if from == Mapping::Name {
                    "name"
                } else {
                    "none"
                };
                format!(
                    "column mapping cannot go from {word} to id, which version {} has",
                    back.version
                )
            });
        }
        rows::fits(base, back)
    }

    /// The commits after the target, newest first.
    async fn undone(&self) -> Result<Vec<CommitRow>> {
        let after = self.base.state.version.0 - self.back.state.version.0;
        if after == 0 {
            return Ok(Vec::new());
        }
        let limit = u32::try_from(after).unwrap_or(u32::MAX).min(UNDONE);
        let query = HistoryQuery {
            limit,
            before: None,
        };
        Ok(self.log.history(self.head, &query, self.host).await?.rows)
    }

    /// The clustering columns as the target has them; no other domain is ours.
    fn clustering(&self) -> Vec<Domain> {
        const CLUSTERING: &str = "delta.clustering";
        const NONE: &str = r#"{"clusteringColumns":[],"domainName":"delta.clustering"}"#;
        let of = |snapshot: &Snapshot| snapshot.state.domains.get(CLUSTERING).cloned();
        let (head, target) = (of(self.base), of(self.back));
        if head == target {
            return Vec::new();
        }
        vec![Domain {
            domain: CLUSTERING.to_owned(),
            configuration: Some(target.unwrap_or_else(|| NONE.to_owned())),
            removed: false,
        }]
    }

    async fn verbatim(&self, of: &Snapshot, files: &[FileRef<'_>]) -> Result<Vec<Fields>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = self.log.adds(self.head, of, files, self.host).await?;
        let take = |f: &FileRef<'_>| found.remove(&f.key());
        Ok(files.iter().filter_map(take).collect())
    }

    fn count(&self, plan: &mut Plan, coming: &[FileRef<'_>], going: &[FileRef<'_>]) {
        let bytes = |files: &[FileRef<'_>]| {
            files
                .iter()
                .fold(0u64, |sum, f| sum.saturating_add(f.bytes()))
        };
        let rows = |files: &[FileRef<'_>]| {
            files
                .iter()
                .try_fold(0u64, |sum, f| sum.checked_add(f.rows()?))
        };
        plan.files_to_add = coming.len() as u64;
        plan.files_to_remove = going.len() as u64;
        plan.bytes_to_add = bytes(coming);
        plan.bytes_to_remove = bytes(going);
        plan.rows_to_add = rows(coming);
        plan.rows_to_remove = rows(going);
    }

    fn settings(&self, plan: &mut Plan, metadata: Option<&Metadata>, protocol: Option<&Protocol>) {
        let base = &self.base.state;
        if let Some(metadata) = metadata {
            plan.schema = schema_changes(&base.schema, &self.back.state.schema);
            plan.properties = key_changes(&base.metadata.configuration, &metadata.configuration);
        }
        if let Some(protocol) = protocol {
            plan.protocol = key_changes(&protocol_keys(&base.protocol), &protocol_keys(protocol));
        }
    }

    fn warn(&self, plan: &mut Plan, metadata: Option<&Metadata>, protocol: Option<&Protocol>) {
        let more = words::warnings(self.base, self.back, plan, protocol, metadata);
        plan.warnings.extend(more);
        plan.warnings
            .extend(self.base.state.warnings.iter().cloned());
    }
}

/// Whether two protocols ask for the same, in whatever order they name it.
fn same_protocol(a: &Protocol, b: &Protocol) -> bool {
    protocol_keys(a) == protocol_keys(b)
}
