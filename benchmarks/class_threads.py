"""What solving the classes of a fit side by side on threads would save: why it is not done.

Run: python benchmarks/class_threads.py [--threads 2]

All USPS digits, the problems of the ten classes written down beforehand. The solver is asked for
each class, one after the other and on so many threads, in turn, three times; ratios are of the
least times that passed, and of processor times. For exact the classes are asked without a limit,
so that only settings which it closes soon are measured. USPS must be at hand (PROTOCOVER_DATA).
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bench_exact import PERCENTILES, load
from page import table
from protocover._balls import build_balls
from protocover._selection.balls import formulate
from protocover.dissimilarity import Euclidean
from protocover.solvers import auto, exact

SETTINGS = (
    *((auto, 2, "1/n"), (auto, 5, "6"), (auto, 10, "6")),
    *((exact, 5, "1/n"), (exact, 5, "1"), (exact, 14, "6")),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    n_threads = parser.parse_args().threads
    _, X, y, radii, _ = load()
    rows = []
    for solver, percentile, cost in SETTINGS:
        eps = radii[PERCENTILES.index(percentile)]
        balls = build_balls(Euclidean().fit(X), X, X, eps=eps)
        price = 1 / len(X) if cost == "1/n" else float(cost)
        classes = formulate(balls, y, np.ones(len(y)), n_classes=10, prototype_cost=price)
        problems = [one.problem for one in classes]
        alone, together = zip(
            *((measure(solver, problems, 1), measure(solver, problems, n_threads)) for _ in "123"),
            strict=True,
        )
        passed, processor = (
            min(one[k] for one in alone) / min(one[k] for one in together) for k in (0, 1)
        )
        rows.append((solver.__name__, percentile, cost, f"{passed:.2f}", f"{1 / processor:.2f}"))
        print(rows[-1], flush=True)
    header = ("solver", "percentile", "lambda", "times as fast", "times the processor time")
    print(f"\n{n_threads} threads instead of one:\n\n{table(header, rows)}")


def measure(solver, problems, n_threads):
    """Return the time that passed and the processor time of solving all problems."""
    begun = time.perf_counter(), time.process_time()
    if n_threads == 1:
        list(map(solver, problems))
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(solver, problems))
    return time.perf_counter() - begun[0], time.process_time() - begun[1]


if __name__ == "__main__":
    main()
