//! The strip: the shape of the history at a glance, in step with the list.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

use crate::format::{self, decimal, minute, shorten};
use crate::markup::{Markup, NodeRef, view};
use crate::session::session;
use crate::signals::{Memo, RwSignal, effect};

use super::Timeline;
use super::summary::summary;

mod geometry;

use geometry::{BASE, FULL, HEIGHT, Kind, LEFT, Mark, Strip as Layout, range};

/// Bars, the restorable line, dates. A click goes to a commit; a drag takes a range to diff.
#[component]
pub fn Strip(timeline: Timeline) -> Markup {
    let frame = NodeRef::<Div>::new();
    let width = RwSignal::new(960.0_f64);
    follow_width(frame, width);
    let dragged = RwSignal::new(None::<u64>);
    let hovered = RwSignal::new(None::<u64>);
    let store = timeline.store;
    let layout = Memo::new(move |_| {
        let known = store.known.get()?;
        let here = timeline.top.get().unwrap_or(known.latest);
        let range = range(here, known.latest, known.first);
        let measure = timeline.measure.get();
        store.commits.with(|commits| {
            Some(Layout::new(
                range,
                commits,
                measure,
                known.earliest,
                width.get(),
            ))
        })
    });
    let place = move |event: &web_sys::PointerEvent| {
        let frame = frame.get_untracked()?;
        let x = f64::from(event.client_x()) - frame.get_bounding_client_rect().left();
        layout.with_untracked(|l| l.as_ref()?.at(x))
    };
    let down = move |event: web_sys::PointerEvent| dragged.set(place(&event));
    let moved = move |event: web_sys::PointerEvent| {
        let here = place(&event);
        hovered.set(here);
        if let (Some(from), Some(to)) = (dragged.get_untracked(), here)
            && from != to
        {
            timeline.pick_range(from, to);
        }
    };
    let up = move |event: web_sys::PointerEvent| {
        let (from, to) = (dragged.get_untracked(), place(&event));
        dragged.set(None);
        if let (Some(from), Some(to)) = (from, to)
            && from == to
        {
            timeline.go_to_version(to);
        }
    };
    let leave = move |_| {
        hovered.set(None);
        dragged.set(None);
    };
    view! {
        <div class="strip" node_ref=frame on:pointerdown=down on:pointermove=moved on:pointerup=up
            on:pointerleave=leave>
            {move || layout.get().map(|l| view! { <Picture layout=l timeline hovered /> })}
            <div class="strip-says" aria-hidden="true">{move || hovered.get().map(|v| says(timeline, v))}</div>
        </div>
    }
}

