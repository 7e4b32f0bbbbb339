#!/usr/bin/env bash
# rustc for the fuzz targets: coverage is counted where bytes are judged, and not in arrow's kernels
# and the like, which take far longer to instrument than they would ever be worth.
set -euo pipefail

name=""
for ((i = 1; i < $#; i++)); do
  [[ "${!i}" == --crate-name ]] && { next=$((i + 1)) && name="${!next}"; }
done
case "$name" in
fuzz | lake | parquet | roaring | serde_json | deletion_vector | checkpoint | log) exec "$@" ;;
esac

kept=()
for argument in "$@"; do
  case "$argument" in
  -Cpasses=sancov-module | -Cllvm-args=-sanitizer-coverage-* | -Clink-dead-code) ;;
  *) kept+=("$argument") ;;
  esac
done
exec "${kept[@]}"
