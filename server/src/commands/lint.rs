//! `tidemark lint`

use std::process::ExitCode;

use lake::hours::lint as rules;
use lake::hours::lint::worst_first;
use lake::hours::{Dataset, dataset::MarkerRule};
use lake::wire::Severity;
use lake::wire::hours::{LintFinding, LintReport};
use lake::{Error, Result};

use super::grid::{Grid, Side};
use super::text::clean;
use super::{Context, print, word};
use crate::{acts, lint, setup};

/// Arguments of `lint`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this dataset and its zone [default: everything that is declared]
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    /// Only judge this key or URL, without a store: for the check of a sink's configuration; may be
    /// given several times
    #[arg(long = "key", value_name = "KEY", conflicts_with = "lifecycle")]
    keys: Vec<String>,
    /// Print the lifecycle configuration that the bucket of this zone should have
    #[arg(long, value_name = "ZONE", conflicts_with = "dataset")]
    lifecycle: Option<String>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    if let Some(zone) = &args.lifecycle {
        return lifecycle(context, zone);
    }
    let mut found = match args.keys.is_empty() {
        false => judge_keys(context, args.dataset.as_deref(), &args.keys)?,
        true => everything(context, args.dataset.as_deref()).await?,
    };
    worst_first(&mut found);
    let wrong = found.iter().any(|f| f.severity == Severity::Error);
    match context.json {
        true => print::json(&LintReport { findings: found })?,
        false => print::out(&text(&found))?,
    }
    if !context.json && args.keys.is_empty() && args.dataset.is_none() {
        eprintln!(
            "not checked: files against the contracts of their datasets; `{} lint DATASET` reads \
             the footers of the newest hour",
            context.tidemark()
        );
    }
    Ok(match wrong {
        true => ExitCode::from(1),
        false => ExitCode::SUCCESS,
    })
}

/// Declarations, exported settings and the newest keys.
async fn everything(context: &Context, only: Option<&str>) -> Result<Vec<LintFinding>> {
    let config = &context.config;
    let placed = match only {
        Some(name) => vec![setup::dataset(config, name)?],
        None => {
            let lake = setup::lake_of(config);
            let names = config.datasets.iter();
            names
                .map(|dataset| {
                    let placed = lake.datasets.placed(&dataset.name);
                    placed.map_err(setup::no_store)
                })
                .collect::<Result<_>>()?
        }
    };
    let datasets: Vec<&Dataset> = config.datasets.iter().collect();
    let zones = lint::declared(&config.zones);
    let mut found = rules::lint(&zones, &datasets);
    if let Some(one) = placed.first().filter(|_| only.is_some()) {
        let dataset = &one.dataset;
        found.retain(|finding| match &finding.dataset {
            Some(name) => *name == dataset.name,
            None => finding.zone.as_deref() == Some(&dataset.zone),
        });
    }
    let now = acts::now();
    found.extend(lint::stored(&placed, &zones, now, &context.host()).await);
    for one in placed.iter().filter(|_| only.is_some()) {
        found.extend(lint::files(one, now, &context.host()).await);
    }
    Ok(found)
}

fn judge_keys(context: &Context, only: Option<&str>, keys: &[String]) -> Result<Vec<LintFinding>> {
    let datasets: Vec<&Dataset> = match only {
        Some(name) => {
            let all = context.config.datasets.iter();
            let named: Vec<&Dataset> = all.filter(|dataset| dataset.name == name).collect();
            if named.is_empty() {
                return Err(setup::no_dataset(&context.config, name));
            }
            named
        }
        None => context.config.datasets.iter().collect(),
    };
    let other = undeclared();
    let mut found = Vec::new();
    for key in keys {
        if key.trim().is_empty() {
            return Err(Error::invalid("--key names no key"));
        }
        found.extend(rules::key(&datasets, &other, key));
    }
    Ok(found)
}

/// What is taken of a key that no declared dataset has: hours of days, and our banned names.
fn undeclared() -> Dataset {
    Dataset {
        name: String::new(),
        zone: String::new(),
        url: String::new(),
        prefix: String::new(),
        partition: ["event_date", "hour"].map(str::to_owned).to_vec(),
        marker: MarkerRule {
            kind: Default::default(),
            template: String::new(),
            whole_day: false,
        },
        grace: 0,
        every_hour: false,
        first: None,
        banned_keys: crate::config::BANNED
            .iter()
            .map(|name| (*name).to_owned())
            .collect(),
        event_time: None,
        grain: Vec::new(),
        prohibited_columns: Vec::new(),
        columns: Default::default(),
        owner: None,
        publisher: None,
        compaction_owner: None,
        stream: None,
        definition_version: None,
        budget: Default::default(),
        retention: Default::default(),
        complete: None,
        metastore: None,
        reads: Vec::new(),
    }
}

/// Rules as `aws s3api put-bucket-lifecycle-configuration` takes them; notes on standard error.
fn lifecycle(context: &Context, name: &str) -> Result<ExitCode> {
    let zones = lint::declared(&context.config.zones);
    let zone = zones.iter().find(|zone| zone.name == name);
    let zone = zone.ok_or_else(|| {
        Error::invalid("the configuration declares no such zone").at("zone", name)
    })?;
    let datasets: Vec<&Dataset> = context.config.datasets.iter().collect();
    let wanted = rules::lifecycle(zone, &zones, &datasets);
    for note in &wanted.notes {
        eprintln!("note: {}", clean(note));
    }
    match context.json {
        true => print::json(&wanted.configuration)?,
        false => print::out(&format!("{:#}\n", wanted.configuration))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(found: &[LintFinding]) -> String {
    let mut grid = Grid::new(&[
        ("SEVERITY", Side::Left),
        ("RULE", Side::Left),
        ("OF", Side::Left),
        ("WHERE", Side::Left),
        ("OWNER", Side::Left),
        ("FINDING", Side::Left),
    ]);
    for finding in found {
        let of = finding.dataset.as_deref().or(finding.zone.as_deref());
        let or_dash = |text: Option<&str>| clean(text.unwrap_or("-"));
        grid.row([
            word(&finding.severity),
            clean(&finding.rule),
            or_dash(of.filter(|of| !of.is_empty())),
            or_dash(finding.location.as_deref()),
            or_dash(finding.owner.as_deref()),
            clean(&finding.message),
        ]);
    }
    match found.is_empty() {
        true => "no findings\n".to_owned(),
        false => grid.render(),
    }
}
