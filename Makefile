# SPDX-License-Identifier: BSD-3-Clause
# Short names for what one does here; meson and ninja do the building. `make help` lists them.

MAKEFLAGS += --no-print-directory
PREFIX ?= /usr/local
FUZZ_RUNS ?= 10000000
SOAK_FLOWS ?= 10000000
SCENARIOS ?= 1000000
FLOOD_MS ?= 60000
SEED ?= 1
MUTANTS ?= core/idle

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-long bench install deb clean distclean setup build check format fuzz mutants soak soak-channel soak-flood rehearse rehearse-all rehearse-deb

help: ## this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

run: setup build ## install what is missing, build, and run the demo on this machine
	./lull demo

test: ## install what is missing, run all tests with gcc, all but those of whole programs with clang; ends with their numbers
	@devtools/setup run test
	@devtools/test

test-all: ## the same in all variants: gcc and clang, release and debug
	@devtools/setup run test
	@devtools/test all

test-long: ## gcc release with all that tests can try: half an hour
	@devtools/setup run test
	@LULL_LONG=1 devtools/test gcc-release

test-%: ## one variant of it: gcc-release, gcc-debug, clang-release, clang-debug
	@devtools/setup run test
	@devtools/test $*

bench: ## side by side with the peers: prints numbers, judges nothing
	@devtools/setup run test bench
	@devtools/build tests
	meson test -C build --benchmark --no-rebuild --verbose

install: setup build ## into PREFIX (/usr/local), below DESTDIR
	devtools/install $(PREFIX)

deb: ## Debian packages for the Debian that runs it, in out/deb/, looked at by lintian
	@devtools/setup run deb
	@devtools/deb

setup: ## install the Debian packages and Python libraries that are missing
	@devtools/setup run

build: ## optimized build in build/
	@devtools/build

check: ## what CI checks besides tests: layers, headers, format, spelling, style, Python, manual
	@devtools/setup run test
	@devtools/build strict
	meson test -C build --no-rebuild --suite check --print-errorlogs

format: ## mend the format of C and Python files
	devtools/check-format --fix
	-devtools/check-python --fix

fuzz: ## let libFuzzer try FUZZ_RUNS (10 million) inputs on each reader of outside bytes
	@devtools/setup run test
	@devtools/fuzz $(FUZZ_RUNS)

mutants: ## which small mistakes in MUTANTS (core/idle) would no test notice? An hour or so
	@devtools/setup run test
	@.venv/bin/python devtools/mutants $(MUTANTS)

soak: ## lull-flow through SOAK_FLOWS (10 million) flows: memory stands still; 200 MB per million
	@devtools/setup run test
	@devtools/build tests
	python3 tests/soak/soak.py build/apps/lull-flow/lull-flow build/tests/soak/soak-flows \
		--flows $(SOAK_FLOWS)

soak-channel: ## SCENARIOS (a million) worlds of channels in virtual time: every promise is kept
	@devtools/setup run test
	@devtools/build tests
	build/apps/lull-channel-sim/lull-channel-sim --scenarios $(SCENARIOS) --seed $(SEED)

soak-flood: ## a million forged SYNs per second for FLOOD_MS (60,000) ms: every real flow is whole
	@devtools/setup run test
	@devtools/build tests
	LULL_FLOOD_MS=$(FLOOD_MS) build/tests/flow/flow-flood

rehearse: ## as root: make run and make test on a fresh Debian 12, in a folder of its own
	devtools/rehearse

rehearse-all: ## as root: the same on each Debian and by each user that we promise; an hour and a half
	devtools/rehearse all

rehearse-deb: ## as root: packages built, installed, upgraded and purged on a fresh Debian 12
	devtools/rehearse-deb

clean: ## remove what was built; installed libraries (.venv) and results (out) stay
	rm -rf build build-* .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove everything that is not in git
	rm -rf .venv out
