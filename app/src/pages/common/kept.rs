//! Versions kept by name, and the ways from a version back to it.

use lake::plan::Pins;
use lake::table::Version;

use crate::acts;
use crate::asked::Asked;
use crate::format::shorten;
use crate::keys::Command;
use crate::markup::{Markup, view};
use crate::route::{Place, Query, Route};
use crate::session::session;
use crate::signals::{RwSignal, Signal, effect};
use crate::words::joined;

use super::Here;

/// The table's pins. A page that cannot be told of them is shown without.
#[derive(Clone, Copy)]
pub struct Kept(Asked<Pins>);

impl Kept {
    /// Asks for them.
    pub fn ask(here: Here) -> Self {
        Self(Asked::new(move |_| {
            let name = here.name();
            Some(async move { acts::pins(&name).await })
        }))
    }

    /// The names that keep a version, for the line of facts.
    pub fn fact(self, version: Version) -> Option<Markup> {
        let pins = self.0.ok()?;
        let names = pins.pins.iter().filter(|pin| pin.version == version);
        let names: Vec<String> = names.map(|pin| shorten(&pin.name, 40)).collect();
        (!names.is_empty()).then(|| {
            view! { <span class="fact">"pinned as "<b>{joined(&names)}</b></span> }
        })
    }
}

/// Where a version is kept by name.
pub fn pin_href(here: Here, version: Version) -> String {
    let query = Query::default().with("show", Some("pins"));
    let table = here.name();
    let query = query.with("pin", Some(&version.to_string()));
    Route::Maintenance { table }.with(query).href()
}

/// Answers `r` on the page of a version. What it means is known once the newest version is, too:
/// pressed before that, it waits for it, unless another key comes in between.
pub fn restore_key(here: Here, version: Signal<Option<Version>>, newest: Signal<Option<Version>>) {
    let session = session();
    let meant = RwSignal::new(false);
    session.keys.on(move |command| {
        let restore = command == Command::Restore;
        meant.set(restore);
        restore
    });
    effect(move || {
        let (true, Some(version), Some(newest)) = (meant.get(), version.get(), newest.get()) else {
            return;
        };
        meant.set(false);
        if let Some(to) = restore_from(here, version, newest) {
            session.nav.go(to);
        }
    });
}

/// The plan that puts a version back; of the newest, which is there already, the one before it.
fn restore_from(here: Here, version: Version, newest: Version) -> Option<Place> {
    let to = match version < newest {
        true => version,
        false => version.previous()?,
    };
    Some(Route::restore(here.name(), to))
}
