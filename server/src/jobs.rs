//! Acts that take a while: carried out beside the request, watched, stopped between steps.
//!
//! What a job does is in the table's own log and nowhere else; its record only tells how far it is.
//! So a server that dies leaves a record that no longer beats, and the table as it is.

pub mod answers;
mod host;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lake::host::SharedHost;
use lake::plan::{Act, Job, JobState, Outcome};
use lake::table::Time;
use lake::wire::ErrorReport;
use lake::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};

use self::host::JobHost;
use crate::acts::now;
use crate::control::Control;

/// How often a running job's record is written.
const BEAT: Duration = Duration::from_secs(15);

/// Beats that a record may miss before its server counts as dead.
const MISSED: u32 = 4;

/// Jobs that are listed.
const LISTED: usize = 100;

const FOLDER: &str = "jobs";

/// All jobs of this server, and what others wrote of theirs.
pub struct Jobs {
    control: Control,
    beat: Duration,
    own: Mutex<HashMap<String, Arc<Running>>>,
    stopping: watch::Sender<bool>,
}

/// A job of this server.
pub(super) struct Running {
    job: watch::Sender<Job>,
    cancelled: AtomicBool,
}

/// A job as the control store holds it.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    job: Job,
    /// When its server wrote this.
    beat: Time,
}

/// A job to be.
#[derive(Clone, Debug)]
pub struct Order {
    /// The act.
    pub kind: Act,
    /// The table, by name.
    pub table: String,
    /// The plan that was read.
    pub plan_id: String,
    /// Who.
    pub by: Option<String>,
}

impl Jobs {
    /// No jobs yet.
    pub fn new(control: Control) -> Self {
        Self {
            control,
            beat: BEAT,
            own: Mutex::default(),
            stopping: watch::Sender::new(false),
        }
    }

    /// The same with records that are written more often: for tests.
    #[must_use]
    pub fn beating(mut self, beat: Duration) -> Self {
        self.beat = beat;
        self
    }

