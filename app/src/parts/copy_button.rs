//! Buttons that put something on the clipboard.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::copy::copy;
use crate::markup::{Markup, view};
use crate::session::session;
use crate::signals::{Callback, Signal};

/// A button that copies what `text` returns when it is pressed.
#[component]
pub fn CopyButton(
    /// What the button says: `Copy link`.
    label: &'static str,
    /// What it says afterwards: `Link copied`.
    done: &'static str,
    /// The text.
    text: Callback<(), String>,
) -> Markup {
    let session = session();
    let press = move |_| {
        let text = text.run(());
        spawn_local(async move {
            if copy(&text).await {
                session.say(done);
            } else {
                session.say("The browser does not let this page copy");
            }
        });
    };
    view! { <button type="button" class="btn small" on:click=press>{label}</button> }
}

/// The command line that gives the same answer, to read and to copy.
#[component]
pub fn ShellLine(
    /// The whole command.
    #[prop(into)]
    command: Signal<String>,
) -> Markup {
    let text = Callback::new(move |()| command.get_untracked());
    // A line breaks between words; an option's hyphens are no place for it.
    let words = move || {
        let command = command.get();
        let words = command.split(' ').enumerate().map(|(i, word)| {
            let space = if i == 0 { "" } else { " " };
            view! { {space}<span>{word.to_owned()}</span> }
        });
        words.collect::<Markup>()
    };
    view! {
        <div class="shell">
            <code tabindex="0">{words}</code>
            <CopyButton label="Copy" done="Command copied" text />
        </div>
    }
}
