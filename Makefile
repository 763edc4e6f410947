# The one door to everything. `make demo` and `make test` set themselves up.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Made anew only when what is to be installed changes.
READY := $(VENV)/.ready
# alibi needs older packages than ours.
PEERS := .venv-peers
# Source or R library of R's protoclass, where it is at hand.
PROTOCLASS ?=
PROSET := .venv-proset
COVERS := .venv-covers
CLEANLAB := .venv-cleanlab
EMPTY := .venv-empty
OLDEST := .venv-oldest
ORTOOLS := .venv-ortools
export MPLBACKEND ?= Agg
# The tests of what is computed by matrix products, which are repeated with the linear algebra
# kernels of other processors: everything else follows from memberships and nearest prototypes.
NUMERIC := tests/balls tests/dissimilarity tests/maps tests/prototypes tests/selection \
	$(addprefix tests/estimators/test_,classifier.py adaptive_radii.py verify.py)
# What says the same whatever the kernels: it starts processes with kernels of its own.
NOT_NUMERIC := --ignore=tests/dissimilarity/test_kernels_of_blas.py
PYTHONS := 3.12 3.13 3.14
# What other Pythons, and the packages that go with them, could change: all that is no deep
# search for counterexamples, no browser and no cluster.
TESTS ?=
PORTABLE := tests/balls tests/cover tests/data tests/persistence \
	tests/prototypes tests/test_*.py \
	$(addprefix tests/cli/test_,check.py columns.py cover.py fit.py main.py options.py predict.py) \
	$(addprefix tests/estimators/test_,bad_input.py classifier.py fitted_decision.py adaptive_radii.py tables.py) \
	tests/solvers/test_auto.py tests/solvers/test_exact.py

.PHONY: size digests docs dist release test-oldest test-ortools test-kernels test-portable test-pythons help demo test check format lint types imports bench bench-covers bench-dask bench-large bench-adaptive-radii bench-peers evidence evidence-quick paper paper-quick clean

help:  ## Show what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	@echo "Setting up $(VENV) (once; takes a minute or two) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "protocover needs Python 3.11 or later: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable ".[plot,cli]" --group test --group check --group experiments
	@touch $@

demo: $(READY)  ## Choose prototypes of the bundled digits and show them
	@echo "Choosing prototypes of scikit-learn's handwritten digits ..."
	@$(BIN)/protocover demo

test: $(READY)  ## Run the tests
	@echo "Running the tests ..."
	@$(BIN)/python -m pytest -q -n 2 $(TESTS)

test-kernels: $(READY)  ## Run the numeric tests with the arithmetic of other processors
	@kernels=$$($(BIN)/python tools/kernels.py); \
	test -n "$$kernels" || echo "The linear algebra library here has no other kernels: not tried."; \
	for kernel in $$kernels; do \
		echo "Running the numeric tests with OpenBLAS's kernels for $$kernel ..."; \
		OPENBLAS_CORETYPE=$$kernel $(BIN)/python -m pytest -q -n 2 $(NUMERIC) $(NOT_NUMERIC) || exit 1; \
	done

test-pythons:  ## Run the tests with the other Pythons that are at hand
	@for version in $(PYTHONS); do \
		python=$$(tools/find_python.sh $$version) \
			|| { echo "Python $$version is not at hand: not tried."; continue; }; \
		echo "Trying Python $$version ..."; \
		$(MAKE) --no-print-directory test VENV=.venv-$$version PYTHON=$$python || exit 1; \
	done

test-portable:  ## The same, only what other Pythons could change
	@$(MAKE) --no-print-directory test-pythons TESTS="$(PORTABLE)"

check: format lint types imports test  ## Everything that must hold before a change lands

format: $(READY)
	@echo "Checking the format ..."
	@$(BIN)/ruff format --check --quiet .

lint: $(READY)
	@echo "Linting ..."
	@$(BIN)/ruff check --quiet .

types: $(READY)
	@echo "Checking types ..."
	@$(BIN)/mypy
	@$(BIN)/mypy tests/typed_use.py

imports: $(READY)
	@echo "Checking that imports point one way ..."
	@$(BIN)/lint-imports

digests: $(READY)  ## Check that the recorded runs still give the same answers
	@$(BIN)/python tools/digests.py

size: $(READY)  ## Print the size of the package and what a fit runs through
	@$(BIN)/python tools/size.py

docs: $(READY)  ## Build the documentation into docs/_build/html
	@$(BIN)/python -m pip install --quiet --group docs
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going -j auto -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

