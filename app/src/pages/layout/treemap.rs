//! Partitions as areas: bytes by size, the share of small files by colour.

use std::sync::Arc;

use lake::table::{At, partition_label};
use lake::wire::{LayoutReport, PartitionLayout};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::format;
use crate::geometry::{Rect, Tile, fold, heat, squarify, trim_label};
use crate::markup::{Markup, NodeRef, view};
use crate::pages::common::{Here, filter_line};
use crate::route::{Query, Route};
use crate::signals::{Memo, RwSignal, StoredValue, effect};

const HEIGHT: f64 = 300.0;

/// Tiles that are drawn; the smallest partitions are one tile.
const MOST: usize = 400;

/// Advance of the tiles' letters in pixels.
const LETTER: f64 = 7.1;

/// One tile: what it says and where it leads.
#[derive(Clone)]
struct Drawn {
    label: String,
    size: String,
    /// How many of its files are small, where any is: colour alone tells nobody.
    share: Option<String>,
    title: String,
    heat: usize,
    href: Option<String>,
}

/// The map. Tiles are links to their partition's files; arrow keys go from one to the next.
#[component]
pub fn Treemap(here: Here, report: Arc<LayoutReport>) -> Markup {
    let frame = NodeRef::<html::Ul>::new();
    let width = width_of(frame);
    let weights: Vec<f64> = report.partitions.iter().map(|p| p.bytes as f64).collect();
    let tiles = fold(&weights, MOST);
    let drawn: Vec<Drawn> = tiles
        .iter()
        .map(|(tile, weight)| match tile {
            Tile::One(i) => one(here, &report, *i),
            Tile::Rest(n) => rest(&report, &tiles, *n, *weight),
        })
        .collect();
    let weights: Vec<f64> = tiles.iter().map(|(_, weight)| *weight).collect();
    let places = Memo::new(move |_| {
        let area = Rect {
            x: 0.0,
            y: 0.0,
            w: width.get(),
            h: HEIGHT,
        };
        squarify(&weights, area)
    });
    let focused = RwSignal::new(0usize);
    let count = drawn.len();
    let keydown = move |event: leptos::ev::KeyboardEvent| {
        let from = focused.get_untracked();
        let last = count.saturating_sub(1);
        let to = match event.key().as_str() {
            "ArrowRight" => places.with_untracked(|p| beside(p, from, 1.0, 0.0)),
            "ArrowLeft" => places.with_untracked(|p| beside(p, from, -1.0, 0.0)),
            "ArrowDown" => places.with_untracked(|p| beside(p, from, 0.0, 1.0)),
            "ArrowUp" => places.with_untracked(|p| beside(p, from, 0.0, -1.0)),
            "Home" => Some(0),
            "End" => Some(last),
            _ => return,
        };
        event.prevent_default();
        if let Some(to) = to {
            focused.set(to);
            focus_tile(frame, to);
        }
    };
    let items = drawn.into_iter().enumerate().map(|(i, tile)| {
        let place = Memo::new(move |_| places.with(|p| p.get(i).copied().unwrap_or_default()));
        view! { <OneTile i tile place focused /> }
    });
    let unpartitioned = report.partition_columns.is_empty();
    let legend = (0..5)
        .map(|step| view! { <i class=format!("heat-{step}")></i> })
        .collect::<Markup>();
    view! {
        <h2>
            "Partitions" <small>"area: bytes, colour: share of small files"</small>
            <span class="end s soft legend" aria-hidden="true">"0 % " {legend} " 100 %"</span>
        </h2>
        <ul class="treemap" node_ref=frame on:keydown=keydown
            aria-label="Partitions by bytes, largest first; arrow keys move between them">
            {items.collect::<Markup>()}
        </ul>
        {unpartitioned.then(|| view! {
            <p class="soft s">"The table has no partition columns: it is one tile"</p>
        })}
    }
}

#[component]
fn OneTile(i: usize, tile: Drawn, place: Memo<Rect>, focused: RwSignal<usize>) -> Markup {
    let style = move || {
        let r = place.get();
        let px = |value| format::decimal(value, 2);
        format!(
            "left:{}px;top:{}px;width:{}px;height:{}px",
            px(r.x + 1.0),
            px(r.y + 1.0),
            px((r.w - 2.0).max(0.0)),
            px((r.h - 2.0).max(0.0))
        )
    };
    let (label, size, share) = (tile.label.clone(), tile.size.clone(), tile.share.clone());
    let words = move || {
        let r = place.get();
        (r.w > 40.0 && r.h > 24.0)
            .then(|| trim_label(&label, r.w - 18.0, LETTER))
            .flatten()
            .map(|label| {
                let fits = |text: &String| text.chars().count() as f64 * 6.0 < r.w - 16.0;
                let both = share.as_ref().map(|share| format!("{size} · {share}"));
                let size = both.filter(fits).or(Some(size.clone()).filter(fits));
                let size = size
                    .filter(|_| r.h > 42.0)
                    .map(|size| view! { <small>{size}</small> });
                view! { <span aria-hidden="true"><b>{label}</b>{size}</span> }
            })
    };
    let tabindex = move || if focused.get() == i { "0" } else { "-1" };
    let class = format!("heat-{}", tile.heat);
    match tile.href {
        Some(href) => view! {
            <li style=style>
                <a class=class href=href title=tile.title.clone() aria-label=tile.title tabindex=tabindex
                    on:focus=move |_| focused.set(i)>{words}</a>
            </li>
        },
        None => view! {
            <li style=style>
                <span class=format!("tile-rest {class}") role="img" title=tile.title.clone()
                    aria-label=tile.title tabindex=tabindex on:focus=move |_| focused.set(i)>{words}</span>
            </li>
        },
    }
}

