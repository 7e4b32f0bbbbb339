//! Tells cargo that a release carries the built page: it sees no file appear in a folder by itself.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A debug build reads the page from disk when asked for it.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed=../dist");
    }
}
