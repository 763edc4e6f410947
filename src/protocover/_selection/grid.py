"""Grids to search: of radii, by quantiles of the dissimilarities, and of costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse, triu
from sklearn.utils import _safe_indexing, check_random_state

from .._balls import RadiusSearch, build_balls, traits_of
from .._balls.graph import pick_entries
from .._resources import row_count
from ..candidates._gather import gather_candidates
from ..candidates._names import check_candidate_names
from ..candidates._pool import take
from ..data._points import check_points
from ..dissimilarity import resolve_metric
from .parameters import check_costs, check_radii, is_count, is_whole
from .radius import rival_distances, sample_rows, weighted_quantile
from .training import Training, after_candidates, check_cutoff, check_labels, completed

# How many are proposed. With radii of their own the cost matters more than the limit.
_N_RADII, _N_LIMITS, _N_COSTS = 20, 5, 8
# Classes below this mean size may need a prototype for each sample that no other covers.
_SMALL_CLASS = 80

_SAMPLE_SIZE = 2000
_BLOCK_ROWS = 4096

Floats = NDArray[np.float64]


def suggest_eps(
    X: Any,
    y: ArrayLike | None = None,
    n_eps: int = 20,
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    candidates: Any = "train",
    unlabeled: Any = None,
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
        Points, or with ``metric="precomputed"`` a table of dissimilarities or a neighbour
        graph.
    y : array-like, shape (n_points,), or None
        Labels. They decide how far up the grid goes unless `max_quantile` does, and
        candidates that are drawn or made by class.
    n_eps : int, default=20
        Number of radii. Fewer come back where quantiles coincide.
    metric, metric_params
        As in :class:`protocover.PVMClassifier`.
    candidates, unlabeled
        As in :class:`protocover.PVMClassifier` and its `fit`. Where they are not the
        training points themselves, the dissimilarities are those of points from
        candidates, which alone decide who lies in whose ball: at the smallest of them
        balls hold no more than the points at their centres.
    max_quantile : float or None, default=None
        Quantile of the largest radius. By default one and a half times the share of
        pairs that are of one class, and at most 0.5: radii beyond that mostly join
        different classes. A neighbour graph is asked for no radius that it does not hold.
    random_state : int, RandomState or None, default=None
        Draws candidates as :class:`protocover.PVMClassifier` does, and the 2000 points
        and 2000 candidates that are used when there are more. With None only drawn candidates
        differ from one call to the next.

    Returns
    -------
    ndarray of float
        Rising radii.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import suggest_eps
    >>> X, y = load_iris(return_X_y=True)
    >>> suggest_eps(X, y, n_eps=4).round(2)
    array([0.1 , 0.79, 1.33, 2.36])
    """
    check_n_eps(n_eps)
    if max_quantile is not None and not 0.0 < max_quantile <= 1.0:
        raise ValueError(f"max_quantile must be above 0 and at most 1, got {max_quantile!r}")
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    dissimilarity = resolve_metric(metric, metric_params)
    check_candidate_names(X, candidates, unlabeled)
    X = completed(check_points(X, dissimilarity), dissimilarity)
    n_points = row_count(X)
    classes, codes = (np.zeros(1), np.zeros(n_points, int)) if y is None else check_labels(y, X)
    dissimilarity.fit(X, None if y is None else codes)
    pools = gather_candidates(
        candidates,
        X,
        codes,
        dissimilarity=dissimilarity,
        rows=np.arange(n_points),
        extent=n_points,
        rng=rng,
        unlabeled=unlabeled,
    )
    training = Training(X, codes, np.ones(n_points), classes, dissimilarity, pools)
    if max_quantile is None:
        max_quantile = 0.5 if y is None else _upper_quantile(codes)
    rng = after_candidates(random_state, rng)
    return propose_grid(training, int(n_eps), rng=rng, max_quantile=max_quantile)


def grid_of_radii(
    eps: Any,
    n_eps: Any,
    training: Training,
    *,
    own: bool,
    rng: np.random.Generator,
    propose: Callable[..., Floats] | None = None,
) -> Floats:
    """Return the radii of a path: those given or, where `eps` is None, `n_eps` proposed ones.

    Where prototypes have their `own` these are limits. Shared radii come from `propose`, by
    default the paper's grid.
    """
    if eps is not None:
        grid = check_radii(eps, own=own)
    else:
        check_n_eps(n_eps)
        if own:
            grid = _propose_limits(training, int(n_eps or _N_LIMITS), rng=rng)
        else:
            grid = (propose or propose_grid)(training, int(n_eps or _N_RADII), rng=rng)
    check_cutoff(training, grid)
    return grid


