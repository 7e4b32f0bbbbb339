//! `tidemark demo`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use lake::table::Time;
use lake::{Error, Kind, Result};

use super::serve::{Listen, serve};
use super::{Context, print};
use crate::config::Config;
use crate::demo;

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folder to write into, which must be empty [default: a fresh one under the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    listen: Listen,
    /// Only write the lake
    #[arg(long)]
    no_serve: bool,
}

pub(super) async fn run(mut context: Context, args: Args) -> Result<ExitCode> {
    let dir = match args.dir {
        Some(dir) => dir,
        None => fresh_folder()?,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = Time(now.map_or(0, |since| since.as_millis() as i64));
    let folder = dir.clone();
    let written = tokio::task::spawn_blocking(move || demo::write(&folder, now)).await;
    let written = written
        .map_err(|e| Error::new(Kind::Internal, "the sample lake was not written").because(e))??;
    let dir = dir.canonicalize().map_err(|e| unwritten(&dir, e))?;
    let file = dir.join("tidemark.toml");
    std::fs::write(&file, &written.configuration).map_err(|e| unwritten(&file, e))?;
    let told = serde_json::json!({
        "dir": dir.display().to_string(),
        "config": file.display().to_string(),
        "tables": written.tables.iter().map(|table| table.name).collect::<Vec<_>>(),
        "datasets": written.datasets,
    });
    let said = format!(
        "Wrote the sample lake into {}\nLook at it with: tidemark history users --config {}\n",
        dir.display(),
        file.display()
    );
    if args.no_serve {
        match context.json {
            true => print::json(&told)?,
            false => print::out(&said)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    eprint!("{said}");
    context.config = Config::load(Some(&file))?;
    serve(context, &args.listen, told).await
}

/// A folder that nobody has used.
fn fresh_folder() -> Result<PathBuf> {
    let parent = std::env::temp_dir();
    let process = std::process::id();
    let mut names = (0..).map(|n| match n {
        0 => format!("tidemark-demo-{process}"),
        n => format!("tidemark-demo-{process}-{n}"),
    });
    loop {
        let Some(name) = names.next() else {
            return Err(Error::new(Kind::Internal, "no folder for the sample lake"));
        };
        let folder = parent.join(name);
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(unwritten(&folder, e)),
        }
    }
}

fn unwritten(path: &Path, error: std::io::Error) -> Error {
    Error::invalid("the sample lake cannot be written here: name a folder with --dir")
        .because(error)
        .at("key", path.display())
}
