# Everything runs from a clone with python3.11 or newer (with venv) and make: each target makes or updates .venv itself.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

# Stamps: what runs the package, what tests it, what builds its pages. Each holds when pyproject.toml is unchanged.
RUN  := $(VENV)/.installed-run
TEST := $(VENV)/.installed-test
DOCS := $(VENV)/.installed-docs
VIEW := $(VENV)/.installed-view

# Tests of the viewer drive the system's Chromium: it is installed where that is allowed, else they are skipped.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq
CHROMIUM = command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
  command -v google-chrome >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
    { $(APT) update; $(APT) install -y --no-install-recommends chromium; } >/dev/null 2>&1; } || \
  echo "warning: no Chromium, and it could not be installed; tests of pages in the browser will be skipped" >&2

PYTEST := $(BIN)/python -m pytest --disable-warnings

.PHONY: help demo play test test-full soak mutants bench lint docs pictures wheel clean
.DEFAULT_GOAL := help

help:
	@echo "make demo       four scenes under every contact method: a table, and out/report.html"
	@echo "make play       the crane game in the browser"
	@echo "make test       the test suite (samples; about the size a change needs)"
	@echo "make test-full  every test with the full counts"
	@echo "make soak       random scenes for MINUTES=10, findings with their seeds"
	@echo "make mutants    COUNT=20 kernels with one change each: which do the tests let pass?"
	@echo "make bench      measure against other simulators"
	@echo "make lint       ruff, mypy, import-linter"
	@echo "make docs       build the pages into site/"
	@echo "make pictures   draw the pictures of the pages anew"
	@echo "make wheel      a wheel with finished machine code, which needs no compiler, in dist/"
	@echo "make clean      remove .venv and everything that is built"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sesshoku needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN): pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --editable .
	@touch $@

# The peers are other simulators, as oracles. Where one has no wheel the tests that need it are skipped, and say so.
$(TEST): $(RUN)
	$(PIP) install --quiet --editable '.[test,view]'
	$(PIP) install --quiet --editable '.[peers]' || \
	  echo "warning: not all peers could be installed; comparisons with them will be skipped" >&2
	@$(CHROMIUM)
	@touch $@

$(VIEW): $(RUN)
	$(PIP) install --quiet --editable '.[view]'
	@touch $@

$(DOCS): $(RUN)
	$(PIP) install --quiet --editable '.[docs]'
	@touch $@

demo: $(VIEW)
	$(BIN)/python examples/demo.py

play: $(VIEW)
	$(BIN)/sesshoku play crane

# Three runs, each test in one of them: compiled with bounds checks, what is marked `boundscheck`; compiled as users have
# it, the rest; as plain Python, what is marked `nojit`, once more. The methods are compiled first, on all cores: workers
# of the suite would each compile the same ones.
test: $(TEST)
	$(BIN)/sesshoku prepare
	$(PYTEST) -rs -n 2 --dist loadfile -m "not boundscheck"
	NUMBA_BOUNDSCHECK=1 $(BIN)/sesshoku prepare
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -rs -n 2 --dist loadfile -m boundscheck
	NUMBA_DISABLE_JIT=1 $(PYTEST) -rs -n 2 -m nojit

test-full: $(TEST)
	SESSHOKU_FULL=1 $(PYTEST) -rs -n 2 --dist loadfile
	SESSHOKU_FULL=1 NUMBA_BOUNDSCHECK=1 $(PYTEST) -rs -n 2 --dist loadfile -m boundscheck
	NUMBA_DISABLE_JIT=1 $(PYTEST) -rs -n 2 -m nojit

# Random scenes of every kind, for so long: what breaks is listed with its seed.
MINUTES ?= 10
soak: $(TEST)
	PYTHONPATH=tests $(BIN)/python tests/soak.py --minutes $(MINUTES) --out soak.json

# One small change of a kernel at a time: a test of its module should fail.
COUNT ?= 20
SEED ?= 1
mutants: $(TEST)
	$(BIN)/python tools/mutants.py --count $(COUNT) --seed $(SEED)

bench: $(TEST)
	$(BIN)/python -m benchmarks

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Needs out/report.html of make demo, and Chromium for its picture.
pictures: $(TEST)
	$(BIN)/python tools/pictures.py

# The methods are compiled for the processor that the wheel is for; where that was done before, it takes seconds.
wheel: $(TEST)
	$(BIN)/python tools/wheel.py

clean:
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
