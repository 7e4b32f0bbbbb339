//! The command line: one file a command.

mod check;
mod compact;
mod demo;
mod diff;
mod expire;
mod fail;
mod grid;
mod history;
mod hours;
mod layout;
mod lint;
mod optimize;
mod partitions;
mod pins;
mod print;
mod progress;
mod publish;
mod quarantine;
mod register;
mod restore;
mod serve;
mod snapshot;
mod text;
mod vacuum;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, Parser, Subcommand};
use lake::answer::Root;
use lake::host::SharedHost;
use lake::plan::{Outcome, Plan, PlanRequest};
use lake::table::{At, Time, Version};
use lake::{Error, Kind, Result};
use serde::Serialize;

use self::snapshot::files;
use crate::acts::{self, Asked, Consent, Limits};
use crate::audit;
use crate::config::Config;
use crate::datasets::Placed;
use crate::setup;
use crate::site::Embedded;

/// What every command knows.
#[derive(Clone, Debug)]
pub struct Context {
    /// One JSON document on standard output, and nothing else there.
    pub json: bool,
    /// The configuration.
    pub config: Config,
    /// The page that this binary carries.
    pub page: Embedded,
    /// The configuration file that was named, which a command to be typed names again.
    pub config_file: Option<PathBuf>,
}

impl Context {
    /// How a command to be typed begins, so that it means the same.
    fn tidemark(&self) -> String {
        match &self.config_file {
            Some(file) => format!("tidemark --config {}", text::clean(&file.to_string_lossy())),
            None => "tidemark".to_owned(),
        }
    }
}

/// An explorer for tables on object storage
#[derive(Debug, Parser)]
#[command(name = "tidemark", version)]
struct Cli {
    /// Print one JSON document and nothing else
    #[arg(long, global = true)]
    json: bool,
    /// Configuration file [default: ./tidemark.toml if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the web explorer over the configured lake, or over the locations named
    Serve(serve::Args),
    /// Write the sample lake and serve it
    Demo(demo::Args),
    /// List a table's commits, newest first
    History(history::Args),
    /// Show one version of a table
    Snapshot(snapshot::Args),
    /// Compare two versions of a table
    Diff(diff::Args),
    /// Show partitions, file sizes and small files of a table, or of a dataset's hours
    Layout(layout::Args),
    /// Write the statements that register a dataset's closed hours with a catalog
    Partitions(register::Args),
    /// Find what is wrong with zones, their settings and keys
    ///
    /// Of one DATASET also with the files of its newest hour, by their footers; what the contract has
    /// against the files of another hour is said when it is published or packed, and on its page
    Lint(lint::Args),
    /// Plan how a table goes back to an earlier version, and with --apply put it back
    Restore(restore::Args),
    /// Plan which objects no version needs any more, and with --apply delete them
    Vacuum(vacuum::Args),
    /// List what vacuums moved aside, and with --apply delete it for good
    Quarantine(quarantine::Args),
    /// Keep a version of a table, or a run of a dataset, under a name: nothing of ours deletes it
    Pin(pins::PinArgs),
    /// Take a pin away
    Unpin(pins::UnpinArgs),
    /// List the pins of a table or a dataset
    Pins(pins::Args),
    /// Plan how small files are packed into few, and with --apply rewrite them
    Optimize(optimize::Args),
    /// Show how the hours of a dataset stand, and up to when it is closed
    ///
    /// Exits with 0 whatever it shows, unless --fail-on-exceptions; a job asks `check`. Files are not
    /// read: what the contract has against them is said by `publish`, `compact`, the hour's page and,
    /// of the newest hour, `lint DATASET`
    Hours(hours::Args),
    /// Print what a reader may scan of an hour or a time, and fail where that is nothing
    Check(check::Args),
    /// Close an hour of a dataset at once: put the marker over a run that its writer counted
    ///
    /// Or declare that nothing happened. There is no --apply: it acts at once, and says what it
    /// replaced and the command that goes back
    Publish(publish::Args),
    /// Point an hour's marker at once back at a run that was published before
    ///
    /// There is no --apply: it acts at once, and says what it replaced and the command that goes back
    Repoint(publish::RepointArgs),
    /// Plan how an hour's objects are packed into a better run, and with --apply write and publish it
    Compact(compact::Args),
    /// Plan which superseded runs go, and with --apply delete them
    ExpireRuns(expire::Args),
}

/// The table a command is about.
#[derive(Debug, clap::Args)]
struct Table {
    /// Configured name, path, or URL (file, s3, gs, az, abfss)
    #[arg(value_name = "LOCATION")]
    location: String,
    /// The table was copied from where it was written: read recorded absolute locations under its
    /// recorded root from under this one. Delta records paths relative to the root; those need no
    /// such reading
    #[arg(long)]
    moved: bool,
}

