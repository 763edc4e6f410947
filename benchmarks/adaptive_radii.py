"""Radii of their own against one shared radius and other ways to choose prototypes.

Run: make bench-adaptive-radii, or
     PYTHONPATH=. python benchmarks/adaptive_radii.py [--sets ...] [--write]

Each data set of adaptive_radii_sets.py, at most 1,200 rows of it, is split 20 times, two thirds
for training, and standardised on the training part. There 5-fold cross-validation chooses, for
one shared radius, the radius of 15 of the paper's grid and the cost of a prototype, and for
radii of their own the limit of 7 of that grid or none (with the ratio greedy 4 of them or
none), and the cost: the setting of least error, of equals that of fewest prototypes.
k-medoids, K-means and LVQ get the number of prototypes of each class that radii of their own
found. Seconds are processor time of one thread.

Results are kept in docs/adaptive-radii/results.json set by set; a set that is there is not
measured again (remove the file to do so), and --write writes
docs/adaptive-radii-results.md from what is there.
The digits at each number of prototypes are told from the results of the paper's experiments.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kmedoids
import numpy as np
from experiments.baselines.codebook import Codebook
from experiments.baselines.edited import edit, undersample
from experiments.baselines.olvq1 import train as train_lvq
from experiments.parts import write_json
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from adaptive_radii_page import write_page
from adaptive_radii_search import Fold, best, in_order, judge, own, ratio_at, shared
from adaptive_radii_sets import DataSet, halves
from paper import PAPER
from protocover import PVMClassifier, suggest_eps

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "adaptive-radii" / "results.json"
# In the order in which the page is told of them.
TOLD = (
    "adaptive-radii/results",
    "adaptive-radii/budgets",
    "adaptive-radii/proset",
    "paper/usps",
    "paper/tangent",
)

MOST_ROWS = 1200
N_SPLITS = 20
N_FOLDS = 5
N_RADII, N_LIMITS = 15, 7
COSTS = (1.0, 2.0, 4.0, 8.0, 16.0)
# The exact solver is tried on so many splits, so many seconds each.
EXACT_SPLITS, EXACT_SECONDS = 5, 3.0


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test part, scaled; rows of a table of distances where `kind` is that."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    kind: str
    seed: int

    @classmethod
    def of(cls, data: DataSet, seed: int) -> Split:
        train, test = train_test_split(
            np.arange(len(data.y)), test_size=1 / 3, stratify=data.y, random_state=seed
        )
        if data.kind == "table":
            X, X_test = data.X[np.ix_(train, train)], data.X[np.ix_(test, train)]
        else:
            X, X_test = data.X[train], data.X[test]
        if data.kind == "features":
            scaler = StandardScaler().fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
        return cls(X, data.y[train], X_test, data.y[test], data.kind, seed)

    @property
    def metric(self) -> str:
        return "precomputed" if self.kind == "table" else "euclidean"

    def distances(self) -> np.ndarray:
        """Distances between the training points."""
        return self.X if self.kind == "table" else cdist(self.X, self.X)


@dataclass
class Clock:
    """Adds up processor time by name."""

    seconds: dict[str, float]

    def time(self, name: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        done = work()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start
        return done


def choose_settings(split: Split, clock: Clock) -> dict[str, Any]:
    """Return the setting that each machine has from cross-validation on the training part."""
    within, n = split.distances(), len(split.y)
    folds = Fold.all_of(within, split.y, n_folds=N_FOLDS, seed=split.seed)
    costs = (1.0 / n, *COSTS)
    grids = {
        "shared": suggest_eps(within, split.y, N_RADII, metric="precomputed"),
        "adaptive": np.append(
            suggest_eps(within, split.y, N_LIMITS, metric="precomputed"), np.inf
        ),
    }
    orders = clock.time(
        "shared",
        lambda: {r: [in_order(shared(fold, r)) for fold in folds] for r in grids["shared"]},
    )
    balls = clock.time(
        "adaptive", lambda: {r: [own(fold, r) for fold in folds] for r in grids["adaptive"]}
    )
    few = {limit: balls[limit] for limit in np.append(grids["adaptive"][:-1:2], np.inf)}
    return {
        "folds": folds,
        "orders": orders,
        "shared": clock.time("shared", lambda: best(at_costs(folds, orders, costs))),
        "adaptive": clock.time("adaptive", lambda: best(at_costs(folds, orders_of(balls), costs))),
        "ratio": clock.time("ratio", lambda: best(by_ratio(folds, few, costs))),
    }


def at_costs(folds, orders, costs):
    """Judge what the greedy has chosen by the time it stops, for each radius and cost."""
    return {
        (radius, cost): [
            judge(fold, order.at_cost(cost)) for fold, order in zip(folds, found, strict=True)
        ]
        for radius, found in orders.items()
        for cost in costs
    }


def orders_of(balls):
    """Return the orders in which the greedy chooses, for each limit and fold."""
    return {limit: [in_order(one) for one in found] for limit, found in balls.items()}


def by_ratio(folds, balls, costs):
    """Judge what the ratio greedy chooses, for each limit and cost."""
    return {
        (limit, cost): [
            judge(fold, ratio_at(one, cost)) for fold, one in zip(folds, found, strict=True)
        ]
        for limit, found in balls.items()
        for cost in costs
    }


def at_budget(folds, orders, budget):
    """Judge the first prototypes that the greedy chooses, for each radius."""
    return {
        (radius, float(budget)): [
            judge(fold, order.first(budget)) for fold, order in zip(folds, found, strict=True)
        ]
        for radius, found in orders.items()
    }


def cover(
    split: Split, setting: tuple[float, float], *, solver: str = "greedy", **options: Any
) -> PVMClassifier:
    """Fit the machine with a radius or limit, and a cost."""
    radius, cost = setting
    model = PVMClassifier(
        eps=None if np.isinf(radius) else radius,
        prototype_cost=cost,
        metric=split.metric,
        solver=solver,
        n_jobs=1,
        random_state=0,
        **{**PAPER, **options},
    )
    return model.fit(split.X, split.y)


def in_each_class(
    split: Split, sizes: np.ndarray, reduce: Callable[[np.ndarray, int], np.ndarray]
) -> Codebook:
    """Reduce each class to so many points, from its rows; small classes stay as they are."""
    points, labels = [], []
    for label, size in enumerate(sizes):
        rows = np.flatnonzero(split.y == label)
        some = split.X[rows] if size >= len(rows) else reduce(rows, size) if size else rows[:0]
        points.append(some.reshape(len(some), split.X.shape[1]))
        labels.append(np.full(len(some), label))
    return Codebook(np.vstack(points), np.concatenate(labels))


def medoids(split: Split, sizes: np.ndarray) -> Any:
    """k-medoids of each class; for a table, a model of the columns chosen."""

    def reduce(rows: np.ndarray, size: int) -> np.ndarray:
        table = split.X[np.ix_(rows, rows)] if split.kind == "table" else None
        table = cdist(split.X[rows], split.X[rows]) if table is None else table
        table = np.ascontiguousarray(table)
        found = kmedoids.fasterpam(table, int(size), init="build", random_state=split.seed)
        return rows[np.asarray(found.medoids, dtype=np.intp)]

    if split.kind != "table":
        return in_each_class(split, sizes, lambda rows, size: split.X[reduce(rows, size)])
    chosen = [
        rows if size >= len(rows) else reduce(rows, size) if size else rows[:0]
        for size, rows in ((s, np.flatnonzero(split.y == k)) for k, s in enumerate(sizes))
    ]
    return Columns(np.concatenate(chosen), split.y)


@dataclass(frozen=True, eq=False)
class Columns:
    """Prototypes that are columns of a table of distances."""

    rows: np.ndarray
    y: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        return self.y[self.rows]

    def predict(self, table: np.ndarray) -> np.ndarray:
        return self.labels[table[:, self.rows].argmin(axis=1)]


def means(split: Split, sizes: np.ndarray) -> Codebook:
    """K-means of each class."""

    def reduce(rows: np.ndarray, size: int) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = KMeans(int(size), n_init=3, random_state=split.seed).fit(split.X[rows])
        return found.cluster_centers_

    return in_each_class(split, sizes, reduce)


def quantized(split: Split, sizes: np.ndarray) -> Codebook:
    """Learning vector quantization (OLVQ1), from the centres of K-means on."""
    start = means(split, sizes)
    return train_lvq(split.X, split.y, start, np.random.default_rng(split.seed))


def rivals(split: Split, sizes: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return the other methods; what needs coordinates is left out for a table."""
    found: dict[str, Callable[[], Any]] = {"k-medoids": lambda: medoids(split, sizes)}
    if split.kind == "table":
        return found | {"1-NN": lambda: Columns(np.arange(len(split.y)), split.y)}
    return found | {
        "K-means": lambda: means(split, sizes),
        "LVQ": lambda: quantized(split, sizes),
        "condensed": lambda: undersample(split.X, split.y, seed=split.seed),
        "edited": lambda: edit(split.X, split.y),
        "1-NN": lambda: Codebook(split.X, split.y),
    }


