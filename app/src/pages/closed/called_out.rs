//! What the lake's page calls out of hours: in one sentence a dataset, worst first, and who waits.
//!
//! The newest days are looked at and no more, so that it costs a few listings a dataset; whoever
//! looks closer finds them remembered.

use std::sync::Arc;

use lake::hours::Day;
use lake::wire::hours::{Fresh, GridReport};
use lake::wire::http::LakeReport;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::hours::inputs::named;
use crate::pages::hours::note_state;
use crate::pages::hours::whose::counted;
use crate::pages::lake::Overviews;
use crate::parts::{Note, NoteKind};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::Memo;

use super::sentences::{Sentence, sentences};

/// Days that are looked at: today and those before it.
const DAYS: i32 = 3;
/// Datasets that are asked at once.
const AT_ONCE: usize = 3;
/// Sentences of the page, those about tables among them.
const MOST: usize = 5;

/// The sentences. Nothing where no dataset is declared.
#[component]
pub fn CalledOut(lake: Arc<LakeReport>) -> Markup {
    let session = session();
    let mut asked: Vec<Asked<GridReport>> = Vec::new();
    for entry in &lake.datasets {
        let before = asked
            .len()
            .checked_sub(AT_ONCE)
            .and_then(|at| asked.get(at))
            .copied();
        let (name, first) = (entry.name.clone(), entry.first);
        let question = Asked::new(move |progress| {
            if before.is_some_and(|before| before.get().is_none()) {
                return None;
            }
            let today = session.now.with_untracked(|now| Day::of(*now));
            let from = today.plus(1 - DAYS);
            let from = first.map_or(from, |first| from.max(first.min(today)));
            let (engine, name) = (session.engine().watched(progress), name.clone());
            Some(async move { engine.hours(name, from, today, Fresh::Known).await })
        });
        note_state(session, &entry.name, question);
        asked.push(question);
    }
    let overviews = use_context::<Overviews>();
    let said = Memo::new(move |_| {
        let reports = asked.iter().map(|asked| asked.ok());
        sentences(&lake, &reports.collect::<Vec<_>>())
    });
    Markup::live(move || {
        let room = MOST.saturating_sub(overviews.map_or(0, about_tables));
        let all = said.get();
        let more = all.len().saturating_sub(room);
        let shown = all.into_iter().take(room).map(sentence);
        let href = Route::Closed.href();
        view! {
            {shown.collect::<Markup>()}
            {(more > 0).then(|| view! {
                <p class="soft s more">{format!("{} more about hours: see ", format::count(more as u64))}<a href=href>"Closed hours"</a></p>
            })}
        }
    })
}

/// Sentences about tables.
fn about_tables(overviews: Overviews) -> usize {
    overviews
        .0
        .with(|all| all.values().flatten().map(|o| o.attention.len()).sum())
}

fn sentence(sentence: Sentence) -> Markup {
    let hour = |dataset: &str, slot| Route::Hour {
        dataset: dataset.to_owned(),
        slot,
    };
    let short = |name: &str| format::shorten_middle(name, 60);
    match sentence {
        Sentence::Hours {
            dataset,
            slot,
            state,
            why,
            more,
        } => {
            let closer = hour(&dataset, slot).href();
            let name = short(&dataset);
            let more = match more {
                0 => String::new(),
                n => format!(". {} more", counted(n, slot.hour.is_some())),
            };
            let href = Route::Hours { dataset }.href();
            view! {
                <Note kind=NoteKind::Attention>
                    <span>
                        <b>{name}</b>": "
                        {format!("{slot} is {}", state.words())}
                        " "
                        <span class="soft">{format::shorten(&why, 200)}{more}</span>
                    </span>
                    <span class="acts">
                        <a class="btn small" href=closer>"Look closer"</a>
                        <a class="btn small" href=href>"All hours"</a>
                    </span>
                </Note>
            }
        }
        Sentence::Budget {
            dataset,
            slot,
            hours,
            owner,
        } => {
            let name = short(&dataset);
            let compact = hour(&dataset, slot).with(Query::default().with("act", Some("compact")));
            let whose = owner.map(|owner| format!("for {}", format::shorten(&owner, 60)));
            let verb = if hours == 1 { "is" } else { "are" };
            let closer = Route::Hours { dataset }.href();
            view! {
                <Note kind=NoteKind::Warning>
                    <span>
                        <b>{name}</b>": "
                        {format!("{} {verb} over budget", counted(hours, slot.hour.is_some()))}
                        " "
                        <span class="soft">{whose}</span>
                    </span>
                    <span class="acts">
                        <a class="btn small" href=closer>"Look closer"</a>
                        <a class="btn small" href=compact.href()>"Compact…"</a>
                    </span>
                </Note>
            }
        }
        Sentence::Waits {
            reader,
            href,
            input,
        } => {
            let closer = hour(&input.dataset, input.slot).href();
            view! {
                <Note kind=NoteKind::Warning>
                    <span><a href=href>{short(&reader)}</a>" waits for " {named(&input)}</span>
                    <span class="acts"><a class="btn small" href=closer>"Look closer"</a></span>
                </Note>
            }
        }
    }
}
