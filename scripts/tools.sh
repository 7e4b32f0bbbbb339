#!/usr/bin/env bash
# Installs what building and testing need beyond rustup, git, make and a C compiler: only what is
# missing, and only what the targets named need. Says what it does.
#
#   scripts/tools.sh wasm            what compiles for the browser: the target, and clang for zstd
#   scripts/tools.sh site            what builds the page: that, binaryen, Trunk, …
#   scripts/tools.sh test            and a browser with its driver, the peers, a store
#   scripts/tools.sh peers           the peers and the store alone
#   scripts/tools.sh spark minio azurite trino hive   what only `make engines` sets us against
set -euo pipefail

cd "$(dirname "$0")/.."
cache="${TIDEMARK_CACHE:-$HOME/.cache/tidemark}"
tools="$cache/tools"
export PATH="$tools/bin:$PATH"

TRUNK=0.21.14
AXE=0.1.8
PYSPARK=4.0.1
SPARK_PACKAGES=io.delta:delta-spark_2.13:4.0.1,org.apache.hadoop:hadoop-aws:3.4.1
MINIO=v0.0.0-20260212201848-7aac2a2c5b7c
AZURITE=3.37.0
TRINO=476
TRINO_PLUGINS="delta-lake hive"
PYMETASTORE=0.4.2
# The tool must be of the library's version exactly, or its output does not link.
WASM_BINDGEN="$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"$/\1/p}' Cargo.lock)"

say() { printf 'tools: %s\n' "$*" >&2; }

