"""Discriminant adaptive distance: each candidate measures with a local metric of its own.

Hastie and Tibshirani (1996), section 2: within- and between-class covariance of the
neighbourhood, weighted by the tri-cube function of the distance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from .._balls import ColumnPairs, Pairs, pairwise_pairs
from .._resources import worker_map
from .._typing import Floats, Indices
from ..data._fields import check_array, check_list, check_number
from ._arithmetic import grain, round_in_place

# Closer than this fraction of the farthest distance, two points differ by rounding only.
_COINCIDENT = 1e-9
# Decompositions leave about 42 bits of a squared distance the same on every machine, and of
# one that is small only because it runs along a direction that counts little, fewer.
_METRIC_BITS = 32
_SMALL = 2.0**-12
# A factor below this fraction of the largest is rounding of zero.
_NO_FACTOR = 2.0**-40


class DANN(BaseEstimator):
    """Distance by a local metric that stretches space across class boundaries.

    From the training points around a candidate z, the within-class covariance W and the
    between-class covariance B are estimated, and the distance of x from z is measured by

    ``W^(-1/2) (W^(-1/2) B W^(-1/2) + epsilon I) W^(-1/2)``,

    the metric of discriminant adaptive nearest neighbours. It is not symmetric.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Training points in the neighbourhood of a candidate; None for a fifth of them and
        at least 50. They are weighted by the tri-cube function of their distance.
    epsilon : float, default=1.0
        Softening: how much directions without difference between classes count. At 0 only
        the local discriminant directions do.
    n_iterations : int, default=1
        How often neighbourhood and metric are found anew, starting from Euclidean
        neighbourhoods.
    shrinkage : float, default=0.05
        Between 0 (excluded) and 1: W is drawn so far towards a multiple of the identity
        with the same trace. With few points in many dimensions, larger is safer.

    Attributes
    ----------
    mean_, scale_ : ndarray, shape (n_features,)
        Mean and standard deviation of the training points, which are standardised. The
        scale of a constant feature is infinite: it does not count.
    rotation_ : ndarray, shape (n_varying_features, n_dimensions), or None
        Orthonormal basis of the space that the standardised training points span, where
        that is smaller than the number of features.

    Notes
    -----
    With at least as many features as training points everything happens in the space that
    the standardised training points span. What a new x has outside of that space is left
    out: for all candidates among the training points it would be the same.

    A candidate's metric is kept as the directions in which its neighbourhood extends, with
    a factor for each, and one common factor for all other directions. That is exact and
    takes ``n_dimensions * min(n_dimensions, n_neighbors + n_classes)`` numbers a candidate,
    held for one block of candidates while balls are built and for the prototypes after
    that.

    Metrics come from decompositions of matrices, which differ in their last bits from
    processor to processor. Squared distances are therefore rounded to 32 bits, or, where x
    lies in directions that count little, to 2^-44 of what its distance could be in the
    direction that counts most.

    References
    ----------
    T. Hastie and R. Tibshirani, Discriminant adaptive nearest neighbor classification,
    IEEE Transactions on Pattern Analysis and Machine Intelligence 18 (1996), 607-616.

    Examples
    --------
    Two classes differ in the first feature only, so that a step along the second counts
    for little.

    >>> import numpy as np
    >>> from protocover.dissimilarity import DANN
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X[:, 0] > 0
    >>> DANN().fit(X, y).pairwise([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0]]).round(1)
    array([[18. ],
           [ 4.3]])
    """

    accepts_sparse = False
    symmetric = False
    finds_near_pairs = True
    saved_state: ClassVar[tuple[str, ...]] = ("mean_", "scale_", "rotation_", "_metrics")

    # The training points, until there are metrics of prototypes instead.
    _neighborhood: Neighborhood | None = None

    def __init__(
        self,
        *,
        n_neighbors: int | None = None,
        epsilon: float = 1.0,
        n_iterations: int = 1,
        shrinkage: float = 0.05,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.epsilon = epsilon
        self.n_iterations = n_iterations
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None) -> Self:
        """Standardise the training points and remember them with their classes."""
        self._check_parameters()
        if y is None:
            raise ValueError("DANN learns from classes: y must be given to fit")
        rows = _dense(X)
        deviation = rows.std(axis=0)
        self.mean_ = rows.mean(axis=0)
        self.scale_ = np.where(deviation > 1e-12 * abs(self.mean_), deviation, np.inf)
        self.rotation_: Floats | None = None
        if rows.shape[1] >= len(rows):
            self.rotation_ = _span(self._standardize(rows))
        _, classes = np.unique(np.asarray(y), return_inverse=True)
        wanted = max(len(rows) // 5, 50) if self.n_neighbors is None else self.n_neighbors
        self._neighborhood = Neighborhood(
            points=self._embed(rows), classes=classes, size=min(int(wanted), len(rows))
        )
        self._metrics: list[LocalMetric] | None = None
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check that a model file has a metric for each prototype, in the space they all have."""
        self._check_parameters()
        check_array(self.mean_, "mean_", kinds="f", shape=(n_features,))
        check_array(self.scale_, "scale_", kinds="f", shape=(n_features,))
        n_axes = max(1, int(np.isfinite(self.scale_).sum()))
        if self.rotation_ is not None:
            check_array(self.rotation_, "rotation_", kinds="f", shape=(n_axes, None))
            n_axes = self.rotation_.shape[1]
        for metric in check_list(self._metrics, "the metrics", n_prototypes):
            rank = len(check_array(metric.factors, "factors", kinds="f", shape=(None,)))
            check_array(metric.directions, "directions", kinds="f", shape=(n_axes, rank))
            check_number(metric.rest, "rest")

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the distances of the rows of A from the rows of B, each with its metric."""
        points, candidates = self._embed(_dense(A)), self._embed(_dense(B))
        if self._metrics is not None and len(candidates) != len(self._metrics):
            raise ValueError(
                f"this DANN was cut down to {len(self._metrics)} prototypes; B must be these, "
                f"got {len(candidates)} rows"
            )
        table = np.empty((len(points), len(candidates)))

        def fill(j: int) -> None:
            metric = self._adapt(candidates[j]) if self._metrics is None else self._metrics[j]
            table[:, j] = metric.distances(points, candidates[j])

        _run(fill, range(len(candidates)))
        return table

    def bind(self, A: Any, B: Any, *, radii: Floats | None = None, **search: Any) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        if radii is None:
            return pairwise_pairs(self, A, B)
        points, candidates = self._embed(_dense(A)), self._embed(_dense(B))

        def columns_of(block: slice) -> Floats:
            columns = [self._adapt(z).distances(points, z) for z in candidates[block]]
            return np.stack(columns, axis=1)

        return ColumnPairs(columns_of, len(points))

    def for_prototypes(self, B: Any) -> DANN:
        """Return the same dissimilarity from the rows of B alone, without training points.

        It keeps the metric of each of them. Its `pairwise` takes these same prototypes, in
        this order, as its second argument.
        """
        kept = copy(self)
        kept._metrics = _run(self._adapt, self._embed(_dense(B)))
        del kept._neighborhood
        return kept

    def _adapt(self, z: Floats) -> LocalMetric:
        """Find the metric of one candidate."""
        assert self._neighborhood is not None
        return adapt_metric(
            self._neighborhood,
            z,
            epsilon=self.epsilon,
            shrinkage=self.shrinkage,
            n_iterations=self.n_iterations,
        )

    def _embed(self, rows: Floats) -> Floats:
        """Standardise rows and, with many features, turn them into the span."""
        if rows.shape[1] != len(self.mean_):
            raise ValueError(
                f"X must have the {len(self.mean_)} features that DANN was fitted with, got "
                f"{rows.shape[1]}"
            )
        standard = self._standardize(rows)
        return standard if self.rotation_ is None else standard @ self.rotation_

    def _standardize(self, rows: Floats) -> Floats:
        """Standardise the features that vary; of none one is kept, which is 0 then."""
        varying = np.flatnonzero(np.isfinite(self.scale_))
        some = varying if len(varying) else np.array([0])
        standard: Floats = (rows[:, some] - self.mean_[some]) / self.scale_[some]
        return standard

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        n_neighbors = 2 if self.n_neighbors is None else self.n_neighbors
        for name, value, low in (
            ("n_neighbors", n_neighbors, 2),
            ("n_iterations", self.n_iterations, 1),
        ):
            if not isinstance(value, Integral) or int(value) < low:
                raise ValueError(f"{name} must be a whole number from {low} on, got {value!r}")
        if not isinstance(self.epsilon, Real) or not 0.0 <= float(self.epsilon) < np.inf:
            raise ValueError(f"epsilon must be a finite number, 0 or more, got {self.epsilon!r}")
        if not isinstance(self.shrinkage, Real) or not 0.0 < float(self.shrinkage) <= 1.0:
            raise ValueError(
                f"shrinkage must be above 0 and at most 1, got {self.shrinkage!r}; 1 ignores "
                "the shape of the within-class covariance"
            )


def _dense(X: Any) -> Floats:
    """Return the rows of X as floats."""
    if issparse(X):
        raise ValueError("DANN does not take sparse input; pass X.toarray()")
    return np.asarray(X, dtype=np.float64)


def _span(centered: Floats) -> Floats:
    """Orthonormal basis, one vector a column, of the space that the rows span."""
    _, lengths, basis = np.linalg.svd(centered, full_matrices=False)
    spanned = lengths > lengths[0] * max(centered.shape) * np.finfo(np.float64).eps
    return np.asarray(basis[: max(1, np.count_nonzero(spanned))].T)


def _run(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Apply a function that works on small matrices to all items, several at once."""
    with worker_map(None) as run:
        return list(run(function, items))


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Training points to find neighbours among."""

    points: Floats  # (n, g)
    classes: Indices  # (n,)
    size: int  # how many of them make a neighbourhood


@dataclass(frozen=True, eq=False)
class LocalMetric:
    """The metric ``rest I + V diag(factors - rest) V'``."""

    directions: Floats  # V, orthonormal columns (g, r)
    factors: Floats  # (r,), of the squared distance along each of them
    rest: float  # factor at right angles to all of them

    def distances(self, points: Floats, z: Floats) -> Floats:
        """Distances of points (n, g) from z, rounded to what does not depend on the machine."""
        difference = points - z
        along = difference @ self.directions
        along *= along
        squares = along @ self.factors
        lengths = np.einsum("ij,ij->i", difference, difference)
        largest = self.factors.max(initial=0.0)
        if self.directions.shape[1] < len(z):
            squares += self.rest * np.maximum(lengths - along.sum(axis=1), 0.0)
            largest = max(largest, self.rest)
        scale = squares + (_SMALL * largest) * lengths
        return np.sqrt(round_in_place(squares, grain(scale, bits=_METRIC_BITS)))


