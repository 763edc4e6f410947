"""
Time series under dynamic time warping
======================================

Series whose shapes agree, but not their timing, become neighbours once time may stretch. The
distance comes from another library, dtaidistance, and is handed over as a function; the
prototypes are series that one can look at.

Needs ``pip install dtaidistance``.
"""

import matplotlib.pyplot as plt
import numpy as np
from dtaidistance import dtw

from protocover import PVMClassifier

LENGTH = 64
WINDOW = 20
SHAPES = ("bell", "cylinder", "funnel")


# %%
# Three shapes
# ------------
# These are the cylinders, bells and funnels of Saito: a plateau, a rise or a fall that starts
# and ends at random, under noise.


def make_series(n_each=20, seed=0):
    """Series of the three shapes, and the names of the shapes."""
    rng = np.random.default_rng(seed)
    series, shape = [], np.repeat(SHAPES, n_each)
    for name in shape:
        start, end = rng.integers(8, 16), rng.integers(40, 60)
        inside = np.arange(start, end)
        rise = (inside - start) / (end - start)
        ones = np.ones(len(inside))
        body = {"bell": rise, "cylinder": ones, "funnel": 1.0 - rise}[name]
        values = rng.normal(scale=0.5, size=LENGTH)
        values[inside] += (6.0 + rng.normal()) * body
        series.append(values)
    return series, shape


series, shape = make_series()
queries, truth = make_series(seed=1)

# %%
# Handing a distance over
# -----------------------
# Any function of two examples will do. Warping may shift a moment by up to ``WINDOW`` steps.


def warped(a, b):
    """Distance of two series after warping."""
    return dtw.distance_fast(a, b, window=WINDOW)


def fit_function(series, shape, eps):
    """Hand over a function of two series, which may differ in length."""
    return PVMClassifier(eps=eps, metric=warped).fit(series, shape)


model = fit_function(series, shape, eps=7.5)
right = np.mean(model.predict(queries) == truth)
print(
    f"{len(model.prototype_labels_)} prototypes, {right:.1%} of {len(truth)} new series right"
)

# %%
# A function is called once a pair, which is fine for hundreds of series. Where the library
# computes all pairs at once, hand over the matrix. At prediction the distances from the
# prototypes are enough, which are a block of a larger matrix.


def fit_matrix(series, shape, eps):
    """Hand over a matrix."""
    table = dtw.distance_matrix_fast(series, window=WINDOW)
    return PVMClassifier(eps=eps, metric="precomputed").fit(table, shape)


def predict_matrix(model, series, queries):
    """Hand over the distances from the prototypes only, as a block of a larger matrix."""
    prototypes = [series[i] for i in model.prototype_indices_]
    n, m = len(queries), len(prototypes)
    block = ((0, n), (n, n + m))
    table = dtw.distance_matrix_fast(
        [*queries, *prototypes], block=block, window=WINDOW
    )
    return model.predict(table[:n, n:])


same = fit_matrix(series, shape, eps=7.5)
print(
    "same prototypes:",
    np.array_equal(same.prototype_indices_, model.prototype_indices_),
)
print(
    "same answers:",
    np.array_equal(predict_matrix(same, series, queries), model.predict(queries)),
)

# %%
# With and without warping
# ------------------------
# The plain Euclidean distance compares the same moments. With a radius found in the same way,
# the default one for each distance, it needs more prototypes for the same series.

plain = PVMClassifier().fit(np.array(series), shape)
bent = PVMClassifier(metric=warped).fit(series, shape)
for name, fitted, new in [
    ("warped", bent, queries),
    ("plain", plain, np.array(queries)),
]:
    right = np.mean(fitted.predict(new) == truth)
    print(
        f"{name:6}: {len(fitted.prototype_labels_):2} prototypes, {right:.1%} of new series right"
    )

# %%
# All series in grey, the prototypes in colour.

figure, axes = plt.subplots(
    2, 3, figsize=(8, 4.4), sharex=True, sharey=True, layout="constrained"
)
for row, (name, fitted) in zip(axes, [("warped", bent), ("plain", plain)], strict=True):
    row[0].set_ylabel(name)
    for ax, kind in zip(row, SHAPES, strict=True):
        ax.plot(np.array(series)[shape == kind].T, color="0.82", linewidth=0.6)
        mine = fitted.prototype_indices_[fitted.prototype_labels_ == kind]
        for index in mine:
            ax.plot(series[index], linewidth=1.5)
        ax.set_title(
            f"{kind}: {len(mine)} prototype{'s' * (len(mine) > 1)}", fontsize="medium"
        )

# As a script, the figure stays on screen; where functions are imported, nothing waits.
if __name__ == "__main__":
    plt.show()
