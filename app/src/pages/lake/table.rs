//! One table's row.

use lake::wire::http::TableEntry;
use lake::wire::{CommitRow, Format, OverviewReport, TableRef};
use lake::{Error, Kind};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format::{counted, shorten, shorten_middle};
use crate::markup::{Markup, view};
use crate::message::message;
use crate::parts::{Bytes, Count, Dot, Op, Spark, When};
use crate::route::Route;
use crate::session::{TableState, session};
use crate::signals::{Signal, effect};

use super::queue::Queue;
use super::{Overviews, wanted};

/// The row: asked for when it is made, and by itself.
#[component]
pub fn Table(entry: TableEntry, overviews: Overviews, queue: Queue) -> Markup {
    let session = session();
    let text = session.param("q");
    let place = TableRef {
        zone: entry.zone.clone(),
        prefix: entry.prefix.clone(),
    };
    let overview = Asked::new(move |progress| {
        let share = session.lake.ok()?.attention.rows_removed;
        let engine = queue.session.engine().watched(progress);
        let place = place.clone();
        let turn = queue.place();
        Some(async move {
            let turn = turn.await;
            let answer = match &turn {
                Some(_) => engine.overview(place, share).await,
                None => Err(Error::new(Kind::Cancelled, "the page went")),
            };
            drop(turn);
            answer
        })
    });
    let name = entry.name.clone();
    effect(move || {
        let Some(answer) = overview.get() else { return };
        let state = match &answer {
            Ok(report) if report.attention.is_empty() => TableState::Calm,
            Ok(_) => TableState::Attention,
            Err(_) => TableState::Broken,
        };
        session.states.note(&name, state);
        let name = name.clone();
        overviews.0.update(|all| {
            all.insert(name, answer);
        });
    });
    let state = session.states.of(&entry.name);
    let href = Route::Timeline {
        table: entry.name.clone(),
    }
    .href();
    let own = entry.name.strip_prefix(&format!("{}/", entry.zone));
    let title = shorten_middle(own.unwrap_or(&entry.name), 60);
    let format = match entry.format {
        Format::Delta => "Delta",
        Format::Iceberg => "Iceberg",
        Format::Hudi => "Hudi",
    };
    let table = entry.name.clone();
    let cells = move || match overview.get() {
        None => {
            let stop = move |_| overview.stop();
            view! {
                <td colspan="4" class="soft s" role="status">
                    <span class="late-word">"reading its log…"</span>
                    <button type="button" class="unfold late-button" on:click=stop>"Cancel"</button>
                </td>
            }
        }
        Some(Ok(report)) => cells(&table, &report),
        Some(Err(error)) => {
            let message = message(&error);
            let again = move |_| overview.again();
            let place = message.location.map(|l| shorten_middle(&l, 80));
            view! {
                <td colspan="4" class="row-error">
                    <b>{message.title}</b>" "
                    <span class="soft">{shorten(&message.sentence, 160)}</span>" "
                    <span class="mono soft s">{place}</span>" "
                    <button type="button" class="unfold" on:click=again>"Try again"</button>
                </td>
            }
        }
    };
    let fits = move || text.with(|t| wanted(&entry, t.as_deref()));
    view! {
        <tr hidden=move || !fits() aria-busy=move || overview.pending().to_string()>
            <td class="ell">
                <Dot state=Signal::derive(move || state.get().class())
                    says=Signal::derive(move || state.get().says().to_owned()) />
                <a class="table-name" href=href>{title}</a>
                <span class="soft s">{format}</span>
            </td>
            {cells}
        </tr>
    }
}

fn cells(table: &str, report: &OverviewReport) -> Markup {
    let last = report.recent.first();
    let href = Route::Commit {
        table: table.to_owned(),
        version: report.version,
    }
    .href();
    let operation = last.and_then(|c| c.operation.clone());
    let when = last.and_then(|c| c.timestamp);
    let line = rows_over_commits(report);
    let says = format!("Rows over {}", counted(line.len() as u64, "commit"));
    let line = if line.iter().flatten().count() > 1 {
        view! { <Spark values=line says /> }
    } else {
        view! { <span class="faint" title="The log does not state rows">"?"</span> }
    };
    view! {
        <td class="ell">
            <a class="key" href=href>{report.version.to_string()}</a>" "
            <Op name=operation />" "
            <span class="soft s"><When at=when /></span>
        </td>
        <td class="hide">{line}</td>
        <td class="hide n"><Count n=report.files /></td>
        <td class="hide n"><Bytes n=report.bytes /></td>
    }
}

/// Rows after each recent commit, oldest first: from the known total backwards where there is
/// one, else from the oldest of them onwards, which has the same shape.
fn rows_over_commits(report: &OverviewReport) -> Vec<Option<f64>> {
    let mut rows = report.rows.map_or(Some(0.0), |n| Some(n as f64));
    let mut line = Vec::with_capacity(report.recent.len());
    for commit in &report.recent {
        line.push(rows);
        rows = before(rows, commit);
    }
    line.reverse();
    line
}

fn before(rows: Option<f64>, commit: &CommitRow) -> Option<f64> {
    Some(rows? - commit.rows_added? as f64 + commit.rows_removed? as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lake::table::Version;
    use serde_json::Value;

    fn commit(version: u64, added: Option<u64>, removed: u64) -> CommitRow {
        CommitRow {
            version: Version(version),
            timestamp: None,
            writer_timestamp: None,
            in_commit: false,
            operation: None,
            parameters: Value::Null,
            user: None,
            engine: None,
            reason: None,
            metrics: Value::Null,
            files_added: None,
            files_removed: None,
            bytes_added: None,
            bytes_removed: None,
            rows_added: added,
            rows_removed: Some(removed),
            data_change: true,
            parent: None,
            refs: Vec::new(),
            damaged: None,
            restorable: None,
            metadata_change: false,
        }
    }

    fn report(rows: Option<u64>, recent: Vec<CommitRow>) -> OverviewReport {
        OverviewReport {
            format: Format::Delta,
            version: Version(2),
            recent,
            files: None,
            bytes: None,
            rows,
            attention: Vec::new(),
        }
    }

    #[test]
    fn the_line_ends_at_the_total() {
        let recent = vec![
            commit(2, Some(0), 80),
            commit(1, Some(50), 0),
            commit(0, Some(50), 0),
        ];
        let line = rows_over_commits(&report(Some(20), recent));
        assert_eq!(line, [Some(50.0), Some(100.0), Some(20.0)]);
    }

    #[test]
    fn before_an_unknown_commit_nothing_is_known() {
        let recent = vec![commit(2, None, 0), commit(1, Some(5), 0)];
        let line = rows_over_commits(&report(Some(20), recent));
        assert_eq!(line, [None, Some(20.0)]);
    }
}
