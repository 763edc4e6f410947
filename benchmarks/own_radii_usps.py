"""USPS digits: error on the test images with at most so many prototypes, by kind of radii.

Run: PYTHONPATH=. python benchmarks/own_radii_usps.py [--write]

Euclidean distance. For each number of prototypes the radius, or the limit on radii of their
own, and the cost of a prototype have the least error in 5 folds of the 7,291 training images,
where the first so many prototypes in order of selection are kept; both machines have the same
radii to choose from, radii of their own also no limit. The test images are looked at once,
with what was chosen. Results are kept in docs/own-radii/usps.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from experiments.parts import write_json
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from own_radii_budgets import curves
from own_radii_page import write_usps
from own_radii_search import Fold
from protocover import suggest_eps
from protocover.datasets import load_usps

RESULTS = Path(__file__).parents[1] / "docs" / "own-radii" / "usps.json"

COSTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
BUDGETS = (20, 50, 100, 200, 500, 1000, 2000, None)
# Between the smallest distance, where the paper's grid begins, and its next radius.
N_BETWEEN = 6


def measure() -> dict[str, Any]:
    """Choose in the folds at each budget, and test each choice once."""
    usps = load_usps()
    X, y = np.asarray(usps.data, dtype=float), usps.target
    final = Fold(cdist(X, X), cdist(usps.test_data, X), y, usps.test_target)
    grid = suggest_eps(X, y, random_state=0)
    radii = np.union1d(grid, np.linspace(*grid[:2], N_BETWEEN + 2)).tolist()
    grids = {"radii": radii, "limits": [*radii, np.inf], "costs": [1.0 / len(y), *COSTS]}
    nearest = y[final.across.argmin(axis=1)]
    return {
        "nearest": float(np.mean(nearest != final.y_test)),
        "radii": radii,
        "rows": curves(final, grids, BUDGETS, seed=0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/own-radii.md")
    options = parser.parse_args()
    if not RESULTS.exists():
        start = time.process_time()
        with threadpool_limits(1):
            result = measure()
        result["run"] = {
            "date": time.strftime("%Y-%m-%d"),
            "load": round(os.getloadavg()[0], 1),
            "cpu_seconds": round(time.process_time() - start, 1),
        }
        write_json(RESULTS, result)
    if options.write:
        write_usps(json.loads(RESULTS.read_text()))


if __name__ == "__main__":
    main()