impl Table {
    fn root(&self, context: &Context) -> Result<Root> {
        // Nothing that these commands read is recorded with the root in it.
        let _ = self.moved;
        setup::locate(&context.config, &self.location)
    }
}

/// Which version a command is about: the newest, unless one of these is given.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct AtArgs {
    /// This version
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    version: Option<Version>,
    /// The newest version committed at or before this instant: RFC 3339 with an offset
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

impl AtArgs {
    fn is_some(&self) -> bool {
        self.version.is_some() || self.at.is_some()
    }

    fn at(&self) -> Result<At> {
        Ok(match (self.version, self.at.as_deref()) {
            (Some(version), _) => At::Version(version),
            (None, Some(time)) => At::Time(Time::parse(time)?),
            (None, None) => At::Latest,
        })
    }
}

impl Context {
    /// Surroundings that show progress on a terminal, and tell it to a program.
    fn host(&self) -> SharedHost {
        Arc::new(progress::Bar::new(self.json))
    }
}

impl Context {
    /// Plans an act, and carries it out where there is consent. What came of it is written down
    /// where the configuration says where.
    async fn act(
        &self,
        root: &Root,
        request: PlanRequest,
        expect: Option<Version>,
        consent: Option<Consent>,
    ) -> Result<Outcome> {
        let limits = Limits::default();
        self.act_within(limits, root, request, expect, consent)
            .await
    }

    /// The same, where a vacuum may be as short as `limits` say.
    async fn act_within(
        &self,
        limits: Limits,
        root: &Root,
        request: PlanRequest,
        expect: Option<Version>,
        consent: Option<Consent>,
    ) -> Result<Outcome> {
        let host = self.host();
        let asked = Asked {
            request,
            as_of: acts::now(),
            expect,
            limits,
            sizes: self.config.sizes,
        };
        let act = acts::act(root, &asked, consent.as_ref(), &host);
        let Some(consent) = consent.as_ref().filter(|_| self.config.control.is_some()) else {
            let outcome = act.await?;
            if outcome.applied.is_some() && !self.json {
                eprintln!(
                    "no audit record: no configuration says where to keep them ([server] control)"
                );
            }
            return Ok(outcome);
        };
        let control = setup::control_of(&self.config)?;
        let audited = audit::Asked {
            table: root.location.clone(),
            request: asked.request.clone(),
            plan_id: String::new(),
            base_version: expect,
            consent: consent.clone(),
        };
        audit::audited(&control, &audited, act).await
    }
}

impl Context {
    /// Plans an act on a dataset, and carries it out where there is consent; written down likewise.
    async fn act_on_hours(
        &self,
        placed: &Placed,
        request: PlanRequest,
        consent: Option<Consent>,
    ) -> Result<Outcome> {
        let host = self.host();
        let asked = Asked {
            request,
            as_of: acts::now(),
            expect: None,
            limits: Limits::default(),
            sizes: self.config.sizes,
        };
        asked.check()?;
        let act = acts::hours::act(placed, &asked, consent.as_ref(), &host);
        let Some(consent) = consent.as_ref().filter(|_| self.config.control.is_some()) else {
            return act.await;
        };
        let control = setup::control_of(&self.config)?;
        let audited = audit::Asked {
            table: placed.dataset.name.clone(),
            request: asked.request.clone(),
            plan_id: String::new(),
            base_version: None,
            consent: consent.clone(),
        };
        audit::audited(&control, &audited, act).await
    }

    /// Writes down what was done to a table beside its log, where the configuration says where.
    async fn note(
        &self,
        root: &Root,
        what: &'static str,
        (version, reason): (Option<Version>, Option<String>),
        told: &Result<String>,
    ) -> Result<()> {
        if self.config.control.is_none() {
            return Ok(());
        }
        let note = audit::Note {
            table: root.location.clone(),
            by: user(),
            what,
            version,
            reason,
        };
        audit::noted(&setup::control_of(&self.config)?, note, told).await;
        Ok(())
    }
}

/// That whoever runs the command wants it done.
fn consent(reason: Option<String>) -> Result<Consent> {
    Ok(Consent {
        user: user(),
        reason: acts::bounded(reason)?,
        plan: None,
        over_appends: false,
    })
}

/// Who runs the command, as the system calls them.
fn user() -> Option<String> {
    let named = ["USER", "LOGNAME", "USERNAME"];
    let named = named.iter().find_map(|name| {
        let user = std::env::var(name).ok()?;
        (!user.is_empty()).then_some(user)
    });
    named.or_else(owner)
}

/// The name of whoever this process runs as. Containers and jobs set no variables.
#[cfg(unix)]
fn owner() -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let id = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == id).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn owner() -> Option<String> {
    None
}

