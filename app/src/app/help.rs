//! What keys there are.

use leptos::prelude::*;

use crate::keys::HELP;
use crate::markup::{Markup, view};
use crate::parts::Dialog;
use crate::signals::RwSignal;

/// The help, as a dialog.
#[component]
pub fn Help(open: RwSignal<bool>) -> Markup {
    view! {
        <Dialog open title="Keys">
            <dl class="keys">
                {HELP
                    .iter()
                    .map(|(keys, does)| {
                        let keys = keys.split(' ').map(|k| view! { <kbd>{k}</kbd> });
                        view! { <div><dt>{keys.collect::<Markup>()}</dt><dd>{*does}</dd></div> }
                    })
                    .collect::<Markup>()}
            </dl>
            <p class="soft s">
                "Times are UTC. Sizes are in units of 1024 and exact on hover. A question mark in place of a figure means that what was read of the log does not state it. Nothing here asks who you are: whoever reaches this server reads all that it serves."
            </p>
        </Dialog>
    }
}
