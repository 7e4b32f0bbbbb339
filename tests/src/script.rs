//! The built `tidemark` as a script runs it, in a folder of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::place;

/// A folder with a `tidemark.toml`, and an environment with nothing in it that leads elsewhere.
#[derive(Debug)]
pub struct Script {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Script {
    /// A folder whose configuration says this.
    pub fn new(
        config: &str,
        environment: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        fs::write(folder.path().join("tidemark.toml"), config).expect("it can be written");
        let environment = environment.into_iter();
        Self {
            folder,
            environment: environment.map(|(k, v)| (k.to_owned(), v)).collect(),
        }
    }

    /// The sample lake, which the test may change.
    pub fn demo() -> Self {
        let demo = Self {
            folder: TempDir::new().expect("a temporary folder can be made"),
            environment: Vec::new(),
        };
        let written = demo.run(&["demo", "--no-serve", "--dir", "."]);
        assert_eq!(written.code, 0, "{written:?}");
        demo
    }

    /// Where the commands run.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `tidemark`.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        self.started(place::tidemark(), arguments)
    }

    /// Runs a program that finds `tidemark` on its path.
    pub fn started(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Ended {
        let tidemark = place::tidemark();
        let mut path = vec![PathBuf::from(
            tidemark.parent().expect("it lies in a folder"),
        )];
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        path.extend(std::env::split_paths(&inherited));
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::join_paths(path).expect("folders"))
            .env("TMPDIR", self.folder.path())
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .output()
            .expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes text");
        Ended {
            code: output.status.code().expect("it ended by itself"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Runs `tidemark --json`, which has to end with `code`, and gives its document.
    pub fn json(&self, arguments: &[&str], code: i32) -> Value {
        let ended = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ended.code, code, "{arguments:?}: {ended:?}");
        serde_json::from_str(&ended.out).expect("one document")
    }
}