def adapt_metric(
    neighborhood: Neighborhood, z: Floats, *, epsilon: float, shrinkage: float, n_iterations: int
) -> LocalMetric:
    """Find the metric at `z`, starting from the Euclidean neighbourhood.

    A training point at `z` is not its own neighbour: in many dimensions, where all others
    are far away, it would outweigh them together.
    """
    metric = LocalMetric(np.empty((len(z), 0)), np.empty(0), 1.0)
    away = metric.distances(neighborhood.points, z)
    others = np.flatnonzero(away > _COINCIDENT * away.max())
    if len(others) < 2:
        others = np.arange(len(away))
    points, classes = neighborhood.points[others], neighborhood.classes[others]
    size = min(neighborhood.size, len(others))
    for _ in range(n_iterations):
        distance = metric.distances(points, z)
        near = np.sort(np.argpartition(distance, size - 1)[:size])
        within, between = _scatter(points[near], classes[near], _tricube(distance[near]))
        metric = _metric(within, between, epsilon=epsilon, shrinkage=shrinkage)
    return metric


def _tricube(distance: Floats) -> Floats:
    """Weights (k,) that sum to 1, falling to nothing at the farthest neighbour."""
    farthest = distance.max()
    weights = np.ones_like(distance)
    if distance.min() < farthest:
        relative = distance / farthest
        rest = 1.0 - relative * relative * relative
        weights = rest * rest * rest
    result: Floats = weights / weights.sum()
    return result


