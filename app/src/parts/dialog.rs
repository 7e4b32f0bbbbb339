//! A dialog above the page: the browser's own, with its focus and its Escape.

use leptos::html;
use leptos::prelude::*;

use crate::markup::{Maker, Markup, NodeRef, view};
use crate::signals::{RwSignal, effect};

/// A modal dialog that is shown while `open` is true and sets it to false when it is closed.
#[component]
pub fn Dialog(
    open: RwSignal<bool>,
    /// Its headline, and its name for those who hear it.
    #[prop(into)]
    title: String,
    children: Maker,
) -> Markup {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match (open.get(), dialog.open()) {
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // A click on the dialog's own box and not on what is in it is a click beside it.
    let beside = move |event: web_sys::MouseEvent| {
        let target = event.target();
        if let (Some(target), Some(dialog)) = (target, dialog.get_untracked())
            && *target == *****dialog
        {
            open.set(false);
        }
    };
    let name = title.clone();
    view! {
        <dialog node_ref=dialog aria-label=name on:close=move |_| open.set(false) on:click=beside>
            <div class="sheet">
                <header>
                    <h2>{title}</h2>
                    <button type="button" class="btn small" on:click=move |_| open.set(false)>"Close"</button>
                </header>
                {move || open.get().then(|| children.make())}
            </div>
        </dialog>
    }
}
