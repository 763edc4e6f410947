"""The path and cross-validation as multiples of single fits, all in this run.

Run: python benchmarks/bench_path.py

On the USPS digits where they are at hand (PROTOCOVER_DATA), else on made data of the
same shape: a path of 20 radii x 10 costs against one fit at its largest radius, and ten-fold
cross-validation over 20 radii against one fit at the median radius, with the worker
processes already running, and in one thread by processor time, there on scikit-learn's small
digits, too. The same with radii of their own: a path of 20 costs against
one fit, at the fifth percentile of the distances as the limit, and ten-fold
cross-validation over the proposed limits and costs against one fit without a limit, with
how much memory both take. Then, on five bundled or made data sets, cross-validation against
scikit-learn's grid search: same scores, and how many times faster.
"""

from __future__ import annotations

import resource
import time
import warnings
from functools import partial

import numpy as np
from scipy.spatial.distance import pdist
from sklearn import datasets
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from bench_fit import load
from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, pvm_path, suggest_eps

N_JOBS = 2


def seconds(function, repeats=1, clock=time.perf_counter):
    """Least time of some repetitions."""
    least = np.inf
    for _ in range(repeats):
        start = clock()
        function()
        least = min(least, clock() - start)
    return least


def bench_large():
    name, X, y, _ = load()
    print(f"{name}: {X.shape[0]} x {X.shape[1]}")
    radii = suggest_eps(X, y, max_quantile=0.14, random_state=0)
    costs = np.append(1 / len(y), np.linspace(0.5, 8.0, 9))
    largest = seconds(lambda: PVMClassifier(eps=radii[-1], solver="greedy", **PAPER).fit(X, y), 3)
    path = seconds(lambda: pvm_path(X, y, eps=radii, prototype_costs=costs, **PAPER), 2)
    print(f"path of 20 x 10 / fit at its largest radius:  {path / largest:.1f}  (at most 6)")
    grid = suggest_eps(X, y, random_state=0)
    middle = PVMClassifier(eps=grid[len(grid) // 2], n_jobs=N_JOBS, solver="greedy", **PAPER)
    median = seconds(lambda: middle.fit(X, y), 3)
    search = PVMClassifierCV(eps=grid, n_jobs=N_JOBS, solver="greedy", **PAPER)
    search.fit(X[:500], y[:500])  # worker processes take seconds to start, once
    cv = seconds(lambda: search.fit(X, y))
    print(f"10-fold CV over 20 radii / fit at the median:  {cv / median:.1f}  (at most 30)")


def bench_one_thread():
    """Processor time, which other work on the machine stretches less."""
    name, X, y, _ = load()
    sets = {name: (X, y, 30), "digits": (*datasets.load_digits(return_X_y=True), 60)}
    for name, (X, y, most) in sets.items():
        grid = suggest_eps(X, y, random_state=0)
        middle = PVMClassifier(eps=grid[len(grid) // 2], n_jobs=1, solver="greedy", **PAPER)
        search = PVMClassifierCV(eps=grid, n_jobs=1, solver="greedy", **PAPER)
        with threadpool_limits(1):
            median = seconds(partial(middle.fit, X, y), 3, time.process_time)
            cv = seconds(partial(search.fit, X, y), 1, time.process_time)
        print(f"the same in one thread, {name}:  {cv / median:.1f}  (at most {most})")


def bench_adaptive_radii():
    name, X, y, _ = load()
    print(f"{name}, radii of their own")
    limit = np.quantile(pdist(X[:: max(1, len(X) // 2000)]), 0.05)
    costs = np.append(1 / len(y), np.geomspace(1.0, len(y) / 80, 19))
    fit = seconds(lambda: PVMClassifier(eps=limit, radii="adaptive", solver="greedy").fit(X, y))
    path = seconds(lambda: pvm_path(X, y, eps=limit, radii="adaptive", prototype_costs=costs))
    print(f"path of 20 costs / fit:  {path / fit:.1f}  (at most 3)")
    fit = seconds(
        lambda: PVMClassifier(eps=None, radii="adaptive", prototype_cost=1.0, solver="greedy").fit(
            X, y
        )
    )
    before = peak_memory()
    cv = seconds(
        lambda: PVMClassifierCV(radii="adaptive", random_state=0, solver="greedy").fit(X, y)
    )
    print(f"10-fold CV over 5 limits x 8 costs / fit without a limit:  {cv / fit:.1f}")
    print(f"the most memory at once, CV / fit:  {peak_memory() / before:.1f}")


def peak_memory():
    """Kilobytes that this process has held at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def bench_against_grid_search():
    sets = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": datasets.load_digits(return_X_y=True),
        "moons": datasets.make_moons(1000, noise=0.2, random_state=0),
    }
    print("grid search / PVMClassifierCV, 10 folds, 20 radii x 5 costs, same scores:")
    for name, (X, y) in sets.items():
        radii = suggest_eps(X, y, random_state=0)
        costs = [1 / len(y), 0.5, 1.0, 2.0, 4.0]
        ours = PVMClassifierCV(
            eps=radii, prototype_costs=costs, n_jobs=1, solver="greedy", **PAPER
        )
        theirs = GridSearchCV(
            PVMClassifier(solver="greedy", **PAPER), {"eps": radii, "prototype_cost": costs}, cv=10
        )
        fast = seconds(partial(ours.fit, X, y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # settings without prototypes have no score
            slow = seconds(partial(theirs.fit, X, y))
        for k in range(10):
            split = f"split{k}_test_score"
            a, b = ours.cv_results_[split], theirs.cv_results_[split]
            assert np.array_equal(a, b, equal_nan=True), (name, split)
        print(f"  {name}: {slow / fast:.1f}")


if __name__ == "__main__":
    bench_large()
    bench_one_thread()
    bench_adaptive_radii()
    bench_against_grid_search()
