"""What each solver gives and costs on a dozen data sets: the grounds of the default.

Run: python benchmarks/compare_solvers.py [--write] [--sets iris USPS ...] [--keep FILE]

Every data set is split into training and test rows and fitted at three radii (percentiles of
the training distances) and three prototype costs with every
solver. The objective is compared with the best lower bound that any of them proved,
processor time and number of prototypes with those of the greedy fit of the same setting, and
the error with that of the greedy fit on the same test rows. exact has a second a class,
stretched by as much as other work on the machine slowed the greedy fit. With --write the tables
go into docs/solver-results.md; with --keep results are kept in a file, and data sets in it are
not run again. Data sets that are not at hand (PROTOCOVER_DATA) are left out, and that is said.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from page import table, write_section
from paper import PAPER
from protocover import PVMClassifier
from report_solvers import DATA, UCI, load_fashion, load_sets, made_by

PERCENTILES = (2, 5, 10)
COSTS = ("1/n", "1", "6")
# Seconds for each class.
SECONDS = {"exact": 1.0}
SOLVERS = ("greedy", "ratio-greedy", "local-search", "exact", "auto")
# The quick ones first.
ORDER = ("iris", "wine", "glass", "vowel", "heart", "breast_cancer", "digits", "USPS")
ORDER += ("Fashion-MNIST", "mixture", "liver", "diabetes")
SMALL, MOST_TRAINED, MOST_TESTED = 1000, 1000, 700


@dataclass(frozen=True)
class Run:
    """One fit: where, by which solver, and what came of it relative to greedy and bound."""

    data: str
    cost: str
    solver: str
    excess: float
    proved: bool
    time: float
    prototypes: float
    error: float


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", help="only these data sets")
    parser.add_argument("--write", action="store_true", help="write docs/solver-results.md")
    parser.add_argument("--keep", type=Path, help="file of results to go on from and add to")
    options = parser.parse_args()
    kept = options.keep.read_text() if options.keep and options.keep.exists() else "[]"
    runs = [Run(**run) for run in json.loads(kept)]
    done = {run.data for run in runs}
    for name, X, y in load_dozen(options.sets):
        if name not in done:
            begun = time.perf_counter()
            runs += list(compare(name, X, y))
            print(f"{name}: {len(X)} points, {time.perf_counter() - begun:.0f} s", flush=True)
        if options.keep:
            options.keep.write_text(json.dumps([asdict(run) for run in runs]))
    text = "\n\n".join((by_solver(runs), by_data(runs), verdict(runs), made_by()))
    print(text)
    if options.write:
        write_section("solver-results.md", "compare", text)


def load_dozen(wanted):
    """Yield name, rows and labels of each data set that is at hand and wanted."""
    sets = {**load_sets(), "mixture": make_mixture()}
    if (DATA / "usps.npz").exists():
        usps = np.load(DATA / "usps.npz")
        sets["USPS"] = usps["X_train"], usps["y_train"].astype(int)
    if (DATA / "fashion-mnist").is_dir():
        sets["Fashion-MNIST"] = load_fashion(MOST_TRAINED + MOST_TESTED)
    for name in (*UCI, "USPS", "Fashion-MNIST"):
        if name not in sets:
            print(f"{name} is not in {DATA}: left out")
    for name in ORDER:
        if name in sets and (wanted is None or name in wanted):
            X, y = sets[name]
            yield name, np.asarray(X, dtype=np.float64), y


def make_mixture():
    """Three classes in the plane, each of eight round clusters, which overlap."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 600)
    center = rng.uniform(-4.0, 4.0, size=(3, 8, 2))[y, rng.integers(0, 8, size=len(y))]
    return center + rng.normal(scale=0.6, size=(len(y), 2)), y


def compare(name, X, y):
    """Yield a run for each split, radius, cost and solver."""
    small = len(X) < SMALL
    splits = StratifiedShuffleSplit(
        n_splits=1,
        train_size=0.7 if small else MOST_TRAINED,
        test_size=0.3 if small else MOST_TESTED,
        random_state=0,
    )
    for train, test in splits.split(X, y):
        # Pixels of the large sets have one scale already.
        scaler = StandardScaler(with_mean=small, with_std=small).fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        for eps in np.percentile(pdist(A), PERCENTILES):
            for cost in COSTS:
                fits = {}
                for solver in SOLVERS:
                    stretch = fits["greedy"][2] if fits else 1.0
                    fits[solver] = fit(A, y[train], eps, cost, solver, stretch)
                yield from judged(name, cost, fits, B, y[test])


