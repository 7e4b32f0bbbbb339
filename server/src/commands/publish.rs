//! `tidemark publish`, `tidemark repoint`

use std::process::ExitCode;

use lake::hours::{Day, Slot, State};
use lake::plan::{Act, Outcome, PlanRequest, Published, PublishedOutcome};
use lake::table::Time;
use lake::{Error, Result};

use super::grid::pairs;
use super::text::{clean, count, shell, size};
use super::{Context, consent, fail, print, word};
use crate::setup;

/// Reasons that are printed; all are in the JSON.
const SHOWN: usize = 10;

/// An hour of a dataset.
#[derive(Debug, clap::Args)]
pub(super) struct HourArgs {
    /// A dataset of the configuration
    #[arg(value_name = "DATASET")]
    pub(super) dataset: String,
    /// The date, UTC
    #[arg(long, value_name = "D")]
    pub(super) date: Day,
    /// The hour, 0 to 23; none where the dataset has no hours
    #[arg(long, value_name = "H")]
    pub(super) hour: Option<u8>,
}

/// Arguments of `publish`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    hour: HourArgs,
    /// The run: what stands after run_id= in its keys
    #[arg(
        long,
        value_name = "RUN",
        required_unless_present = "empty",
        requires = "count"
    )]
    run: Option<String>,
    /// How many data objects the run's writer counted
    #[arg(long, value_name = "N", requires = "run")]
    count: Option<u64>,
    /// Replace a marker that still matches its run; without it such an hour stays as it is
    #[arg(long, requires = "run")]
    replace: bool,
    /// The run took in every loose key of the hour that is there now: they expire with the audit
    /// window; without it nobody knows, and they stay
    #[arg(long, requires = "run")]
    took_loose: bool,
    /// Declare that nothing happened
    #[arg(long, requires = "reason", conflicts_with = "run")]
    empty: bool,
    /// Why; it is written into the marker
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// What the rows mean [default: what the configuration says]
    #[arg(long, value_name = "S", requires = "run")]
    definition_version: Option<String>,
    /// The newest event, where the files do not say: RFC 3339 with an offset
    #[arg(long, value_name = "TIME", requires = "run")]
    max_event_time: Option<String>,
}

/// Arguments of `repoint`.
#[derive(Debug, clap::Args)]
pub(super) struct RepointArgs {
    #[command(flatten)]
    hour: HourArgs,
    /// The run to go back to
    #[arg(long, value_name = "RUN")]
    run: String,
    /// Why; it is written into the marker
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) async fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let max_event_time = args
        .max_event_time
        .as_deref()
        .map(Time::parse)
        .transpose()?;
    let request = PlanRequest {
        kind: Act::Publish,
        run: args.run.clone(),
        count: args.count,
        replace: args.replace,
        empty: args.empty,
        took_loose: args.took_loose,
        definition_version: args.definition_version.clone(),
        max_event_time,
        ..Default::default()
    };
    act(context, &args.hour, request, args.reason.clone()).await
}

pub(super) async fn repoint(context: &Context, args: &RepointArgs) -> Result<ExitCode> {
    let request = PlanRequest {
        kind: Act::Repoint,
        run: Some(args.run.clone()),
        ..Default::default()
    };
    act(context, &args.hour, request, args.reason.clone()).await
}

async fn act(
    context: &Context,
    hour: &HourArgs,
    mut request: PlanRequest,
    reason: Option<String>,
) -> Result<ExitCode> {
    (request.date, request.hour) = (Some(hour.date), hour.hour);
    let told = async {
        let placed = setup::dataset(&context.config, &hour.dataset)?;
        let consent = Some(consent(reason)?);
        context.act_on_hours(&placed, request, consent).await
    };
    let outcome = told
        .await
        .map_err(|e: Error| e.at("dataset", &hour.dataset))?;
    let slot = Slot {
        day: hour.date,
        hour: hour.hour,
    };
    finish(context, slot, outcome)
}

