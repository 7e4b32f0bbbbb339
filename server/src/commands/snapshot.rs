//! `tidemark snapshot`

use std::process::ExitCode;

use lake::answer;
use lake::schema::Field;
use lake::table::partition_label;
use lake::wire::SnapshotReport;
use lake::{Error, Kind, Result};

use super::grid::{Grid, Side, pairs};
use super::text::{clean, count, count_or, size, time};
use super::{AtArgs, Context, Table, print};

/// Arguments of `snapshot`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) table: Table,
    #[command(flatten)]
    at: AtArgs,
    /// List the active files, sorted by path
    #[arg(long)]
    files: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let root = args.table.root(context)?;
    let report = answer::snapshot(&root, args.at.at()?, args.files, &context.host()).await?;
    match context.json {
        true => print::json(&report)?,
        false => print::out(&text(&report)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(report: &SnapshotReport) -> Result<String> {
    let mut facts = vec![
        ("location", clean(&report.location)),
        ("format", super::word(&report.format)),
        ("version", report.version.to_string()),
        ("committed", time(report.timestamp)),
        ("files", count(report.files)),
        (
            "size",
            format!("{} ({} bytes)", size(report.bytes), count(report.bytes)),
        ),
        ("rows", count_or(report.rows)),
    ];
    if report.deleted_rows > 0 {
        facts.push(("masked rows", count(report.deleted_rows)));
    }
    if !report.partition_columns.is_empty() {
        facts.push((
            "partitioned by",
            clean(&report.partition_columns.join(", ")),
        ));
    }
    if let Some(name) = &report.name {
        facts.push(("name", clean(name)));
    }
    if let Some(description) = &report.description {
        facts.push(("description", clean(description)));
    }
    let mut out = pairs(&facts);
    let mut schema = Grid::new(&[
        ("COLUMN", Side::Left),
        ("TYPE", Side::Left),
        ("NULLS", Side::Left),
    ]);
    add_fields(&mut schema, &report.schema.fields, 0);
    out.push_str(&format!("\n{}", schema.render()));
    let mut settings = Grid::new(&[("PROPERTY", Side::Left), ("VALUE", Side::Left)]);
    for (key, value) in &report.properties {
        settings.row([clean(key), clean(value)]);
    }
    for (key, value) in &report.protocol {
        let value = serde_json::to_string(value)
            .map_err(|e| Error::new(Kind::Internal, "the protocol is not JSON").because(e))?;
        settings.row([clean(key), clean(&value)]);
    }
    out.push_str(&format!("\n{}", settings.render()));
    if let Some(paths) = &report.paths {
        out.push_str(&format!("\n{}", super::files(paths)));
    }
    super::warnings(&mut out, &report.warnings);
    Ok(out)
}

fn add_fields(grid: &mut Grid, fields: &[Field], depth: usize) {
    for field in fields {
        let nulls = if field.nullable { "yes" } else { "no" };
        grid.row([
            format!("{}{}", "  ".repeat(depth), clean(&field.name)),
            clean(&field.data_type),
            nulls.to_owned(),
        ]);
        add_fields(grid, &field.fields, depth + 1);
    }
}

/// Files, one a line.
pub(super) fn files(files: &[lake::table::DataFile]) -> String {
    let mut grid = Grid::new(&[
        ("PATH", Side::Left),
        ("SIZE", Side::Right),
        ("ROWS", Side::Right),
        ("MASKED", Side::Right),
        ("PARTITION", Side::Left),
    ]);
    for file in files {
        grid.row([
            clean(&file.path),
            file.bytes.map_or_else(|| "-".to_owned(), size),
            count_or(file.rows),
            count(file.deleted_rows),
            match file.partition.is_empty() {
                true => String::new(),
                false => clean(&partition_label(&file.partition)),
            },
        ]);
    }
    grid.render()
}
