"""Learning vector quantization: OLVQ1, started as lvqinit of R's ``class`` does.

Written after T. Kohonen, *Self-Organizing Maps* (chapter on LVQ) and the documentation
of ``lvqinit`` and ``olvq1``: a codebook of examples in proportion to the classes, drawn
among those that a 5-nearest-neighbour vote of the others gets right; then 40 steps a
codebook vector, each moving the nearest vector to a random example of its class, or away
from one of another, with a learning rate of its own that starts at 0.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from .codebook import Codebook

ALPHA = 0.3
STEPS = 40
Neighbors = 5

Floats = NDArray[np.float64]


def fit_olvq1(X: Floats, y: NDArray[Any], sizes: Sequence[int], *, seed: int) -> list[Codebook]:
    """Return trained codebooks of about `sizes` vectors in total."""
    rng = np.random.default_rng(seed)
    inside = _well_inside(X, y)
    starts = [start_codebook(y, size, inside, rng) for size in sizes]
    return [train(X, y, Codebook(X[rows], y[rows]), rng) for rows in starts]


def default_size(n_classes: int, n_points: int, n_features: int) -> int:
    """Return the size that lvqinit takes when none is given."""
    return min(round(0.4 * n_classes * (n_classes - 1 + n_features / 2)), n_points)


def start_codebook(
    y: NDArray[Any], size: int, inside: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the rows that start the codebook, at least one of each class.

    A class with too few examples among its own kind gives fewer vectors than its share,
    so the codebook can be smaller than asked for.
    """
    chosen = []
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        pool = own[inside[own]] if inside[own].any() else own
        share = max(1, round(size * len(own) / len(y)))
        chosen.append(rng.choice(pool, size=min(share, len(pool)), replace=False))
    return np.concatenate(chosen)


def train(
    X: Floats,
    y: NDArray[Any],
    codebook: Codebook,
    rng: np.random.Generator,
    *,
    n_steps: int | None = None,
    alpha: float = ALPHA,
) -> Codebook:
    """Return the codebook after OLVQ1 on random examples, 40 a vector by default."""
    n_steps = STEPS * len(codebook) if n_steps is None else n_steps
    drawn = rng.integers(len(y), size=n_steps)
    codes = np.unique(np.concatenate((y, codebook.labels)), return_inverse=True)[1]
    points = np.array(codebook.points, dtype=np.float64)
    _steps(points, codes[len(y) :], np.ascontiguousarray(X), codes[: len(y)], drawn, alpha)
    return Codebook(points, codebook.labels)


@njit(cache=True)
def _steps(points, labels, X, y, drawn, alpha):  # type: ignore[no-untyped-def]
    """Present the drawn examples one after another; `points` are moved in place."""
    rate = np.full(len(points), alpha)
    for i in drawn:
        nearest, least = 0, np.inf
        for k in range(len(points)):
            square = 0.0
            for f in range(X.shape[1]):
                gap = X[i, f] - points[k, f]
                square += gap * gap
                if square >= least:
                    break
            if square < least:
                nearest, least = k, square
        sign = 1.0 if labels[nearest] == y[i] else -1.0
        for f in range(X.shape[1]):
            points[nearest, f] += sign * rate[nearest] * (X[i, f] - points[nearest, f])
        # With this recursion all examples seen so far have the same weight in the vector.
        # After mistakes the rate would grow; it is not let above where it started.
        rate[nearest] = min(alpha, rate[nearest] / (1.0 + sign * rate[nearest]))


def _well_inside(X: Floats, y: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether the five nearest others vote for each example's own class."""
    k = min(Neighbors, len(y) - 1)
    _, codes = np.unique(y, return_inverse=True)
    neighbors = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    votes = (codes[neighbors][:, :, None] == np.arange(codes.max() + 1)).sum(axis=1)
    own = votes[np.arange(len(y)), codes]
    # A tie with another class counts as won.
    return np.asarray(own == votes.max(axis=1))
