//! Acts that take a while: carried out beside the request, watched, stopped between steps.
//!
//! What a job does is in the table's own log and nowhere else; its record only tells how far it is.
//! So a server that dies leaves a record that no longer beats, and the table as it is.

pub mod answers;
mod host;

use std::collections::{HashMap, HashSet};
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

/// How often a running job looks whether another server was asked to stop it.
const LOOK: Duration = Duration::from_secs(1);

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
    /// Jobs whose ends are not written down yet.
    live: watch::Sender<usize>,
}

/// A job of this server.
pub(super) struct Running {
    job: watch::Sender<Job>,
    cancelled: AtomicBool,
    alone: bool,
}

/// A job as the control store holds it.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    job: Job,
    /// When its server wrote this.
    beat: Time,
    /// [`Order::alone`]
    #[serde(default)]
    alone: bool,
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
    /// Whether nothing else may go on in the table: a vacuum that keeps less than the table asks for
    /// may take what others have written and not committed yet.
    pub alone: bool,
}

impl Order {
    /// Whether a job must not go on beside this one, and why.
    fn clashes(&self, other: &Job, alone: bool) -> Option<Error> {
        if other.state.is_over() {
            return None;
        }
        let id = &other.id;
        let what = if !self.plan_id.is_empty() && other.plan_id == self.plan_id {
            format!("this plan is being carried out: job {id}")
        } else if other.location == self.table && alone {
            format!("a vacuum with a short retention runs in this table: job {id}")
        } else if other.location == self.table && self.alone {
            format!(
                "a vacuum with a short retention may take what others have not committed yet, \
                 and job {id} runs in this table"
            )
        } else {
            return None;
        };
        Some(Error::new(Kind::Conflict, what))
    }
}

/// Counts a job until its end is written down.
struct Live(Arc<Jobs>);

impl Live {
    fn new(jobs: &Arc<Jobs>) -> Self {
        jobs.live.send_modify(|n| *n += 1);
        Self(Arc::clone(jobs))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.live.send_modify(|n| *n = n.saturating_sub(1));
    }
}

impl Jobs {
    /// No jobs yet.
    pub fn new(control: Control) -> Self {
        Self {
            control,
            beat: BEAT,
            own: Mutex::default(),
            stopping: watch::Sender::new(false),
            live: watch::Sender::new(0),
        }
    }

    /// The same with records that are written more often: for tests.
    #[must_use]
    pub fn beating(mut self, beat: Duration) -> Self {
        self.beat = beat;
        self
    }

