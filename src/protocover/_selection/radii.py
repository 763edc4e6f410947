"""Radii: grids of them to search, with costs, and those that ``eps="auto"`` means."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array, issparse, triu
from sklearn.utils import _safe_indexing, check_random_state

from .._balls import build_balls, finds_near_pairs, nearest_in_groups, traits_of, within
from .._balls.graph import dense_part, nearest_in_graph, pick_entries
from .._balls.nearest import find_nearest
from .._cover import CoverProblem, first_cover
from .._resources import row_count
from .._typing import Floats, Indices, Mask
from ..candidates._gather import check_candidate_names, gather_candidates
from ..candidates._pool import take
from ..data._points import check_points
from ..dissimilarity import resolve_metric
from ..solvers._greedy import choose_by_drop
from .parameters import check_costs, check_parameter, check_radii, is_whole
from .training import Training, after_candidates, check_cutoff, check_labels, completed

# The number of values proposed. With adaptive radii the cost matters more than the maximum.
_N_RADII, _N_LIMITS, _N_COSTS = 20, 5, 8
# Classes below this mean size may need a prototype for each sample that no other covers.
_SMALL_CLASS = 80

# Samples that a radius, and a grid of radii, are proposed from.
SAMPLE_SIZE, GRID_SAMPLE_SIZE = 1000, 2000
_USUAL_COVERAGE = 0.95
# Rows that are read at once.
_BLOCK_ROWS, _BLOCK_BYTES = 4096, 1 << 22


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
        Samples, or with ``metric="precomputed"`` a table of dissimilarities or a neighbour
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
        training samples themselves, the dissimilarities are those of samples from
        candidates, which alone decide who lies in whose ball: at the smallest of them
        balls hold no more than the samples at their centres.
    max_quantile : float or None, default=None
        Quantile of the largest radius. By default one and a half times the fraction of
        pairs that are of one class, and at most 0.5: radii beyond that mostly join
        different classes. A neighbour graph is asked for no radius that it does not hold.
    random_state : int, RandomState or None, default=None
        Draws candidates as :class:`protocover.PVMClassifier` does, and the 2000 samples
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
    check_parameter("n_eps", n_eps)
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
        check_parameter("n_eps", n_eps)
        if own:
            grid = _propose_limits(training, int(n_eps or _N_LIMITS), rng=rng)
        else:
            grid = (propose or propose_grid)(training, int(n_eps or _N_RADII), rng=rng)
    check_cutoff(training, grid)
    return grid


def grid_of_costs(costs: Any, weights: Floats, n_classes: int, *, own: bool) -> Floats:
    """Return the costs of a path: those given or, where `costs` is None, proposed ones.

    Where prototypes have their `own` radii a grid is proposed, of even steps of their
    logarithm: from one that keeps no prototype for a sample alone to one that keeps fewer
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


def _propose_limits(training: Training, n_limits: int, *, rng: np.random.Generator) -> Floats:
    """Return at most `n_limits` limits to adaptive radii.

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


def _upper_quantile(codes: Indices) -> float:
    """Quantile of the largest radius of a grid: one and a half times the pairs of one class."""
    shares = np.bincount(codes) / len(codes)
    return min(0.5, 1.5 * float((shares**2).sum()))


def _sample_distances(training: Training, rng: np.random.Generator) -> tuple[Floats, float]:
    """Positive dissimilarities of all samples from all candidates, or between samples of many.

    Also which fraction of all they are: less than 1 only where a graph lacks those of far pairs.
    """
    X, pools, dissimilarity = training.points, training.pools, training.dissimilarity
    rows = sample_rows(row_count(X), GRID_SAMPLE_SIZE, rng)
    if training.chooses_points:
        points = _safe_indexing(X, rows)
        table = np.asarray(dissimilarity.pairwise(points, points))
        if traits_of(dissimilarity).symmetric:
            table = table[np.triu_indices(len(table), k=1)]
        return table[table > 0.0], 1.0
    if training.is_graph:
        sample = pick_entries(X[rows], pools[0].points)
        is_positive = sample.data > 0.0
        positive = sample.data[is_positive & (sample.data <= dissimilarity.cutoff_of(X))]
        n_all = sample.shape[0] * sample.shape[1] - int((~is_positive).sum())
        return positive, max(1, len(positive)) / max(1, n_all)
    columns = sample_rows(sum(map(len, pools)), GRID_SAMPLE_SIZE, rng)
    chosen = take(pools, columns)
    if training.is_table:
        table = dissimilarity.table(X)[np.ix_(rows, chosen)]
    else:
        table = np.asarray(dissimilarity.pairwise(_safe_indexing(X, rows), chosen))
    return np.asarray(table[table > 0.0]), 1.0


def _smallest(training: Training, at_most: float) -> float:
    """Smallest positive dissimilarity of all, where a fast search can tell it."""
    dissimilarity, pools = training.dissimilarity, training.pools
    n_candidates = sum(map(len, pools))
    most = max(row_count(training.points), n_candidates)
    if not finds_near_pairs(dissimilarity) or training.is_table or most <= GRID_SAMPLE_SIZE:
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


def propose_eps(
    training: Training,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    quantile: float = 0.5,
    own: bool = False,
) -> float:
    """Return the radius that ``eps="auto"`` means.

    It is the median, over the training samples, of the distance to the nearest sample of another
    class, or another `quantile`: half of the neighbourhoods are pure at that radius. With one
    class it is the lower quartile of the distances between samples. It does not depend on the
    candidates. With `own` it is a limit to per-prototype radii, infinite if a neighbour graph does
    not hold the distance. `rng` draws the subset that is used of many samples.
    """
    if len(training.classes) == 1:
        columns = point_columns(training)
        sample = sample_rows(len(columns), SAMPLE_SIZE, rng)
        columns, n_rows = columns[sample], row_count(training.points)
        rows = sample_rows(n_rows, SAMPLE_SIZE, rng) if training.is_table else columns
        distances = sample_table(training, rows, columns).ravel()
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
    """Whether the samples are their own candidates, or could be."""
    return not training.is_table or training.pools[0].source == "train"


def point_columns(training: Training) -> Indices:
    """Return the columns of a table that represent the samples; the samples' own numbers else."""
    if not _is_square(training):
        return np.arange(training.points.shape[1])
    if training.is_table and training.rows is not None:
        return training.rows
    return np.arange(row_count(training.points))