/// Tells what became of an hour, and ends as the contract says.
pub(super) fn finish(context: &Context, slot: Slot, outcome: Outcome) -> Result<ExitCode> {
    let Outcome { plan, applied } = outcome;
    let before = plan.hours.as_ref().and_then(|hours| hours.state);
    let mut told = Published::of(&plan, slot);
    let mut warnings = Vec::new();
    if let Some(applied) = applied {
        told = applied.hours.map_or(told, |hours| *hours);
        warnings = applied.warnings;
    }
    told.warnings.extend(warnings);
    told.way_back = way_back(context, slot, before, &told);
    match context.json {
        true => print::json(&told)?,
        false => print::out(&text(&told, slot))?,
    }
    if let Some(why) = &told.refused {
        return Ok(fail::refused(why));
    }
    match told.state {
        Some(state) if !state.lets_pass() => {
            let first = told.reasons.first();
            let why = first
                .map(|r| format!(": {}", r.message))
                .unwrap_or_default();
            Ok(fail::refused(&format!(
                "{}, and yet the hour is {}{why}",
                word(&told.outcome),
                state.words()
            )))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The command that points the marker back at the run that was replaced. A run that no longer is
/// what its marker says is none to go back to.
fn way_back(
    context: &Context,
    slot: Slot,
    before: Option<State>,
    told: &Published,
) -> Option<String> {
    let run = told.superseded_run.as_deref()?;
    let matched = before.is_some_and(|state| state.is_closed() || state == State::Racing);
    let hour = slot.hour.map(|hour| format!(" --hour {hour}"));
    matched.then(|| {
        format!(
            "{} repoint {} --date {}{} --run {}",
            context.tidemark(),
            shell(&told.dataset),
            slot.day,
            hour.unwrap_or_default(),
            shell(run)
        )
    })
}

fn text(told: &Published, slot: Slot) -> String {
    let field = |name: &str| {
        let marker = told.marker.as_ref()?;
        Some(clean(marker.get(name)?.as_str()?))
    };
    let mut rows = vec![
        ("dataset", clean(&told.dataset)),
        ("hour", slot.to_string()),
        ("outcome", word(&told.outcome)),
    ];
    let state = told.state.map(|state| state.words().to_owned());
    rows.extend(state.map(|state| ("state", state)));
    for (title, name) in [
        ("run", "run_id"),
        ("prefix", "prefix"),
        ("published", "published_at"),
    ] {
        rows.extend(field(name).map(|value| (title, value)));
    }
    if told.marker.is_some() {
        let median = told.median_bytes.map_or_else(|| "-".to_owned(), size);
        let objects = format!(
            "{}, {}, median {median}",
            count(told.objects),
            size(told.bytes)
        );
        rows.push(("objects", objects));
    }
    let superseded = told.superseded_run.as_deref();
    rows.extend(superseded.map(|run| ("replaced", format!("run {}", clean(run)))));
    rows.extend(told.registered.map(|registered| {
        let why = told.registration_error.as_deref().map(clean);
        let word = match registered {
            true => "yes".to_owned(),
            false => format!("no: {}", why.unwrap_or_default()),
        };
        ("registered", word)
    }));
    let mut out = pairs(&rows);
    if superseded.is_some() {
        out.push_str(&match &told.way_back {
            Some(command) => format!("\nthe way back: {command}\n"),
            None => "\nthere is no way back: the run that was replaced did not match its marker, or was \
                     not complete\n"
                .to_owned(),
        });
    }
    let message = told.message.as_deref();
    let message = message.filter(|_| told.outcome == PublishedOutcome::Unchanged);
    if let Some(message) = message {
        out.push_str(&format!("\n{}\n", clean(message)));
    }
    for reason in told.reasons.iter().take(SHOWN) {
        let key = reason
            .key
            .as_deref()
            .map(|key| format!(" ({})", clean(key)));
        out.push_str(&format!(
            "{}: {}{}\n",
            reason.state.words(),
            clean(&reason.message),
            key.unwrap_or_default()
        ));
    }
    super::warnings(&mut out, &told.warnings);
    out
}