fn one(here: Here, report: &LayoutReport, i: usize) -> Drawn {
    let Some(part) = report.partitions.get(i) else {
        return rest(report, &[], 0, 0.0);
    };
    let files = format::counted(part.files, "file");
    let whole = format::visible(&partition_label(&part.partition));
    let query = match part.partition.is_empty() {
        true => Query::default(),
        false => Query::default().with("q", Some(filter_line(&part.partition))),
    };
    let route = Route::Snapshot {
        table: here.name(),
        at: At::Version(report.version),
    };
    Drawn {
        label: short_label(part),
        size: format::bytes(part.bytes),
        share: small_share(part.small_files, part.files),
        title: format!(
            "{whole}: {}, {files}, {} small ({})",
            format::bytes(part.bytes),
            format::count(part.small_files),
            format::percent(part.small_files, part.files),
        ),
        heat: heat(part.small_files, part.files),
        href: Some(route.with(query).href()),
    }
}

fn small_share(small: u64, files: u64) -> Option<String> {
    (small > 0).then(|| format!("{} small", format::percent(small, files)))
}

/// The values alone: the columns are the same in every tile.
fn short_label(part: &PartitionLayout) -> String {
    if part.partition.is_empty() {
        return "all files".to_owned();
    }
    let values = part
        .partition
        .values()
        .map(|v| v.as_deref().unwrap_or("null"));
    format::shorten(&values.collect::<Vec<_>>().join(" · "), 120)
}

/// The partitions too small to draw, as one tile.
fn rest(report: &LayoutReport, tiles: &[(Tile, f64)], n: usize, bytes: f64) -> Drawn {
    let own: std::collections::HashSet<usize> = tiles
        .iter()
        .filter_map(|(tile, _)| match tile {
            Tile::One(i) => Some(*i),
            Tile::Rest(_) => None,
        })
        .collect();
    let others = report
        .partitions
        .iter()
        .enumerate()
        .filter(|(i, _)| !own.contains(i));
    let (files, small) = others.fold((0, 0), |(files, small), (_, p)| {
        (files + p.files, small + p.small_files)
    });
    let label = format!("{} more", format::count(n as u64));
    let size = format::bytes(bytes as u64);
    Drawn {
        title: format!(
            "{label} partitions: {size}, {}, {} small",
            format::counted(files, "file"),
            format::count(small)
        ),
        label,
        size,
        share: small_share(small, files),
        heat: heat(small, files),
        href: None,
    }
}

/// The nearest tile in a direction: the one that begins where this one ends and overlaps it most.
fn beside(places: &[Rect], from: usize, dx: f64, dy: f64) -> Option<usize> {
    let here = places.get(from)?;
    let (x, y) = (here.x + here.w / 2.0, here.y + here.h / 2.0);
    let score = |r: &Rect| {
        let (rx, ry) = (r.x + r.w / 2.0 - x, r.y + r.h / 2.0 - y);
        let along = rx * dx + ry * dy;
        let across = (rx * dy).abs() + (ry * dx).abs();
        (along > 1.0).then_some(along + across * 2.0)
    };
    let scored = places.iter().enumerate().filter(|(i, _)| *i != from);
    let scored = scored.filter_map(|(i, r)| Some((i, score(r)?)));
    scored.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}

fn focus_tile(frame: NodeRef<html::Ul>, i: usize) {
    let Some(frame) = frame.get_untracked() else {
        return;
    };
    let item = frame.children().item(i as u32);
    let inner = item.and_then(|li| li.first_element_child());
    if let Some(inner) = inner.and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = inner.focus();
    }
}

/// The element's width, followed.
fn width_of(frame: NodeRef<html::Ul>) -> RwSignal<f64> {
    use wasm_bindgen::prelude::Closure;
    let width = RwSignal::new(640.0);
    let measure = move || {
        let measured = frame
            .get_untracked()
            .map(|f| f.get_bounding_client_rect().width());
        if let Some(measured) = measured
            && measured > 0.0
            && width.try_with_untracked(|w| (*w - measured).abs() > 0.5) == Some(true)
        {
            width.try_set(measured);
        }
    };
    let changed = Closure::<dyn FnMut()>::new(measure);
    let observer = web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()).ok();
    let kept = StoredValue::new((observer, changed));
    effect(move || {
        if let Some(frame) = frame.get() {
            kept.with_value(|(observer, _)| {
                if let Some(observer) = observer {
                    observer.observe(&frame);
                }
            });
        }
    });
    on_cleanup(move || {
        kept.try_with_value(|(observer, _)| {
            if let Some(observer) = observer {
                observer.disconnect();
            }
        });
    });
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_to_the_neighbour() {
        let tile = |x, y| Rect {
            x,
            y,
            w: 10.0,
            h: 10.0,
        };
        let places = [
            tile(0.0, 0.0),
            tile(10.0, 0.0),
            tile(0.0, 10.0),
            tile(10.0, 10.0),
        ];
        assert_eq!(beside(&places, 0, 1.0, 0.0), Some(1));
        assert_eq!(beside(&places, 0, 0.0, 1.0), Some(2));
        assert_eq!(beside(&places, 3, -1.0, 0.0), Some(2));
        assert_eq!(beside(&places, 0, -1.0, 0.0), None);
        assert_eq!(beside(&[], 0, 1.0, 0.0), None);
    }
}
