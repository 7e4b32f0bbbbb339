//! Acts on tables and on hours of datasets: planned and carried out by `lake`, timed and signed here.

pub mod answers;
pub mod hours;
mod optimize;
pub mod pins;
pub mod quarantine;
mod restore;
#[cfg(test)]
mod tests;
mod vacuum;
pub mod writable;

use std::sync::Arc;
use std::time::Instant;

use chrono::Utc;
use lake::answer::Root;
use lake::delta::log::Log;
use lake::delta::optimize::Request as OptimizeRequest;
use lake::delta::restore::Request as RestoreRequest;
use lake::delta::vacuum::Request as VacuumRequest;
use lake::delta::write::{Signature, upkeep};
use lake::host::SharedHost;
use lake::plan::{Act, Outcome, PlanRequest};
use lake::table::{At, Time, Version};
use lake::{Error, Kind, Result};
use uuid::Uuid;

pub use self::optimize::{Sizes, optimize};
pub use self::pins::{pin, pins, unpin};
pub use self::restore::restore;
pub use self::vacuum::{Limits, vacuum};

/// That the act is to be done, by whom and why.
#[derive(Clone, Debug)]
pub struct Consent {
    /// Who.
    pub user: Option<String>,
    /// Why, in the person's words.
    pub reason: Option<String>,
    /// The plan that was read: another one is not carried out.
    pub plan: Option<String>,
    /// Whether commits that only added files may be undone too, should they arrive meanwhile.
    pub over_appends: bool,
}

impl Consent {
    /// A signature for one act, now.
    fn sign(&self) -> Signature {
        Signature {
            now: now(),
            txn_id: Uuid::new_v4().to_string(),
            user: self.user.clone(),
            reason: self.reason.clone(),
            engine: concat!("tidemark/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// Refuses to carry out a plan that is not the one that was read.
    fn check(&self, id: &str) -> Result<()> {
        match self.plan.as_deref() {
            Some(read) if read != id => Err(Error::new(
                Kind::Conflict,
                "these inputs make another plan than the one that was read: plan again",
            )),
            _ => Ok(()),
        }
    }
}

/// Characters of a reason at most.
const LONGEST: usize = 4_000;

/// A reason as it is written down: nothing where it says nothing.
pub fn bounded(reason: Option<String>) -> Result<Option<String>> {
    let reason = reason.map(|text| text.trim().to_owned());
    match reason.filter(|text| !text.is_empty()) {
        Some(text) if text.chars().count() > LONGEST => Err(Error::invalid(format!(
            "a reason has at most {LONGEST} characters"
        ))),
        other => Ok(other),
    }
}

/// Refuses where there is no table, or none any more.
async fn is_table(root: &Root) -> Result<()> {
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    log.newest().await.map(drop)
}

/// Now.
pub fn now() -> Time {
    Time(Utc::now().timestamp_millis())
}

fn millis_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// What is to be done, and the instant and the version that it was planned for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What.
    pub request: PlanRequest,
    /// The instant taken as now.
    pub as_of: Time,
    /// The newest version as the caller knows it; another one is [`Kind::Conflict`].
    pub expect: Option<Version>,
    /// How short a vacuum's retention may be.
    pub limits: Limits,
    /// How large an optimize makes files where nobody else says.
    pub sizes: Sizes,
}

impl Asked {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> Result<()> {
        if let Some(field) = self.foreign() {
            return Err(Error::invalid(format!("`{field}` is no part of this act")));
        }
        match self.request.kind {
            Act::Restore => self.restore().map(drop),
            Act::Vacuum => self.vacuum().map(drop),
            Act::Optimize => self.optimize().map(drop),
            Act::Publish | Act::Repoint | Act::Compact | Act::ExpireRuns => hours::check(self),
        }
    }

    /// A field that says something and belongs to another act.
    fn foreign(&self) -> Option<&'static str> {
        let request = &self.request;
        let kind = request.kind;
        let publish = kind == Act::Publish;
        let of_an_hour = matches!(kind, Act::Publish | Act::Repoint | Act::Compact);
        let said = [
            ("version", request.version.is_some(), kind == Act::Restore),
            ("at", request.at.is_some(), kind == Act::Restore),
            (
                "partitions",
                !request.partitions.is_empty(),
                matches!(kind, Act::Restore | Act::Optimize),
            ),
            ("allow_missing", request.allow_missing, kind == Act::Restore),
            ("retain", request.retain.is_some(), kind == Act::Vacuum),
            (
                "allow_short_retention",
                request.allow_short_retention,
                kind == Act::Vacuum,
            ),
            ("quarantine", request.quarantine, kind == Act::Vacuum),
            (
                "target_size",
                request.target_size.is_some(),
                matches!(kind, Act::Optimize | Act::Compact),
            ),
            ("date", request.date.is_some(), of_an_hour),
            ("hour", request.hour.is_some(), of_an_hour),
            (
                "run",
                request.run.is_some(),
                matches!(kind, Act::Publish | Act::Repoint),
            ),
            ("count", request.count.is_some(), publish),
            ("replace", request.replace, publish),
            ("empty", request.empty, publish),
            (
                "definition_version",
                request.definition_version.is_some(),
                publish,
            ),
            ("max_event_time", request.max_event_time.is_some(), publish),
            ("took_loose", request.took_loose, publish),
            ("with_late", request.with_late, kind == Act::Compact),
        ];
        let foreign = said.into_iter().find(|(_, said, own)| *said && !own);
        foreign.map(|(field, _, _)| field)
    }

    fn vacuum(&self) -> Result<VacuumRequest> {
        vacuum::request(&self.request, self.as_of, self.limits)
    }

    fn optimize(&self) -> Result<OptimizeRequest> {
        optimize::request(self)
    }

    fn restore(&self) -> Result<RestoreRequest> {
        let at = match (self.request.version, self.request.at) {
            (Some(version), None) => At::Version(version),
            (None, Some(time)) => At::Time(time),
            _ => {
                return Err(Error::invalid(
                    "say which version to go back to: `version` or `at`",
                ));
            }
        };
        Ok(RestoreRequest {
            at,
            partitions: self.request.partitions.clone(),
            allow_missing: self.request.allow_missing,
            as_of: self.as_of,
            expect: self.expect,
        })
    }
}

/// Plans an act, carries it out where there is consent and no refusal, and looks after the log then.
pub async fn act(
    root: &Root,
    asked: &Asked,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    let mut outcome = match asked.request.kind {
        Act::Restore => restore(root, &asked.restore()?, consent, host).await?,
        Act::Vacuum => vacuum(root, &asked.vacuum()?, consent, host).await?,
        Act::Optimize => optimize(root, &asked.optimize()?, consent, host).await?,
        Act::Publish | Act::Repoint | Act::Compact | Act::ExpireRuns => {
            return Err(Error::invalid(
                "this is done to a dataset, and not to a table",
            ));
        }
    };
    if let Some(applied) = &mut outcome.applied
        && let Some(version) = applied.version
    {
        let warnings = look_after(root, version, host).await;
        applied.warnings.extend(warnings);
    }
    Ok(outcome)
}

/// What the log is owed after a commit. Answers what a person should know of it; the act is done.
async fn look_after(root: &Root, version: Version, host: &SharedHost) -> Vec<String> {
    let mut ids = || Uuid::new_v4().to_string();
    upkeep(root, version, now(), &mut ids, host).await
}
