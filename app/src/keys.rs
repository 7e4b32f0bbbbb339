//! Keys anywhere on the page become named commands; whoever is shown answers them.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::signals::StoredValue;

/// What a person asked for with the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Put the cursor into the search.
    Search,
    /// Show what keys there are.
    Help,
    /// Close what is open.
    Escape,
    /// Next row.
    Down,
    /// Row before.
    Up,
    /// Open the row.
    Open,
    /// Take the row as one end of a diff; on a diff, swap its ends.
    Select,
    /// Diff with the version before.
    Diff,
    /// The version before.
    Previous,
    /// The version after.
    Next,
    /// The history of the table.
    History,
    /// The snapshot of the table.
    Snapshot,
    /// The layout of the table.
    Layout,
    /// The maintenance of the table.
    Maintenance,
    /// Who did what.
    Audit,
    /// Put the table back to this version.
    Restore,
    /// The lake.
    Lake,
    /// Up to when each dataset is closed.
    Closed,
    /// The zones.
    Zones,
    /// First letter of a two-letter key.
    Go,
}

/// The keys that are worth knowing, for the help.
pub const HELP: &[(&str, &str)] = &[
    ("/", "Search tables, datasets, versions and keys"),
    ("j", "Next row"),
    ("k", "Row before"),
    ("Enter", "Open the row"),
    (
        "x",
        "Take a version as one end of a diff; swap the ends of a diff",
    ),
    ("d", "Diff with the version before"),
    ("r", "Put the table back to this version: the plan"),
    ("[", "Version before"),
    ("]", "Version after"),
    ("g h", "History of the table"),
    ("g s", "Snapshot of the table"),
    ("g l", "Layout of the table"),
    (
        "g m",
        "Maintenance of the table: vacuum, optimize, pins, jobs",
    ),
    ("g a", "All tables and datasets: the lake"),
    ("g c", "Closed hours of every dataset"),
    ("g z", "Zones: owners, retention, findings"),
    ("g u", "Audit: who did what, and why"),
    ("?", "This help"),
    ("Esc", "Close, or leave a field"),
];

/// The command of a key. `going` is whether `g` was just pressed, `typing` whether the key goes
/// into a field, `acting` whether it would press the button or link that has the focus.
pub fn command(key: &str, going: bool, typing: bool, acting: bool) -> Option<Command> {
    if key == "Escape" {
        return Some(Command::Escape);
    }
    if typing || (acting && key == "Enter") {
        return None;
    }
    if going {
        return match key {
            "l" => Some(Command::Layout),
            "h" => Some(Command::History),
            "s" => Some(Command::Snapshot),
            "a" => Some(Command::Lake),
            "c" => Some(Command::Closed),
            "z" => Some(Command::Zones),
            "m" => Some(Command::Maintenance),
            "u" => Some(Command::Audit),
            _ => None,
        };
    }
    Some(match key {
        "/" => Command::Search,
        "?" => Command::Help,
        "j" => Command::Down,
        "k" => Command::Up,
        "Enter" => Command::Open,
        "x" => Command::Select,
        "d" => Command::Diff,
        "r" => Command::Restore,
        "[" => Command::Previous,
        "]" => Command::Next,
        "g" => Command::Go,
        _ => return None,
    })
}

type Listener = Box<dyn Fn(Command) -> bool>;

/// Who listens. The youngest listener is asked first; one that answers `true` ends the search.
#[derive(Clone, Copy)]
pub struct Keys {
    listeners: StoredValue<Vec<(u64, Listener)>>,
    next: StoredValue<u64>,
}

impl Keys {
    /// Listens to the keyboard from now on.
    pub fn start() -> Self {
        let keys = Self {
            listeners: StoredValue::new(Vec::new()),
            next: StoredValue::new(0),
        };
        let going = StoredValue::new(0.0_f64);
        let _ = window_event_listener(ev::keydown, move |event| {
            if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key()
            {
                return;
            }
            // A dialog has the keyboard to itself, and its own Escape.
            if matches!(document().query_selector("dialog[open]"), Ok(Some(_))) {
                return;
            }
            let now = js_sys::Date::now();
            let gone = now - going.get_value() < 1_500.0;
            let (typing, acting) = focus(&event);
            let Some(command) = command(&event.key(), gone, typing, acting) else {
                return;
            };
            going.set_value(if command == Command::Go { now } else { 0.0 });
            if command == Command::Go || keys.send(command) {
                event.prevent_default();
            }
        });
        keys
    }

    /// Answers commands until the owner goes. The listener says whether it did something.
    pub fn on(self, listener: impl Fn(Command) -> bool + 'static) {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.listeners
            .update_value(|all| all.push((id, Box::new(listener))));
        on_cleanup(move || {
            self.listeners
                .try_update_value(|all| all.retain(|(other, _)| *other != id));
        });
    }

    fn send(self, command: Command) -> bool {
        self.listeners
            .with_value(|all| all.iter().rev().any(|(_, listen)| listen(command)))
    }
}

/// Whether the key goes into a field, and whether it presses what has the focus.
fn focus(event: &KeyboardEvent) -> (bool, bool) {
    let target = event
        .target()
        .and_then(|t| t.dyn_into::<HtmlElement>().ok());
    let Some(target) = target else {
        return (false, false);
    };
    match target.tag_name().as_str() {
        "INPUT" => {
            let kind = target.get_attribute("type").unwrap_or_default();
            (!matches!(kind.as_str(), "checkbox" | "radio"), true)
        }
        "TEXTAREA" | "SELECT" => (true, false),
        "BUTTON" | "A" | "SUMMARY" => (false, true),
        _ => (target.is_content_editable(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_fields_are_letters() {
        assert_eq!(command("d", false, true, false), None);
        assert_eq!(command("Escape", false, true, false), Some(Command::Escape));
        assert_eq!(command("d", false, false, false), Some(Command::Diff));
    }

    #[test]
    fn enter_on_a_link_is_the_link() {
        assert_eq!(command("Enter", false, false, true), None);
        assert_eq!(command("Enter", false, false, false), Some(Command::Open));
        assert_eq!(command("j", false, false, true), Some(Command::Down));
    }

    #[test]
    fn two_letter_keys() {
        assert_eq!(command("g", false, false, false), Some(Command::Go));
        assert_eq!(command("l", true, false, false), Some(Command::Layout));
        assert_eq!(command("l", false, false, false), None);
        assert_eq!(command("j", true, false, false), None);
    }
}
