//! Acts that are being carried out on the table, and those that were.

use std::sync::Arc;

use lake::plan::{Act, Job, JobState, Jobs};
use lake::table::Time;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts::{self, Watch};
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::in_one_line;
use crate::parts::{Badge, Empty, Note, NoteKind, When};
use crate::session::session;

use super::super::common::{Here, Sheet};

/// The jobs of the table.
#[component]
pub fn Panel(here: Here) -> Markup {
    let jobs = Asked::new(move |_| Some(async move { acts::jobs(&here.name()).await }));
    jobs.show("the jobs", |jobs| view! { <List jobs /> })
}

/// What an act is called.
pub fn what(kind: Act) -> &'static str {
    match kind {
        Act::Restore => "A restore",
        Act::Vacuum => "A vacuum",
        Act::Optimize => "An optimize",
        Act::Publish => "A publish",
        Act::Repoint => "A repoint",
        Act::Compact => "A compaction",
        Act::ExpireRuns => "An expiry of runs",
    }
}

#[component]
fn List(jobs: Arc<Jobs>) -> Markup {
    if jobs.jobs.is_empty() {
        return view! {
            <Empty title="No jobs">
                <p class="soft">"Nothing was done to this table from here. Restore, vacuum and optimize show up while they run, and afterwards."</p>
            </Empty>
        };
    }
    let running = jobs.jobs.iter().filter(|job| !job.state.is_over());
    let running: Markup = running
        .map(|job| view! { <Followed job=job.clone() /> })
        .collect();
    let over: Vec<Job> = jobs
        .jobs
        .iter()
        .filter(|j| j.state.is_over())
        .cloned()
        .collect();
    let lines: Markup = over.into_iter().map(|job| line(&job)).collect();
    let forgotten = (!jobs.kept).then(|| {
        view! {
            <p class="soft s">"These are forgotten when the server stops: [server] control in tidemark.toml names where they are kept."</p>
        }
    });
    view! {
        {running}
        <h2>"Over"</h2>
        <Sheet label="Jobs that are over" heads=&["Act", "State", "Began", "By", "What came of it"]>{lines}</Sheet>
        {forgotten}
    }
}

fn line(job: &Job) -> Markup {
    let act = match job.kind {
        Act::Restore => "Restore",
        Act::Vacuum => "Vacuum",
        Act::Optimize => "Optimize",
        Act::Publish => "Publish",
        Act::Repoint => "Repoint",
        Act::Compact => "Compact",
        Act::ExpireRuns => "Expire runs",
    };
    let (state, tone) = state(job.state);
    let came = match (&job.result, &job.error, job.state) {
        (Some(applied), _, _) => match (applied.version, &applied.hours) {
            (Some(version), _) => format!("version {version}"),
            (None, Some(hour)) => hour.state.map_or_else(String::new, |state| state.words().to_owned()),
            (None, None) => format!("{} deleted", format::count(applied.deleted)),
        },
        (_, Some(error), _) => format::shorten(&error.message, 300),
        (_, _, JobState::Orphaned) => {
            "Its server died. The table is readable; a new plan goes on from what is there, and what it wrote without committing is listed as never committed".to_owned()
        }
        _ => String::new(),
    };
    let by = job.by.as_deref().map(|by| format::shorten(by, 40));
    view! {
        <tr>
            <td>{act}</td>
            <td><Badge text=state tone /></td>
            <td><When at=Some(job.started) /></td>
            <td>{by}</td>
            <td class="soft">{format::visible(&came)}</td>
        </tr>
    }
}

fn state(state: JobState) -> (&'static str, &'static str) {
    match state {
        JobState::Waiting => ("waiting", ""),
        JobState::Running => ("running", ""),
        JobState::Cancelling => ("stopping", ""),
        JobState::Done => ("done", "come"),
        JobState::Failed => ("failed", "go"),
        JobState::Cancelled => ("stopped", ""),
        JobState::Orphaned => ("orphaned", "go"),
    }
}

/// A job that is followed.
#[component]
fn Followed(job: Job) -> Markup {
    let watch = Watch::start(job);
    Markup::live(move || view! { <Line job=watch.job.get() /> })
}

/// How far a job is, in figures, and the button that stops it.
#[component]
pub fn Line(job: Job) -> Markup {
    let session = session();
    let refused = crate::signals::RwSignal::new(None);
    let id = job.id.clone();
    let stop = move |_| {
        let id = id.clone();
        spawn_local(async move {
            if let Err(error) = acts::cancel(&id).await {
                refused.try_set(Some(in_one_line(&error)));
            }
        });
    };
    let share = job
        .of
        .filter(|of| *of > 0)
        .map(|of| (job.done as f64 / of as f64).clamp(0.0, 1.0));
    let figures = figures(&job);
    let stopping = job.state != JobState::Running;
    let over = job.state.is_over();
    let (started, done, of) = (job.started, job.done, job.of);
    let left = move || left(started, session.now.get(), done, of);
    let step = match (job.state, job.step.as_str()) {
        (JobState::Cancelling, _) => "Stopping after this step".to_owned(),
        (_, "") => "Beginning".to_owned(),
        (_, step) => format::capital(&format::visible(step)),
    };
    let (word, _) = state(job.state);
    view! {
        <div class="job" role="status">
            <b>{what(job.kind)}</b>
            {over.then(|| view! { <span class="soft">{word}</span> })}
            {(!over).then(|| view! {
                <progress max="1" value=share aria-label=format!("{} so far", what(job.kind))></progress>
                <span class="step">{step}</span>
                <span class="mono soft">{figures}</span>
                <span class="soft">{left}</span>
                <button type="button" class="btn small" disabled=stopping on:click=stop>"Stop after this step"</button>
            })}
        </div>
        {move || refused.get().map(|why| view! {
            <Note kind=NoteKind::Warning><span>{format::visible(&why)}</span></Note>
        })}
    }
}

fn figures(job: &Job) -> String {
    let units = match job.of {
        Some(of) => format!("{} of {}", format::count(job.done), format::count(of)),
        None => format::count(job.done),
    };
    match job.bytes_of {
        Some(of) => format!(
            "{units}, {} of {}",
            format::bytes(job.bytes_done),
            format::bytes(of)
        ),
        None => units,
    }
}

/// How long it will take at the pace so far; nothing before that can be told.
fn left(started: Time, now: Time, done: u64, of: Option<u64>) -> Option<String> {
    let rest = of?.checked_sub(done)?;
    let spent = u64::try_from(now.0.saturating_sub(started.0)).ok()?;
    if done == 0 || rest == 0 || spent < 2_000 {
        return None;
    }
    let left = u128::from(spent) * u128::from(rest) / u128::from(done);
    let left = u64::try_from(left).ok()?;
    Some(format!("about {} left", format::duration(left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_once_it_can_be() {
        let left = |spent: i64, done, of| left(Time(0), Time(spent), done, of);
        assert_eq!(left(10_000, 0, Some(10)), None);
        assert_eq!(left(1_000, 5, Some(10)), None);
        assert_eq!(left(10_000, 5, None), None);
        assert_eq!(left(10_000, 10, Some(10)), None);
        assert_eq!(left(10_000, 11, Some(10)), None);
        assert_eq!(
            left(10_000, 5, Some(10)).as_deref(),
            Some("about 10 s left")
        );
        assert_eq!(left(10_000, 1, Some(u64::MAX)), None);
    }
}
