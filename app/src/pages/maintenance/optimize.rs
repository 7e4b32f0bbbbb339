//! Small files packed into larger ones: the bins, before anything is rewritten.

use std::sync::Arc;

use lake::plan::{Act, Bin, OptimizeDetail, Outcome, Plan, PlanRequest};
use lake::table::partition_label;
use lake::{Error, Result};
use leptos::prelude::*;

use crate::acts;
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Bytes, Column, Count, Grid, Key, ShellLine};
use crate::session::session;
use crate::signals::{RwSignal, Signal};
use crate::words::count_of;

use super::super::common::{Here, Sheet, Warnings, tile};
use super::act::{Confirm, Done, Refused, Stage};

/// The plan of an optimize, and what comes of it.
#[component]
pub fn Panel(here: Here) -> Markup {
    let session = session();
    let target = session.param("target");
    let request = move || -> Result<PlanRequest> {
        let target_size = target.with(|text| text.as_deref().map(size).transpose())?;
        Ok(PlanRequest {
            kind: Act::Optimize,
            target_size,
            ..Default::default()
        })
    };
    let planned = Asked::new(move |_| {
        let (name, request) = (here.name(), request());
        Some(async move { acts::plan(&name, &request?).await })
    });
    view! {
        <Options />
        {planned.show("the plan", move |outcome| {
            let request = untrack(request).unwrap_or_default();
            view! { <Planned here planned outcome request /> }
        })}
    }
}

/// Bytes of a size as the command line takes it.
fn size(text: &str) -> Result<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text
        .split_at_checked(split.unwrap_or(text.len()))
        .unwrap_or_default();
    let unit: Option<u64> = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        "tib" => Some(1 << 40),
        "kb" => Some(1_000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        "tb" => Some(1_000_000_000_000),
        _ => None,
    };
    let number = number.parse::<u64>().ok();
    let bytes = unit.zip(number).and_then(|(unit, n)| n.checked_mul(unit));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
        Error::invalid(format!(
            "`{text}` is not a size: write `64MiB`, `1GiB` or a number of bytes"
        ))
    })
}

#[component]
fn Options() -> Markup {
    let session = session();
    let target = session.param("target");
    let text = RwSignal::new(target.get_untracked().unwrap_or_default());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let text = text.get_untracked();
        let text = text.trim();
        // What is no size takes the plan's place, so that no button is left for another plan.
        session
            .nav
            .set("target", (!text.is_empty()).then_some(text));
    };
    view! {
        <form class="ask" on:submit=submit>
            <label for="target">"How large a packed file should be; empty is what the table or the configuration says"</label>
            <input id="target" class="field mono" autocomplete="off" spellcheck="false" placeholder="128MiB, 1GiB"
                prop:value=move || text.get() on:input=move |e| text.set(event_target_value(&e)) />
            <button type="submit" class="btn">"Plan it"</button>
        </form>
    }
}

#[component]
fn Planned(
    here: Here,
    planned: Asked<Outcome>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
) -> Markup {
    let plan = &outcome.plan;
    let detail = Arc::new(plan.optimize.clone().unwrap_or_default());
    let size = request.target_size.map(|n| n.to_string());
    let words: Vec<&str> = match &size {
        Some(size) => vec!["--target-size", size],
        None => Vec::new(),
    };
    let command = here.command("optimize", &words);
    let verb = format!(
        "Pack {} into {}",
        count_of(plan.files_to_rewrite, "file"),
        format::count(plan.files_to_write)
    );
    let done = RwSignal::new(Done::NotYet);
    let confirm = match &plan.refused {
        Some(why) => view! { <Refused why=why.clone() /> },
        None => view! {
            <Confirm here planned done outcome=Arc::clone(&outcome) request verb typed=false />
        },
    };
    let plan = plan.clone();
    view! {
        <Stage here planned done kind=Act::Optimize aside=false>
            <p class="verdict">{question(&plan, &detail)}</p>
            <Tiles plan=plan.clone() detail=Arc::clone(&detail) />
            <Warnings warnings=plan.warnings />
            {confirm}
            <Bins detail=Arc::clone(&detail) />
            <Passed detail />
            <h2>"The same from a shell"</h2>
            <ShellLine command />
        </Stage>
    }
}

