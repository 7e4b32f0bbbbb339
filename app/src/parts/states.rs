//! Empty, loading, partial and failed: each says what it is and what to do.

use lake::host::Progress;
use lake::{Error, Kind};
use leptos::prelude::*;

use crate::format::{count, visible};
use crate::markup::{Children, Markup, view};
use crate::message::{cors_policy, message};
use crate::session::session;
use crate::signals::{Callback, Signal};

use super::CopyButton;

/// Nothing is there, and that is no fault. Children say what to do.
#[component]
pub fn Empty(#[prop(into)] title: String, children: Children) -> Markup {
    view! {
        <div class="state">
            <strong>{title}</strong>
            {children}
        </div>
    }
}

/// What is waited for. It appears after a moment; its figures and the way to stop after a second.
#[component]
pub fn Loading(
    /// `the history`.
    what: &'static str,
    #[prop(into)] progress: Signal<Option<Progress>>,
    stop: Callback<()>,
    /// Whether an older answer is shown below it.
    #[prop(optional)]
    over: bool,
) -> Markup {
    let step = move || {
        progress.with(|p| match p {
            Some(p) => visible(&p.step),
            None => format!("Reading {what}"),
        })
    };
    let figures = move || {
        progress.with(|p| {
            let p = p.as_ref()?;
            Some(match p.of {
                Some(of) => format!("{} of {}", count(p.done), count(of)),
                None => count(p.done),
            })
        })
    };
    let share = move || {
        progress.with(|p| {
            let p = p.as_ref()?;
            let of = p.of.filter(|of| *of > 0)?;
            Some((p.done as f64 / of as f64).clamp(0.0, 1.0))
        })
    };
    view! {
        <div class=if over { "loading over" } else { "loading" } role="status">
            <progress max="1" value=share aria-label=format!("Reading {what}")></progress>
            <span class="step">{step}</span>
            <span class="done mono">{figures}</span>
            <button type="button" class="btn small" on:click=move |_| stop.run(())>"Cancel"</button>
        </div>
    }
}

/// Some of it is missing. Children say what, and what to do.
#[component]
pub fn Partial(children: Children) -> Markup {
    view! { <Note kind=NoteKind::Warning>{children}</Note> }
}

/// How much a [`Note`] matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoteKind {
    /// Worth knowing.
    #[default]
    Plain,
    /// Worth a look.
    Warning,
    /// Needs a person.
    Attention,
}

/// A sentence with a coloured edge; buttons in it stand to the right in a `span.acts`.
#[component]
pub fn Note(#[prop(optional)] kind: NoteKind, children: Children) -> Markup {
    let class = match kind {
        NoteKind::Plain => "note",
        NoteKind::Warning => "note warning",
        NoteKind::Attention => "note attention",
    };
    view! { <div class=class>{children}</div> }
}

/// What went wrong, in which key, and what to do.
#[component]
pub fn Failed(
    error: Error,
    /// Asks again.
    #[prop(optional, into)]
    again: Option<Callback<()>>,
) -> Markup {
    let session = session();
    let message = message(&error);
    let retry = again.filter(|_| message.retry).map(|again| {
        view! {
            <button type="button" class="btn" on:click=move |_| again.run(())>"Try again"</button>
        }
    });
    let unreachable = error.kind() == Kind::Unreachable;
    let cors = move || {
        let entry = session.table()?.ok()?;
        (unreachable && session.reads_redirected(&entry.zone)).then(|| view! { <Cors /> })
    };
    let calm = error.kind() == Kind::Cancelled;
    view! {
        <div class=if calm { "state" } else { "state failed" } role="alert">
            <strong>{message.title}</strong>
            <p>{visible(&message.sentence)}</p>
            {message.location.map(|l| view! { <p class="where mono">{visible(&l)}</p> })}
            <p class="soft">{message.next}</p>
            {cors}
            {retry}
        </div>
    }
}

/// The policy that a bucket needs before a browser may read it.
#[component]
fn Cors() -> Markup {
    let origin = window().location().origin().unwrap_or_default();
    let policy = cors_policy(&origin);
    let text = {
        let policy = policy.clone();
        Callback::new(move |()| policy.clone())
    };
    view! {
        <p class="soft">
            "This zone sends the browser to the bucket itself (reads = \"redirect\"), and the bucket may refuse this page. Give the bucket this CORS policy, or set reads = \"proxy\"."
        </p>
        <pre tabindex="0">{policy}</pre>
        <CopyButton label="Copy policy" done="Policy copied" text />
    }
}
