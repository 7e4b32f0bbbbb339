//! How a command fails: one line for people, one document for programs, one exit code.

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use lake::{Error, Kind};

use super::text::clean;
use crate::failure::ErrorBody;

/// The exit code of a kind of error.
pub(super) fn code_of(kind: Kind) -> u8 {
    match kind {
        Kind::NotFound => 1,
        Kind::Invalid => 2,
        Kind::Conflict | Kind::Cancelled => 3,
        Kind::Denied | Kind::Unreachable => 4,
        _ => 5,
    }
}

/// Says what went wrong, on both outputs, and gives the exit code.
pub(super) fn report(error: &Error, json: bool) -> ExitCode {
    if json {
        let body = serde_json::to_string(&ErrorBody::from(error)).unwrap_or_default();
        let _ = writeln!(std::io::stdout(), "{body}");
    }
    let line = format!("tidemark: {error}{}", advice(error));
    let _ = writeln!(std::io::stderr(), "{}", one_line(&line));
    ExitCode::from(code_of(error.kind()))
}

/// Says why a plan is refused; the plan itself is on standard output.
pub(super) fn refused(why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "tidemark: {}", one_line(why));
    ExitCode::from(1)
}

/// Says what whoever reads the answer should know.
pub(super) fn warn(what: &str) {
    let _ = writeln!(std::io::stderr(), "tidemark: {}", one_line(what));
}

/// Says what of an act was not done; what was is on standard output.
pub(super) fn undone(what: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "tidemark: {}", one_line(what));
    ExitCode::from(code_of(Kind::Unreachable))
}

/// What to do about a kind of error, where the sentence does not say it.
fn advice(error: &Error) -> &'static str {
    match error.kind() {
        // Credentials do not help.
        Kind::Denied if error.message().contains("the disk ") => "",
        Kind::Unreachable if error.message() == "no such directory" => {
            "; check the `url` of its zone"
        }
        Kind::Denied => "; check the store's credentials in the environment and in [zone.store]",
        Kind::Unreachable => "; check the store's endpoint and the network, then try again",
        Kind::Conflict => "; look at what arrived, then plan again",
        Kind::Damaged => "; the log can be read up to there, and from a checkpoint after it",
        Kind::Unsupported => "; read it with the engine that wrote it",
        Kind::Internal => "; this is a fault of tidemark: please report it",
        _ => "",
    }
}

/// Help and version are what was asked for; everything else is a usage error.
/// `command` is what was asked for, where that is one of ours.
pub(super) fn usage(error: &clap::Error, command: Option<&str>, json: bool) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = write!(std::io::stdout(), "{}", error.render());
            return ExitCode::SUCCESS;
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let error = Error::invalid("no command is given: `tidemark --help` lists them");
            return report(&error, json);
        }
        _ => {}
    }
    let rendered = error.render().to_string();
    let message = rendered.trim_start_matches("error: ");
    let message = message.split("\n\nUsage").next().unwrap_or(message);
    let message = message.split("\n\nFor more").next().unwrap_or(message);
    let help = command.map_or_else(
        || "tidemark --help".to_owned(),
        |command| format!("tidemark {command} --help"),
    );
    let error = Error::invalid(format!("{}; see `{help}`", one_line(message)));
    report(&error, json)
}

/// Text on one line, with what would draw on the screen shown and not obeyed.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clean(&words.join(" "))
}