    /// Starts a job. What comes of it is told when it is over, also where nobody waits for it, and
    /// nothing of it hangs on whoever asked. [`Kind::Conflict`] where it must not go on beside
    /// another one; where that runs on another server, it is told as the job's end.
    pub fn start<F>(
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
            alone: order.alone,
        });
        let live = Live::new(self);
        if *self.stopping.borrow() {
            let stopping = "the server is stopping: ask again in a moment";
            return Err(Error::new(Kind::Unreachable, stopping));
        }
        self.enter(&order, &job, &running)?;
        let watched = running.job.subscribe();
        let (told, tell) = oneshot::channel();
        let jobs = Arc::clone(self);
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || {
            let host: SharedHost = Arc::new(JobHost(Arc::clone(&running)));
            runtime.block_on(async move {
                jobs.keep(&job, order.alone).await;
                tokio::spawn(Arc::clone(&jobs).beats(Arc::clone(&running)));
                let result = match jobs.elsewhere(&order, &job.id).await {
                    Ok(()) => work(host).await,
                    Err(error) => Err(error),
                };
                running.job.send_modify(|job| end(job, &result));
                let job = running.job.borrow().clone();
                jobs.keep(&job, order.alone).await;
                // Whoever asked may have gone.
                let _ = told.send(result);
                drop(live);
            });
        });
        Ok((watched, tell))
    }

    /// Takes a job into the list, unless it must not go on beside one that is in it.
    fn enter(&self, order: &Order, job: &Job, running: &Arc<Running>) -> Result<()> {
        let mut own = self.lock();
        let clash = own
            .values()
            .find_map(|other| order.clashes(&other.job.borrow(), other.alone));
        if let Some(error) = clash {
            return Err(error);
        }
        if own.len() >= LISTED {
            own.retain(|_, other| !other.job.borrow().state.is_over());
        }
        own.insert(job.id.clone(), Arc::clone(running));
        Ok(())
    }

    /// Refuses to go on beside a job of another server. Two that begin at once refuse both: each
    /// wrote its record before it looked.
    async fn elsewhere(&self, order: &Order, id: &str) -> Result<()> {
        let (records, _) = self.records().await?;
        let clash = records.into_iter().find_map(|record| {
            let alone = record.alone;
            let job = self.now(record);
            let other = job.id != id && self.mine(&job.id).is_none();
            other.then(|| order.clashes(&job, alone)).flatten()
        });
        clash.map_or(Ok(()), Err)
    }

    /// Writes a running job's record now and then, and looks whether another server was asked to
    /// stop it.
    async fn beats(self: Arc<Self>, running: Arc<Running>) {
        let mut since = Duration::ZERO;
        loop {
            let turn = self.beat.min(LOOK);
            tokio::time::sleep(turn).await;
            since += turn;
            let job = running.job.borrow().clone();
            if job.state.is_over() {
                return;
            }
            if matches!(self.control.has(&cancel_key(&job.id)).await, Ok(true)) {
                running.cancel();
            }
            if since < self.beat {
                continue;
            }
            since = Duration::ZERO;
            self.keep(&job, running.alone).await;
            // The end may have been written meanwhile, by whoever came to it.
            let after = running.job.borrow().clone();
            if after.state.is_over() {
                self.keep(&after, running.alone).await;
            }
        }
    }

    async fn keep(&self, job: &Job, alone: bool) {
        let record = Record {
            job: job.clone(),
            beat: now(),
            alone,
        };
        if let Err(error) = self.control.write(&key(&job.id), &record).await {
            tracing::warn!(%error, job = job.id, "a job's record cannot be written");
        }
    }

    /// The newest records, as many as are listed; and how many were passed over because they cannot
    /// be read.
    async fn records(&self) -> Result<(Vec<Record>, u64)> {
        let mut keys = self.control.keys(FOLDER).await?;
        let cancelled: HashSet<String> = keys
            .iter()
            .filter_map(|key| Some(key.strip_suffix(".cancel")?.to_owned()))
            .collect();
        keys.retain(|key| key.ends_with(".json"));
        let page = self.control.read_page::<Record>(keys, LISTED).await?;
        let mut records = page.records;
        for record in &mut records {
            let asked = key(&record.job.id);
            let asked = asked.trim_end_matches(".json");
            if cancelled.contains(asked) && !record.job.state.is_over() {
                record.job.state = JobState::Cancelling;
            }
        }
        Ok((records, page.unreadable))
    }

    /// Jobs of all servers, newest first; and how many cannot be read.
    pub async fn list(&self) -> Result<(Vec<Job>, u64)> {
        let (records, unreadable) = self.records().await?;
        let mut jobs: Vec<Job> = records.into_iter().map(|r| self.now(r)).collect();
        // Those whose records are still on their way.
        let known: HashSet<String> = jobs.iter().map(|job| job.id.clone()).collect();
        let own = self.lock();
        let own = own.values().map(|running| running.job.borrow().clone());
        jobs.extend(own.filter(|job| !known.contains(&job.id)));
        jobs.sort_by(|a, b| b.id.cmp(&a.id));
        jobs.truncate(LISTED);
        Ok((jobs, unreadable))
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
        let mut job = self.now(record);
        // Asked to stop, and its server has not heard of it yet.
        if job.state == JobState::Running && self.control.has(&cancel_key(id)).await? {
            job.state = JobState::Cancelling;
        }
        Ok(job)
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

    /// Resolves once no job of this server goes on and all their ends are written down.
    pub async fn idle(&self) {
        // The sender is this.
        let _ = self.live.subscribe().wait_for(|n| *n == 0).await;
    }

    /// Asks all jobs of this server to stop after the steps they are in, and begins no other.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
        for running in self.lock().values() {
            running.cancel();
        }
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
    let report = match result {
        Ok(Outcome {
            applied: Some(applied),
            ..
        }) => {
            job.result = Some(applied.clone());
            match &applied.stopped {
                Some(why) => why.clone(),
                None => {
                    job.state = JobState::Done;
                    // Nothing is being done any more.
                    job.step.clear();
                    return;
                }
            }
        }
        Ok(outcome) => {
            let why = outcome.plan.refused.clone().unwrap_or_default();
            ErrorReport::from(&Error::invalid(why))
        }
        Err(error) => ErrorReport::from(error),
    };
    job.state = match report.kind {
        Kind::Cancelled => JobState::Cancelled,
        _ => JobState::Failed,
    };
    job.error = Some(report);
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
