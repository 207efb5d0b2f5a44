# Two commands do everything on a fresh machine with Python: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INPUTS ?= 200000
KILLS ?= 500
MUTATIONS ?= 200
SEED ?= 0
SETS ?= 250
DATA ?= $(or $(PARTITA_DATA),../shared/data)
PATHS := tests packages/partita-incidents/tests benchmarks scripts .
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test check wheel bench fuzz kill load mutate traps docs figures panel panel-claims \
	screenshots clean

demo: $(VENV)/.ready
	$(BIN)/partita demo

test: check
	$(BIN)/python -m partita.compilation
	$(BIN)/python -m pytest -n auto --dist loadfile

# A wheel with machine code of all kernels for Linux on x86-64, into dist/; needs a C compiler.
wheel: $(VENV)/.ready
	PARTITA_WHEEL=library PARTITA_COMPILER=$(CURDIR)/$(BIN)/python $(PIP) wheel --no-deps --wheel-dir dist .

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/check_reachable.py

bench: $(VENV)/.dev
	$(BIN)/python -m pytest benchmarks -o python_files="bench_*.py" -o pythonpath="$(PATHS)" --benchmark-columns=min,median,rounds -q

# Campaigns: docs/campaigns.md. Changed files and bodies for every reader and for the service.
fuzz: $(VENV)/.dev
	$(BIN)/python scripts/fuzz.py --inputs $(INPUTS) --seed $(SEED) $(addprefix --log ,$(LOG))

# Runs that are killed while they write, a jumping clock, a full disk, a read-only folder.
kill: $(VENV)/.dev
	$(BIN)/python scripts/kill.py --kills $(KILLS) --seed $(SEED)

# 64 clients with 2,000 requests of all kinds while four large solves and a training run.
load: $(VENV)/.dev
	$(BIN)/python -m pytest benchmarks/bench_service.py -o python_files="bench_*.py" -o pythonpath="$(PATHS)" -q -s

# Small mutations of the core rooms, and whether the tests notice them.
mutate: $(VENV)/.dev
	$(BIN)/python scripts/mutate.py --mutations $(MUTATIONS) --seed $(SEED) $(addprefix --log ,$(LOG))

# The verdicts of the sampler on sets with hidden modes and on ordinary sets, against exact answers.
traps: $(VENV)/.dev
	$(BIN)/python benchmarks/traps.py --sets $(SETS) --seed $(SEED) $(addprefix --log ,$(LOG))

# Fused claims on public and simulated sets, beside vote shares and other methods.
panel-claims: $(VENV)/.dev
	$(BIN)/python -m research panel-claims $(or $(PARTITA_DATA),../shared/data)/claims

# The pages that are made from the code, and the site in site/ (open site/index.html).
docs: $(VENV)/.dev
	$(BIN)/python docs/make.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The quick tables of the documentation; with ALL=1 also the slow ones; with ONLY=NAME just one.
figures: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python scripts/figures.py $(if $(ALL),--slow) $(addprefix --only ,$(ONLY))

# `partita link` without options on the panel of records; models by other families, into build/.
panel: $(VENV)/.dev
	$(BIN)/python -m research.panel_records $(DATA)/records build/panel

# Every view of the page at 1440 and 390 pixels, in light and dark, into screenshots/.
screenshots: $(VENV)/.dev
	PARTITA_SCREENSHOTS=screenshots $(BIN)/python -m pytest tests/browser/test_views.py \
		tests/browser/test_collection.py -q -n 0 -k "test_a_view or collection or compared"

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks site build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: $(VENV)/bin/python pyproject.toml constraints.txt packages/partita-incidents/pyproject.toml
	$(PIP) install -c constraints.txt -e '.[service,link]' -e packages/partita-incidents
	touch $@

$(VENV)/.dev: $(VENV)/.ready
	$(PIP) install -c constraints.txt -e '.[dev]' -e packages/partita-incidents
	touch $@
