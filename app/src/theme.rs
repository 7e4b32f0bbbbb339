//! Light or dark: as the system says, unless the person says otherwise.

use leptos::prelude::*;

use crate::signals::{RwSignal, effect};

const STORED: &str = "tidemark.theme";

/// Which colours the page has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system is set.
    #[default]
    System,
    /// Light whatever the system says.
    Light,
    /// Dark whatever the system says.
    Dark,
}

impl Theme {
    /// What is stored and what `data-theme` says.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of this name; the system's where it is none.
    pub fn from_name(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }

    /// The next one of the switch.
    pub fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    /// The theme as it was left, kept in step with the page and the browser's storage.
    pub(crate) fn start() -> RwSignal<Self> {
        // Storage can be forbidden; the page is then as the system says each time.
        let storage = window().local_storage().ok().flatten();
        let stored = storage
            .as_ref()
            .and_then(|s| s.get_item(STORED).ok().flatten());
        let theme = RwSignal::new(Self::from_name(stored.as_deref().unwrap_or_default()));
        effect(move || {
            let name = theme.get().name();
            if let Some(root) = document().document_element() {
                let _ = root.set_attribute("data-theme", name);
            }
            if let Some(storage) = window().local_storage().ok().flatten() {
                let _ = storage.set_item(STORED, name);
            }
        });
        theme
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_the_switch_goes_round() {
        for theme in [Theme::System, Theme::Light, Theme::Dark] {
            assert_eq!(Theme::from_name(theme.name()), theme);
            assert_eq!(theme.next().next().next(), theme);
        }
        assert_eq!(Theme::from_name("?"), Theme::System);
    }
}
