"""Dynamic time warping by hand-over from dtaidistance: prototypes of three shapes.

The series are the cylinders, bells and funnels of Saito: a plateau, a rise or a fall that
starts and ends at random, under noise. Warping makes series alike whose shapes are.

Run: python examples/time_series.py (needs dtaidistance)
"""

from __future__ import annotations

import numpy as np
from dtaidistance import dtw

from protocover import PVMClassifier

LENGTH = 64
WINDOW = 20
SHAPES = ("bell", "cylinder", "funnel")


def make_series(n_each=20, seed=0):
    """Series of the three shapes, and the names of the shapes."""
    rng = np.random.default_rng(seed)
    series, shape = [], np.repeat(SHAPES, n_each)
    for name in shape:
        start, end = rng.integers(8, 16), rng.integers(40, 60)
        inside = np.arange(start, end)
        rise = (inside - start) / (end - start)
        body = {"bell": rise, "cylinder": np.ones(len(inside)), "funnel": 1.0 - rise}[name]
        values = rng.normal(scale=0.5, size=LENGTH)
        values[inside] += (6.0 + rng.normal()) * body
        series.append(values)
    return series, shape


def warped(a, b):
    """Distance of two series after warping."""
    return dtw.distance_fast(a, b, window=WINDOW)


def fit_function(series, shape, eps):
    """Hand over a function of two series, which may differ in length."""
    return PVMClassifier(eps=eps, metric=warped).fit(series, shape)


def fit_matrix(series, shape, eps):
    """Hand over a matrix."""
    table = dtw.distance_matrix_fast(series, window=WINDOW)
    return PVMClassifier(eps=eps, metric="precomputed").fit(table, shape)


def predict_matrix(model, series, queries):
    """Hand over the distances from the prototypes only, as a block of a larger matrix."""
    prototypes = [series[i] for i in model.prototype_indices_]
    n, m = len(queries), len(prototypes)
    block = ((0, n), (n, n + m))
    table = dtw.distance_matrix_fast([*queries, *prototypes], block=block, window=WINDOW)
    return model.predict(table[:n, n:])


def main():
    """Show the prototypes, and how well they tell the shapes of new series."""
    series, shape = make_series()
    queries, truth = make_series(seed=1)
    model = fit_function(series, shape, eps=7.5)
    for index, label, covered in zip(
        model.prototype_indices_, model.prototype_labels_, model.prototype_covered_, strict=True
    ):
        print(f"series {index:3} is a {label:8} and covers {covered:g} series")
    right = np.mean(model.predict(queries) == truth)
    print(f"of {len(queries)} new series {right:.1%} are told right")


if __name__ == "__main__":
    main()
