# The two commands: `make bench` and `make test`. Each sets up all that it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
KERNEL := $(wildcard cpp/*.cpp cpp/*.hpp) CMakeLists.txt

.DEFAULT_GOAL := help
.PHONY: help bench test check conformance speed upstream judge-demo faults release-check workers docs system clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

bench: .stamps/install  ## Run the default parsers on the demo corpus; leaderboard and HTML report
	$(BIN)/parsemark bench --protocol tables --protocol document --out runs/demo

# One process more than CPUs: some tests wait for limits of time.
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
test: .stamps/test .stamps/system  ## Run the tests
	$(BIN)/python -m pytest -n $(PROCESSES) --dist worksteal -m "not conformance and not packaging" tests plugins

check: .stamps/test  ## Lint, type-check, and hold the architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports

conformance: .stamps/test .stamps/system  ## Compare with the reference values (DATA=folder)
	PARSEMARK_DATA=$(abspath $(DATA)) $(BIN)/python -m pytest -n auto -m conformance tests plugins

upstream: .stamps/install  ## Report which benchmarks have a newer package than the one whose rules are repeated
	$(BIN)/python scripts/check_upstream.py

speed: .stamps/test .stamps/system  ## Measure the speed claims (bench/)
	$(BIN)/python -m bench

FAULTS_MINUTES ?= 20
faults: .stamps/test .stamps/system  ## Attack runs, workers and readers: random examples, kills, damage, full disks
	$(BIN)/python -m pytest -n auto -m "hypothesis and not conformance" --hypothesis-profile=explore tests plugins
	$(BIN)/uv pip install --quiet --python $(BIN)/python nanobind
	FAULTS_MINUTES=$(FAULTS_MINUTES) $(BIN)/python -m tests.faults

release-check: .stamps/test  ## Build the sdist and all wheels; try each in an empty environment, also with uvx; check their metadata
	$(BIN)/python -m pytest -m packaging tests/packaging

workers: .stamps/install  ## Write locks and the table of docs/reference/parsers.md from the headers of workers
	PYTHONPATH=. $(BIN)/python scripts/write_parser_table.py

docs: .stamps/install  ## Build the documentation site in build/docs, strictly
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/docs
	@echo build/docs/index.html

judge-demo: .stamps/test  ## Run a tiny local language model as judge, without a key (skipped where it cannot be built)
	$(BIN)/python scripts/judge_demo.py

system: .stamps/system$(if $(FONTS_EXTRA),-fonts-extra)  ## Install LaTeX, Chromium and friends with apt, where that is possible (FONTS_EXTRA=1: all of TeX's fonts)

.stamps/system .stamps/system-fonts-extra: scripts/install-system-packages.sh
	@mkdir -p .stamps
	bash scripts/install-system-packages.sh $(if $(findstring extra,$@),--fonts-extra)
	@touch .stamps/system $@

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

# The kernel is compiled only when it changes; a new dependency alone costs no compilation.
.stamps/kernel: $(BIN)/uv $(KERNEL)
	@mkdir -p .stamps
	$(BIN)/uv pip install --quiet --python $(BIN)/python --reinstall-package parsemark --no-deps -e .
	@touch $@

# With byte code, so that commands start fast also where Python may not write any.
.stamps/install: .stamps/kernel pyproject.toml
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r pyproject.toml --extra bench
	$(BIN)/python -m compileall -q src/parsemark
	@touch $@

.stamps/test: .stamps/install $(wildcard plugins/*/pyproject.toml)
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r pyproject.toml --all-extras --group test --group check
	$(BIN)/uv pip install --quiet --python $(BIN)/python -e plugins/boards -e plugins/makers --group plugins/boards/pyproject.toml:test
	@touch $@

clean:  ## Remove everything that was built
	rm -rf $(VENV) .stamps build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