#[component]
fn Picture(layout: Layout, timeline: Timeline, hovered: RwSignal<Option<u64>>) -> Markup {
    let width = layout.width;
    let label = describe(&layout, timeline);
    let (bar, step) = (layout.bar, layout.step);
    let places: Vec<(u64, f64)> = layout.marks.iter().map(|m| (m.version, m.x)).collect();
    let x_of = move |version: u64| {
        let found = places.iter().find(|(v, _)| *v == version);
        found.map(|(_, x)| *x)
    };
    let frames = move || {
        let picks = timeline.picks.get();
        let here = timeline.active_version.get();
        let mut frames: Vec<(f64, &'static str)> = Vec::new();
        frames.extend(picks.iter().filter_map(|v| Some((x_of(*v)?, "picked"))));
        frames.extend(here.and_then(|v| Some((x_of(v)?, "here"))));
        frames.extend(hovered.get().and_then(|v| Some((x_of(v)?, "hovered"))));
        frames
            .into_iter()
            .map(|(x, class)| {
                view! {
                    <rect class=class x=x - (step - bar) / 2.0 y="4" width=step
                        height=HEIGHT - 18.0 rx="4" />
                }
            })
            .collect::<Markup>()
    };
    let line = layout.line.map(|x| {
        let earliest = timeline.store.known.with_untracked(|k| k.as_ref()?.earliest);
        let earliest = earliest.unwrap_or_default();
        // Words to the side that has room.
        let before = x > width - 190.0;
        let (at, anchor) = if before { (x - 6.0, "end") } else { (x + 6.0, "start") };
        view! {
            <line class="past" x1=x x2=x y1="4" y2=HEIGHT - 14.0 />
            <text x=at y="13" text-anchor=anchor>{format!("restorable back to version {earliest}")}</text>
            {(!before && x > 150.0).then(|| view! {
                <text x=x - 6.0 y="13" text-anchor="end">"log kept, cannot be rebuilt"</text>
            })}
        }
    });
    let dates = layout.dates.iter().map(|(x, name)| {
        // The last name ends at the picture's edge and not beyond it.
        let x = x.min(width - 40.0);
        view! { <text x=x y=HEIGHT - 2.0>{name.clone()}</text> }
    });
    let marks = layout
        .marks
        .iter()
        .map(|m| bar_view(m, bar))
        .collect::<Markup>();
    view! {
        <svg viewBox=format!("0 0 {} {}", decimal(width, 1), decimal(HEIGHT, 1)) height=HEIGHT role="img" aria-label=label>
            <text x="0" y=BASE - 36.0>"+"</text>
            <text x="0" y=BASE + 42.0>"−"</text>
            <line class="base" x1=LEFT x2=width y1=BASE y2=BASE />
            {marks}
            {line}
            {frames}
            {dates.collect::<Markup>()}
        </svg>
    }
}

fn bar_view(mark: &Mark, width: f64) -> Markup {
    let class = if mark.dim { "stroke dim" } else { "stroke" };
    let x = mark.x;
    match mark.kind {
        Kind::Change => view! {
            <g class=class>
                {(mark.up > 0.0).then(|| view! {
                    <rect class="came" x=x y=BASE - mark.up width=width height=mark.up rx="1.5" />
                })}
                {(mark.down > 0.0).then(|| view! {
                    <rect class="went" x=x y=BASE + 1.0 width=width height=mark.down rx="1.5" />
                })}
            </g>
        },
        Kind::Rewrite => view! {
            <rect class=format!("{class} rewrite") x=x + 0.5 y=BASE - mark.up width=(width - 1.0).max(1.0)
                height=mark.up + mark.down rx="1.5" />
        },
        Kind::Metadata => view! {
            <circle class=format!("{class} meta") cx=x + width / 2.0 cy=BASE r=(width / 2.0).min(2.0) />
        },
        Kind::Unknown => view! {
            <rect class=format!("{class} unknown") x=x y=BASE - 5.0 width=width height="10" />
        },
        Kind::Damaged => view! {
            <path class=format!("{class} damaged")
                d=format!("M{} {}l6 6m0 -6l-6 6", decimal(x + width / 2.0 - 3.0, 1), decimal(BASE - 3.0, 1)) />
        },
        Kind::Unread => Markup::Nothing,
    }
}

/// One sentence for those who cannot see the strip.
fn describe(layout: &Layout, timeline: Timeline) -> String {
    let (Some(first), Some(last)) = (layout.marks.first(), layout.marks.last()) else {
        return "No commits".to_owned();
    };
    let measure = timeline.measure.get_untracked();
    let most = layout
        .marks
        .iter()
        .max_by(|a, b| a.down.total_cmp(&b.down))
        .filter(|m| m.down >= FULL / 2.0);
    let most = most.map_or(String::new(), |m| {
        format!("; version {} removed most", m.version)
    });
    format!(
        "{} of versions {} to {} as bars, added above and removed below a line{most}. The list below has the same figures",
        measure.name(),
        first.version,
        last.version,
    )
}

fn says(timeline: Timeline, version: u64) -> Markup {
    let now = session().now.get_untracked();
    let commit = timeline
        .store
        .commits
        .with_untracked(|c| c.get(&version).cloned());
    let Some(commit) = commit else {
        return view! { <span class="soft">{format!("{version}: not read yet")}</span> };
    };
    let measure = timeline.measure.get_untracked();
    let figures = match measure.of(&commit) {
        Some((came, went)) => {
            let came = (came > 0).then(|| format!("+{}", measure.write(came)));
            let went = (went > 0).then(|| format!("{}{}", format::MINUS, measure.write(went)));
            [came, went]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
        }
        None => format!("{} not known", measure.name()),
    };
    let when = commit.timestamp.map(|t| minute(t, now)).unwrap_or_default();
    let operation = commit.operation.clone().unwrap_or_default();
    view! {
        <b class="mono">{version}</b>
        <span class="op">{shorten(&operation, 32)}</span>
        <span>{shorten(&summary(&commit), 70)}</span>
        <span>{figures}</span>
        <span class="soft">{when}</span>
    }
}

/// Keeps `width` at the frame's.
fn follow_width(frame: NodeRef<Div>, width: RwSignal<f64>) {
    let measure = move || {
        if let Some(frame) = frame.get_untracked() {
            let now = f64::from(frame.client_width());
            if now > 0.0 && width.try_with_untracked(|w| (*w - now).abs() > 0.5) == Some(true) {
                width.set(now);
            }
        }
    };
    let changed = Closure::<dyn FnMut()>::new(measure);
    let observer = web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()).ok();
    let kept = send_wrapper::SendWrapper::new((observer.clone(), changed));
    on_cleanup(move || {
        if let Some(observer) = &kept.0 {
            observer.disconnect();
        }
    });
    effect(move || {
        if let (Some(frame), Some(observer)) = (frame.get(), &observer) {
            observer.observe(&frame);
        }
    });
}
