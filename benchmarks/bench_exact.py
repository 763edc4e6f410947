"""How good the solvers are and what a proof costs, as a ratio to a greedy fit of this run.

Run: python benchmarks/bench_exact.py [--write usps] [--clock processor]

The data are the USPS digits where they are at hand (PROTOCOVER_DATA), else scikit-learn's
digits. Objectives are summed over the classes; for lambda = 1/n they are multiplied by n
and then whole numbers. A greedy fit is balls, problems and the greedy selection. The
time limit is for all classes of a setting, and shared out among them as in a fit. With
--clock processor it is counted in processor time, so that other work on the machine takes
none of it. How many certificates are proved, and how many of them by a vector alone, is
said at the end. With --write the table goes into that section of docs/solver-results.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

from page import table, write_section
from protocover._balls import build_balls
from protocover._cover import verify
from protocover._selection.balls import formulate
from protocover._selection.selection import select
from protocover.dissimilarity import Euclidean
from protocover.solvers import exact, greedy, local_search, ratio_greedy
from report_solvers import made_by

DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))
PERCENTILES = (0.5, 1, 2, 5, 10, 14)
USPS_RADII = (
    3.9309401521737217,
    5.408163207594454,
    8.008664118315512,
    10.66000658536382,
    12.055004006635578,
    12.694745933653024,
)
# Proved elsewhere, by percentile and lambda.
KNOWN = {
    (0.5, "1/n"): 13421,
    (2, "1/n"): 1168741,
    (14, "1/n"): 12985418,
    (2, "1"): 2336,
    (14, "1"): 1926,
    (2, "6"): 3974,
    (14, "6"): 2342,
}


def load():
    if (DATA / "usps.npz").exists():
        usps = np.load(DATA / "usps.npz")
        return "USPS", usps["X_train"], usps["y_train"].astype(int), USPS_RADII, KNOWN
    X, y = load_digits(return_X_y=True)
    return "digits", X, y, tuple(np.percentile(pdist(X), PERCENTILES)), {}


def timed(function, *args, **kwargs):
    begun = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - begun, result


def greedy_fit(X, y, eps, cost):
    balls = build_balls(Euclidean(), X, X, eps=eps)
    classes = formulate(balls, y, np.ones(len(y)), n_classes=y.max() + 1, prototype_cost=cost)
    return classes, [greedy(one.problem) for one in classes]


def prove(classes, time_limit):
    """Solve all problems within the limit, as a fit does."""
    options = {"time_limit": time_limit}
    solutions = select(classes, exact, rng=np.random.default_rng(0), options=options).solutions
    for one, solution in zip(classes, solutions, strict=True):
        assert verify(one.problem, solution).ok
    return solutions


HEADER = (
    "percentile",
    "lambda",
    "greedy",
    "its bound",
    "ratio greedy",
    "local search",
    "exact",
    "known optimum",
    "bound",
    "gap",
    "prototypes",
    "certificates",
    "local search / fit",
    "exact / fit",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lambda", dest="costs", nargs="+", default=["1/n", "1", "6"])
    parser.add_argument("--percentile", type=float, nargs="+", default=PERCENTILES)
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    parser.add_argument("--write", choices=["usps"], help="section of docs/solver-results.md")
    options = parser.parse_args()
    if options.clock == "processor":
        time.monotonic = time.perf_counter = time.process_time
    name, X, y, radii, known = load()
    print(f"{name}: {len(X)} points; objective x n for lambda = 1/n")
    rows, proofs = [], Counter()
    for percentile, eps in zip(PERCENTILES, radii, strict=True):
        for cost in options.costs if percentile in options.percentile else ():
            *results, best_words = measure(X, y, eps, cost, options.time_limit)
            proofs += best_words
            best = known.get((percentile, cost), "")
            rows.append([f"{percentile:g}", cost, *results[:5], best, *results[5:]])
            print(table(HEADER, rows).splitlines()[-1], flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    told = (
        f"{name}, at most {options.time_limit:g} seconds ({options.clock} time) a setting, peak "
        f"memory {peak:.2f} GB. Of {proofs.total()} certificates {proofs['a vector']} are proved "
        f"by a vector, {proofs['leaves']} by leaves, {proofs['word']} rest on a solver's word and "
        f"{proofs['open']} leave a gap. {made_by()}"
    )
    print(told)
    if options.write:
        write_section("solver-results.md", options.write, f"{table(HEADER, rows)}\n\n{told}")


def measure(X, y, eps, cost, time_limit):
    """Return the figures of one setting, in the order of the header, and what they rest on."""
    value = 1 / len(X) if cost == "1/n" else float(cost)
    scale = len(X) if cost == "1/n" else 1
    fit, (classes, first) = timed(greedy_fit, X, y, eps, value)
    problems = [one.problem for one in classes]
    ratio = [ratio_greedy(problem) for problem in problems]
    searched = [timed(local_search, problem, rng=np.random.default_rng(0)) for problem in problems]
    spent = np.inf
    for _ in range(2):  # in turn, the fastest of each; slow proofs are run once
        again, (fresh, _) = timed(greedy_fit, X, y, eps, value)
        fit = min(fit, again)
        seconds, best = timed(prove, fresh, time_limit)
        spent = min(spent, seconds)
        if spent > 20 * fit:
            break

    def total(solutions, what="objective"):
        return f"{scale * sum(getattr(solution, what) for solution in solutions):.0f}"

    words = Counter(solution.certificate for solution in best)
    gap = 1 - float(total(best, "lower_bound")) / float(total(best))
    return [
        total(first),
        total(first, "lower_bound"),
        total(ratio),
        total([solution for _, solution in searched]),
        total(best),
        total(best, "lower_bound"),
        f"{100 * gap:.2f} %",
        sum(len(solution.selected) for solution in best),
        ", ".join(f"{n} {word}" for word, n in sorted(words.items())),
        f"{sum(t for t, _ in searched) / fit:.1f}",
        f"{spent / fit:.1f}",
        Counter(map(proof_of, best)),
    ]


def proof_of(solution):
    """Say what a certificate rests on."""
    if solution.gap > 0.0:
        return "open"
    if solution.certificate != "verified":
        return "word"
    return "a vector" if solution.proof is None else "a tree"


if __name__ == "__main__":
    main()