def sample_table(training: Training, rows: Indices, columns: Indices) -> Floats:
    """Dissimilarities of some points from some of the :func:`point_columns`, inf where missing."""
    X, dissimilarity = training.points, training.dissimilarity
    if training.is_table:
        return dense_part(dissimilarity.table(X), rows, columns)
    points = _safe_indexing(X, rows)
    others = points if rows is columns else _safe_indexing(X, columns)
    return np.asarray(dissimilarity.pairwise(points, others), dtype=np.float64)


def _distance_to_rival(training: Training, columns: Indices, n_jobs: int | None) -> Floats:
    """Distance from each candidate to the nearest sample not of its nearest sample's class."""
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
    """Dissimilarities of all samples from some of them."""
    X, dissimilarity = training.points, training.dissimilarity
    if training.is_table:
        return np.asarray(dissimilarity.table(X)[:, columns])
    return np.asarray(dissimilarity.pairwise(X, _safe_indexing(X, columns)))


def sample_rows(n: int, size: int, rng: np.random.Generator) -> Indices:
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


def propose_cover_eps(
    training: Training, *, number: int | None, coverage: float | None, closed: bool
) -> float:
    """Return the smallest radius at which `number` representatives cover the share `coverage`.

    None for the square root of the number of samples, and for 95 % of the weight. They are chosen
    greedily among the samples, or a fixed subset of them, so a proposal does not depend on a seed.
    """
    rows, table = _cover_sample(training)
    weights = training.weights[rows]
    size = float(training.weights.sum()) if is_whole(training.weights) else len(training.weights)
    most = math.ceil(math.sqrt(size)) if number is None else number
    room = (1.0 - (_USUAL_COVERAGE if coverage is None else coverage)) * float(weights.sum())
    radii = np.unique(table[np.isfinite(table) & (table > 0.0)])
    if len(radii) == 0:
        return 1.0  # all samples are alike, and any radius will do

    def is_enough(eps: float) -> bool:
        return _uncovered(within(table, eps, closed=closed), weights, most) <= room * (1 + 1e-9)

    first = bisect_left(radii, True, key=is_enough)
    if first < len(radii):
        return float(radii[first])
    if training.is_graph:
        raise ValueError(
            f"eps='auto' looks for the radius at which {most} representatives cover "
            f"{_USUAL_COVERAGE if coverage is None else coverage:.0%}, and X, a neighbour graph, "
            "ends before; make it with a larger radius or more neighbours, or give eps as a number"
        )
    return float(np.nextafter(radii[-1], np.inf))


def _cover_sample(training: Training) -> tuple[Indices, Floats]:
    """Return the rows of a sample and its table of dissimilarities, sample x sample."""
    rng = np.random.default_rng(0)
    rows = sample_rows(len(training.weights), GRID_SAMPLE_SIZE, rng)
    if not training.is_table:
        return rows, sample_table(training, rows, rows)
    columns = point_columns(training)
    square = len(columns) == len(training.weights)
    places = rows if square else sample_rows(len(columns), GRID_SAMPLE_SIZE, rng)
    return rows, sample_table(training, rows, columns[places])


def _uncovered(balls: Mask, weights: Floats, most: int) -> float:
    """Return the weight that the greedy's first so many leave uncovered."""
    problem = CoverProblem(csc_array(balls), np.zeros(balls.shape[1]), weights, 0.0)
    chosen = choose_by_drop(problem, most)[0]
    return float(weights[first_cover(problem, chosen) == len(chosen)].sum())