/// The question that the button answers.
fn question(plan: &Plan, detail: &OptimizeDetail) -> Markup {
    match plan.files_to_rewrite {
        0 => view! {
            <b>"Nothing to pack."</b>
            " No two files of one partition are smaller than "<Bytes n=detail.min_bytes />", and none has many masked rows."
        },
        n => view! {
            <b>"Pack "{count_of(n, "file")}" into "{format::count(plan.files_to_write)}"?"</b>
            " That reads and writes "<Bytes n=plan.bytes_to_rewrite />", "
            {format::percent(plan.bytes_to_rewrite, detail.table_bytes)}
            " of the table's bytes. No row changes; readers go on undisturbed."
        },
    }
}

#[component]
fn Tiles(plan: Plan, detail: Arc<OptimizeDetail>) -> Markup {
    let predicted: u64 = detail.bins.iter().map(|bin| bin.predicted_bytes).sum();
    let masked: u64 = detail.bins.iter().map(|bin| bin.deleted_rows).sum();
    let fewer = plan.files_to_rewrite.saturating_sub(plan.files_to_write);
    view! {
        <dl class="tiles">
            {tile("Files fewer", view! { <b><Count n=fewer /></b> })}
            {tile("Rewritten", view! { <b><Bytes n=plan.bytes_to_rewrite /></b> <em class="soft">{format!("{} of the table", format::percent(plan.bytes_to_rewrite, detail.table_bytes))}</em> })}
            {tile("Written, as predicted", view! { <b><Bytes n=predicted /></b> })}
            {tile("Masked rows dropped", view! { <b><Count n=masked /></b> })}
            {tile("Aims at", view! { <b><Bytes n=detail.target_bytes /></b> <em class="soft">"small is under "<Bytes n=detail.min_bytes /></em> })}
        </dl>
    }
}

#[component]
fn Bins(detail: Arc<OptimizeDetail>) -> Markup {
    let count = detail.bins.len();
    if count == 0 {
        return Markup::Nothing;
    }
    let columns = vec![
        Column::new("Partition", "minmax(0,1fr)"),
        Column::new("Files", "76px").number().narrow("56px"),
        Column::new("Bytes", "96px").number().narrow("76px"),
        Column::new("Becomes", "96px").number(),
        Column::new("Rows", "110px").number().wide_only(),
        Column::new("Masked", "90px").number().wide_only(),
    ];
    let row = move |i: usize| match detail.bins.get(i) {
        Some(bin) => cells(bin),
        None => Markup::Nothing,
    };
    view! {
        <h2>"Bins" <small>{format::count(count as u64)}</small></h2>
        <Grid label="Bins: files that become one" columns count=Signal::stored(count) row />
    }
}

fn cells(bin: &Bin) -> Markup {
    let label = match bin.partition.is_empty() {
        true => "the whole table".to_owned(),
        false => partition_label(&bin.partition),
    };
    let paths: Vec<&str> = bin.paths.iter().take(20).map(String::as_str).collect();
    view! {
        <span role="gridcell" class="ell" title=format::visible(&paths.join("\n"))><Key text=label max=90 /></span>
        <span role="gridcell" class="n"><Count n=bin.paths.len() as u64 /></span>
        <span role="gridcell" class="n"><Bytes n=bin.bytes /></span>
        <span role="gridcell" class="n"><Bytes n=bin.predicted_bytes /></span>
        <span role="gridcell" class="n hide"><Count n=bin.rows /></span>
        <span role="gridcell" class="n hide"><Count n=bin.deleted_rows /></span>
    }
}

/// Small files that stay as they are, and why.
#[component]
fn Passed(detail: Arc<OptimizeDetail>) -> Markup {
    if detail.passed.is_empty() {
        return Markup::Nothing;
    }
    let lines: Markup = detail
        .passed
        .iter()
        .map(|passed| {
            view! {
                <tr>
                    <td>{format::capital(&format::visible(&passed.why))}</td>
                    <td class="n"><Count n=passed.files /></td>
                    <td><Key text=passed.example.clone() max=60 /></td>
                </tr>
            }
        })
        .collect();
    view! {
        <h2>"Left as they are"</h2>
        <Sheet label="Files that stay as they are" heads=&["Why", "Files", "Such as"]>{lines}</Sheet>
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_those_of_the_command_line() {
        let sizes = [
            ("134217728", 128 << 20),
            ("128KiB", 128 << 10),
            (" 1 gib ", 1 << 30),
            ("5mb", 5_000_000),
        ];
        for (text, bytes) in sizes {
            assert_eq!(size(text).unwrap(), bytes, "{text}");
        }
        for text in [
            "0",
            "",
            "-1",
            "1.5",
            "0.5",
            "x",
            "MiB",
            "18446744073709551615GiB",
        ] {
            let error = size(text).unwrap_err().to_string();
            assert!(error.contains("is not a size"), "{error}");
        }
    }
}