    /// Starts a job. What comes of it is told when it is over, also where nobody waits for it.
    /// [`Kind::Conflict`] where the same plan is being carried out here already.
    pub async fn start<F>(
        self: &Arc<Self>,
        order: Order,
        work: impl FnOnce(SharedHost) -> F + Send + 'static,
    ) -> Result<(watch::Receiver<Job>, oneshot::Receiver<Result<Outcome>>)>
    where
        F: Future<Output = Result<Outcome>>,
    {
        let job = new_job(&order);
        let running = Arc::new(Running {
            job: watch::Sender::new(job.clone()),
            cancelled: AtomicBool::new(false),
        });
        self.enter(&order, &job, &running)?;
        let watched = running.job.subscribe();
        self.keep(&job).await;
        let (told, tell) = oneshot::channel();
        tokio::spawn(Arc::clone(self).beats(Arc::clone(&running)));
        let jobs = Arc::clone(self);
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || {
            let host: SharedHost = Arc::new(JobHost(Arc::clone(&running)));
            runtime.block_on(async move {
                let result = work(host).await;
                running.job.send_modify(|job| end(job, &result));
                let job = running.job.borrow().clone();
                jobs.keep(&job).await;
                // Whoever asked may have gone.
                let _ = told.send(result);
            });
        });
        Ok((watched, tell))
    }

    /// Takes a job into the list, unless its plan is being carried out.
    fn enter(&self, order: &Order, job: &Job, running: &Arc<Running>) -> Result<()> {
        let mut own = self.lock();
        let same = own.values().find_map(|other| {
            let other = other.job.borrow();
            let same = other.plan_id == order.plan_id && !other.state.is_over();
            same.then(|| other.id.clone())
        });
        if let Some(id) = same {
            return Err(Error::new(
                Kind::Conflict,
                format!("this plan is being carried out: job {id}"),
            ));
        }
        if own.len() >= LISTED {
            own.retain(|_, other| !other.job.borrow().state.is_over());
        }
        own.insert(job.id.clone(), Arc::clone(running));
        Ok(())
    }

    /// Writes a running job's record now and then, and looks whether another server was asked to
    /// stop it.
    async fn beats(self: Arc<Self>, running: Arc<Running>) {
        loop {
            tokio::time::sleep(self.beat).await;
            let job = running.job.borrow().clone();
            if job.state.is_over() {
                return;
            }
            if matches!(self.control.has(&cancel_key(&job.id)).await, Ok(true)) {
                running.cancel();
            }
            self.keep(&job).await;
            // The end may have been written meanwhile, by whoever came to it.
            let after = running.job.borrow().clone();
            if after.state.is_over() {
                self.keep(&after).await;
            }
        }
    }

    async fn keep(&self, job: &Job) {
        let record = Record {
            job: job.clone(),
            beat: now(),
        };
        if let Err(error) = self.control.write(&key(&job.id), &record).await {
            tracing::warn!(%error, job = job.id, "a job's record cannot be written");
        }
    }

    /// Jobs of all servers, newest first.
    pub async fn list(&self) -> Result<Vec<Job>> {
        let mut keys = self.control.keys(FOLDER).await?;
        keys.retain(|key| key.ends_with(".json"));
        keys.truncate(LISTED);
        let records: Vec<Record> = self.control.read_all(keys).await?;
        Ok(records.into_iter().map(|record| self.now(record)).collect())
    }

    /// One job.
    pub async fn get(&self, id: &str) -> Result<Job> {
        if let Some(running) = self.mine(id) {
            return Ok(running.job.borrow().clone());
        }
        let record = match is_id(id) {
            true => self.control.read::<Record>(&key(id)).await?,
            false => None,
        };
        let record = record.ok_or_else(|| Error::not_found("no such job").at("job", id))?;
        Ok(self.now(record))
    }

    /// Asks a job to stop after the step it is in.
    pub async fn cancel(&self, id: &str) -> Result<Job> {
        let job = self.get(id).await?;
        if job.state.is_over() {
            return Err(Error::new(Kind::Conflict, "the job is over").at("job", id));
        }
        if let Some(running) = self.mine(id) {
            running.cancel();
            return self.get(id).await;
        }
        match self.control.create(&cancel_key(id), &now()).await {
            Err(error) if error.kind() != Kind::Conflict => return Err(error),
            _ => {}
        }
        Ok(Job {
            state: JobState::Cancelling,
            ..job
        })
    }

    /// Changes of a job of this server.
    pub fn watch(&self, id: &str) -> Option<watch::Receiver<Job>> {
        Some(self.mine(id)?.job.subscribe())
    }

    /// Whether the server is stopping.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// Asks all jobs of this server to stop after the steps they are in.
    pub fn stop(&self) {
        for running in self.lock().values() {
            running.cancel();
        }
        self.stopping.send_replace(true);
    }

    /// A record as it stands now: this server knows its own jobs better, and one that has not beaten
    /// for long is orphaned.
    fn now(&self, record: Record) -> Job {
        if let Some(running) = self.mine(&record.job.id) {
            return running.job.borrow().clone();
        }
        let mut job = record.job;
        let patience = (self.beat * MISSED).as_millis();
        let silent = now().0.saturating_sub(record.beat.0);
        if !job.state.is_over() && u128::try_from(silent).is_ok_and(|silent| silent > patience) {
            job.state = JobState::Orphaned;
            job.ended = Some(record.beat);
        }
        job
    }

    fn mine(&self, id: &str) -> Option<Arc<Running>> {
        self.lock().get(id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Running>>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.job.send_modify(|job| {
            if !job.state.is_over() {
                job.state = JobState::Cancelling;
            }
        });
    }
}

fn new_job(order: &Order) -> Job {
    let started = now();
    let random = uuid::Uuid::new_v4().simple().to_string();
    Job {
        // Ids in the order of time are listed newest first without reading them.
        id: format!("{:013}-{}", started.0, &random[..12]),
        kind: order.kind,
        location: order.table.clone(),
        plan_id: order.plan_id.clone(),
        state: JobState::Running,
        by: order.by.clone(),
        started,
        ended: None,
        step: String::new(),
        done: 0,
        of: None,
        bytes_done: 0,
        bytes_of: None,
        error: None,
        result: None,
    }
}

/// How a job ended.
fn end(job: &mut Job, result: &Result<Outcome>) {
    job.ended = Some(now());
    let error = match result {
        Ok(Outcome {
            applied: Some(applied),
            ..
        }) => {
            job.state = JobState::Done;
            job.result = Some(applied.clone());
            return;
        }
        Ok(outcome) => Error::invalid(outcome.plan.refused.clone().unwrap_or_default()),
        Err(error) => error.clone(),
    };
    job.state = match error.kind() {
        Kind::Cancelled => JobState::Cancelled,
        _ => JobState::Failed,
    };
    job.error = Some(ErrorReport::from(&error));
}

fn key(id: &str) -> String {
    format!("{FOLDER}/{id}.json")
}

fn cancel_key(id: &str) -> String {
    format!("{FOLDER}/{id}.cancel")
}

/// Whether this could be a job's id: what else a URL may hold is no key.
fn is_id(id: &str) -> bool {
    id.len() == 26 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

#[cfg(test)]
mod tests;
