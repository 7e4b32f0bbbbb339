//! The grid: a row a day, newest on top, and twenty-four columns of the UTC clock.
//!
//! Equal neighbours are one element and only rows near the viewport exist, so a year scrolls like
//! a month. The grid has the focus as a whole; a cursor goes from hour to hour.

use std::sync::Arc;

use lake::hours::{Day, Remark, Slot, State};
use lake::table::Time;
use lake::wire::hours::GridDay;
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, PointerEvent};

use crate::format;
use crate::markup::{Each, Markup, NodeRef, view};
use crate::parts::Window;
use crate::parts::grid::scroll::{follow_scroll, reveal};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Memo, RwSignal, Signal};

use super::Hours;
use super::picked::{Pick, pick};
use super::runs::{class, glyph, remark_sign, runs};
use super::summary::legend;

/// Pixels of a row.
const ROW: f64 = 26.0;

/// Rows up to which each hour that needs a person is an element of its own.
const FEW: usize = 62;

/// Rows that come and go together.
const BLOCK: usize = 8;

/// A cell: how many rows from the top, which hour.
type Cell = (usize, usize);

/// What the grid's parts share.
#[derive(Clone, Copy)]
struct Table {
    days: Memo<Vec<Arc<GridDay>>>,
    pick: Memo<Option<Pick>>,
    cursor: RwSignal<Option<Cell>>,
    hovered: RwSignal<Option<(Cell, f64, f64)>>,
    /// Day and hour of the clock.
    now: Memo<(Day, usize)>,
}

impl Table {
    fn slot(self, cell: Cell) -> Option<Slot> {
        self.days.with_untracked(|days| slot_in(days, cell))
    }

    fn state(self, cell: Cell) -> Option<State> {
        self.days.with_untracked(|days| {
            let letter = days.get(cell.0)?.states.chars().nth(cell.1)?;
            State::of_letter(letter)
        })
    }

    fn remark(self, cell: Cell) -> Option<Remark> {
        self.days
            .with_untracked(|days| days.get(cell.0)?.remark(cell.1))
    }
}

fn slot_in(days: &[Arc<GridDay>], (row, hour): Cell) -> Option<Slot> {
    let day = days.get(row)?;
    Some(match day.states.len() {
        1 => Slot::day(day.date),
        _ => Slot::hour(day.date, u8::try_from(hour).ok().filter(|hour| *hour < 24)?),
    })
}

