# Everything one does here; `make help` lists it.

SHELL := /bin/bash
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

CACHE := $(or $(TIDEMARK_CACHE),$(HOME)/.cache/tidemark)
export CARGO_TARGET_DIR ?= $(CACHE)/target
export PATH := $(CACHE)/tools/bin:$(PATH)

ifneq ($(wildcard ../shared/corpus),)
export TIDEMARK_CORPUS ?= $(abspath ../shared/corpus)
endif

WASM := --target wasm32-unknown-unknown
TIDEMARK := $(CARGO_TARGET_DIR)/release/tidemark
# What the page and the worker are made of.
SITE_SOURCES := $(shell find app lake markup style public .cargo -type f 2>/dev/null) Cargo.toml Cargo.lock Trunk.toml

# What page, worker and server must agree on: they are of one build.
export TIDEMARK_BUILD := $(shell cat $(SITE_SOURCES) 2>/dev/null | sha256sum | cut -c 1-12)

.PHONY: help demo tidemark native modules staged site test engines check lint budget bench fuzz tools-%

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: tidemark ## builds everything, writes the sample lake, serves it and prints the address
	@exec $(TIDEMARK) demo $(DEMO)

# On a new machine the page's tools are built beside the code that they will put together and the
# server's dependencies. The page is put where the server looks for it only then, so that no build
# reads half of it.
tidemark: ## builds the one binary, the page inside it
	@test -x $(TIDEMARK) || $(MAKE) -j2 staged native
	@$(MAKE) site
	@cargo build --release -p server

native: modules
	@mkdir -p dist
	+@cargo build --release -p server

# What Trunk asks of cargo, so that it finds it done.
modules: tools-wasm
	+@cargo build $(WASM) -p app --bin page --no-default-features --profile wasm-release
	+@cargo build $(WASM) -p app --bin worker --profile wasm-release

staged: tools-site modules out/site/index.html

out/site/index.html: $(SITE_SOURCES) scripts/split.sh | tools-site
	@mkdir -p $(@D)
	+@trunk build --release --offline --skip-version-check --dist $(@D)
	@scripts/split.sh $(@D)

site: dist/index.html.br ## builds the page into dist/

# Each file with its compressed twin beside it; the server sends whichever the browser takes.
dist/index.html.br: out/site/index.html
	@find out/site -name '*.br' -delete
	@find out/site -type f ! -name '*.woff2' ! -name '*.png' -print0 | xargs -0 -P 2 -n 1 brotli -q 11 -k
	@rm -rf dist && cp -r out/site dist && touch server/src/main.rs

test: tools-test ## every test that needs no JVM and no Go
	@scripts/test.sh

engines: ## the tests against Spark, Trino, Hive and two more stores; installs them once
	@scripts/engines.sh spark minio azurite trino hive

check: lint budget ## formatting, lints, documentation and the size of the page

lint: tools-site
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy -p app -p lake $(WASM) --quiet -- -D warnings
	cargo clippy -p app --bin page --no-default-features $(WASM) --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items --quiet

budget: site
	@scripts/budget.sh

bench: tidemark ## side by side with deltalake, on the same files
	@scripts/bench.sh

fuzz: ## ten minutes for each target that reads bytes from a store
	@scripts/fuzz.sh

tools-%:
	+@scripts/tools.sh $*
