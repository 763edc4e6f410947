"""Radii of their own against one shared radius at equal numbers of prototypes.

Run: PYTHONPATH=. python benchmarks/adaptive_radii_budgets.py [--sets ...]

On the splits of adaptive_radii.py, with 1, 2, 5 and 10 prototypes a class at most, in total: the
radius or limit, and the cost, have the least error in 5 folds of the training part, where the
first so many in order of selection are kept. Beside them any number of prototypes, with the
least error or within a standard error of it, and the paper's machine as it stands, a shared
radius with a cost of 1/n. Results are kept in
docs/adaptive-radii/budgets.json set by set, and told on the page that adaptive_radii.py writes.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from experiments.parts import write_json
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from adaptive_radii import COSTS, N_FOLDS, N_LIMITS, N_RADII, N_SPLITS, Split, every_set
from adaptive_radii_search import (
    Fold,
    Prototypes,
    best,
    in_order,
    judge,
    own,
    ratio_at,
    shared,
    simplest,
)
from adaptive_radii_sets import DataSet
from protocover import suggest_eps

RESULTS = Path(__file__).parents[1] / "docs" / "adaptive-radii" / "budgets.json"
PER_CLASS = (1, 2, 5, 10)

Choices = dict[tuple[float, float], Prototypes]
Grids = dict[str, Sequence[float]]


def choose_all(fold: Fold, grids: Grids) -> dict[str, Choices]:
    """Choose prototypes with every machine, for every radius or limit and cost."""
    found: dict[str, Choices] = {"shared": {}, "adaptive": {}, "ratio": {}}
    for radius in grids["radii"]:
        order = in_order(shared(fold, radius))
        found["shared"] |= {(radius, cost): order.at_cost(cost) for cost in grids["costs"]}
    for limit in grids["limits"]:
        balls = own(fold, limit)
        order = in_order(balls)
        found["adaptive"] |= {(limit, cost): order.at_cost(cost) for cost in grids["costs"]}
        found["ratio"] |= {(limit, cost): ratio_at(balls, cost) for cost in grids["costs"]}
    least = min(grids["costs"])
    found["paper"] = {key: one for key, one in found["shared"].items() if key[1] == least}
    return found


def judge_all(fold: Fold, grids: Grids, budgets: Sequence[int | None]) -> dict[str, Any]:
    """Judge every choice at every budget."""
    return {
        machine: {
            budget: {key: judge(fold, one.first(budget)) for key, one in choices.items()}
            for budget in budgets
        }
        for machine, choices in choose_all(fold, grids).items()
    }


def curves(
    final: Fold, grids: Grids, budgets: Sequence[int | None], *, seed: int
) -> list[dict[str, Any]]:
    """Choose in folds of the training part at each budget, and test each choice once."""
    folds = Fold.all_of(final.within, final.y, n_folds=N_FOLDS, seed=seed)
    judged = [judge_all(fold, grids, budgets) for fold in folds]
    rows = []
    for machine, chosen in choose_all(final, grids).items():
        for budget in budgets:
            at_budget = [one[machine][budget] for one in judged]
            in_folds = {setting: [one[setting] for one in at_budget] for setting in chosen}
            for rule in (best, simplest) if budget is None else (best,):
                told = _tested(final, chosen, rule(in_folds), budget)
                rows.append({"machine": machine, "rule": rule.__name__} | told)
    return rows


def _tested(
    final: Fold, chosen: Choices, setting: tuple[float, float], budget: int | None
) -> dict[str, Any]:
    """Test a choice that the folds have made."""
    error, size = judge(final, chosen[setting].first(budget))
    return {"budget": budget, "setting": setting, "error": round(error, 5), "size": size}


def measure(data: DataSet) -> dict[str, Any]:
    """Measure all budgets on all splits of a data set."""
    n_classes = int(data.y.max()) + 1
    splits = []
    for seed in range(N_SPLITS):
        split = Split.of(data, seed)
        within = split.distances()
        across = split.X_test if data.kind == "table" else cdist(split.X_test, split.X)
        grids = {
            "radii": suggest_eps(within, split.y, N_RADII, metric="precomputed").tolist(),
            "limits": [*suggest_eps(within, split.y, N_LIMITS, metric="precomputed"), np.inf],
            "costs": [1.0 / len(split.y), *COSTS],
        }
        final = Fold(within, across, split.y, split.y_test)
        budgets = [k * n_classes for k in PER_CLASS]
        splits.append(curves(final, grids, [*budgets, None], seed=seed))
    return {
        "n_train": len(split.y),
        "n_test": len(split.y_test),
        "n_classes": n_classes,
        "splits": splits,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", help="these sets only")
    options = parser.parse_args()
    sets = every_set()
    for name in options.sets or sets:
        if name in (json.loads(RESULTS.read_text()) if RESULTS.exists() else {}):
            continue
        start = time.process_time()
        with threadpool_limits(1):
            result = measure(sets[name])
        result["run"] = {
            "date": time.strftime("%Y-%m-%d"),
            "load": round(os.getloadavg()[0], 1),
            "cpu_seconds": round(time.process_time() - start, 1),
        }
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        write_json(RESULTS, kept | {name: result})
        print(f"{name}: {result['run']['cpu_seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
