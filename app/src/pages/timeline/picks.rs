//! Versions taken for a diff, and what can be done with them.

use lake::table::{At, Version};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format::{counted, shorten_middle};
use crate::markup::{Markup, view};
use crate::order::sorted;
use crate::parts::KeyHint;
use crate::route::Route;
use crate::signals::RwSignal;

use super::Timeline;

/// Reads `47,48`: at most two versions, older first.
pub(super) fn read(text: Option<&str>) -> Vec<u64> {
    let versions = text.unwrap_or_default().split(',');
    let versions = versions.filter_map(|v| v.parse::<Version>().ok());
    let mut picks = sorted(versions.map(|v| v.0).take(2).collect(), u64::cmp);
    picks.dedup();
    picks
}

impl Timeline {
    /// Takes a version as one end of a diff, or lets it go. A third one replaces the older.
    pub(super) fn toggle_pick(self, version: u64) {
        let mut picks = self.picks.get_untracked();
        match picks.iter().position(|p| *p == version) {
            Some(i) => drop(picks.remove(i)),
            None => {
                if picks.len() == 2 {
                    picks.remove(0);
                }
                picks.push(version);
            }
        }
        self.set_picks(picks);
    }

    /// Takes both ends.
    pub(super) fn pick_range(self, a: u64, b: u64) {
        self.set_picks(vec![a, b]);
    }

    fn set_picks(self, picks: Vec<u64>) {
        let picks = sorted(picks, u64::cmp);
        let text = picks.iter().map(u64::to_string).collect::<Vec<_>>();
        let text = (!text.is_empty()).then(|| text.join(","));
        self.session.nav.set("pick", text);
    }
}

/// The line above the list while something is picked.
#[component]
pub fn Picked(timeline: Timeline) -> Markup {
    let table = timeline.table();
    Markup::live(move || {
        let picks = timeline.picks.get();
        let clear = move |_| timeline.session.nav.set("pick", None::<&str>);
        let clear =
            view! { <button type="button" class="btn small quiet" on:click=clear>"Clear"</button> };
        match picks.as_slice() {
            [] => Markup::Nothing,
            [one] => {
                let before = one.checked_sub(1).map(|before| {
                    let href = diff(&table, before, *one);
                    view! { <a class="btn small" href=href>{format!("Diff with {before}")}<KeyHint key="d" /></a> }
                });
                let as_of = Route::Snapshot {
                    table: table.clone(),
                    at: At::Version(Version(*one)),
                };
                view! {
                    <div class="picked" role="status">
                        <span><b class="mono">{*one}</b>" taken; take another version to compare the two"</span>
                        <span class="acts">
                            {before}
                            <a class="btn small" href=as_of.href()>"Table as of it"</a>
                            <Presence timeline version=*one />
                            {clear}
                        </span>
                    </div>
                }
            }
            [from, to, ..] => view! {
                <div class="picked" role="status">
                    <span><b class="mono">{*from}</b>" and "<b class="mono">{*to}</b>" taken"</span>
                    <span class="acts">
                        <a class="btn small main" href=diff(&table, *from, *to)>
                            {format!("Diff {from} .. {to}")}<KeyHint key="d" />
                        </a>
                        {clear}
                    </span>
                </div>
            },
        }
    })
}

fn diff(table: &str, from: u64, to: u64) -> String {
    let (from, to) = (Version(from), Version(to));
    let table = table.to_owned();
    Route::Diff { table, from, to }.href()
}

/// Whether the data files of a version are still there: asked only when a person says so,
/// because it costs a request a file.
#[component]
fn Presence(timeline: Timeline, version: u64) -> Markup {
    let session = timeline.session;
    let wanted = RwSignal::new(false);
    let presence = Asked::new(move |progress| {
        let table = session.table_ref().filter(|_| wanted.get())?;
        let engine = session.engine().watched(progress);
        Some(async move { engine.presence(table, Version(version)).await })
    });
    Markup::live(move || {
        if !wanted.get() {
            let ask = move |_| wanted.set(true);
            return view! {
                <button type="button" class="btn small" on:click=ask
                    title="Asks the store for each data file and deletion vector of this version: one HEAD request a file, at most some thousands">
                    "Check its data files…"
                </button>
            };
        }
        presence.show("whether the data files are there", |report| {
            let checked = counted(report.checked, "file");
            let of = (report.checked < report.of)
                .then(|| format!(" of {}", crate::format::count(report.of)));
            let missing = (report.missing_total > 0).then(|| {
                let first = report.missing.first().map(|m| shorten_middle(m, 60));
                view! {
                    <b class="go">{format!("{} gone", counted(report.missing_total, "file"))}</b>
                    {first.map(|f| view! { " such as " <span class="mono">{f}</span> })}
                }
            });
            let all_there = report.missing_total == 0;
            view! {
                <span class="s">
                    {checked}{of}" asked for, "
                    {missing}
                    {all_there.then_some("all there")}
                </span>
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn picks_are_two_versions_in_order() {
        assert_eq!(read(Some("48,47")), [47, 48]);
        assert_eq!(read(Some("48,48,1")), [48]);
        assert_eq!(read(Some("x,,-1,7")), [7]);
        assert!(read(None).is_empty());
    }
}
