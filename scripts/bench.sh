#!/usr/bin/env bash
# Tidemark beside deltalake on the same files. The tables are written once and kept.
#
#   scripts/bench.sh [FOLDER]    default: ~/.cache/tidemark/bench
set -euo pipefail

cd "$(dirname "$0")/.."
cache="${TIDEMARK_CACHE:-$HOME/.cache/tidemark}"
target="${CARGO_TARGET_DIR:-$cache/target}"
data="${1:-$cache/bench}"

scripts/tools.sh test
if [[ ! -e "$data/complete" ]]; then
  echo "bench: writing a million files and a hundred thousand commits into $data" >&2
  rm -rf "$data/files" "$data/commits"
  cargo run --release --quiet -p tests --bin bench-data -- "$data"
  touch "$data/complete"
fi
cargo build --release --quiet -p tests --bin bench-page --bin bench-gate --bin bench-hour --bin bench-hours
"$cache/venv/bin/python" tests/bench/bench.py "$target/release/tidemark" "$data" \
  --page "$target/release/bench-page" --gate "$target/release/bench-gate" \
  --hour "$target/release/bench-hour" --hours "$target/release/bench-hours" ${BENCH:-}
