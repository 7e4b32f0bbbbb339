//! `tidemark`: see [`server::commands`].

use std::process::ExitCode;

use rust_embed::Embed;

/// What Trunk built. A debug build reads it from disk at run time; a release carries it. It is here
/// so that another page means another link and not another compilation of the server. Cargo sees
/// the files that were there when this was compiled; `make site` touches it for those that were not.
#[derive(Embed)]
#[folder = "../dist/"]
#[allow_missing = true]
struct Dist;

fn main() -> ExitCode {
    server::commands::main(Dist::get)
}
