"""Linear and integer programs with either backend, and which backend is used."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from covers import large_problem, problem_and_optimum
from scipy.sparse import csc_array

import naive
from protocover._cover import verify
from protocover.solvers import _lp as lp
from protocover.solvers._registry import SOLVERS

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["highspy", "scipy"])
def backend(request, monkeypatch):
    if request.param == "highspy" and lp.backend() != "highspy":
        pytest.skip("highspy is not usable here")
    monkeypatch.setattr(lp, "backend", lambda: request.param)
    return request.param


def random_cover(seed):
    """A small cover, some rows of which must be covered, and its least value."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = rng.integers(1, 9, size=2)
    inside = rng.random((n_rows, n_columns)) < 0.4
    cost = rng.integers(0, 6, n_columns).astype(float)
    prize = np.where(rng.random(n_rows) < 0.2, np.inf, rng.integers(0, 6, n_rows))
    subsets = map(np.array, itertools.product([False, True], repeat=n_columns))
    least = min(
        cost[chosen].sum() + prize[~inside[:, chosen].any(axis=1)].sum() for chosen in subsets
    )
    return inside, cost, prize, least


@pytest.mark.parametrize("seed", range(60))
def test_branch_and_cut_finds_the_optimum(backend, seed):
    inside, cost, prize, least = random_cover(seed)
    found = lp.solve_mip(csc_array(inside), cost, prize)
    if np.isinf(least):
        assert (found.status, found.selected) == ("infeasible", None)
        return
    missed = ~inside[:, found.selected].any(axis=1)
    assert found.status == "optimal"
    assert found.value == cost[found.selected].sum() + prize[missed].sum() == least
    assert found.bound == pytest.approx(least, abs=1e-5)
    as_good = lp.solve_mip(csc_array(inside), cost, prize, incumbent_value=least)
    assert (as_good.status, as_good.value) == ("optimal", least)
    better = lp.solve_mip(csc_array(inside), cost, prize, incumbent_value=least - 1.0)
    assert (better.status, better.bound) == ("infeasible", least - 1.0)


@pytest.mark.parametrize("method", ["interior-point", "simplex"])
@pytest.mark.parametrize("seed", range(60))
def test_the_dual_of_the_relaxation_equals_its_value(backend, seed, method):
    inside, cost, prize, least = random_cover(seed)
    if np.isinf(least):
        return
    found = lp.solve_relaxation(csc_array(inside), cost, prize, method=method)
    assert found.solved
    assert (inside.T @ found.dual <= cost + 1e-6).all()
    missed = np.maximum(1.0 - inside @ found.fraction, 0.0)
    finite = np.isfinite(prize)
    assert missed[~finite].max(initial=0.0) < 1e-5
    value = cost @ found.fraction + prize[finite] @ missed[finite]
    assert value == pytest.approx(found.value, abs=1e-4)
    assert found.value <= least + 1e-6


def test_limits_end_both_programs(backend):
    problem = large_problem(60, 90, density=0.1)
    cost = problem.cost
    few = lp.solve_mip(problem.cover, cost, problem.prize, max_nodes=0)
    assert few.status in ("limit", "optimal")
    assert few.bound <= few.value
    relaxed = lp.solve_relaxation(problem.cover, cost, problem.prize, iterations=1)
    assert not relaxed.solved


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_is_honest_with_either_backend(backend, name):
    for seed in range(24):
        problem, optimum, _ = problem_and_optimum(seed)
        solution = SOLVERS[name](problem, rng=np.random.default_rng(seed))
        assert solution.objective == float(naive.exact_value(problem, solution.selected.tolist()))
        assert Fraction(solution.lower_bound) <= float(optimum) <= solution.objective
        assert verify(problem, solution).ok
        if name == "exact":
            assert solution.objective == float(optimum)


def test_ctrl_c_ends_branch_and_cut(monkeypatch):
    if lp.backend() != "highspy":
        pytest.skip("SciPy hears it between programs only")

    def interrupted(*told):
        raise KeyboardInterrupt

    monkeypatch.setattr(lp, "_Watch", lambda deadline: interrupted)
    problem = large_problem(60, 90, density=0.1)
    with pytest.raises(KeyboardInterrupt):
        lp.solve_mip(problem.cover, problem.cost, problem.prize)


def test_an_option_that_highs_does_not_know_is_an_error():
    if lp.backend() != "highspy":
        pytest.skip("highspy is not usable here")
    with pytest.raises(RuntimeError, match="does not take the option mip_max_node=3"):
        lp._set(lp._new_highs(False), mip_max_node=3)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("highspy", "raise ImportError('undefined symbol')"),
        ("highspy", "raise OSError('wrong ELF class')"),
        ("ortools", ""),
    ],
)
def test_fits_run_where_highspy_cannot_be_used(tmp_path, name, body):
    """It is broken, or OR-Tools is there: then it is not even imported, in either order."""
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").write_text(body)
    run_fits("", tmp_path)


@pytest.mark.parametrize(
    "before",
    [
        "import sys; sys.modules['highspy'] = None",
        # What a process has where another package's HiGHS was loaded first.
        "import highspy._core; highspy._core.HIGHS_VERSION_MINOR = 999",
    ],
    ids=["missing", "another package's library"],
)
def test_fits_run_where_highspy_is_missing_or_not_its_own(tmp_path, before):
    if "highspy._core" in before and lp.backend() != "highspy":
        pytest.skip("highspy is not usable here")
    run_fits(before, tmp_path)


def run_fits(before, path):
    """Run the fits of `tools/fits_without_highspy.py` in a process of their own."""
    script = ROOT / "tools" / "fits_without_highspy.py"
    where = os.pathsep.join([str(path), *filter(None, sys.path)])
    run = f"import runpy; {before or 'pass'}; runpy.run_path({str(script)!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", run],
        env={**os.environ, "PYTHONPATH": where},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "scipy" in done.stdout
