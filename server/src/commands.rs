//! The command line: one file a command.

mod fail;
mod print;
mod serve;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lake::Result;

use crate::config::Config;

/// What every command knows.
#[derive(Clone, Debug)]
pub struct Context {
    /// One JSON document on standard output, and nothing else there.
    pub json: bool,
    /// The configuration.
    pub config: Config,
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
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // A usage error has to be JSON too, before it is known what was meant.
    let json = arguments.iter().any(|argument| argument == "--json");
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return fail::usage(&error, json),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(cli)),
        Err(e) => Err(lake::Error::new(lake::Kind::Internal, "no runtime").because(e)),
    };
    match result {
        Ok(code) => code,
        Err(error) => fail::report(&error, json),
    }
}

async fn run(cli: Cli) -> Result<ExitCode> {
    let context = Context {
        json: cli.json,
        config: Config::default(),
    };
    match cli.command {
        Command::Serve(args) => serve::run(context, args).await,
    }
}