def grid_of_costs(costs: Any, weights: Floats, n_classes: int, *, own: bool) -> Floats:
    """Return the costs of a path: those given or, where `costs` is None, proposed ones.

    Where prototypes have their `own` radii a grid is proposed, of even steps of their
    logarithm: from one that keeps no prototype for a point alone to one that keeps fewer
    than eight in a class of mean size. If classes are small on average, a cost that only breaks
    ties comes before them: it keeps every sample that no other covers. It is all that is
    proposed for a shared radius, where the radius decides.
    """
    default = check_costs(costs, weights)
    if costs is not None or not own:
        return default
    some = weights[weights > 0.0]
    unit = 1.0 if is_whole(some) else float(some.mean())
    highest = max(unit, float(some.sum()) / (8 * n_classes))
    steps = np.geomspace(unit, highest, _N_COSTS - 1)
    # Drops in the objective are whole where the weights are: so are the costs that differ.
    proposed = np.unique(np.floor(steps) if is_whole(some) else steps)
    n_samples = float(some.sum()) if is_whole(some) else len(some)  # a weight is a repetition
    small = n_samples < _SMALL_CLASS * n_classes
    return np.unique(np.append(default, proposed)) if small else proposed


def check_n_eps(n_eps: Any) -> None:
    """Refuse a number of radii to propose that is not positive; None leaves it open."""
    if n_eps is not None and (not is_count(n_eps) or n_eps < 1):
        raise ValueError(
            f"n_eps must be a positive whole number, of radii to propose, got {n_eps!r}; radii "
            "themselves go under eps"
        )


def _propose_limits(training: Training, n_limits: int, *, rng: np.random.Generator) -> Floats:
    """Return at most `n_limits` limits to radii of their own.

    They are quantiles of the distances from samples to the nearest of another class: the
    largest, beyond which every ball about a sample holds rivals, the one that
    ``eps="auto"`` takes, and lower ones in even steps. Limits near the smallest of these
    distances kept half of the samples for little accuracy. One class has no rivals, and its
    only limit is none.
    """
    distances, weights = _held_rivals(training, rng)
    if len(distances) == 0:
        return np.array([np.inf])
    n_low = max(1, n_limits - 2)
    steps = [*(0.75 * np.arange(1, n_low + 1) / n_low), 0.9, 1.0][-n_limits:]
    return np.unique([weighted_quantile(distances, weights, step) for step in steps])


def propose_radii(training: Training, n_radii: int, *, rng: np.random.Generator) -> Floats:
    """Return at most `n_radii` radii to choose one from, small ones and large ones.

    Three fifths are quantiles of the distances from samples to the nearest of another class,
    closer to one another where they are small. The smallest is the smallest useful radius:
    all balls up to it are pure, so a smaller radius only needs more prototypes. The others
    are the paper's quantiles of all distances, for classes that overlap.
    """
    distances, weights = _held_rivals(training, rng)
    if len(distances) == 0:
        return propose_grid(training, n_radii, rng=rng)
    n_wide = 2 * n_radii // 5
    steps = np.linspace(0.0, 1.0, n_radii - n_wide) ** 2 if n_radii > 1 else [0.5]
    near = [weighted_quantile(distances, weights, step) for step in steps]
    wide = propose_grid(training, n_wide + 1, rng=rng)[1:]
    return np.unique(np.append(near, wide))


