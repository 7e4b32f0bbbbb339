//! `tidemark`: see [`server::commands`].

use std::process::ExitCode;

fn main() -> ExitCode {
    server::commands::main()
}
