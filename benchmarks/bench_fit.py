"""Speed and memory of fit and predict, as ratios to the bare matrix product of this run.

Run: make bench, or python benchmarks/bench_fit.py

The data are the USPS digits where they are at hand (PROTOCOVER_DATA), else made data of
the same shape. Absolute times mean little on shared machines; each ratio is of the
fastest of several repetitions, taken alternately.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from paper import PAPER
from protocover import PVMClassifier
from protocover._balls import build_balls
from protocover._selection.balls import formulate
from protocover._selection.selection import select
from protocover.dissimilarity import Euclidean
from protocover.solvers import greedy

DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))
REPEATS = 7


def load():
    """7291 training and 2007 test images of 256 pixels in single precision."""
    if (DATA / "usps.npz").exists():
        usps = np.load(DATA / "usps.npz")
        X, X_test = usps["X_train"].astype(np.float32), usps["X_test"].astype(np.float32)
        return "USPS", X, usps["y_train"].astype(int), X_test
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(10, 256))
    y = rng.integers(10, size=7291 + 2007)
    X = (centers[y] + rng.normal(size=(len(y), 256))).astype(np.float32)
    return "made data", X[:7291], y[:7291], X[7291:]


def fastest(*functions, repeats=REPEATS):
    """Least seconds of each function, over repetitions taken in turn."""
    least = [np.inf] * len(functions)
    for _ in range(repeats):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            least[k] = min(least[k], time.perf_counter() - start)
    return least


def second_percentile(X):
    rows = np.random.default_rng(0).choice(len(X), 1500, replace=False)
    table = Euclidean().pairwise(X[rows], X[rows])
    return float(np.quantile(table[np.triu_indices(len(rows), 1)], 0.02))


def bench_fit(X, y, eps):
    balls = build_balls(Euclidean(), X, X, eps=eps)
    ones = np.ones(len(y))
    problems = formulate(balls, y, ones, n_classes=10, prototype_cost=1 / len(y))
    product, fit, build, solve = fastest(
        lambda: X @ X.T,
        lambda: PVMClassifier(eps=eps, solver="greedy", **PAPER).fit(X, y),
        lambda: build_balls(Euclidean(), X, X, eps=eps),
        lambda: select(problems, greedy),
    )
    print(f"eps = {eps:.3f}, {balls.nnz} memberships, {balls.nnz / len(y):.0f} a ball")
    print(f"fit / bare product X @ X.T:        {fit / product:.2f}  (at most 1.5)")
    print(f"balls / bare product:              {build / product:.2f}")
    print(f"greedy / fit:                      {solve / fit:.2f}  (at most 0.33)")


def bench_predict(X, y, X_test, eps):
    model = PVMClassifier(eps=eps, solver="greedy", **PAPER).fit(X, y)
    peer = KNeighborsClassifier(1, algorithm="brute")
    peer.fit(model.prototypes_, model.prototype_labels_)
    assert (model.predict(X_test) == peer.predict(X_test)).all()
    ours, theirs = fastest(lambda: model.predict(X_test), lambda: peer.predict(X_test))
    print(f"predict / scikit-learn's 1-NN:     {ours / theirs:.2f}  (at most 1.5)")


def bench_greedy_growth():
    """Time per membership as points grow, about 50 to a ball throughout."""
    print("greedy, time per membership relative to the smallest size:")
    first = None
    for n in (5_000, 20_000, 80_000):
        rng = np.random.default_rng(0)
        y = rng.integers(5, size=n)
        X = rng.normal(size=(5, 2))[y] + rng.normal(size=(n, 2))
        balls = build_balls(Euclidean(), X, X, eps=1.3 * np.sqrt(50 * 8 / n))
        problems = formulate(balls, y, np.ones(n), n_classes=5, prototype_cost=1 / n)
        each = fastest(lambda p=problems: select(p, greedy), repeats=3)[0] / balls.nnz
        first = first or each
        print(f"  {n:>6} points, {balls.nnz / n:>3.0f} a ball: {each / first:.2f}")


def peak_growth(eps):
    """Megabytes that one fit adds to a fresh process at its peak."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import bench_fit as b\n"
        "from pathlib import Path\n"
        "from protocover import PVMClassifier\n"
        "def memory(key):\n"
        "    lines = Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(x.split()[1]) for x in lines if x.startswith(key)) / 1024\n"
        "_, X, y, _ = b.load(); eps = float(sys.argv[2])\n"
        "PVMClassifier(eps=eps, solver='greedy').fit(X[:200], y[:200])\n"
        "Path('/proc/self/clear_refs').write_text('5')\n"
        "before = memory('VmRSS:')\n"
        "PVMClassifier(eps=eps, solver='greedy').fit(X, y)\n"
        "print(memory('VmHWM:') - before)"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(eps)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    name, X, y, X_test = load()
    eps = second_percentile(X)
    print(f"{name}: {X.shape[0]} x {X.shape[1]} float32")
    bench_fit(X, y, eps)
    bench_predict(X, y, X_test, eps)
    if Path("/proc/self/clear_refs").exists():
        print(f"fit adds to the process:           {peak_growth(eps):.0f} MB  (at most 200)")
    bench_greedy_growth()


if __name__ == "__main__":
    main()
