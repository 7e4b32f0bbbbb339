//! `tidemark serve`

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lake::{Error, Kind, Result};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::Context;
use crate::{routes, setup};

/// How long a server that is told to stop waits for what goes on in it; until it is told again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Paths or URLs, each a zone [default: the configuration's zones]
    #[arg(value_name = "LOCATION")]
    locations: Vec<String>,
    #[command(flatten)]
    listen: Listen,
}

/// Where to listen.
#[derive(Debug, clap::Args)]
pub(super) struct Listen {
    /// Address and port; port 0 takes a free one [default: 127.0.0.1:4800]
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<SocketAddr>,
}

pub(super) async fn run(mut context: Context, args: Args) -> Result<ExitCode> {
    if !args.locations.is_empty() {
        context.config = setup::config_of_locations(context.config, &args.locations)?;
    }
    if context.config.zones.is_empty() {
        return Err(Error::invalid(
            "there is nothing to serve: name a location, or write a tidemark.toml with a [[zone]], \
             or try `tidemark demo`",
        ));
    }
    serve(context, &args.listen, serde_json::json!({})).await
}

/// Serves until the process is told to stop. `said` is printed with the address under `--json`.
pub(super) async fn serve(
    context: Context,
    listen: &Listen,
    mut said: serde_json::Value,
) -> Result<ExitCode> {
    log();
    let address = listen.listen.unwrap_or(context.config.listen);
    let app = Arc::new(setup::app_of(&context.config, context.page).await?);
    app.access.check_listen(address)?;
    let listener = TcpListener::bind(address).await.map_err(|e| {
        let why = format!(
            "cannot listen on {address}: choose another with --listen, or 127.0.0.1:0 for a free one"
        );
        Error::invalid(why).because(e).at("server.listen", address)
    })?;
    let fault = |e: std::io::Error| Error::new(Kind::Internal, "the server ended").because(e);
    let url = format!("http://{}/", listener.local_addr().map_err(fault)?);
    if context.json {
        if let Some(said) = said.as_object_mut() {
            said.insert("url".to_owned(), url.clone().into());
        }
        super::print::json(&said)?;
    }
    eprintln!("Serving the lake at {url}");
    // What the first visitor would wait for.
    let tables = Arc::clone(&app.tables);
    tokio::spawn(async move { tables.report(|_| true).await });
    let jobs = Arc::clone(&app.jobs);
    let (begin, begun) = oneshot::channel();
    let stopping = Arc::clone(&jobs);
    let told = async move {
        stopped().await;
        stopping.stop();
        // Whoever waits for it waits below.
        let _ = begin.send(());
    };
    let served = async {
        axum::serve(listener, routes::router(app))
            .with_graceful_shutdown(told)
            .await
            .map_err(fault)?;
        // Jobs stop between steps, and say in the log and in the audit how far they came.
        jobs.idle().await;
        Ok(ExitCode::SUCCESS)
    };
    let impatient = async {
        if begun.await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::select! {
            () = tokio::time::sleep(PATIENCE) => {}
            () = stopped() => {}
        }
    };
    tokio::select! {
        ended = served => ended,
        () = impatient => {
            eprintln!("tidemark: what was still being done was not waited for");
            Ok(ExitCode::from(1))
        }
    }
}

/// Resolves when the process is asked to stop.
async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}

/// Logs to standard error: warnings, or what `TIDEMARK_LOG` says (`debug`, `info`, …).
fn log() {
    let level = std::env::var("TIDEMARK_LOG").ok();
    let level = level.and_then(|text| text.parse().ok());
    let _ = tracing_subscriber::fmt()
        .with_max_level(level.unwrap_or(tracing::Level::WARN))
        .with_writer(std::io::stderr)
        .try_init();
}