/// The grid and its legend.
#[component]
pub fn Grid(hours: Hours, dataset: String) -> Markup {
    let session = session();
    let days = Memo::new(move |_| {
        let parts = hours.come();
        let days = parts.iter().flat_map(|part| part.days.iter().rev());
        days.cloned().map(Arc::new).collect::<Vec<_>>()
    });
    let table = Table {
        days,
        pick: pick(session),
        cursor: RwSignal::new(None),
        hovered: RwSignal::new(None),
        now: Memo::new(move |_| {
            session.now.with(|now| {
                let day = Day::of(*now);
                (day, ((now.0 - day.start().0) / 3_600_000) as usize)
            })
        }),
    };
    let columns = Memo::new(move |_| days.with(|days| days.first().map_or(24, |d| d.states.len())));
    let count = Signal::derive(move || days.with(Vec::len));
    let body = NodeRef::<Div>::new();
    let seen = RwSignal::new(Window {
        last: FEW,
        ..Window::default()
    });
    follow_scroll(body, count, count, ROW, seen);

    let open = {
        let dataset = dataset.clone();
        move |cell: Cell| {
            if let Some(slot) = table.slot(cell) {
                session.nav.go(Route::Hour {
                    dataset: dataset.clone(),
                    slot,
                });
            }
        }
    };
    let set_pick = move |from: Cell, to: Cell| {
        if let (Some(a), Some(b)) = (table.slot(from), table.slot(to)) {
            session.nav.set("sel", Some(Pick::new(a, b)));
        }
    };
    let place = move |event: &PointerEvent| -> Option<Cell> {
        let frame = body.get_untracked()?.get_bounding_client_rect();
        let (x, y) = (
            f64::from(event.client_x()),
            f64::from(event.client_y()) - frame.top(),
        );
        let cells = body.get_untracked()?.query_selector(".cells").ok()??;
        let cells = cells.get_bounding_client_rect();
        let x = (x - cells.left()) / cells.width().max(1.0);
        let columns = columns.get_untracked();
        let fits = (0.0..1.0).contains(&x) && y >= 0.0;
        let row = (y / ROW) as usize;
        let cell = (row, (x * columns as f64) as usize);
        (fits && row < days.with_untracked(Vec::len)).then_some(cell)
    };
    let began = RwSignal::new(None::<Cell>);
    let down = move |event: PointerEvent| {
        let here = place(&event);
        if event.button() != 0 {
            return;
        }
        if let (true, Some(to), Some(from)) =
            (event.shift_key(), here, table.cursor.get_untracked())
        {
            set_pick(from, to);
            return;
        }
        began.set(here);
    };
    let moved = move |event: PointerEvent| {
        let here = place(&event);
        let frame = body.get_untracked().map(|b| b.get_bounding_client_rect());
        let at = here.zip(frame).map(|(cell, frame)| {
            let x = f64::from(event.client_x()) - frame.left();
            let y = f64::from(event.client_y()) - frame.top();
            (cell, x.min(frame.width() - 240.0).max(0.0), y)
        });
        table.hovered.set(at);
        if let (Some(from), Some(to)) = (began.get_untracked(), here)
            && from != to
            && event.pointer_type() != "touch"
        {
            set_pick(from, to);
        }
    };
    let up = {
        let open = open.clone();
        move |event: PointerEvent| {
            let from = began.get_untracked();
            began.set(None);
            let to = place(&event);
            if let (Some(from), Some(to)) = (from, to) {
                table.cursor.set(Some(to));
                if from == to {
                    open(to);
                }
            }
        }
    };
    let leave = move |_| {
        table.hovered.set(None);
        began.set(None);
    };
    let keydown = move |event: KeyboardEvent| {
        let (rows, width) = (days.with_untracked(Vec::len), columns.get_untracked());
        let Some(to) = step(table.cursor.get_untracked(), &event.key(), rows, width) else {
            if let ("Enter", Some(cell)) = (event.key().as_str(), table.cursor.get_untracked()) {
                event.prevent_default();
                open(cell);
            }
            return;
        };
        event.prevent_default();
        if let (true, Some(here)) = (event.shift_key(), table.cursor.get_untracked()) {
            let anchor = table
                .pick
                .with_untracked(|p| p.as_ref().map(|p| p.anchor(table.slot(here))));
            match (anchor.flatten(), table.slot(to)) {
                (Some(anchor), Some(slot)) => session.nav.set("sel", Some(Pick::new(anchor, slot))),
                _ => set_pick(here, to),
            }
        }
        table.cursor.set(Some(to));
        if let Some(body) = body.get_untracked() {
            reveal(&body, to.0, rows, ROW);
        }
    };
    let says = move || {
        let cell = table.cursor.get()?;
        let state = table.state(cell)?.words();
        let remark = table.remark(cell).map_or("", Remark::words);
        let stop = if remark.is_empty() { "" } else { ", " };
        Some(format!("{}, {state}{stop}{remark}", table.slot(cell)?))
    };
    let label = move || {
        let named = hours
            .shown
            .with(|s| s.as_ref().map(|s| s.name()).unwrap_or_default());
        format!("{named}, newest day first. Arrow keys move, Enter opens, Shift extends")
    };
    let head = move || column_names(columns.get());
    let height = move || {
        format!(
            "height:{}px",
            format::decimal(days.with(Vec::len) as f64 * ROW, 0)
        )
    };
    let apart = Memo::new(move |_| days.with(|days| days.len() <= FEW));
    // Rows come and go in blocks: most frames of a scroll change nothing in the page.
    let near = Memo::new(move |_| {
        let (first, last) = seen.with(|seen| (seen.first, seen.last));
        (first / BLOCK * BLOCK, last.div_ceil(BLOCK) * BLOCK)
    });
    let rows = move || {
        let (first, last) = near.get();
        days.with(|days| {
            let rows = days.iter().enumerate().take(last).skip(first);
            rows.map(|(i, day)| (i, Arc::clone(day)))
                .collect::<Vec<_>>()
        })
    };
    // A row that stays in sight is not made anew.
    let key = move |(i, day): &(usize, Arc<GridDay>)| {
        let seen = (&day.states, &day.remarks, apart.get());
        (*i, format!("{} {seen:?}", day.date))
    };
    let row = move |(i, day)| {
        let apart = apart.get_untracked();
        view! { <Row table i day apart /> }
    };
    // On paper all of them exist.
    view! {
        <div class="hours" tabindex="0" role="application" aria-label=label on:keydown=keydown>
            <div class="hours-head" aria-hidden="true"><span></span><div class="names" style=move || format!("--n:{}", columns.get())>{head}</div></div>
            <div class="hours-body" node_ref=body style=height on:pointerdown=down on:pointermove=moved
                on:pointerup=up on:pointerleave=leave>
                <Each each=rows key children=row />
                <Tip table />
            </div>
            <span class="unseen" aria-live="polite">{says}</span>
        </div>
        {legend()}
    }
}

