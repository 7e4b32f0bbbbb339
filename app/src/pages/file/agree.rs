//! What the log says of the file beside what the file says of itself.

use std::sync::Arc;

use lake::table::partition_label;
use lake::wire::file::FileReport;
use leptos::prelude::*;

use crate::format;
use crate::markup::{IntoMarkup, Markup, view};
use crate::parts::{Bytes, Count, Key, When};

/// The two, line by line; lines that differ are marked.
#[component]
pub fn Agree(report: Arc<FileReport>) -> Markup {
    let file = &report.file;
    let recorded = file.rows.map(|rows| rows + file.deleted_rows);
    let rows_differ = recorded.is_some_and(|n| n != report.rows);
    let bytes_differ = file.bytes.is_some_and(|n| n != report.object_bytes);
    let groups = report.row_groups.len() as u64;
    let none = || view! { <span class="faint">"–"</span> };
    view! {
        <h2>"Log and footer"</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="What log and footer say">
        <table class="agree">
            <thead>
                <tr><td></td><th scope="col">"The log says"</th><th scope="col">"The file says"</th></tr>
            </thead>
            <tbody>
                <tr class:differs=rows_differ>
                    <th scope="row">"Rows"</th>
                    <td><Count n=recorded /></td>
                    <td><Count n=report.rows /> {differs(rows_differ)}</td>
                </tr>
                <tr class:differs=bytes_differ>
                    <th scope="row">"Bytes"</th>
                    <td><Bytes n=file.bytes /></td>
                    <td><Bytes n=report.object_bytes /> {differs(bytes_differ)}</td>
                </tr>
                <tr>
                    <th scope="row">"Masked by deletion vector"</th>
                    <td>{format::counted(file.deleted_rows, "row")}</td>
                    <td>{none()}</td>
                </tr>
                {(!file.deletes.is_empty()).then(|| view! {
                    <tr>
                        <th scope="row">"Deletion vector"</th>
                        <td>{file.deletes.iter().map(|d| view! { <Key text=d.clone() max=56 /> }).collect::<Markup>()}</td>
                        <td>{none()}</td>
                    </tr>
                })}
                <tr>
                    <th scope="row">"Partition"</th>
                    <td><Key text=partition_label(&file.partition) max=80 /></td>
                    <td>{none()}</td>
                </tr>
                <tr>
                    <th scope="row">"Put"</th>
                    <td><When at=file.modified minute=true /></td>
                    <td>{none()}</td>
                </tr>
                <tr>
                    <th scope="row">"Row groups"</th>
                    <td>{none()}</td>
                    <td><Count n=groups /></td>
                </tr>
            </tbody>
        </table>
        </div>
    }
}

fn differs(is: bool) -> Option<impl IntoMarkup> {
    is.then(|| view! { " " <span class="badge go">"differs"</span> })
}
