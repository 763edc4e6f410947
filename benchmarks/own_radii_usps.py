"""USPS digits: error on the test images with at most so many prototypes, by kind of radii.

Run: PYTHONPATH=. python benchmarks/own_radii_usps.py [--write]

Euclidean distance. For each number of prototypes the radius, or the limit on radii of their
own, and the cost of a prototype have the least error in 5 folds of the 7,291 training images,
where the first so many prototypes in order of selection are kept; both machines have the same
15 radii to choose from, radii of their own also no limit. The test images are looked at once,
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

from own_radii_page import write_usps
from own_radii_search import Fold, Prototypes, best, in_order, judge, own, ratio_at, shared
from protocover import suggest_eps
from protocover.datasets import load_usps

RESULTS = Path(__file__).parents[1] / "docs" / "own-radii" / "usps.json"

N_FOLDS = 5
N_RADII = 15
COSTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
BUDGETS = (20, 50, 100, 200, 500, 1000, 2000, None)

Choices = dict[tuple[float, float], Prototypes]


def choose_all(fold: Fold, grid: np.ndarray, costs: tuple[float, ...]) -> dict[str, Choices]:
    """Choose prototypes with every machine, for every radius or limit and cost."""
    found: dict[str, Choices] = {"shared": {}, "own": {}, "ratio": {}}
    for radius in grid:
        order = in_order(shared(fold, radius))
        found["shared"] |= {(radius, cost): order.at_cost(cost) for cost in costs}
    for limit in (*grid, np.inf):
        balls = own(fold, limit)
        order = in_order(balls)
        found["own"] |= {(limit, cost): order.at_cost(cost) for cost in costs}
        found["ratio"] |= {(limit, cost): ratio_at(balls, cost) for cost in costs}
    return found


def judge_all(fold: Fold, found: Choices) -> dict[Any, dict[Any, tuple[float, int]]]:
    """Judge every choice at every budget."""
    return {
        budget: {setting: judge(fold, chosen.first(budget)) for setting, chosen in found.items()}
        for budget in BUDGETS
    }


def measure() -> dict[str, Any]:
    """Choose in the folds at each budget, and test each choice once."""
    usps = load_usps()
    X, y = np.asarray(usps.data, dtype=float), usps.target
    grid, costs = suggest_eps(X, y, N_RADII, random_state=0), (1.0 / len(y), *COSTS)
    within = cdist(X, X)
    judged = []
    for fold in Fold.all_of(within, y, n_folds=N_FOLDS, seed=0):
        found = choose_all(fold, grid, costs)
        judged.append({machine: judge_all(fold, choices) for machine, choices in found.items()})
    final = Fold(within, cdist(usps.test_data, X), y, usps.test_target)
    chosen = choose_all(final, grid, costs)
    return {
        "nearest": float(np.mean(y[final.across.argmin(axis=1)] != final.y_test)),
        "rows": [
            tested(final, machine, budget, chosen[machine], [one[machine] for one in judged])
            for budget in BUDGETS
            for machine in chosen
        ],
    }


def tested(final: Fold, machine: str, budget: int | None, chosen: Choices, judged) -> dict:
    """Test the choice that was best in the folds."""
    in_folds = {setting: [one[budget][setting] for one in judged] for setting in chosen}
    setting = best(in_folds)
    error, size = judge(final, chosen[setting].first(budget))
    return {
        "machine": machine,
        "budget": budget,
        "setting": list(setting),
        "in folds": float(np.mean(in_folds[setting], axis=0)[0]),
        "error": error,
        "size": size,
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
