//! The real binary, serving the sample lake or what a test has made.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};

use tempfile::TempDir;

use crate::place;
use crate::process::{Process, free_ports};

/// A running `tidemark`.
#[derive(Debug)]
pub struct Served {
    url: String,
    process: Process,
    folder: Option<TempDir>,
}

impl Served {
    /// The sample lake that tests running at once share; nobody may change it.
    pub fn demo() -> Arc<Self> {
        static SHARED: Mutex<Weak<Served>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(|poison| poison.into_inner());
        shared.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Self::own_demo());
            *shared = Arc::downgrade(&started);
            started
        })
    }

    /// A sample lake for one test, which may change it.
    pub fn own_demo() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let mut command = Command::new(place::tidemark());
        command.arg("demo").arg("--dir").arg(folder.path());
        Self::start(command, Some(folder))
    }

    /// Where the sample lake lies.
    pub fn demo_folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(TempDir::path)
    }

    /// The tables below a folder, with the page that was built into another one.
    pub fn folder(folder: &Path, page: &Path) -> Self {
        let mut command = Command::new(place::tidemark());
        command.arg("serve").arg(folder).env("TIDEMARK_DIST", page);
        Self::start(command, None)
    }

    /// What the configuration file says.
    pub fn config(
        file: &Path,
        environment: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        let mut command = Command::new(place::tidemark());
        command
            .arg("serve")
            .arg("--config")
            .arg(file)
            .envs(environment);
        Self::start(command, None)
    }

    fn start(mut command: Command, folder: Option<TempDir>) -> Self {
        let [port] = free_ports();
        command.arg("--listen").arg(format!("127.0.0.1:{port}"));
        let mut process = Process::start(&mut command);
        process.wait_for_port(port);
        let url = format!("http://127.0.0.1:{port}");
        Self {
            url,
            process,
            folder,
        }
    }

    /// The address, followed by a path that starts with a slash.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Ends it as a power cut does: it cannot say or finish anything.
    pub fn kill(self) {
        // SIGKILL, and it is gone when this returns.
        drop(self);
    }

    /// The program, to ask how it is.
    pub fn process(&self) -> &Process {
        &self.process
    }
}
