"""Proposals for the ball radius: one to start with, and the paper's grid to search."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_random_state

from .balls import RadiusSearch, build_balls
from .dissimilarity import resolve_metric
from .examples import check_examples
from .nearest import find_nearest
from .resources import row_count
from .training import Training

__all__ = ["SAMPLE_SIZE", "draw_rows", "propose_eps", "suggest_eps", "weighted_quantile"]

SAMPLE_SIZE = 1000
_SAMPLE_SUGGEST = 2000

Floats = NDArray[np.float64]


def propose_eps(
    training: Training, *, rng: np.random.Generator, n_jobs: int | None = None
) -> float:
    """Return the radius that ``eps="auto"`` stands for.

    It is the median, over the training points, of the distance to the nearest point of
    another class: half of the balls are pure at that radius. With one class, whose balls
    are always pure, it is the lower quartile of the distances between points.

    Parameters
    ----------
    training : Training
        With a table of dissimilarities its columns stand for the points.
    rng : numpy.random.Generator
        Draws the sample that is used when there are many points.
    n_jobs : int or None, default=None
        Threads.
    """
    X, y, dissimilarity = training.points, training.codes, training.dissimilarity
    n_candidates = X.shape[1] if training.is_table else row_count(X)
    columns = draw_rows(n_candidates, SAMPLE_SIZE, rng)
    if len(training.classes) == 1:
        distances = _columns(dissimilarity, X, columns).ravel()
        return weighted_quantile(distances[distances > 0.0], None, 0.25)
    distances = _distance_to_rival(dissimilarity, X, y, columns, n_jobs)
    positive = distances > 0.0
    square = n_candidates == len(y)
    shares = training.weights[columns] if square else np.ones(len(columns))
    return weighted_quantile(distances[positive], shares[positive], 0.5)


def suggest_eps(
    X: Any,
    y: ArrayLike | None = None,
    n: int = 20,
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    max_quantile: float | None = None,
    random_state: Any = None,
) -> Floats:
    """Propose a grid of radii: quantiles of the dissimilarities between points.

    The grid starts at the smallest positive dissimilarity, where every ball holds its
    centre alone and the classifier is the nearest neighbour rule, and goes up in
    equal steps of the quantile (paper, sections 5.2 and 5.3).

    Parameters
    ----------
    X : array-like or sparse matrix, shape (n_points, n_features)
        Points, or a table of dissimilarities with ``metric="precomputed"``.
    y : array-like, shape (n_points,), or None
        Labels. They decide how far up the grid goes unless `max_quantile` does.
    n : int, default=20
        Number of radii. Fewer come back where quantiles coincide.
    metric, metric_params
        As in :class:`protocover.PVMClassifier`.
    max_quantile : float or None, default=None
        Quantile of the largest radius. By default one and a half times the share of
        pairs that are of one class, and at most 0.5: radii beyond that mostly join
        different classes.
    random_state : int, RandomState or None, default=None
        Draws the 2000 points that are used when there are more.

    Returns
    -------
    ndarray of float
        Rising radii.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import suggest_eps
    >>> X, y = load_iris(return_X_y=True)
    >>> suggest_eps(X, y, n=4).round(2)
    array([0.1 , 0.79, 1.33, 2.36])
    """
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be a positive integer, got {n!r}")
    upper = _upper_quantile(y, max_quantile)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    dissimilarity = resolve_metric(metric, metric_params)
    X = check_examples(X, dissimilarity)
    dissimilarity.fit(X, y)
    distances = _sample_distances(dissimilarity, X, rng)
    if len(distances) == 0:
        raise ValueError("suggest_eps needs at least two points at a positive dissimilarity")
    smallest = _smallest(dissimilarity, X, float(distances.min()))
    grid = np.quantile(distances, np.linspace(0.0, upper, n), method="lower")
    grid[0] = smallest
    return np.unique(grid)


def _upper_quantile(y: ArrayLike | None, max_quantile: float | None) -> float:
    """Quantile of the largest radius of a grid."""
    if max_quantile is not None:
        if not 0.0 < max_quantile <= 1.0:
            raise ValueError(f"max_quantile must be above 0 and at most 1, got {max_quantile!r}")
        return float(max_quantile)
    if y is None:
        return 0.5
    _, counts = np.unique(np.asarray(y), return_counts=True)
    return min(0.5, 1.5 * float(((counts / counts.sum()) ** 2).sum()))


def _sample_distances(dissimilarity: Any, X: Any, rng: np.random.Generator) -> Floats:
    """Positive dissimilarities between all points, or between a sample of many."""
    if _is_table(dissimilarity):
        table = dissimilarity.table(X)
        table = table[
            np.ix_(
                draw_rows(table.shape[0], _SAMPLE_SUGGEST, rng),
                draw_rows(table.shape[1], _SAMPLE_SUGGEST, rng),
            )
        ]
    else:
        points = _safe_indexing(X, draw_rows(row_count(X), _SAMPLE_SUGGEST, rng))
        table = dissimilarity.cross(points, points)
        if getattr(dissimilarity, "symmetric", False):
            table = table[np.triu_indices(len(table), k=1)]
    return np.asarray(table[table > 0.0])


def _smallest(dissimilarity: Any, X: Any, at_most: float) -> float:
    """Smallest positive dissimilarity between points, where a fast search can tell it."""
    if not isinstance(dissimilarity, RadiusSearch) or row_count(X) <= _SAMPLE_SUGGEST:
        return at_most
    pairs = build_balls(dissimilarity, X, X, eps=at_most).tocoo()
    smallest = at_most
    for i, j in zip(*pairs.coords, strict=True):
        if i < j:
            distance = float(dissimilarity.cross(X[[i]], X[[j]])[0, 0])
            smallest = min(smallest, distance) if distance > 0.0 else smallest
    return smallest


def _distance_to_rival(
    dissimilarity: Any, X: Any, y: NDArray[np.intp], columns: NDArray[np.intp], n_jobs: int | None
) -> Floats:
    """Distance from each candidate to the nearest point not of its nearest point's class."""
    order = np.argsort(y, kind="stable")
    bounds = np.searchsorted(y[order], np.arange(y.max() + 2))
    if getattr(dissimilarity, "symmetric", False):
        queries = _safe_indexing(X, columns)
        points = _safe_indexing(X, order)
        _, nearest = find_nearest(dissimilarity, queries, points, bounds=bounds, n_jobs=n_jobs)
    else:
        table = _columns(dissimilarity, X, columns)[order]
        nearest = np.column_stack(
            [table[a:b].min(axis=0, initial=np.inf) for a, b in pairwise(bounds)]
        )
    return np.partition(nearest, 1, axis=1)[:, 1]


def _columns(dissimilarity: Any, X: Any, columns: NDArray[np.intp]) -> Floats:
    """Dissimilarities of all points from some candidates."""
    if _is_table(dissimilarity):
        return np.asarray(dissimilarity.table(X)[:, columns])
    return np.asarray(dissimilarity.cross(X, _safe_indexing(X, columns)))


def _is_table(dissimilarity: Any) -> bool:
    """Whether X is a table of values between points and candidates."""
    return bool(getattr(dissimilarity, "pairwise", False))


def draw_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """All of `n` rows, or a sorted sample of `size` of them."""
    return np.arange(n) if n <= size else np.sort(rng.choice(n, size, replace=False))


def weighted_quantile(values: Floats, shares: Floats | None, q: float) -> float:
    """Weighted lower quantile; 1 if there is nothing to take it of."""
    if len(values) == 0:
        return 1.0
    order = np.argsort(values)
    shares = np.ones(len(values)) if shares is None else shares
    running = np.cumsum(shares[order])
    return float(values[order[np.searchsorted(running, q * running[-1])]])
