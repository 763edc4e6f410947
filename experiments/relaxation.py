"""What the relaxation takes (section 3.1: "relatively slow and memory-intensive").

Each way to select prototypes of the USPS digits is run in a process of its own, which tells by
how much its memory grew at most, and its processor time. Beside the package's solvers there is
the paper's relaxation as it is written down, every class and every candidate in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack
from scipy.spatial.distance import cdist

from protocover import PVMClassifier

from .datasets import load_usps
from .machine import PAPER
from .parts import Parts
from .solvers import radius

SOLVERS = ("greedy", "lp-rounding", "exact")
PLAIN = "plain relaxation"


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return memory and time by percentile and way."""
    n, percentiles = (300, (5,)) if quick else (7291, (2, 5, 14))
    tasks = [
        {"n": n, "percentile": percentile, "way": way}
        for percentile in percentiles
        for way in (*SOLVERS, PLAIN)
    ]
    return {"n": n, "rows": parts.keep_all("relaxation", run_apart, tasks)}


def run_apart(n: int, percentile: int, way: str) -> dict[str, Any]:
    """Measure one way in a process of its own."""
    # Here, so that what it takes to find the radius is not in that process.
    eps = radius(*load(n), percentile)
    asked = [sys.executable, "-m", "experiments.relaxation", str(n), str(eps), way]
    root = Path(__file__).parents[1]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=root)
    return {"n": n, "percentile": percentile, "way": way, **json.loads(done.stdout)}


def measure(n: int, eps: float, way: str) -> dict[str, Any]:
    """Return growth of memory in MB, seconds and the value that one way comes to."""
    X, y = load(n)
    # Modules are loaded when they are first needed, which is not to be counted.
    solve(X[:100], y[:100], eps, way)
    _reset_peak()
    before, start = _memory("VmRSS:"), time.process_time()
    value = solve(X, y, eps, way)
    seconds = time.process_time() - start
    return {"mb": _memory("VmHWM:") - before, "seconds": seconds, "value": float(value)}


def load(n: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return `n` training images and their digits."""
    usps = load_usps()
    rows = np.sort(np.random.default_rng(0).permutation(len(usps.target))[:n])
    return usps.data[rows], usps.target[rows]


def solve(X: NDArray[np.float64], y: NDArray[Any], eps: float, way: str) -> float:
    """Return the objective that one way finds, or the value of the plain relaxation."""
    if way == PLAIN:
        return solve_relaxation(X, y, eps)
    options = {"time_limit": 600.0} if way == "exact" else None
    model = PVMClassifier(
        eps=eps, solver=way, solver_options=options, n_jobs=1, random_state=0, **PAPER
    )
    return float(model.fit(X, y).objective_)


def solve_relaxation(X: NDArray[np.float64], y: NDArray[Any], eps: float) -> float:
    """Return the value of the paper's linear relaxation, class after class (appendix A)."""
    # Class by class, so that the table of all distances is no part of what is measured.
    inside = {label: csr_array(cdist(X[y == label], X) < eps) for label in np.unique(y)}
    all_inside = sum(own.sum(axis=0) for own in inside.values())
    value = 0.0
    for own in inside.values():
        costs = 1.0 / len(y) + all_inside - own.sum(axis=0)
        n_own = own.shape[0]
        covers = hstack([own.astype(float), eye_array(n_own)], format="csr")
        solved = linprog(
            np.concatenate((costs, np.ones(n_own))),
            A_ub=-covers,
            b_ub=-np.ones(n_own),
            bounds=(0.0, 1.0),
            method="highs",
        )
        value += float(solved.fun)
    return value


def _memory(line: str) -> float:
    """Return a number of this process's status, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(line)[1].split()[0]) / 1024


def _reset_peak() -> None:
    """Let the largest memory so far be what there is now."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])))