def measure_split(split: Split) -> dict[str, Any]:
    """Error, number of prototypes and seconds of every method."""
    search, fits = Clock({}), Clock({})
    chosen = choose_settings(split, search)
    models = {
        "shared": fits.time("shared", lambda: cover(split, chosen["shared"])),
        "adaptive": fits.time(
            "adaptive", lambda: cover(split, chosen["adaptive"], radii="adaptive")
        ),
        "ratio": fits.time(
            "ratio", lambda: cover(split, chosen["ratio"], radii="adaptive", solver="ratio-greedy")
        ),
    }
    sizes = np.bincount(models["adaptive"].prototype_labels_, minlength=int(split.y.max()) + 1)
    budget = max(1, int(sizes.sum()))
    few = best(at_budget(chosen["folds"], chosen["orders"], budget))
    models["shared, as many"] = fits.time(
        "shared, as many",
        lambda: cover(split, (few[0], 1.0 / len(split.y)), max_prototypes=budget),
    )
    for name, fit in rivals(split, sizes).items():
        models[name] = fits.time(name, fit)
    if split.seed < EXACT_SPLITS:
        models |= closed(split, chosen["ratio"], fits)
    told = {name: tell(split, model, fits.seconds[name]) for name, model in models.items()}
    for name in ("shared", "adaptive", "ratio"):
        told[name] |= {"setting": list(chosen[name]), "search": search.seconds[name]}
    return told