def _held_rivals(training: Training, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return distances to the nearest sample of another class that are known, with weights."""
    if len(training.classes) == 1:
        return np.empty(0), np.empty(0)
    distances, weights = rival_distances(training, rng=rng)
    reach = training.dissimilarity.cutoff_of(training.points) if training.is_graph else np.inf
    known = np.isfinite(distances) & (distances <= reach)
    return distances[known], weights[known]


def propose_grid(
    training: Training, n_eps: int, *, rng: np.random.Generator, max_quantile: float | None = None
) -> Floats:
    """Return at most `n_eps` radii for points and candidates that are ready; see `suggest_eps`."""
    upper = _upper_quantile(training.codes) if max_quantile is None else max_quantile
    distances, held = _sample_distances(training, rng)
    if len(distances) == 0:
        raise ValueError("suggest_eps needs at least two points at a positive dissimilarity")
    shares = np.linspace(0.0, min(1.0, upper / held), n_eps)
    grid = np.quantile(distances, shares, method="lower")
    grid[0] = _smallest(training, float(distances.min()))
    return np.unique(grid)


def _upper_quantile(codes: NDArray[np.intp]) -> float:
    """Quantile of the largest radius of a grid: one and a half times the pairs of one class."""
    shares = np.bincount(codes) / len(codes)
    return min(0.5, 1.5 * float((shares**2).sum()))


def _sample_distances(training: Training, rng: np.random.Generator) -> tuple[Floats, float]:
    """Positive dissimilarities of all points from all candidates, or between samples of many.

    Also which share of all they are: less than 1 only where a graph lacks those of far pairs.
    """
    X, pools, dissimilarity = training.points, training.pools, training.dissimilarity
    rows = sample_rows(row_count(X), _SAMPLE_SIZE, rng)
    if training.chooses_points:
        points = _safe_indexing(X, rows)
        table = np.asarray(dissimilarity.pairwise(points, points))
        if traits_of(dissimilarity).symmetric:
            table = table[np.triu_indices(len(table), k=1)]
        return table[table > 0.0], 1.0
    if training.is_graph:
        sample = pick_entries(X[rows], pools[0].points)
        return _sample_graph(sample, reach=dissimilarity.cutoff_of(X))
    columns = sample_rows(sum(map(len, pools)), _SAMPLE_SIZE, rng)
    chosen = take(pools, columns)
    if training.is_table:
        table = dissimilarity.table(X)[np.ix_(rows, chosen)]
    else:
        table = np.asarray(dissimilarity.pairwise(_safe_indexing(X, rows), chosen))
    return np.asarray(table[table > 0.0]), 1.0


def _sample_graph(graph: csr_array, *, reach: float) -> tuple[Floats, float]:
    """Positive entries up to the reach of a graph, and their share of all that are positive."""
    positive = graph.data[(graph.data > 0.0) & (graph.data <= reach)]
    n_all = graph.shape[0] * graph.shape[1] - int((graph.data <= 0.0).sum())
    return positive, max(1, len(positive)) / max(1, n_all)


def _smallest(training: Training, at_most: float) -> float:
    """Smallest positive dissimilarity of all, where a fast search can tell it."""
    dissimilarity, pools = training.dissimilarity, training.pools
    n_candidates = sum(map(len, pools))
    most = max(row_count(training.points), n_candidates)
    if not isinstance(dissimilarity, RadiusSearch) or training.is_table or most <= _SAMPLE_SIZE:
        return at_most
    X = _distinct(training.points)
    Z = X if training.chooses_points else _distinct(take(pools, np.arange(n_candidates)))
    balls = build_balls(dissimilarity, X, Z, eps=at_most)
    if Z is X and traits_of(dissimilarity).symmetric:
        balls = triu(balls, k=1, format="csr")
    smallest = at_most
    for i in np.flatnonzero(np.diff(balls.indptr)):
        near = balls.indices[balls.indptr[i] : balls.indptr[i + 1]]
        distances = dissimilarity.pairwise(_safe_indexing(X, [i]), _safe_indexing(Z, near))[0]
        smallest = min(smallest, distances[distances > 0.0].min(initial=smallest))
    return float(smallest)


def _distinct(X: Any) -> Any:
    """Return each row of a table once: pairs of equal rows are many and tell nothing."""
    if not (issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)):
        return X
    seen: dict[bytes, int] = {}
    for i, row in enumerate(_row_bytes(X)):
        # Digests, so that a file of rows is read but not held.
        seen.setdefault(blake2b(row, digest_size=16).digest(), i)
    return X if len(seen) == row_count(X) else X[np.fromiter(seen.values(), dtype=np.intp)]


def _row_bytes(X: Any) -> Iterator[bytes]:
    """Yield something for each row that is equal for equal rows."""
    for start in range(0, row_count(X), _BLOCK_ROWS):
        block = X[start : start + _BLOCK_ROWS]
        if issparse(block):
            for a, b in zip(block.indptr, block.indptr[1:], strict=False):
                yield block.indices[a:b].tobytes() + block.data[a:b].tobytes()
        else:
            for row in block + block.dtype.type(0):  # makes one zero of both
                yield row.tobytes()
