//! A vacuum: planned by the store's own clock, carried out where it may be as short as was asked.

use std::time::Instant;

use lake::answer::Root;
use lake::delta::vacuum::{self, Request, Vacuumed};
use lake::delta::write::{duration, probe};
use lake::figures::counted;
use lake::host::SharedHost;
use lake::plan::{Applied, Outcome, PlanRequest};
use lake::table::Time;
use lake::{Error, Kind, Result};
use uuid::Uuid;

use super::{Consent, look_after, millis_since};

/// Spared objects and folders that a warning names.
const NAMED: usize = 5;

/// How short a retention may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Shorter than the table's own: as the configuration says.
    pub short: bool,
    /// Below an hour: on a local disk alone.
    pub below_an_hour: bool,
}

/// What is asked of `lake`. Which version was the newest does not matter: what is deleted is decided
/// at the head that is found.
pub(super) fn request(asked: &PlanRequest, as_of: Time, limits: Limits) -> Result<Request> {
    if asked.allow_short_retention && !limits.short {
        return Err(Error::invalid(
            "a retention that is shorter than the table's own is not allowed here: \
             `[vacuum] allow_short = true` in the configuration allows it",
        ));
    }
    let retain = asked.retain.as_deref().map(|text| {
        duration(text).ok_or_else(|| {
            Error::invalid(format!(
                "`{text}` is not a duration: write 7d, 168h, 30m or interval 1 week"
            ))
        })
    });
    Ok(Request {
        retain: retain.transpose()?,
        allow_short: asked.allow_short_retention,
        below_an_hour: limits.below_an_hour,
        quarantine: asked.quarantine,
        as_of,
        expect: None,
    })
}

/// Plans a vacuum, and carries it out where there is consent and no refusal.
pub async fn vacuum(
    root: &Root,
    request: &Request,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    let scratch = Uuid::new_v4().to_string();
    let (store_time, read_only) = match probe(&root.store, &root.path, &scratch).await {
        Ok(probed) => (probed.store_time, None),
        // What could go is shown all the same.
        Err(error)
            if consent.is_none() && matches!(error.kind(), Kind::Denied | Kind::Unsupported) =>
        {
            (request.as_of, Some(error))
        }
        Err(error) => return Err(error),
    };
    let mut planned = vacuum::plan(root, request, store_time, host).await?;
    if let (Some(error), None) = (read_only, &planned.plan.refused) {
        planned.plan.refused = Some(format!("nothing can be deleted here: {error}"));
    }
    let Some(consent) = consent.filter(|_| planned.plan.refused.is_none()) else {
        return Ok(Outcome {
            plan: planned.plan,
            applied: None,
        });
    };
    consent.check(&planned.plan.id)?;
    let started = Instant::now();
    let mut done = vacuum::apply(&planned, &consent.sign(), host).await?;
    let took_ms = millis_since(started);
    if done.end.is_some() {
        // The version that ended it is looked after as that of every act is.
        done.warnings
            .extend(look_after(root, done.start, host).await);
    }
    Ok(Outcome {
        plan: planned.plan,
        applied: Some(applied(done, took_ms)),
    })
}

fn applied(done: Vacuumed, took_ms: u64) -> Applied {
    let mut warnings = done.warnings;
    if done.absent > 0 {
        warnings.push(format!("{} gone already", counted(done.absent, "object")));
    }
    for spared in done.spared.iter().take(NAMED) {
        warnings.push(format!(
            "{} spared, `{}` among them: {}",
            counted(spared.objects, "object"),
            spared.example,
            spared.why
        ));
    }
    Applied {
        version: Some(done.end.unwrap_or(done.start)),
        took_ms,
        attempts: 1,
        deleted: done.deleted,
        bytes_deleted: done.bytes_deleted,
        failed: done.failed,
        proven_files: done.proven_files,
        warnings,
        hours: None,
        stopped: done.stopped,
    }
}
