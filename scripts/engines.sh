#!/usr/bin/env bash
# The tests against what needs a JVM, Go or Node: installs each engine once, then runs its tests,
# which a plain `cargo test` leaves out. What cannot be installed is skipped loudly, and in CI is a
# failure.
#
#   scripts/engines.sh [spark] [minio] [azurite] [trino] [hive]     all of them, where none is named
set -uo pipefail

cd "$(dirname "$0")/.."
(($#)) || set -- spark minio azurite trino hive

wanted=() skipped=()
for engine in "$@"; do
  start=$SECONDS
  # The tests of every engine write to the store that `make test` uses too.
  if scripts/tools.sh peers "$engine"; then
    wanted+=("engines::$engine")
    echo "engines: $engine is installed ($((SECONDS - start)) s)"
  else
    skipped+=("$engine")
  fi
done

failed=0
if ((${#wanted[@]})); then
  # Packages as in `make test`, so that nothing is compiled twice; the tests start the real binary.
  cargo build --workspace --quiet &&
    cargo test --workspace --test integration -- --ignored --nocapture "${wanted[@]}" || failed=1
fi

for engine in "${skipped[@]}"; do
  echo "engines: SKIPPED $engine: it could not be installed, for the reason above"
done
# Where nobody reads the words, what was skipped has failed.
((${#skipped[@]} == 0)) || [[ -z "${CI:-}" ]] || failed=1
exit "$failed"
