# Every target sets up what it needs. `make help` prints the lines that start with a target and "##".
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests start hundreds of processes: without the compiled files, which some machines forbid, each compiles all it imports.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help

help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -e '.[fast,local,bedrock,litellm,parquet,xlsx,plots,otel,cluster]' --group dev
	@touch $@

setup: $(STAMP) ## create .venv with everything that development needs

check: $(STAMP) ## format, lint, types, and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

browser:
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk >/dev/null; } || \
	  echo "no chromium: browser tests will be skipped, saying so"

.venv-inspect/.installed:
	$(PYTHON) -m venv .venv-inspect
	.venv-inspect/bin/python -m pip install --quiet --no-compile --disable-pip-version-check 'inspect_ai>=0.3.150' 'pandas>=2.2' 'pyarrow>=17'
	@touch $@

inspect: .venv-inspect/.installed ## an environment of its own for inspect_ai, which reads our logs in a test

compiled: $(STAMP)
	@$(BIN)/python -m pytest --collect-only --quiet >/dev/null || true # once, before four processes compile the same at once

test: ## all checks and all tests; the environments are made side by side
	$(MAKE) --jobs=3 --output-sync=target check browser inspect compiled
	$(BIN)/python -m pytest -n 4 --dist loadfile
	$(MAKE) wheel

reference: $(STAMP) ## write the pages that are made of the program: commands, configuration, JSON, cost
	$(BIN)/python docs/reference.py

figures: $(STAMP) ## draw the coverage figures of the pages anew, from their tables
	$(BIN)/python docs/coverage_figures.py

docs: $(STAMP) ## build the documentation as a site, strictly, into build/docs
	$(BIN)/python -m mkdocs build --strict --quiet

gallery: $(STAMP) browser ## take the pictures of the gallery anew
	$(BIN)/python docs/gallery.py

wheel: $(STAMP) ## build wheel and sdist, install them into a clean environment and use them there
	$(BIN)/python tests/packaging/clean_install.py --keep dist

notebooks: $(STAMP) ## execute the notebooks of the documentation anew
	$(BIN)/python docs/notebooks/make.py

demo: $(STAMP) ## a small tournament on the embedded model: no key, a few minutes, leaves runs/demo/report.html
	$(BIN)/tutor-arena demo

format: $(STAMP) ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove the environment and caches
	rm -rf $(VENV) .venv-inspect .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.PHONY: help setup check browser inspect compiled test reference docs gallery wheel notebooks demo format clean