/// Where an arrow key leads.
fn step(from: Option<Cell>, key: &str, rows: usize, width: usize) -> Option<Cell> {
    let (last_row, last) = (rows.checked_sub(1)?, width.checked_sub(1)?);
    let Some((row, hour)) = from else {
        return key.starts_with("Arrow").then_some((0, 0));
    };
    Some(match key {
        // One hour further goes on in the day after, which is the row above.
        "ArrowRight" if hour < last => (row, hour + 1),
        "ArrowRight" => (row.checked_sub(1)?, 0),
        "ArrowLeft" if hour > 0 => (row, hour - 1),
        "ArrowLeft" => (Some(row + 1).filter(|row| *row <= last_row)?, last),
        "ArrowUp" => (row.saturating_sub(1), hour),
        "ArrowDown" => ((row + 1).min(last_row), hour),
        "Home" => (row, 0),
        "End" => (row, last),
        "PageUp" => (row.saturating_sub(7), hour),
        "PageDown" => ((row + 7).min(last_row), hour),
        _ => return None,
    })
}

/// One day.
#[component]
fn Row(table: Table, i: usize, day: Arc<GridDay>, apart: bool) -> Markup {
    let width = day.states.len().max(1);
    let cells = runs(&day.states, apart).into_iter().map(|run| {
        let style = format!(
            "grid-column:{}/span {};--n:{}",
            run.first + 1,
            run.length,
            run.length
        );
        let sign = run.sign();
        view! { <i class=format!("cell {}", class(run.state)) style=style>{sign}</i> }
    });
    let date = day.date;
    let remarks = remarks(&day);
    let part = move |hour: usize, length: usize, class: &'static str| {
        let share = |n: usize| format::decimal(n as f64 * 100.0 / width as f64, 3);
        let style = format!("left:{}%;width:{}%", share(hour), share(length));
        view! { <b class=class style=style></b> }
    };
    let marks = move || {
        let (today, hour) = table.now.get();
        let hour_now = (today == date).then_some(hour);
        let picked = table
            .pick
            .with(|pick| pick.as_ref().and_then(|pick| pick.hours_of(date, width)));
        let cursor = table.cursor.get().filter(|(row, _)| *row == i);
        let marks = [
            hour_now.map(|hour| part(if width == 1 { 0 } else { hour.min(23) }, 1, "now")),
            picked.map(|(first, length)| part(first, length, "picked")),
            cursor.map(|(_, hour)| part(hour, 1, "cursor")),
        ];
        marks.into_iter().flatten().collect::<Markup>()
    };
    let top = format!("top:{}px", format::decimal(i as f64 * ROW, 0));
    let states = describe(&day);
    let name = day_name(date);
    view! {
        <div class="hours-row" style=top>
            <span class="day">{name}<span class="unseen">{states}</span></span>
            <div class=cells_class(width) style=format!("--n:{width}")>
                <div class="run">{cells.collect::<Markup>()}</div>
                {remarks}
                {marks}
            </div>
        </div>
    }
}

/// The signs of a day's remarks, over its cells.
pub fn remarks(day: &GridDay) -> Option<Markup> {
    let signs = (0..day.remarks.len()).filter_map(|hour| {
        let style = format!("grid-column:{}", hour + 1);
        Some(view! { <u style=style>{remark_sign(day.remark(hour)?)}</u> })
    });
    let signs = signs.collect::<Markup>();
    (!day.remarks.is_empty())
        .then(|| view! { <div class="remarks" aria-hidden="true">{signs}</div> })
}

