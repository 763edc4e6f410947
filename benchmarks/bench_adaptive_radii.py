"""Speed and memory of a fit with radii of their own, as ratios to the fit with one radius.

Run: make bench, or python benchmarks/bench_adaptive_radii.py [--exact SECONDS]

The data are the USPS digits where they are at hand (PROTOCOVER_DATA), else made data of
the same shape. The largest radius allowed is the fifth percentile of the distances; the fit
with one radius has the same. Times are the processor's, of all threads together, each the
least of several repetitions taken alternately. With --exact the exact solver has so many
seconds of processor time for all classes, at lambda = 6 and 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench_fit import load
from protocover import PVMClassifier
from protocover._selection.selection import formulate_classes, select
from protocover._selection.training import prepare_training
from protocover.dissimilarity import Euclidean
from protocover.solvers import exact, greedy

REPEATS = 5


def fifth_percentile(X):
    rows = np.random.default_rng(0).choice(len(X), 1500, replace=False)
    table = Euclidean().pairwise(X[rows], X[rows])
    return float(np.quantile(table[np.triu_indices(len(rows), 1)], 0.05))


def fit(X, y, eps, radii, *, cross_class=True, solver="greedy"):
    cost = 1 / len(y)
    model = PVMClassifier(
        eps=eps, radii=radii, cross_class=cross_class, prototype_cost=cost, solver=solver
    )
    return model.fit(X, y)


def least_seconds(*functions, repeats=REPEATS):
    """Least processor time of each function, over repetitions taken in turn."""
    least = [np.inf] * len(functions)
    for _ in range(repeats):
        for k, function in enumerate(functions):
            start = time.process_time()
            function()
            least[k] = min(least[k], time.process_time() - start)
    return least


def formulation(X, y, eps):
    training = prepare_training(
        X,
        y,
        None,
        metric="euclidean",
        metric_params=None,
        candidates="train",
        rng=np.random.default_rng(0),
    )
    return formulate_classes(
        training, eps=eps, adaptive_radii=True, closed=False, prototype_cost=1 / len(y)
    )


def fresh(problems):
    """Return the same problems as they are before anything was asked of them."""
    return [
        replace(one, problem=one.problem.at_cost(one.problem.prototype_cost)) for one in problems
    ]


def bench_fit(X, y, eps):
    written = formulation(X, y, eps)
    shared, own, build, solve = least_seconds(
        lambda: fit(X, y, eps, "shared"),
        lambda: fit(X, y, eps, "adaptive"),
        lambda: formulation(X, y, eps),
        lambda: select(fresh(written), greedy),
    )
    problems = [one.problem for one in written]
    kept = sum(problem.parts.nnz for problem in problems)
    columns = sum(problem.n_candidates for problem in problems)
    held = sum(problem.n_memberships for problem in problems)
    print(f"eps = {eps:.3f}: {columns} balls, {kept} memberships kept for {held} written out")
    print(f"fit(own) / fit(shared):            {own / shared:.2f}  (at most 3)")
    print(f"writing the problems / fit(own):   {build / own:.2f}")
    print(f"greedy / fit(own):                 {solve / own:.2f}")


def bench_cross_class(X, y, eps):
    """Compare candidates that serve their own class only with candidates that serve any."""
    for radii, solver in (
        ("shared", "greedy"),
        ("shared", "auto"),
        ("adaptive", "greedy"),
        ("adaptive", "auto"),
    ):
        free, bound = least_seconds(
            lambda r=radii, s=solver: fit(X, y, eps, r, solver=s),
            lambda r=radii, s=solver: fit(X, y, eps, r, cross_class=False, solver=s),
            repeats=3,
        )
        print(f"cross_class, False / True, {radii:<6} {solver:<6} {bound / free:.2f}")


def peak_growth(eps, radii):
    """Megabytes that one fit adds to a fresh process at its peak."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import bench_adaptive_radii as b\n"
        "from pathlib import Path\n"
        "def memory(key):\n"
        "    lines = Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(x.split()[1]) for x in lines if x.startswith(key)) / 1024\n"
        "_, X, y, _ = b.load(); radii = sys.argv[3]\n"
        "eps = None if sys.argv[2] == 'None' else float(sys.argv[2])\n"
        "b.fit(X[:200], y[:200], 1.0, radii)\n"
        "Path('/proc/self/clear_refs').write_text('5')\n"
        "before = memory('VmRSS:')\n"
        "b.fit(X, y, eps, radii)\n"
        "print(memory('VmHWM:') - before)"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(eps), radii]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def bench_exact(problems, seconds):
    """Say how far the exact solver comes within a limit of processor time."""
    time.monotonic = time.process_time
    for cost in (6.0, 1.0):
        priced = [one.at_cost(cost) for one in problems]
        options = {"time_limit": seconds}
        found = select(priced, exact, rng=np.random.default_rng(0), options=options)
        words = Counter(solution.certificate for solution in found.solutions)
        print(f"exact, lambda = {cost:g}, {seconds:g} s of processor time:")
        print(f"  objective {found.objective:g}, gap {100 * found.gap:.2f} %, {dict(words)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exact", type=float, metavar="SECONDS", help="also solve exactly: slow")
    parser.add_argument("--no-limit", action="store_true", help="also fit without a limit: slow")
    asked = parser.parse_args()
    name, X, y, _ = load()
    eps = fifth_percentile(X)
    print(f"{name}: {X.shape[0]} x {X.shape[1]} float32")
    bench_fit(X, y, eps)
    bench_cross_class(X, y, eps)
    if asked.exact is not None:
        bench_exact(formulation(X, y, eps), asked.exact)
    if Path("/proc/self/clear_refs").exists():
        shared, own = peak_growth(eps, "shared"), peak_growth(eps, "adaptive")
        print(f"memory added, own / shared:        {own / shared:.2f}  (at most 2)")
        print(f"  in megabytes:                    {own:.0f} and {shared:.0f}")
        if asked.no_limit:
            print(f"  without a limit:                 {peak_growth(None, 'adaptive'):.0f}")


if __name__ == "__main__":
    main()
