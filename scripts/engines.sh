#!/usr/bin/env bash
# The tests against what needs a JVM, Go or Node: installs each once, then runs the tests whose names
# begin with `engines`, which a plain `cargo test` leaves out.
set -euo pipefail

cd "$(dirname "$0")/.."
scripts/tools.sh test engines

cargo build --workspace --quiet
cargo test -p tests --test integration -- --ignored --nocapture engines
