#!/usr/bin/env bash
# Runs the fuzz targets, each for FUZZ_SECONDS (600), and prints how many inputs each was given.
# `FUZZ_TARGETS="log checkpoint"` runs only some.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cache="$HOME/.cache/tidemark"
work="$cache/fuzz"
seconds=${FUZZ_SECONDS:-600}
targets=${FUZZ_TARGETS:-deletion_vector checkpoint log}
nightly=${FUZZ_TOOLCHAIN:-nightly}

export PATH="$cache/tools/bin:$HOME/.cargo/bin:$PATH"
export CARGO_TARGET_DIR="$cache/t-fuzz"
mkdir -p "$work"

rustup toolchain list | grep -q "^$nightly" ||
    rustup toolchain install "$nightly" --profile minimal
if ! command -v cargo-fuzz >/dev/null; then
    echo "fuzz: installing cargo-fuzz"
    CARGO_TARGET_DIR="$cache/t-tools" cargo "+$nightly" install cargo-fuzz --locked --debug \
        --root "$cache/tools"
fi

cd "$root/fuzz"
host=$(rustc "+$nightly" -vV | sed -n 's/^host: //p')
echo "fuzz: building"
# Nothing here is unsafe, so the address sanitizer would find little and slow everything.
RUSTC_WRAPPER="$root/fuzz/rustc.sh" cargo "+$nightly" fuzz build --sanitizer none
rustc "+$nightly" --edition 2024 -O -o "$work/make-seeds" seeds.rs
"$work/make-seeds" "$work/seeds"

failed=0
for target in $targets; do
    log="$work/$target.log"
    mkdir -p "$work/corpus/$target" "$work/findings/$target"
    status=0
    "$CARGO_TARGET_DIR/$host/release/$target" \
        "$work/corpus/$target" "$work/seeds/$target" \
        -artifact_prefix="$work/findings/$target/" \
        -max_total_time="$seconds" -timeout=30 -rss_limit_mb=4096 \
        -max_len=65536 -print_final_stats=1 >"$log" 2>&1 || status=$?
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$status" -eq 0 ]; then
        echo "fuzz: $target: ${count:-?} executions in $seconds s, no finding"
    else
        failed=1
        echo "fuzz: $target: a finding after ${count:-?} executions, see $log:"
        grep -m8 -E "a finding|panicked|ERROR|SUMMARY|Test unit written" "$log" || tail -5 "$log"
    fi
done
exit "$failed"
