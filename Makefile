# Needs only Python 3.11 or newer, make and git. Every command first puts what it needs into .venv;
# repeated, it compares dates and installs nothing. `PYTHON=/path/to/python make test` chooses the interpreter.

VENV ?= .venv
BIN := $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check install -qq

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for found in python3 python3.13 python3.12 python3.11; do \
	$$found -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$found && break; done)

# PySpark is a download of 450 MB and needs Java, the browser tests need Chromium and axe-core: continuous integration
# takes both, a person may (make test CI=true).
TESTED := $(BIN)/.test $(if $(CI),$(BIN)/.spark $(BIN)/.browser)
PYTEST_ARGS ?= -n auto --dist loadfile

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test lint types bench coverage docs pins clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(BIN)/.core  ## audit embedded data whose truth is known, and write fairbounds-demo.html
	@$(BIN)/fairbounds demo

test: $(TESTED)  ## run the tests and the examples in the docstrings
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(BIN)/.lint  ## check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(BIN)/.lint $(BIN)/.test  ## check the types, strictly
	@$(BIN)/mypy

bench: $(BIN)/.test $(BIN)/.bench  ## measure speed, as ratios within one run
	@set -e; for script in benchmarks/[a-z]*.py; do echo "$$script"; $(BIN)/python "$$script"; done

coverage: $(TESTED)  ## how often intervals hold the truth: write docs/coverage.md (under 20 minutes)
	@$(BIN)/python -m fairbounds.studies.coverage_report docs/coverage.md

docs: $(TESTED)  ## write docs/reproducing.md from one real run (some minutes)
	@$(BIN)/python scripts/build_reproducing.py

pins: $(BIN)/python  ## choose new versions for requirements/*.txt
	@$(BIN)/python requirements/pin.py

clean:  ## remove .venv and everything else that was made
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis fairbounds-demo.html
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' || { echo "fairbounds needs Python 3.11 or newer, and $(or \
		$(PYTHON),python3) is not; name one: PYTHON=/path/to/python3.11 make" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@rm -f $(BIN)/.[a-z]*
	@$(PYTHON) -m venv $(VENV)

# The package is installed in place, by the pinned builder.
$(BIN)/.core: requirements/core.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "Installing requirements/core.txt and fairbounds (once)"
	@$(PIP) -r requirements/core.txt -r requirements/build.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(BIN)/.lint: requirements/lint.txt | $(BIN)/.core
	@echo "Installing requirements/lint.txt (once)"
	@$(PIP) -r requirements/lint.txt
	@touch $@

$(BIN)/.test $(BIN)/.spark $(BIN)/.browser $(BIN)/.bench: $(BIN)/.%: requirements/%.txt | $(BIN)/.core
	@echo "Installing requirements/$*.txt (once)"
	@$(PIP) -r $<
	@touch $@
