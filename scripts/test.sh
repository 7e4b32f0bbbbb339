#!/usr/bin/env bash
# Every test that needs no JVM and no Go, in one profile, so that nothing is compiled twice.
set -euo pipefail

cd "$(dirname "$0")/.."

make site
# The browser tests start the real binary; this profile reads the page from dist/.
cargo build --workspace --quiet
cargo test --workspace "$@"
