//! An act that was not done, and what to do now.

use lake::Kind;
use leptos::prelude::*;

use crate::format::visible;
use crate::markup::{Markup, view};
use crate::parts::{Note, NoteKind};
use crate::signals::Callback;

/// Why not, and the button that plans again.
#[component]
pub fn NotDone(kind: Kind, why: String, again: Callback<()>) -> Markup {
    let title = match kind {
        Kind::Conflict => "Not done: somebody else was first. ",
        Kind::Unreachable => "Not certain. ",
        Kind::Cancelled => "Stopped. ",
        _ => "Not done. ",
    };
    view! {
        <Note kind=NoteKind::Attention>
            <span role="alert"><b>{title}</b>{visible(&why)}</span>
            <span class="acts">
                <button type="button" class="btn small" on:click=move |_| again.run(())>"Plan again on the newest version"</button>
            </span>
        </Note>
    }
}