/// Names above a grid's columns: hours, or the day.
pub fn column_names(width: usize) -> Markup {
    let names = (0..width).map(|hour| {
        let name = match width {
            1 => "day".to_owned(),
            _ => format!("{hour:02}"),
        };
        view! { <span class=if hour % 2 == 1 { "odd" } else { "" }>{name}</span> }
    });
    names.collect()
}

/// Class of a day's cells, of which a day without hours has one.
pub fn cells_class(width: usize) -> &'static str {
    if width == 1 { "cells whole" } else { "cells" }
}

/// `Tue 10 Nov`
pub fn day_name(day: Day) -> String {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let name = NAMES
        .get(day.weekday() as usize)
        .copied()
        .unwrap_or_default();
    format!("{name} {}", format::month_day(day.start()))
}

/// A day for those who hear it: `20 closed, 1 mutated`.
fn describe(day: &GridDay) -> String {
    let counts = State::ALL.into_iter().filter_map(|state| {
        let count = day
            .states
            .chars()
            .filter(|letter| *letter == state.letter())
            .count();
        (count > 0).then(|| format!("{count} {}", state.words()))
    });
    let remarks = Remark::ALL.into_iter().filter_map(|remark| {
        let count = day.remarks.matches(remark.letter()).count();
        (count > 0).then(|| format!("{count} of them {}", remark.words()))
    });
    format!(": {}", counts.chain(remarks).collect::<Vec<_>>().join(", "))
}

/// The whole of an hour, beside the pointer.
#[component]
fn Tip(table: Table) -> Markup {
    let tip = move || {
        let (cell, x, y) = table.hovered.get()?;
        let (slot, state) = (table.slot(cell)?, table.state(cell)?);
        let figures = table.days.with_untracked(|days| {
            let day = days.get(cell.0)?;
            Some((
                *day.objects.get(cell.1)?,
                *day.bytes.get(cell.1)?,
                day.listed_at,
            ))
        });
        let remark = table
            .remark(cell)
            .map(|remark| format!(", {}", remark.words()));
        let (objects, bytes, listed) = figures.unwrap_or_default();
        let text = match objects {
            0 => "no objects".to_owned(),
            n => format!("{}, {}", format::counted(n, "object"), format::bytes(bytes)),
        };
        let listed =
            listed.map(|at| format!("listed {}", format::ago(at, session().now.get_untracked())));
        let style = format!(
            "left:{}px;top:{}px",
            format::decimal(x, 0),
            format::decimal(y + 18.0, 0)
        );
        Some(view! {
            <div class="tip" style=style>
                <b>{slot.to_string()}" UTC"</b>
                <span>{format!("{} local time", local(slot.start()))}</span>
                <span><i class=format!("cell {}", class(state))>{glyph(state)}</i>" "{state.words()}{remark}</span>
                <span>{text}</span>
                <span class="soft">{listed}</span>
            </div>
        })
    };
    view! { <div aria-hidden="true">{tip}</div> }
}

/// The same instant by the browser's own clock: `09:00`, with the date where it is another.
fn local(time: Time) -> String {
    let date = js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(time.0 as f64));
    let (day, month) = (date.get_date(), date.get_month() + 1);
    let (hour, minute) = (date.get_hours(), date.get_minutes());
    let there = Day::of(time).date();
    match (there.1, there.2) == (month, day) {
        true => format!("{hour:02}:{minute:02}"),
        false => format!(
            "{:04}-{month:02}-{day:02} {hour:02}:{minute:02}",
            date.get_full_year()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_by_hours_and_days() {
        assert_eq!(step(None, "ArrowDown", 3, 24), Some((0, 0)));
        assert_eq!(step(None, "x", 3, 24), None);
        assert_eq!(step(Some((1, 23)), "ArrowRight", 3, 24), Some((0, 0)));
        assert_eq!(step(Some((0, 23)), "ArrowRight", 3, 24), None);
        assert_eq!(step(Some((1, 0)), "ArrowLeft", 3, 24), Some((2, 23)));
        assert_eq!(step(Some((2, 0)), "ArrowLeft", 3, 24), None);
        assert_eq!(step(Some((2, 5)), "ArrowDown", 3, 24), Some((2, 5)));
        assert_eq!(step(Some((0, 0)), "ArrowUp", 0, 24), None);
    }

    #[test]
    fn days_have_their_names() {
        assert_eq!(day_name("2026-11-10".parse().unwrap()), "Tue 10 Nov");
    }
}