def closed(split: Split, setting: tuple[float, float], fits: Clock) -> dict[str, Any]:
    """Return the optimum, where it is proved in time."""
    options = {
        "radii": "adaptive",
        "solver": "exact",
        "solver_options": {"time_limit": EXACT_SECONDS},
    }
    model = fits.time("exact", lambda: cover(split, setting, **options))
    return {"exact": model} if model.gap_ == 0.0 else {}


def tell(split: Split, model: Any, seconds: float) -> dict[str, Any]:
    labels = model.prototype_labels_ if isinstance(model, PVMClassifier) else model.labels
    error = float(np.mean(model.predict(split.X_test) != split.y_test))
    told = {"error": round(error, 5), "size": len(labels), "seconds": round(seconds, 4)}
    if isinstance(model, PVMClassifier):
        told["objective"] = model.objective_
    return told


def measure(data: DataSet) -> dict[str, Any]:
    """Measure all methods on all splits of a data set."""
    splits = [Split.of(data, seed) for seed in range(N_SPLITS)]
    told = [measure_split(split) for split in splits]
    return {
        "n_train": len(splits[0].y),
        "n_test": len(splits[0].y_test),
        "n_features": data.X.shape[1],
        "n_classes": int(data.y.max()) + 1,
        "kind": data.kind,
        "splits": told,
    }


def every_set() -> dict[str, DataSet]:
    """Load the data sets, at most so many rows of each."""
    return {name: data for half in halves(MOST_ROWS).values() for name, data in half.items()}


def results() -> dict[str, Any]:
    """Return what has been measured so far, by data set."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def keep(name: str, data: DataSet) -> None:
    """Measure a data set and keep the results, with date and load."""
    start = time.process_time()
    with threadpool_limits(1):
        result = measure(data)
    result["run"] = {
        "date": time.strftime("%Y-%m-%d"),
        "load": round(os.getloadavg()[0], 1),
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    write_json(RESULTS, results() | {name: result})
    print(f"{name}: {result['run']['cpu_seconds']:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", help="these sets only")
    parser.add_argument(
        "--write", action="store_true", help="write docs/adaptive-radii-results.md"
    )
    options = parser.parse_args()
    sets = every_set()
    for name in options.sets or sets:
        if name not in results():
            keep(name, sets[name])
    if options.write:
        write_page(*(json.loads((DOCS / f"{name}.json").read_text()) for name in TOLD))


if __name__ == "__main__":
    main()
