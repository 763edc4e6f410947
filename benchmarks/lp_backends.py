"""Compare default fits with the two backends of linear programs: highspy and SciPy.

Prints, for each table, the processor time of SciPy's fit over that of highspy's (the median of
`--repeats` fits of each, alternating), and objective and gap of both. USPS needs the data folder
in PROTOCOVER_DATA.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from protocover import BallCover, PVMClassifier
from protocover.solvers import _lp as lp

BACKENDS = ("highspy", "scipy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore", UserWarning)
    if lp.backend() != "highspy":
        raise SystemExit("highspy is not usable here: there is nothing to compare")
    print(f"{'fit':34} {'highspy s':>9} {'ratio':>6}  objective (gap %), highspy and SciPy")
    ratios = [compare(name, fit, repeats) for name, fit in fits()]
    print(f"median ratio {statistics.median(ratios):.2f}, largest {max(ratios):.2f}")


def fits():
    """Yield what is fitted: a name and a function without arguments."""
    for name, X, y in tables():
        # One radius for the whole table: the median distance to the tenth neighbour.
        eps = float(np.median([np.sort(np.linalg.norm(X - x, axis=1))[10] for x in X[:300]]))
        yield f"{name}, adaptive radii", lambda X=X, y=y: PVMClassifier().fit(X, y)
        one = {"eps": eps, "radii": "shared"}
        yield f"{name}, one radius", lambda X=X, y=y, one=one: PVMClassifier(**one).fit(X, y)
        if len(X) <= 2000:
            limit = {"time_limit": 10}
            exact = {**one, "solver": "exact", "solver_options": limit}
            yield f"{name}, exact", lambda X=X, y=y, e=exact: PVMClassifier(**e).fit(X, y)
            yield f"{name}, cover", lambda X=X, eps=eps: BallCover(eps=eps).fit(X)


def tables():
    """Yield the tables that are at hand, standardised unless they are images."""
    for load in (load_iris, load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        yield load.__name__.removeprefix("load_"), scale(X), y
    yield "digits", *load_digits(return_X_y=True)
    usps = Path(os.environ.get("PROTOCOVER_DATA", "")) / "usps.npz"
    if usps.is_file():
        with np.load(usps) as data:
            names = [name for name in data.files if "train" in name]
            X, y = sorted((data[name] for name in names), key=lambda part: -part.ndim)
        yield "usps", X.reshape(len(X), -1).astype(np.float64), y


def compare(name, fit, repeats):
    """Print one line; return the ratio of times."""
    times = {backend: [] for backend in BACKENDS}
    models = {}
    for _ in range(repeats):
        for backend in BACKENDS:
            lp.backend = lambda backend=backend: backend
            begun = time.process_time()
            models[backend] = fit()
            times[backend].append(time.process_time() - begun)
    first, second = (statistics.median(times[backend]) for backend in BACKENDS)
    found = [f"{model.objective_:.6g} ({100 * model.gap_:.2f})" for model in models.values()]
    print(f"{name:34} {first:9.2f} {second / first:6.2f}  {found[0]}, {found[1]}", flush=True)
    return second / first


if __name__ == "__main__":
    main()