/// A word of the contract, as its JSON spells it.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// What a person should know, below everything else.
fn warnings(out: &mut String, warnings: &[String]) {
    for warning in warnings {
        out.push_str(&format!("\nwarning: {}\n", text::clean(warning)));
    }
}

/// How a command ends whose plan may be refused: the plan is printed, and why in one line.
fn refused(plan: &Plan) -> Result<ExitCode> {
    match &plan.refused {
        None => Ok(ExitCode::SUCCESS),
        Some(why) => Ok(fail::refused(why)),
    }
}

/// Keys that a failure names; all are in the JSON.
const FAILED: usize = 3;

/// How an act ends that deletes: done, or with the keys that may still be there.
fn deleted(outcome: &Outcome) -> Result<ExitCode> {
    let failed = outcome.applied.as_ref().map_or(&[][..], |a| &a.failed);
    let Some(first) = failed.first() else {
        return refused(&outcome.plan);
    };
    let keys: Vec<&str> = failed.iter().take(FAILED).map(|f| f.key.as_str()).collect();
    let more = match failed.len().checked_sub(FAILED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    Ok(fail::undone(&format!(
        "{} may still be there ({}{more}): {}",
        text::counted(failed.len() as u64, "object"),
        keys.join(", "),
        first.why
    )))
}

/// Runs the command that the process was started with. `page` is what the binary carries.
pub fn main(page: Embedded) -> ExitCode {
    quiet_where_caught();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // A usage error has to be JSON too, before it is known what was meant.
    let json = arguments.iter().any(|argument| argument == "--json");
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return fail::usage(&error, named(&arguments).as_deref(), json),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(run(cli, page));
            // What was not waited for is not waited for here either.
            runtime.shutdown_background();
            result
        }
        Err(e) => Err(Error::new(Kind::Internal, "no runtime").because(e)),
    };
    match result {
        Ok(code) => code,
        Err(error) => fail::report(&error, json),
    }
}

/// The command that was asked for, as far as that can be told of arguments that make no sense.
fn named(arguments: &[OsString]) -> Option<String> {
    let all = Cli::command();
    let mut said = arguments.iter().skip(1);
    while let Some(argument) = said.next() {
        let argument = argument.to_str()?;
        // Its value may be called like a command.
        if argument == "--config" {
            said.next();
        } else if !argument.starts_with('-') {
            let known = all.find_subcommand(argument);
            return known.map(|command| command.get_name().to_owned());
        }
    }
    None
}

async fn run(cli: Cli, page: Embedded) -> Result<ExitCode> {
    let context = Context {
        json: cli.json,
        // The sample lake brings its own.
        config: match &cli.command {
            Command::Demo(_) => Config::default(),
            _ => Config::load(cli.config.as_deref())?,
        },
        page,
        config_file: cli.config.clone(),
    };
    match cli.command {
        Command::Serve(args) => serve::run(context, args).await,
        Command::Demo(args) => demo::run(context, args).await,
        Command::History(args) => about(&args.table, history::run(&context, &args)).await,
        Command::Snapshot(args) => about(&args.table, snapshot::run(&context, &args)).await,
        Command::Diff(args) => about(&args.table, diff::run(&context, &args)).await,
        Command::Layout(args) => about(&args.table, layout::run(&context, &args)).await,
        Command::Partitions(args) => register::run(&context, &args).await,
        Command::Lint(args) => lint::run(&context, &args).await,
        Command::Restore(args) => about(&args.table, restore::run(&context, &args)).await,
        Command::Vacuum(args) => about(&args.table, vacuum::run(&context, &args)).await,
        Command::Quarantine(args) => about(&args.table, quarantine::run(&context, &args)).await,
        Command::Pin(args) => about(&args.table, pins::pin(&context, &args)).await,
        Command::Unpin(args) => about(&args.table, pins::unpin(&context, &args)).await,
        Command::Pins(args) => about(&args.table, pins::run(&context, &args)).await,
        Command::Optimize(args) => about(&args.table, optimize::run(&context, &args)).await,
        Command::Hours(args) => hours::run(&context, &args).await,
        Command::Check(args) => check::run(&context, &args).await,
        Command::Publish(args) => publish::run(&context, &args).await,
        Command::Repoint(args) => publish::repoint(&context, &args).await,
        Command::Compact(args) => compact::run(&context, &args).await,
        Command::ExpireRuns(args) => expire::run(&context, &args).await,
    }
}

/// A command about a table, whose failures say which.
async fn about(table: &Table, command: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    let location = lake::error::redacted(&table.location);
    command.await.map_err(|e| e.at("location", location))
}

/// A decoder's panic that becomes an error is told as that error, once.
fn quiet_where_caught() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !lake::parquet::batches::catching() {
            print(panic);
        }
    }));
}
