"""Points too many for memory: the radius from a sample, and how many candidates to allow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..balls.forecast import BYTES_PER_MEMBERSHIP
from ..candidates import draw_stratified
from .classifier import PVMClassifier
from .search.classifier_cv import PVMClassifierCV

__all__ = ["draw_rows", "fit_sample", "propose_candidates"]

# Candidates to propose: so many, or fewer where balls hold much, but not too few. The bytes
# are fixed, not a share of the memory that there is, so that the proposal is, too, unless the
# caller knows of less.
_MOST, _FEWEST = 20_000, 500
_COVER_BYTES = 1 << 30


def draw_rows(y: Any, size: int, *, random_state: int | None = None) -> NDArray[np.intp]:
    """Draw rows without repetition, of each class in proportion and at least one.

    Parameters
    ----------
    y : array-like, shape (n_points,)
        Labels.
    size : int
        How many to draw; all if there are fewer.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    ndarray of int
        Rising row numbers.

    Examples
    --------
    >>> from protocover.estimators import draw_rows
    >>> draw_rows(["a"] * 6 + ["b"] * 3, 3, random_state=0)
    array([3, 4, 6])
    """
    classes, codes = np.unique(y, return_inverse=True)
    return draw_stratified(max(size, len(classes)), codes, np.random.default_rng(random_state))


def fit_sample(model: Any, X: Any, y: Any, *, rows: NDArray[np.intp]) -> Any:
    """Fit a clone of a model to some of the points, to find the radius for all of them.

    A ball holds fewer points of a sample, so a prototype is made to cost as much less; all
    points of the sample are candidates.

    Parameters
    ----------
    model : PVMClassifier with ``eps="auto"``, or PVMClassifierCV
        As it would be fitted to all points.
    X : array-like or data frame, shape (n_points, n_features)
        Points, such as a :class:`numpy.memmap`; only `rows` are read.
    y : array-like, shape (n_points,)
        Labels.
    rows : ndarray of int
        The sample, such as :func:`draw_rows` draws.

    Returns
    -------
    PVMClassifier or PVMClassifierCV
        Fitted to the sample. There are fewer neighbours in it than among all points: try
        smaller radii than its ``eps_``, too.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover import PVMClassifier
    >>> from protocover.estimators import draw_rows, fit_sample, propose_candidates
    >>> X = np.random.default_rng(0).normal(size=(20_000, 3))
    >>> y = X[:, 0] > 0
    >>> rows = draw_rows(y, 500, random_state=0)
    >>> eps = fit_sample(PVMClassifier(eps="auto"), X, y, rows=rows).eps_
    >>> size = propose_candidates(X, eps=eps, random_state=0)
    >>> model = PVMClassifier(eps=eps, candidates=size, random_state=0).fit(X, y)
    """
    y = np.asarray(y)
    share = len(rows) / len(y)
    sampled = clone(model)
    if isinstance(model, PVMClassifierCV):
        costs = model.prototype_costs
        scaled = None if costs is None else np.asarray(costs, dtype=np.float64) * share
        sampled.set_params(prototype_costs=scaled, candidates="train")
    elif isinstance(model, PVMClassifier):
        cost = model.prototype_cost
        # Nothing but its radius is asked for.
        sampled.set_params(
            prototype_cost=cost if isinstance(cost, str) else cost * share,
            candidates="train",
            solver="greedy",
            solver_options=None,
        )
    else:
        raise TypeError(
            "model must be a PVMClassifier or a PVMClassifierCV, got "
            f"{type(model).__name__}; of a pipeline pass the last step, and X as the steps "
            "before it have changed it"
        )
    return sampled.fit(_safe_indexing(X, rows), y[rows])


def propose_candidates(
    X: Any,
    *,
    eps: float,
    metric: str = "euclidean",
    random_state: int | None = None,
    max_bytes: int | None = None,
) -> int | str:
    """Return how many points may become prototypes so that the cover stays below 1 GB.

    Parameters
    ----------
    X : array-like or data frame, shape (n_points, n_features)
        Points, such as a :class:`numpy.memmap`; only a few are read.
    eps : float
        Radius.
    metric : str, default="euclidean"
        A name of :func:`scipy.spatial.distance.cdist`.
    random_state : int or None, default=None
        Seed of what is read.
    max_bytes : int or None, default=None
        Another limit to the cover; None for 1 GB.

    Returns
    -------
    int or "train"
        For ``PVMClassifier(candidates=...)``: from 500 to 20,000 points to draw, or all.
    """
    rows = np.random.default_rng(random_state).integers(len(X), size=2 * _FEWEST)
    some, others = (_safe_indexing(X, part) for part in np.split(rows, 2))
    pairs = cdist(some, others, metric)
    in_a_ball = max(1.0, float((pairs < eps).mean()) * len(X))
    limit = _COVER_BYTES if max_bytes is None else max_bytes
    affordable = int(limit / (BYTES_PER_MEMBERSHIP * in_a_ball))
    size = max(_FEWEST, min(_MOST, affordable))
    return size if size < len(X) else "train"
