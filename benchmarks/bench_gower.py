"""Gower's dissimilarity on 5,000 x 20 mixed rows against the gower package, in one run.

Run: python benchmarks/bench_gower.py

Half of the columns are numbers, the others labels and booleans. The package's values
are single precision and right on this table; with missing values it is not (see
docs/dissimilarities/gower.md), so there only our own time is shown.
"""

from __future__ import annotations

import time

import gower
import numpy as np
import pandas as pd

from protocover._balls import build_balls
from protocover.dissimilarity._gower import Gower

N_ROWS = 5000
REPEATS = 5


def mixed_frame(missing=0.0):
    """Ten columns of numbers, seven of labels, three of booleans."""
    rng = np.random.default_rng(0)
    numbers = {f"number{i}": rng.normal(3.0, 1.0, N_ROWS) for i in range(10)}
    labels = {f"label{i}": rng.choice(list("abcdef"), N_ROWS).astype(object) for i in range(7)}
    truths = {f"truth{i}": rng.random(N_ROWS) < 0.3 for i in range(3)}
    frame = pd.DataFrame(numbers | labels | truths)
    return frame.mask(rng.random(frame.shape) < missing) if missing else frame


def seconds(function, repeats=REPEATS):
    """Least seconds of some repetitions, and the last result."""
    least = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        least = min(least, time.perf_counter() - start)
    return least, result


def main():
    frame, gappy = mixed_frame(), mixed_frame(missing=0.1)
    is_label = [not name.startswith("number") for name in frame.columns]
    metric = Gower().fit(frame)
    ours, table = seconds(lambda: Gower().fit(frame).pairwise(frame, frame))
    theirs, judge = seconds(lambda: gower.gower_matrix(frame, cat_features=is_label), repeats=1)
    balls, _ = seconds(lambda: build_balls(metric, frame, frame, eps=0.2))
    missing, _ = seconds(lambda: Gower().fit(gappy).pairwise(gappy, gappy))
    difference = np.abs(table - judge).max()
    print(f"{N_ROWS} x {frame.shape[1]} mixed rows; largest difference {difference:.1e}")
    print(f"gower package         {theirs:7.2f} s")
    print(f"Gower().pairwise         {ours:7.2f} s  {theirs / ours:5.1f} times faster")
    print(f"balls of radius 0.2   {balls:7.2f} s  {theirs / balls:5.1f} times faster")
    print(f"10 % of cells missing {missing:7.2f} s")


if __name__ == "__main__":
    main()
