#!/usr/bin/env bash
# What a first visit costs: the bytes of code as they travel, against what we allow ourselves.
set -euo pipefail

cd "$(dirname "$0")/.."
over=0

# budget NAME LIMIT_KB FILE…: prints the compressed size of the files, and remembers if it is over.
budget() {
  local name="$1" limit="$2" bytes
  shift 2
  bytes="$(cat "$@" | wc -c)"
  awk -v n="$name" -v b="$bytes" -v l="$limit" \
    'BEGIN { printf "%-7s %7.1f KB of brotli, at most %d KB\n", n, b / 1000, l }'
  ((bytes <= limit * 1000)) || over=1
}

worker=(dist/worker*.br)
page=() late=(dist/*_late.wasm.br)
for file in dist/*.js.br dist/*.wasm.br; do
  [[ "$file" == dist/worker* || "$file" == *_late.wasm.br ]] || page+=("$file")
done
budget page 220 "${page[@]}"
# Fetched while the first page is looked at.
budget late 230 "${late[@]}"
budget worker 900 "${worker[@]}"
exit "$over"
