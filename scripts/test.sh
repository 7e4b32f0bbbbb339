#!/usr/bin/env bash
# Every test that needs no JVM and no Go, in one profile, so that nothing is compiled twice.
set -euo pipefail

cd "$(dirname "$0")/.."

make site
# The browser tests start the real binary; this profile reads the page from dist/.
cargo build --workspace
# Built here, run in a browser by one of the integration tests.
cargo test -p app --test reads --target wasm32-unknown-unknown --no-run
# What a test counted is worth reading when it passes, too.
cargo test --workspace "$@" -- --show-output