def _scatter(points: Floats, classes: Indices, weights: Floats) -> tuple[Floats, Floats]:
    """Return weighted deviations (k, g) from class means, and (c, g) of these from their mean.

    The products of these with their transposes are W and B.
    """
    present, member = np.unique(classes, return_inverse=True)
    mass = np.bincount(member, weights, minlength=len(present))
    sums = np.zeros((len(present), points.shape[1]))
    np.add.at(sums, member, weights[:, None] * points)
    # A class may be there with points of weight 0 only.
    means = sums / np.where(mass > 0.0, mass, 1.0)[:, None]
    within = np.sqrt(weights)[:, None] * (points - means[member])
    between = np.sqrt(mass)[:, None] * (means - sums.sum(axis=0))
    return within, between


def _metric(within: Floats, between: Floats, *, epsilon: float, shrinkage: float) -> LocalMetric:
    """Put the metric together in the space that the deviations span."""
    g = within.shape[1]
    level = float((within * within).sum()) / g
    if level == 0.0:
        # All neighbours of a class coincide: take the size of W from their differences.
        level = float((between * between).sum()) / g or 1.0
    basis = _basis(np.vstack((within, between)))
    within, between = within @ basis, between @ basis
    W = (1.0 - shrinkage) * (within.T @ within)
    W[np.diag_indices_from(W)] += shrinkage * level
    values, vectors = np.linalg.eigh(W)
    root = (vectors / np.sqrt(values)) @ vectors.T
    sphered = between @ root
    inner = sphered.T @ sphered
    inner[np.diag_indices_from(inner)] += epsilon
    factors, turn = np.linalg.eigh(root @ inner @ root)
    factors = np.where(factors > _NO_FACTOR * factors.max(), factors, 0.0)
    return LocalMetric(basis @ turn, factors, epsilon / (shrinkage * level))


def _basis(rows: Floats) -> Floats:
    """Orthonormal columns (g, r) that span the rows, or all of space if that is no larger."""
    n_rows, g = rows.shape
    if n_rows >= g:
        return np.eye(g)
    basis: Floats = np.linalg.qr(rows.T)[0]
    return basis
