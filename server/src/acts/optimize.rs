//! An optimize: new files first, then their commit, after others' where that changes nothing.

use std::time::Instant;

use lake::answer::Root;
use lake::delta::optimize::{self, Request};
use lake::delta::write::{Signature, probe};
use lake::host::SharedHost;
use lake::plan::{Applied, Outcome};
use lake::{Error, Result};
use uuid::Uuid;

use super::{Asked, Consent, millis_since, now};

/// How large files should be where neither the request nor the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes below which a file is packed.
    pub min: u64,
    /// Bytes that a packed file should have.
    pub target: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            min: 100 << 20,
            target: 1 << 30,
        }
    }
}

/// What is asked of `lake`.
pub(super) fn request(asked: &Asked) -> Result<Request> {
    let request = &asked.request;
    if request.target_size == Some(0) {
        return Err(Error::invalid("a file of no bytes cannot be aimed at"));
    }
    Ok(Request {
        target: request.target_size,
        min: asked.sizes.min,
        default_target: asked.sizes.target,
        partitions: request.partitions.clone(),
        as_of: asked.as_of,
        expect: asked.expect,
    })
}

/// Plans an optimize, and carries it out where there is consent and no refusal.
pub async fn optimize(
    root: &Root,
    request: &Request,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    let planned = optimize::plan(root, request, host).await?;
    let Some(consent) = consent.filter(|_| planned.plan.refused.is_none()) else {
        return Ok(Outcome {
            plan: planned.plan,
            applied: None,
        });
    };
    consent.check(&planned.plan.id)?;
    let signature = consent.sign();
    probe(&root.store, &root.path, &signature.txn_id).await?;
    let mut names = || Uuid::new_v4().to_string();
    let rewritten = optimize::rewrite(&planned, &signature.engine, &mut names, host).await?;
    // Writing takes a while; the commit is made when it is made.
    let signature = Signature {
        now: now(),
        ..signature
    };
    let started = Instant::now();
    let committed = optimize::commit(&planned, rewritten, &signature, host).await?;
    Ok(Outcome {
        plan: planned.plan,
        applied: Some(Applied {
            version: Some(committed.version),
            took_ms: millis_since(started),
            attempts: committed.attempts,
            deleted: 0,
            bytes_deleted: 0,
            failed: Vec::new(),
            proven_files: committed.files,
            warnings: Vec::new(),
            hours: None,
            stopped: None,
        }),
    })
}
