"""Measure test error and scaling of the solvers, and write docs/solver-results.md.

Run: python benchmarks/report_solvers.py error | scale [--write] [--clock processor]

`error` compares the paper's greedy with local search and the exact optimum by
cross-validation on up to nine data sets, at several radii. `scale` holds the default and, over
time, the exact solver against the greedy on 30,000 and 60,000 images of Fashion-MNIST; there a
time limit is for all classes, and shared out among them as in a fit. With --clock processor it is
counted in processor time, so that other work on the machine takes none of it. With --write the
table replaces the one of the same name in docs/solver-results.md. Data sets that are not at hand
(PROTOCOVER_DATA) are left out, and that is said.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import wilcoxon
from sklearn import datasets
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

from page import write_section
from paper import PAPER
from protocover import PVMClassifier
from protocover._balls import build_balls
from protocover._selection.balls import formulate
from protocover._selection.selection import select
from protocover.dissimilarity import Euclidean
from protocover.solvers import auto, exact, greedy

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))
PERCENTILES = (2, 5, 10, 20)
UCI = ("diabetes", "glass", "heart", "liver", "vowel", "wine")


def load_sets():
    found = {
        name: getattr(datasets, f"load_{name}")(return_X_y=True)
        for name in ("iris", "breast_cancer", "digits")
    }
    for name in UCI:
        path = DATA / "uci" / f"{name}.csv"
        if path.exists():
            table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)
            found[name] = (
                table[:, :-1].astype(float),
                np.unique(table[:, -1], return_inverse=True)[1],
            )
    return found


def compare(X, y, *, n_repeats):
    """Test error, prototypes and objective of greedy, local search and exact, fold by fold."""
    rows = []
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=n_repeats, random_state=0)
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        for percentile, eps in zip(PERCENTILES, np.percentile(pdist(A), PERCENTILES), strict=True):
            for solver in ("greedy", "local-search", "exact"):
                options = None if solver == "greedy" else {"time_limit": 20.0}
                model = PVMClassifier(
                    eps=eps, solver=solver, solver_options=options, random_state=0, **PAPER
                ).fit(A, y[train])
                wrong = int((model.predict(B) != y[test]).sum())
                n_prototypes = len(model.candidate_indices_)
                rows.append(
                    (
                        percentile,
                        solver,
                        wrong,
                        len(test),
                        n_prototypes,
                        model.objective_,
                        model.gap_,
                    )
                )
    return rows


def error_report():
    lines = [
        "| data | percentile of distances | error % greedy | local search | exact | prototypes "
        "greedy | local search | exact | objective of greedy above exact | proved |",
        "|" + "---|" * 10,
    ]
    better = worse = 0
    differences = []
    for name, (X, y) in load_sets().items():
        rows = compare(X, y, n_repeats=1 if len(X) > 1000 else 3)
        for percentile in PERCENTILES:
            of = {
                solver: np.array([r[2:] for r in rows if r[:2] == (percentile, solver)])
                for solver in ("greedy", "local-search", "exact")
            }
            error = {s: 100 * v[:, 0].sum() / v[:, 1].sum() for s, v in of.items()}
            count = {s: v[:, 2].mean() for s, v in of.items()}
            excess = of["greedy"][:, 3].sum() / of["exact"][:, 3].sum() - 1
            proved = (of["exact"][:, 4] == 0).mean()
            differences.append(error["exact"] - error["greedy"])
            better += differences[-1] < 0
            worse += differences[-1] > 0
            lines.append(
                f"| {name} | {percentile} | {error['greedy']:.1f} | {error['local-search']:.1f} "
                f"| {error['exact']:.1f} | {count['greedy']:.1f} | {count['local-search']:.1f} "
                f"| {count['exact']:.1f} | {100 * excess:.0f} % | {100 * proved:.0f} % |"
            )
            print(lines[-1], flush=True)
    p = wilcoxon(differences).pvalue
    lines += [
        "",
        f"Over these {len(differences)} settings the optimum had the lower error in {better}, the "
        f"higher in {worse}; the mean difference is {np.mean(differences):+.2f} points of error "
        f"(Wilcoxon signed rank over settings, which are not independent: p = {p:.2f}).",
    ]
    return lines


def load_fashion(n):
    folder = DATA / "fashion-mnist"
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as images:
        X = np.frombuffer(images.read(), np.uint8, offset=16).reshape(-1, 784)[:n]
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as labels:
        y = np.frombuffer(labels.read(), np.uint8, offset=8)[:n]
    return X.astype(np.float32) / 255, y.astype(int)


def scale_report(sizes, limits):
    lines = [
        "| points | lambda | memberships | solver | seconds at most | taken | objective | bound "
        "| gap | certificates | time / greedy fit |",
        "|" + "---|" * 11,
    ]
    for n in sizes:
        X, y = load_fashion(n)
        rows = np.random.default_rng(0).choice(n, 1500, replace=False)
        eps = np.percentile(pdist(X[rows].astype(float)), 2)
        begun = time.perf_counter()
        balls = build_balls(Euclidean(), X, X, eps=eps)
        built = time.perf_counter() - begun
        for label, cost in (("1/n", 1 / n), ("6", 6.0)):
            begun = time.perf_counter()
            problems = formulate(balls, y, np.ones(n), n_classes=10, prototype_cost=cost)
            first = [greedy(one.problem) for one in problems]
            fit = built + time.perf_counter() - begun
            runs = [("greedy", None, first, fit)]
            for solver, limit in [(auto, None), *((exact, limit) for limit in limits)]:
                begun = time.perf_counter()
                options = {} if limit is None else {"time_limit": limit}
                solutions = select(
                    problems, solver, rng=np.random.default_rng(0), options=options
                ).solutions
                runs.append((solver.__name__, limit, solutions, time.perf_counter() - begun))
            for name, limit, solutions, spent in runs:
                objective = sum(s.objective for s in solutions)
                bound = sum(s.lower_bound for s in solutions)
                words = Counter(s.certificate for s in solutions)
                lines.append(
                    f"| {n} | {label} | {balls.nnz / 1e6:.1f} M | {name} | {limit or ''} "
                    f"| {f'{spent:.1f}' if limit else ''} | {objective:.2f} | {bound:.2f} "
                    f"| {100 * (1 - bound / objective):.2f} % "
                    f"| {', '.join(f'{k} {w}' for w, k in sorted(words.items()))} "
                    f"| {spent / fit:.1f} |"
                )
                print(lines[-1], flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    lines += ["", f"Radius: the 2nd percentile of the distances. Peak memory {peak:.1f} GB."]
    return lines


def made_by():
    """Say which command was run when, and how busy the machine was."""
    command = " ".join(["python benchmarks/" + Path(sys.argv[0]).name, *sys.argv[1:]])
    waiting = os.getloadavg()[2] / (os.cpu_count() or 1)
    return f"Made by `{command}` on {date.today()}, with {waiting:.1f} processes at work a core."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("section", choices=["error", "scale"])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30_000, 60_000])
    parser.add_argument("--limits", type=float, nargs="+", default=[50.0, 200.0])
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    options = parser.parse_args()
    if options.clock == "processor":
        time.monotonic = time.perf_counter = time.process_time
    if options.section == "error":
        lines = error_report()
    else:
        lines = scale_report(options.sizes, options.limits)
    lines[-1] += f" {made_by()}"
    print("\n".join(lines[-2:]))
    if options.write:
        write_section("solver-results.md", options.section, "\n".join(lines))


if __name__ == "__main__":
    main()
