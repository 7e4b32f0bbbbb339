#!/usr/bin/env bash
# Moves the code that the first paint does not need into a module of its own, which the page
# fetches while it is looked at (app/src/late.rs), and takes the names out of all modules.
#
#   scripts/split.sh FOLDER    a site as Trunk wrote it
set -euo pipefail

site="$1"
page=("$site"/page-*_bg.wasm)
page="${page[0]}"
name="$(basename "$page" _bg.wasm)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# binaryen 108, which Debian has, exports the first table for every table; that of references to the
# host's values is the second.
right_tables() {
  LC_ALL=C sed -i 's/\(__wbindgen_externrefs\x01\)\x00/\1\x01/' "$1"
}

# Functions of the late pages by their names, which hold the types that they were compiled for.
# What is small may stand for another function with the same code, and stays. What only late
# functions call comes along; a late function that another calls stays, but for the way in.
wasm-dis "$page" -o "$work/page.wat"
awk '
  BEGIN {
    hash = "\\\\5b[0-9a-f]+\\\\5d"
    late = "app" hash "::(pages::(audit|closed|commit|dataset_layout|hour|hours|snapshot|diff|file|layout|maintenance|nothing|restore|unknown|zones|common)|acts|words|geometry)::" \
      "|engine::Engine>::(actions|closed|commit|diff|diff_files|file|files|hour|hours|layout|pages|presence|rows|snapshot)::" \
      "|lake" hash "::(plan|wire::(diff|file|hours|layout|snapshot|zones))::"
    early = "app" hash "::(app|pages::(lake|timeline))::"
    parts = "app" hash "::(app::search::(found|hits)|pages::timeline::(jump|picked))::"
    door = "app" hash "::late::(page|found|jump|picked)$"
  }
  / \(export / || /^ \(elem / {
    line = $0
    while (match(line, /\$[^ ()]+/)) {
      taken[substr(line, RSTART + 1, RLENGTH - 1)]
      line = substr(line, RSTART + RLENGTH)
    }
    next
  }
  /^ \(func / { f = substr($2, 2); sub(/\)$/, "", f); lines[f] = 0; next }
  { lines[f]++ }
  match($0, /\(call \$[^ ()]+/) {
    to = substr($0, RSTART + 7, RLENGTH - 7)
    if (to != f && !((to, f) in seen)) { seen[to, f]; callers[to] = callers[to] " " f }
  }
  END {
    for (f in lines) {
      if (f ~ door) moved[f]
      if (f !~ parts && (f !~ late || f ~ early)) continue
      named[f]
      if (lines[f] >= 60) moved[f]
    }
    do {
      changed = 0
      for (f in lines) {
        n = split(callers[f], from, " ")
        if (f in moved) {
          if (f ~ door) continue
          others = 0
          for (i = 1; i <= n; i++) if (!(from[i] in moved) && (!(from[i] in named) || from[i] in stays)) others++
          if (others) { delete moved[f]; stays[f]; changed = 1; continue }
          for (i = 1; i <= n; i++) if (!(from[i] in moved)) { moved[from[i]]; changed = 1 }
        } else if (!(f in taken) && !(f in stays) && n) {
          others = 0
          for (i = 1; i <= n; i++) if (!(from[i] in moved)) others++
          if (!others) { moved[f]; changed = 1 }
        }
      }
    } while (changed)
    for (f in moved) print f
  }
' "$work/page.wat" >"$work/late"
# Printing a float takes 10 KB of code: lake::figures::decimal writes figures.
if grep -q '^ (func $core[^ ]*::fmt::float::float_to_decimal' "$work/page.wat"; then
  echo "split: the page prints a float with format!; write it with lake::figures::decimal" >&2
  exit 1
fi
[[ -s "$work/late" ]] || { echo "split: no function of the late pages has a name" >&2; exit 1; }

wasm-split --split-funcs="@$work/late" --export-prefix=s "$page" \
  -o1 "$work/first.wasm" -o2 "$work/late.wasm"
mv "$work/first.wasm" "$page"
right_tables "$page"
mv "$work/late.wasm" "$site/${name}_late.wasm"

# What the first module calls before the other is there would be a fault of this script.
sed -i 's/^\( *\)const imports = __wbg_get_imports();/&\n\1imports.placeholder = new Proxy({}, { get: (_, n) => () => { throw new Error(`code that is not loaded yet: ${String(n)}`); } });/' \
  "$site/$name.js"
grep -q 'imports.placeholder' "$site/$name.js"
sed -i "s|</head>|<link id=\"late\" rel=\"prefetch\" as=\"fetch\" crossorigin=\"anonymous\" href=\"/${name}_late.wasm\"></head>|" \
  "$site/index.html"
grep -q 'id="late"' "$site/index.html"

wasm-opt --strip-debug --strip-producers "$site/worker_bg.wasm" -o "$work/worker.wasm"
mv "$work/worker.wasm" "$site/worker_bg.wasm"
right_tables "$site/worker_bg.wasm"
printf 'split: %s functions come late\n' "$(wc -l <"$work/late")"
