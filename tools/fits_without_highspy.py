"""Fit with every solver where `highspy` cannot be used, and check the results.

With ``--ortools before`` or ``after`` it first imports OR-Tools, or imports it after the fits, and
solves a problem with it.
"""

from __future__ import annotations

import argparse
import sys

from sklearn.datasets import load_iris

from protocover import BallCover, PVMClassifier
from protocover.solvers import _lp as lp
from protocover.solvers._registry import SOLVERS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ortools", choices=["before", "after"])
    when = parser.parse_args().ortools
    if when == "before":
        use_ortools()
    fit_all()
    if when == "after":
        use_ortools()
    assert lp.backend() == "scipy", f"the backend is {lp.backend()}"
    print(f"{len(SOLVERS)} solvers fitted, linear programs by {lp.backend()}")


def fit_all() -> None:
    X, y = load_iris(return_X_y=True)
    best = PVMClassifier(eps=1.0, solver="exact").fit(X, y)
    assert best.gap_ == 0.0
    for solver in SOLVERS:
        model = PVMClassifier(eps=1.0, solver=solver).fit(X, y)
        assert model.lower_bound_ <= best.objective_ <= model.objective_
    assert PVMClassifier().fit(X, y).verify(X, y).ok
    assert BallCover(eps=0.5).fit(X).verify(X).ok


def use_ortools() -> None:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    model.maximize(model.new_bool_var("x"))
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    assert solver.objective_value == 1.0


if __name__ == "__main__":
    sys.exit(main())
