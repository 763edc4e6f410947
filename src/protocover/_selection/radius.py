"""The radius to start with: the one that ``eps="auto"`` stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._balls import nearest_in_groups, traits_of
from .._balls.graph import dense_part, nearest_in_graph, pick_entries
from .._balls.nearest import find_nearest
from .._resources import row_count
from .training import Training

SAMPLE_SIZE = 1000

# Rows that are read, and sorted by class, at once.
_BLOCK_BYTES = 1 << 22

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def propose_eps(
    training: Training,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    quantile: float = 0.5,
    own: bool = False,
) -> float:
    """Return the radius that ``eps="auto"`` stands for.

    It is the median, over the training points, of the distance to the nearest point of
    another class: half of the balls around them are pure at that radius. With one class,
    whose balls are always pure, it is the lower quartile of the distances between points.
    That is a scale of the labelled points: whatever the candidates are, balls larger than
    that reach from one class into another.

    Parameters
    ----------
    training : Training
        Of a table of dissimilarities that is not square the columns stand for the points.
    rng : numpy.random.Generator
        Draws the sample that is used when there are many points.
    n_jobs : int or None, default=None
        Threads.
    quantile : float, default=0.5
        Another quantile of the distances than the median.
    own : bool, default=False
        Whether the radius is a limit to per-prototype radii. If a neighbour graph does not
        hold the distance proposed, the limit is then infinite: what the graph holds.
    """
    if len(training.classes) == 1:
        columns = point_columns(training)
        sample = sample_rows(len(columns), SAMPLE_SIZE, rng)
        distances = _within_sample(training, columns[sample], rng)
        eps = weighted_quantile(distances[distances > 0.0], None, 0.25)
        return _held(training, eps, 0.25, own=own)
    distances, shares = rival_distances(training, rng=rng, n_jobs=n_jobs)
    return _held(training, weighted_quantile(distances, shares, quantile), quantile, own=own)


def rival_distances(
    training: Training, *, rng: np.random.Generator, n_jobs: int | None = None
) -> tuple[Floats, Floats]:
    """Return the positive distances from samples to the nearest of another class, and weights.

    Many samples are represented by some drawn ones. A distance that a graph does not hold is
    infinite.
    """
    columns = point_columns(training)
    sample = sample_rows(len(columns), SAMPLE_SIZE, rng)
    distances = _distance_to_rival(training, columns[sample], n_jobs)
    shares = training.weights[sample] if _is_square(training) else np.ones(len(sample))
    positive = distances > 0.0
    return distances[positive], shares[positive]


def proposed_quantile(*, own: bool) -> float:
    """Return the quantile of the distances from rivals that ``eps="auto"`` takes.

    Per-prototype radii are given more room; most of them take less.
    """
    return 0.9 if own else 0.5


def _held(training: Training, eps: float, quantile: float, *, own: bool) -> float:
    """Return a proposed radius after checking that a graph holds the distance it is."""
    if not training.is_graph or eps in training.points.data:
        return eps
    if own:
        return np.inf
    distances = "all distances between points"
    if len(training.classes) > 1:
        distances = "the points' distances from the nearest of another class"
    raise ValueError(
        f"eps='auto' needs {quantile:.0%} of {distances}, and X, a neighbour graph, does not hold "
        "so many; make it with a larger radius or more neighbours, or give eps as a number"
    )


def _is_square(training: Training) -> bool:
    """Whether the points are their own candidates, or could be."""
    return not training.is_table or training.pools[0].source == "train"


def point_columns(training: Training) -> Indices:
    """Return the columns of a table that stand for the points; the points' own numbers else."""
    if not _is_square(training):
        return np.arange(training.points.shape[1])
    if training.is_table and training.rows is not None:
        return training.rows
    return np.arange(row_count(training.points))


def _within_sample(training: Training, columns: Indices, rng: np.random.Generator) -> Floats:
    """Dissimilarities between the points of a sample, flat."""
    n_rows = row_count(training.points)
    rows = sample_rows(n_rows, SAMPLE_SIZE, rng) if training.is_table else columns
    return sample_table(training, rows, columns).ravel()


def sample_table(training: Training, rows: Indices, columns: Indices) -> Floats:
    """Dissimilarities of some points from some of the :func:`point_columns`, inf where missing."""
    X, dissimilarity = training.points, training.dissimilarity
    if training.is_table:
        return dense_part(dissimilarity.table(X), rows, columns)
    points = _safe_indexing(X, rows)
    others = points if rows is columns else _safe_indexing(X, columns)
    return np.asarray(dissimilarity.pairwise(points, others), dtype=np.float64)


def _distance_to_rival(training: Training, columns: Indices, n_jobs: int | None) -> Floats:
    """Distance from each candidate to the nearest point not of its nearest point's class."""
    X, y, dissimilarity = training.points, training.codes, training.dissimilarity
    classes = np.arange(len(training.classes) + 1)
    if not training.is_table and traits_of(dissimilarity).symmetric:
        queries = _safe_indexing(X, columns)
        nearest = np.full((len(columns), len(training.classes)), np.inf)
        for rows in _row_blocks(X):
            order = rows[np.argsort(y[rows], kind="stable")]
            bounds = np.searchsorted(y[order], classes)
            points = _safe_indexing(X, order)
            _, found = find_nearest(dissimilarity, queries, points, bounds=bounds, n_jobs=n_jobs)
            np.minimum(nearest, found, out=nearest)
    elif training.is_graph:
        order = np.argsort(y, kind="stable")
        graph = pick_entries(X, columns)[order].T.tocsr()
        _, nearest = nearest_in_graph(graph, np.searchsorted(y[order], classes))
    else:
        order = np.argsort(y, kind="stable")
        table = _columns(training, columns)[order]
        _, nearest = nearest_in_groups(table.T, np.searchsorted(y[order], classes))
    return np.partition(nearest, 1, axis=1)[:, 1]


def _row_blocks(X: Any) -> Iterator[Indices]:
    """Cut the row numbers of an array into blocks, so that a file of rows is never copied."""
    n_rows, step = row_count(X), row_count(X)
    if isinstance(X, np.ndarray):
        step = max(SAMPLE_SIZE, _BLOCK_BYTES // max(1, X[:1].nbytes))
    for start in range(0, n_rows, step):
        yield np.arange(start, min(start + step, n_rows))


def _columns(training: Training, columns: Indices) -> Floats:
    """Dissimilarities of all points from some of them."""
    X, dissimilarity = training.points, training.dissimilarity
    if training.is_table:
        return np.asarray(dissimilarity.table(X)[:, columns])
    return np.asarray(dissimilarity.pairwise(X, _safe_indexing(X, columns)))


def sample_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
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
