# Each target makes what it needs, from a bare clone on.
# bench    measure all formats, compare them, make the site
# preview  serve the site at http://127.0.0.1:8080, to this machine alone; PORT names another port
# test     everything that CI runs: all but nightly tests, with the adapters and costly tests that changes
#          since SINCE concern, and reference adapters; SINCE is by default where the branch left main, on main
#          the commit before
# test-all what CI runs every night: all tests, and the long checks of kills and of changed files
# test-environments  the contract tests of adapters with environments of their own, in these, which are built
#          if they are missing; ENVIRONMENTS names some of them, by default all
# lint     style, types and layers alone
# jvm      the record formats of the JVM, which Maven builds once
# docs     the documentation site, in build/docs
# coverage the tests with branch coverage: a table, and pages in htmlcov
# fuzz     changed files of every kind that the program reads, for SECONDS (600): findings, with commands
#
# SCALE=full measures tables of 1,000,000 rows instead of 10,000; SUITES names the suites to measure, by
# default all that are not optional (format-bench list suites); PYTHON names the interpreter.

PYTHON ?= python3
SCALE ?= quick
PORT ?= 8080
SECONDS ?= 600
ENVIRONMENTS ?=
DEFAULT_SUITES = from format_bench.results.suites import SUITES; \
	print(*(each.name for each in SUITES.values() if not each.optional))
SUITES ?= $$($(BIN)/python -c "$(DEFAULT_SUITES)")
BIN := .venv/bin

ifeq ($(SCALE),full)
CONFIG := asv.conf.json
else
CONFIG := .asv.$(SCALE).json
endif

# What is imported is compiled once: the libraries are installed without compiling.
unexport PYTHONDONTWRITEBYTECODE

# Without compiling, which takes as long again: most modules are never imported.
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
PACKAGES := --editable ".[all,native,site,test]"
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadgroup --no-loadscope-reorder --max-worker-restart 2
SINCE ?=
CHANGED := --adapters changed --since "$(SINCE)" -m "not nightly"

MEASURE = $(BIN)/asv run --record-samples --config $(CONFIG) --bench
# Cells of the first data set, as asv names them: tabular.Tabular.time_save('CSV', 'eq').
FIRST := tabular\.[^(]+\([^,]+, 'eq'

.PHONY: bench preview build test test-all test-environments lint jvm docs coverage fuzz environment
.DELETE_ON_ERROR:

bench: environment $(CONFIG)
	@git diff --quiet HEAD || echo "note: the last commit is measured, without the changes since"
	@# Once: asv begins new graphs when a machine is described otherwise, as after an update of the kernel.
	test -f ~/.asv-machine.json || $(BIN)/asv machine --yes > /dev/null
	@$(BIN)/format-bench build suites $(SUITES) --optional
	@# At full scale suite by suite, since asv keeps nothing of a run that is interrupted; else in one run,
	@# since each takes seven seconds to begin. Status 2 says that some benchmarks failed; the tables below
	@# say which and why. `remote` includes `remote_arrays`.
	@# The first table, of one data set, comes before all else is measured.
	case " $(SUITES) " in *" tabular "*) \
		$(MEASURE) "^$(FIRST)" HEAD || test $$? -eq 2 || exit; \
		$(BIN)/python postprocessing.py --config $(CONFIG) || exit;; \
	esac
	runs="$(SUITES)"; test $(SCALE) = full || runs=$$(echo $$runs | tr ' ' '|'); \
	for suites in $$runs; do \
		$(MEASURE) "^(?!$(FIRST))($$suites)(_arrays)?\." HEAD || test $$? -eq 2 || exit; \
	done
	$(BIN)/python postprocessing.py --config $(CONFIG)
	@$(BIN)/asv publish --config $(CONFIG) > .asv/$(SCALE)/publish.log || { cat .asv/$(SCALE)/publish.log; exit 1; }
	@echo "Site: .asv/$(SCALE)/html/index.html; make preview SCALE=$(SCALE) serves it"

preview: environment $(CONFIG)
	@test -f .asv/$(SCALE)/html/index.html || { echo "there is no site yet; run: make bench SCALE=$(SCALE)" >&2; exit 2; }
	@# asv's own preview would serve it to the whole network.
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory .asv/$(SCALE)/html $(PORT)

# Two runs: netCDF's filters must be loaded before ROOT, and memory is given back.
test: environment
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint build
	@failed=0; \
	$(PYTEST) $(CHANGED) format_bench/conformance || failed=1; \
	$(PYTEST) $(CHANGED) tests || failed=1; \
	exit $$failed

test-all: environment
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint build
	@failed=0; \
	$(PYTEST) format_bench/conformance || failed=1; \
	$(PYTEST) tests || failed=1; \
	exit $$failed
	$(BIN)/python -m tools.check_crash_recovery 50
	$(BIN)/python -m tools.check_faults run resume report repair --every 5
	$(MAKE) fuzz

test-environments: environment
	$(BIN)/python -m tools.check_environments $(ENVIRONMENTS)

# Without a JDK or Maven, the formats of the JVM are unavailable, and their tests are skipped.
build: environment
	$(BIN)/format-bench build --optional

lint: environment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/shellcheck cron.sh .ci/run .ci/install tools/emulated_medium

jvm: environment
	$(BIN)/format-bench build

docs: environment
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --builder html docs build/docs
	@echo "Documentation: build/docs/index.html"

coverage: environment
	$(PYTEST) --cov --cov-report term --cov-report html

fuzz: environment
	nice $(BIN)/python -m tools.fuzz --seconds $(SECONDS) --keep build/findings

environment: .venv/.installed

# The extras of setup.py follow the files of these folders.
.venv/.installed: setup.py pyproject.toml constraints.txt constraints.lock $(wildcard array_stores/*.py data_formats/*.py image_storages/*.py query_engines/*.py record_stores/*.py record_stores/*/adapters.toml training_loaders/*.py training_loaders/*/adapters.toml)
	@git rev-parse HEAD > /dev/null || { echo "this is not a git clone with a commit; asv measures commits" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	@# uv takes a tenth of pip's time, and verifies the hashes of what it needs; pip does it where an index is
	@# configured for pip alone, and verifies those of the whole set.
	.ci/install $(BIN)/python $(PACKAGES) || \
		{ $(PIP) --require-hashes --requirement constraints.lock && $(PIP) --no-deps --no-build-isolation $(PACKAGES); } || \
		{ echo "the packages could not be installed; is there a network, or a package index?" >&2; exit 2; }
	@touch $@

# Earlier versions of cron.sh ask for it.
.asv/%/noise.json: ;

.asv.$(SCALE).json: asv.conf.json
	sed 's/\bfull\b/$(SCALE)/g' $< > $@
