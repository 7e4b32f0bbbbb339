//! Where the repository, the built binary and the installed tools are.

use std::env;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the workspace")
}

/// Where `scripts/tools.sh` keeps what it installs.
pub fn cache() -> PathBuf {
    env::var_os("TIDEMARK_CACHE").map_or_else(
        || Path::new(&env::var_os("HOME").expect("HOME is set")).join(".cache/tidemark"),
        PathBuf::from,
    )
}

/// A program of the Python environment that holds the peers: `python`, `weed`, `sail`.
///
/// # Panics
/// If it is not there.
pub fn venv(program: &str) -> PathBuf {
    installed(cache().join("venv/bin").join(program))
}

/// The `tidemark` binary of the profile the tests were built in; `TIDEMARK_BIN` names another.
///
/// # Panics
/// If it is not there.
pub fn tidemark() -> PathBuf {
    if let Some(path) = env::var_os("TIDEMARK_BIN") {
        return PathBuf::from(path);
    }
    let this = env::current_exe().expect("the running test has a path");
    let profile = this.ancestors().nth(2).expect("tests lie in deps/");
    let tidemark = profile.join("tidemark");
    assert!(
        tidemark.exists(),
        "{} is missing: run `cargo build --workspace` first, or `make test`",
        tidemark.display()
    );
    tidemark
}

/// The file that holds axe, the accessibility checker.
///
/// # Panics
/// If it is not there.
pub fn axe() -> PathBuf {
    let lib = cache().join("venv/lib");
    let python = std::fs::read_dir(installed(lib))
        .expect("the environment can be listed")
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.join("site-packages").exists())
        .expect("the environment has a library folder");
    installed(python.join("site-packages/axe_playwright_python/axe.min.js"))
}

/// A fresh folder for output that is kept: `out/NAME` in the repository.
pub fn out(name: &str) -> PathBuf {
    let folder = repository().join("out").join(name);
    std::fs::create_dir_all(&folder).expect("out/ can be written");
    folder
}

fn installed(path: PathBuf) -> PathBuf {
    assert!(
        path.exists(),
        "{} is missing: run `scripts/tools.sh test`",
        path.display()
    );
    path
}