# need COMMAND PACKAGE [COMMAND PACKAGE]…: installs the packages whose commands are missing.
need() {
  local missing=()
  while (($#)); do
    command -v "$1" >/dev/null || missing+=("$2")
    shift 2
  done
  ((${#missing[@]} == 0)) || packages "${missing[@]}"
}

packages() {
  local install=(apt-get install -y --no-install-recommends "$@")
  if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
    say "missing: $*; install them and run this again, on Debian with"
    say "  sudo ${install[*]}"
    exit 1
  fi
  say "installing $* with apt-get"
  mkdir -p "$cache"
  # One at a time: two targets may ask at once.
  (
    flock 9
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null
    "${install[@]}" -qq </dev/null >/dev/null
  ) 9>"$cache/apt.lock"
}

wasm_target() {
  [[ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown/lib" ]] && return
  say "adding the wasm32-unknown-unknown target with rustup"
  rustup target add wasm32-unknown-unknown
}

# crate COMMAND CRATE VERSION [FLAG]…: a command line tool from crates.io, unoptimised, which is fast
# enough at its work and minutes quicker to build.
crate() {
  local command="$1" crate="$2" version="$3"
  shift 3
  [[ "$("$tools/bin/$command" --version 2>/dev/null)" == *" $version"* ]] && return
  say "building $crate $version"
  CARGO_TARGET_DIR="$cache/tools-target" CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 \
    cargo install "$crate" --version "$version" --root "$tools" --debug --force --quiet "$@"
}

wasm() {
  wasm_target
  need clang clang
}

site() {
  wasm
  need wasm-opt binaryen brotli brotli
  # Without --locked: its lock names a version that crates.io took back.
  crate wasm-bindgen wasm-bindgen-cli "$WASM_BINDGEN" --no-default-features
  crate trunk trunk "$TRUNK" --locked --no-default-features
}

# Python packages are pinned: their answers are what ours are compared with. axe is taken out of a
# package that carries it, without what that package would bring along.
python() {
  local venv="$cache/venv" want
  want="$(cat scripts/peers.txt) axe-playwright-python==$AXE"
  [[ "$(cat "$venv/installed.txt" 2>/dev/null)" == "$want" ]] && return
  python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
  say "installing" $want "into $venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/peers.txt
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "axe-playwright-python==$AXE"
  printf '%s\n' "$want" >"$venv/installed.txt"
}

# once NAME VERSION COMMAND…: runs the command unless it has been run for this version.
once() {
  local stamp="$cache/engines/$1.version" version="$2"
  [[ "$(cat "$stamp" 2>/dev/null)" == "$version" ]] && return
  say "installing $1 $version"
  mkdir -p "$cache/engines"
  "${@:3}"
  printf '%s\n' "$version" >"$stamp"
}

# Spark, and the Java packages that make it write Delta tables to S3. Its own resolver fetches them,
# once: afterwards they are put on its class path.
spark() {
  need java openjdk-17-jre-headless
  python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
  once spark "$PYSPARK" install_spark
  once spark-packages "$SPARK_PACKAGES" fetch_spark_packages
}

install_spark() {
  python3 -m venv --clear "$cache/engines/spark"
  "$cache/engines/spark/bin/pip" install --quiet --disable-pip-version-check "pyspark==$PYSPARK"
}

fetch_spark_packages() {
  local spark="$cache/engines/spark" log="$cache/engines/spark-packages.log"
  say "fetching 600 MB from Maven; $log tells how far"
  # All that lies there goes on the class path; those of another version must not.
  rm -rf "$spark/ivy/jars"
  # The packages are fetched before the program is started, and this one does nothing.
  touch "$spark/nothing.py"
  PYSPARK_PYTHON="$spark/bin/python" "$spark/bin/spark-submit" --packages "$SPARK_PACKAGES" \
    --conf "spark.jars.ivy=$spark/ivy" "$spark/nothing.py" >"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    return 1
  }
}

minio() {
  need go golang-go
  once minio "$MINIO" env GOBIN="$cache/engines/bin" GOFLAGS=-mod=mod \
    go install -ldflags '-s -w' "github.com/minio/minio@$MINIO"
}

azurite() {
  need node nodejs npm npm
  once azurite "$AZURITE" npm install --silent --prefix "$cache/engines/azurite" "azurite@$AZURITE"
}

# Trino needs a newer Java than Spark, and its launcher takes the one of JAVA_HOME.
trino() {
  local java
  java="$(java_of 24 99)" || {
    say "missing: Java 24 or newer, under /usr/lib/jvm or as JAVA_HOME; install it and run this again,"
    say "  on Debian with sudo apt-get install temurin-25-jdk, which https://packages.adoptium.net has"
    exit 1
  }
  need mvn maven
  once trino "$TRINO with $TRINO_PLUGINS" install_trino
  ln -sfn "$java" "$cache/engines/trino-java"
}

# java_of OLDEST NEWEST: the home of the newest Java of those versions that is installed.
java_of() {
  local home version newest=0 found
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
    version="$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release" 2>/dev/null)" || continue
    [[ -n "$version" && -x "$home/bin/java" ]] || continue
    ((version > newest && version >= $1 && version <= $2)) || continue
    newest="$version" found="$home"
  done
  ((newest > 0)) && printf '%s\n' "$found"
}

# A server of 800 MB with 60 plugins, of which two are asked: the others would be read at every start.
install_trino() {
  local trino="$cache/engines/trino" maven="$cache/engines/trino-maven" log="$cache/engines/trino.log"
  local plugin others=()
  for plugin in $TRINO_PLUGINS; do others+=(! -name "$plugin"); done
  say "fetching 800 MB from Maven; $log tells how far"
  rm -rf "$trino" "$maven"
  mkdir -p "$trino" "$maven"
  mvn -B "-Dmaven.repo.local=$maven" dependency:get -Dtransitive=false \
    "-Dartifact=io.trino:trino-server:$TRINO:tar.gz" >"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    return 1
  }
  # Files that plugins share are links from one to the next, so that none can be left out here.
  tar -xzf "$maven/io/trino/trino-server/$TRINO/trino-server-$TRINO.tar.gz" \
    -C "$trino" --strip-components=1
  find "$trino/plugin" -mindepth 1 -maxdepth 1 "${others[@]}" -exec rm -rf {} +
  rm -rf "$maven"
}

# A Hive metastore, and Trino, which reads by what it holds. Hadoop does without Java 24, which took
# away what it asks for who it is.
hive() {
  local java hive="$cache/engines/hive"
  trino
  java="$(java_of 17 23)" || {
    packages openjdk-17-jre-headless
    java="$(java_of 17 23)"
  }
  python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
  once hive "$(cksum <scripts/hive.xml) $PYMETASTORE" install_hive
  ln -sfn "$java" "$hive/java"
}

install_hive() {
  local hive="$cache/engines/hive" maven="$cache/engines/hive-maven" log="$cache/engines/hive.log"
  say "fetching 150 MB from Maven; $log tells how far"
  rm -rf "$hive" "$maven"
  mvn -B -f scripts/hive.xml "-Dmaven.repo.local=$maven" dependency:copy-dependencies \
    "-DoutputDirectory=$hive/lib" >"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    return 1
  }
  rm -rf "$maven"
  # A client that is not ours, to see what it holds.
  python3 -m venv "$hive/venv"
  "$hive/venv/bin/pip" install --quiet --disable-pip-version-check "pymetastore==$PYMETASTORE"
}

for target in "$@"; do
  case "$target" in
  wasm | site) "$target" ;;
  test)
    site
    need chromium chromium chromedriver chromium-driver
    python
    ;;
  peers) python ;;
  spark | minio | azurite | trino | hive) "$target" ;;
  *)
    say "no such target: $target"
    exit 2
    ;;
  esac
done
