//! The columns as a tree: types, nulls, notes, and what they are called in the files.

use std::sync::Arc;

use lake::schema::Field;
use lake::wire::SnapshotReport;
use leptos::prelude::*;

use crate::copy::csv;
use crate::format;
use crate::markup::{Each, Markup, view};
use crate::pages::common::{Here, csv_button, json_link};
use crate::parts::{Badge, Key, Text, TreeRow};
use crate::signals::RwSignal;

/// Columns of a level that are shown before the button.
const FEW: usize = 200;

/// The tree.
#[component]
pub fn SchemaTree(here: Here, report: Arc<SnapshotReport>) -> Markup {
    let fields = Arc::new(report.schema.fields.clone());
    if fields.is_empty() {
        return view! { <p class="soft">"The table has no columns"</p> };
    }
    let mapped = any(&fields, &|f| f.id.is_some() || f.physical.is_some());
    let noted = any(&fields, &|f| !f.notes.is_empty());
    let partitions = Arc::new(report.partition_columns.clone());
    let csv = {
        let fields = Arc::clone(&fields);
        let name = format!("{}-schema", here.name());
        csv_button(name, "Save the columns as CSV", move || as_table(&fields))
    };
    let parameters = format!("version={}", report.version);
    let json = json_link(
        here,
        "snapshot",
        &parameters,
        "The version with its columns as JSON",
    );
    let leaves = report.schema.leaves();
    let top = fields.len() as u64;
    let nested = (top != leaves).then(|| format!(", {} at the top", format::count(top)));
    let said = format!(
        "{}{}",
        format::counted(leaves, "column"),
        nested.unwrap_or_default()
    );
    let columns = Shown {
        mapped,
        noted,
        partitions,
    };
    view! {
        <div class="list-bar">
            <span class="soft s">{said}</span>
            <span class="export">{csv} {json}</span>
        </div>
        <div class="scroll" tabindex="0" role="region" aria-label="Columns of the table">
            <table class="tree-table schema">
                <thead>
                    <tr>
                        <th scope="col">"Column"</th>
                        <th scope="col">"Type"</th>
                        <th scope="col">"Nulls"</th>
                        {mapped.then(|| view! { <th scope="col">"In the files"</th> <th scope="col" class="n">"Id"</th> })}
                        {noted.then(|| view! { <th scope="col">"Notes"</th> })}
                    </tr>
                </thead>
                <tbody>{level(fields, 0, columns)}</tbody>
            </table>
        </div>
    }
}

/// Which columns the table of columns has.
#[derive(Clone)]
struct Shown {
    mapped: bool,
    noted: bool,
    partitions: Arc<Vec<String>>,
}

fn level(fields: Arc<Vec<Field>>, depth: usize, shown: Shown) -> Markup {
    let limit = RwSignal::new(FEW);
    let total = fields.len();
    let width = 3 + if shown.mapped { 2 } else { 0 } + usize::from(shown.noted);
    let each = {
        let fields = Arc::clone(&fields);
        move || {
            (0..total.min(limit.get()))
                .map(|i| (i, Arc::clone(&fields)))
                .collect::<Vec<_>>()
        }
    };
    let make = move |(i, fields): (usize, Arc<Vec<Field>>)| match fields.get(i) {
        Some(field) => branch(field, depth, shown.clone()),
        None => Markup::Nothing,
    };
    let rest = move || {
        let rest = total.saturating_sub(limit.get());
        (rest > 0).then(|| view! {
            <tr>
                <td colspan=width.to_string()>
                    <button type="button" class="link" on:click=move |_| limit.update(|n| *n += FEW)>
                        {format!("{} more", format::counted(rest as u64, "column"))}
                    </button>
                </td>
            </tr>
        })
    };
    view! { <Each each key=|(i, _)| *i children=make /> {rest} }
}

fn branch(field: &Field, depth: usize, shown: Shown) -> Markup {
    let nested = !field.fields.is_empty();
    // Two levels say what a table is about; what is deeper opens when it is wanted.
    let open = nested.then(|| RwSignal::new(depth < 2 && field.fields.len() <= FEW));
    let name = format::shorten(&field.name, 80);
    let partition = depth == 0 && shown.partitions.contains(&field.name);
    let below = {
        let fields = Arc::new(field.fields.clone());
        let shown = shown.clone();
        move || {
            open.is_some_and(|open| open.get())
                .then(|| level(Arc::clone(&fields), depth + 1, shown.clone()))
        }
    };
    let notes = field.notes.iter().map(|(key, value)| view! {
        <div>
            {(key != "comment").then(|| view! { <span class="soft mono">{format::shorten(key, 60)} " "</span> })}
            <Text text=value.clone() max=160 />
        </div>
    });
    view! {
        <tr>
            <td>
                <TreeRow depth open name=field.name.clone()>
                    <span class="key">{name}</span>
                    {partition.then(|| view! { " " <Badge text="partition" title="The table is partitioned by this column" /> })}
                </TreeRow>
            </td>
            <td class="mono">{format::shorten(&field.data_type, 80)}</td>
            <td class="soft">{if field.nullable { "allowed" } else { "never" }}</td>
            {shown.mapped.then(|| view! {
                <td class="mono soft">{field.physical.clone().map(|text| view! { <Key text max=14 /> })}</td>
                <td class="n soft">{field.id.map(|id| id.to_string())}</td>
            })}
            {shown.noted.then(|| view! { <td class="notes">{notes.collect::<Markup>()}</td> })}
        </tr>
        {below}
    }
}

fn any(fields: &[Field], is: &impl Fn(&Field) -> bool) -> bool {
    fields.iter().any(|f| is(f) || any(&f.fields, is))
}

/// One line a field, nested ones by their dotted path.
fn as_table(fields: &[Field]) -> String {
    fn walk(
        fields: &[Field],
        above: &str,
        rows: &mut Vec<Vec<Option<std::borrow::Cow<'static, str>>>>,
    ) {
        for field in fields {
            let path = if above.is_empty() {
                field.name.clone()
            } else {
                format!("{above}.{}", field.name)
            };
            rows.push(vec![
                Some(path.clone().into()),
                Some(field.data_type.clone().into()),
                Some(field.nullable.to_string().into()),
                field.physical.clone().map(Into::into),
                field.id.map(|id| id.to_string().into()),
            ]);
            walk(&field.fields, &path, rows);
        }
    }
    let mut rows = Vec::new();
    walk(fields, "", &mut rows);
    csv(&["column", "type", "nullable", "physical", "id"], rows)
}