dist: $(READY)  ## Build sdist and wheel, install each into an empty environment and try it
	@rm -rf dist && $(BIN)/python -m pip install --quiet build && $(BIN)/python -m build --outdir dist
	@for package in dist/*.whl dist/*.tar.gz; do \
		rm -rf $(EMPTY) && $(PYTHON) -m venv $(EMPTY) \
		&& $(EMPTY)/bin/python -m pip install --quiet $$package \
		&& (cd / && $(CURDIR)/$(EMPTY)/bin/python $(CURDIR)/tools/smoke.py) || exit 1; \
	done

release: dist  ## Say what stands between this tree and a release, after trying sdist and wheel
	@$(BIN)/python -m pip install --quiet py-rattler-build
	@$(BIN)/python tools/release.py

test-oldest: $(READY)  ## Run the tests with the oldest dependencies that are allowed
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python tools/oldest.py > $(OLDEST)/constraints.txt
	@$(OLDEST)/bin/python -m pip install --quiet --constraint $(OLDEST)/constraints.txt \
		--editable ".[plot,cli,dask]" --group test --group experiments
	@$(OLDEST)/bin/python -m pytest -q -n 2

test-ortools:  ## Fit before and after OR-Tools is imported, in an environment that has both
	@test -x $(ORTOOLS)/bin/python || $(PYTHON) -m venv $(ORTOOLS)
	@if $(ORTOOLS)/bin/python -m pip install --quiet --editable . highspy "ortools>=9.15"; then \
		for when in before after; do \
			echo "Fitting with OR-Tools imported $$when the fits ..."; \
			$(ORTOOLS)/bin/python tools/fits_without_highspy.py --ortools $$when || exit 1; \
		done; \
	else echo "OR-Tools cannot be installed here: fits beside it were not tried."; fi

bench: $(READY)  ## Measure speed and memory as ratios, in one run
	@$(BIN)/python benchmarks/bench_fit.py
	@$(BIN)/python benchmarks/bench_predict.py
	@$(BIN)/python benchmarks/bench_path.py
	@$(BIN)/python benchmarks/bench_adaptive_radii.py
	@$(BIN)/python benchmarks/bench_default.py

bench-dask: $(READY)  ## Measure the tasks of a fit on Dask and write them into docs/dask.md
	@$(BIN)/python benchmarks/bench_dask.py --write

bench-peers: $(READY)  ## Compare with alibi, R's protoclass, k-medoids and condensed neighbours
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet alibi click
	@$(BIN)/python benchmarks/bench_peers.py --alibi-python $(PEERS)/bin/python \
		$(if $(PROTOCLASS),--protoclass $(PROTOCLASS)) --write
	@$(BIN)/python benchmarks/compare_baselines.py --write

bench-covers: $(READY)  ## Compare covers without labels with community_detection, ProbCover, Butina and apricot
	@test -x $(COVERS)/bin/python || $(PYTHON) -m venv $(COVERS)
	@$(COVERS)/bin/python -m pip install --quiet sentence-transformers scikit-activeml rdkit apricot-select
	@PYTHONPATH=. $(BIN)/python benchmarks/bench_covers.py --sizes 5000 --graph --write
	@PYTHONPATH=. $(BIN)/python benchmarks/bench_covers.py --peers $(COVERS)/bin/python --write

bench-adaptive-radii: $(READY)  ## Compare radii of their own with a shared one and with other methods
	@test -x $(PROSET)/bin/python || $(PYTHON) -m venv $(PROSET)
	@$(PROSET)/bin/python -m pip install --quiet proset
	@PYTHONPATH=. $(BIN)/python benchmarks/adaptive_radii_proset.py --python $(PROSET)/bin/python
	@PYTHONPATH=. $(BIN)/python benchmarks/adaptive_radii_budgets.py
	@PYTHONPATH=. $(BIN)/python benchmarks/adaptive_radii.py --write

paper: $(READY)  ## Run the paper's experiments (hours) and write docs/paper.md
	@$(BIN)/python -m experiments

paper-quick: $(READY)  ## The same on tiny settings, in two minutes, into experiments/quick
	@$(BIN)/python -m experiments --quick --results experiments/quick/parts

evidence: $(READY)  ## Compare with other methods beyond the paper (hours) and write docs/evidence
	@$(BIN)/python -m pip install --quiet --group evidence
	@test -x $(PROSET)/bin/python || $(PYTHON) -m venv $(PROSET)
	@$(PROSET)/bin/python -m pip install --quiet proset
	@test -x $(CLEANLAB)/bin/python || $(PYTHON) -m venv $(CLEANLAB)
	@$(CLEANLAB)/bin/python -m pip install --quiet cleanlab
	@$(BIN)/python -m evidence

evidence-quick: $(READY)  ## The same on tiny settings, into evidence/quick
	@$(BIN)/python -m evidence --quick

bench-large: $(READY)  ## Measure the ball builder against others and fit a million points
	@$(BIN)/python benchmarks/bench_balls.py
	@$(BIN)/python benchmarks/bench_sparse.py
	@$(BIN)/python benchmarks/candidate_share.py
	@$(BIN)/python benchmarks/bench_large.py
	@$(BIN)/python benchmarks/bench_mixed.py --write

clean:  ## Remove the environment and what tools have left
	rm -rf $(VENV) $(PYTHONS:%=.venv-%) $(PEERS) $(PROSET) $(COVERS) $(CLEANLAB) $(EMPTY) $(OLDEST) $(ORTOOLS) docs/_build docs/gallery build dist demo-output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