def fit(X, y, eps, cost, solver, stretch):
    """Fit a model; return it, the processor time that took, and wall time by that."""
    seconds = SECONDS.get(solver)
    model = PVMClassifier(
        eps=eps,
        prototype_cost="auto" if cost == "1/n" else float(cost),
        solver=solver,
        solver_options=None
        if seconds is None
        else {"time_limit": seconds * stretch * len(np.unique(y))},
        random_state=0,
        **PAPER,
    )
    begun, wall = time.process_time(), time.perf_counter()
    model.fit(X, y)
    spent = time.process_time() - begun
    return model, spent, max(1.0, (time.perf_counter() - wall) / spent)


def judged(name, cost, fits, X, y):
    """Yield a run for each fit of one setting."""
    bound = max(model.lower_bound_ for model, *_ in fits.values())
    first, seconds, _ = fits["greedy"]
    wrong = np.mean(first.predict(X) != y)
    for solver, (model, spent, _) in fits.items():
        yield Run(
            data=name,
            cost=cost,
            solver=solver,
            excess=100.0 * (model.objective_ / bound - 1.0),
            proved=bool(model.gap_ == 0.0),
            time=spent / seconds,
            prototypes=len(model.candidate_indices_) / len(first.candidate_indices_),
            error=100.0 * float(np.mean(model.predict(X) != y) - wrong),
        )


def by_solver(runs):
    """One row for each cost and solver, over all data sets, radii and splits."""
    header = ["lambda", "solver", "objective above best bound: mean", "largest", "proved"]
    header += ["time / greedy fit: median", "largest", "prototypes / greedy", "error - greedy"]
    rows = []
    for cost in COSTS:
        for solver in SOLVERS:
            own = [run for run in runs if (run.cost, run.solver) == (cost, solver)]
            rows.append(
                [
                    cost,
                    solver,
                    f"{np.mean([run.excess for run in own]):.2f} %",
                    f"{max(run.excess for run in own):.1f} %",
                    f"{100 * np.mean([run.proved for run in own]):.0f} %",
                    f"{np.median([run.time for run in own]):.1f}",
                    f"{max(run.time for run in own):.0f}",
                    f"{np.mean([run.prototypes for run in own]):.2f}",
                    f"{np.mean([run.error for run in own]):+.2f}",
                ]
            )
    return table(header, rows)


def by_data(runs):
    """One row for each data set, over costs, radii and splits."""
    header = ["data", *(f"above best bound: {SOLVERS[0]}", *SOLVERS[1:])]
    header += ["auto's time / greedy fit: median", "largest", "auto's error - greedy's"]
    rows = []
    for data in dict.fromkeys(run.data for run in runs):
        of = {s: [r for r in runs if (r.data, r.solver) == (data, s)] for s in SOLVERS}
        rows.append(
            [
                data,
                *(f"{np.mean([run.excess for run in of[s]]):.2f} %" for s in SOLVERS),
                f"{np.median([run.time for run in of['auto']]):.1f}",
                f"{max(run.time for run in of['auto']):.0f}",
                f"{np.mean([run.error for run in of['auto']]):+.2f}",
            ]
        )
    return table(header, rows)


def verdict(runs):
    """Count where each solver's mean error over a data set and cost is below greedy's."""
    lines = []
    for solver in SOLVERS[1:]:
        means = np.array(
            [
                np.mean([r.error for r in runs if (r.data, r.cost, r.solver) == (d, c, solver)])
                for d in dict.fromkeys(run.data for run in runs)
                for c in COSTS
            ]
        )
        p = wilcoxon(means).pvalue if means.any() else 1.0
        lines.append(
            f"- {solver}: error below greedy's in {(means < 0).sum()}, above in "
            f"{(means > 0).sum()} of {len(means)} pairs of data set and cost, on average "
            f"{means.mean():+.2f} points (signed rank p = {p:.2f})."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
