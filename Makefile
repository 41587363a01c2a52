# A thin front door: everything real is in CMake and scripts/. `make help` lists the doors.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
WERROR ?= OFF
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 20
SUITES ?= plain asan
export JOBS WERROR FUZZ_SECONDS

.DEFAULT_GOAL := build
.PHONY: help build demo test lint asan tsan arm64 fuzz coverage bench web web-test install bless clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

build: ## the program, as build/ecocompute, and the helpers whose libraries are here
	@cmake -S . -B build -G Ninja --log-level=NOTICE -DECO_WERROR=$(WERROR)
	@cmake --build build --target ecocompute helpers -- -j $(JOBS) --quiet

demo: build ## the product's question, end to end; writes ecocompute-out/
	@sh scripts/demo.sh build/ecocompute

test: ## every test and lint, then all again under sanitizers (SUITES="plain asan")
	@sh scripts/suite.sh $(SUITES)

lint: ## format, include law, sizes, symbols, words, clang-tidy, cppcheck
	@sh scripts/suite.sh lint

asan: ## the whole suite under address and undefined-behaviour sanitizers
	@sh scripts/suite.sh asan

tsan: ## what has threads under the thread sanitizer
	@sh scripts/suite.sh tsan

arm64: ## cross build for ARM64, the engine's tests under qemu (not in the suite)
	@sh scripts/arm64.sh

fuzz: ## every fuzz target for FUZZ_SECONDS (default 20) with libFuzzer
	@sh scripts/fuzz.sh

coverage: ## line coverage by the unit tests; core must reach 95 %
	@sh scripts/coverage.sh

bench: ## the benches; each prints a ratio against a named peer
	@sh scripts/bench.sh

web: ## the page: dist/web/ for a server, dist/ecocompute.html for a disk
	@cmake -S . -B build -G Ninja --log-level=NOTICE -DECO_WERROR=$(WERROR)
	@cmake --build build --target web -- -j $(JOBS) --quiet
	@rm -rf dist && cp -R build/dist dist && ls -l dist dist/web

web-test: ## the page in Chromium, the whole matrix, with its times
	@cmake -S . -B build -G Ninja --log-level=NOTICE -DECO_WERROR=$(WERROR)
	@cmake --build build --target web_test -- -j $(JOBS)

install: build ## into DESTDIR/PREFIX (default /usr/local)
	@cmake --build build -- -j $(JOBS) --quiet
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

bless: build ## writes the present output into the CLI transcripts; look at the diff
	@/usr/bin/python3 tests/cli/transcript.py --bless --program build/ecocompute

clean: ## removes the build folders and ecocompute-out/
	@rm -rf build build-asan build-tsan build-fuzz build-cov build-bench ecocompute-out dist
