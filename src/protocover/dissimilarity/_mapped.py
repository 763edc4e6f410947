"""Named metrics that are Euclidean distances of other rows, and the maps that make them so.

Each map bounds how far the squared distances of its rows may be from the squares of what the
metric itself computes. Matrix products of the mapped rows then bound the distances of the metric,
which computes the few pairs that the bounds leave open itself: the answers are those of comparing
with `pairwise`, at about the price of a product.

Distances of truth values are quotients of counts, which products give exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._balls import Groups, Pairs, TablePairs
from .._typing import Floats
from ._bits import Tanimoto
from ._euclidean import Euclidean, SquaredEuclidean
from ._euclidean.distance import FARTHEST_COSINE, Quadratic
from ._euclidean.sums import MappedRows

Cross = Callable[[Any, Any], Floats]
Rows = tuple[MappedRows, MappedRows]
# The dissimilarity that answers, and both sets of samples in the form it takes.
Mapped = tuple[Any, Any, Any]
Table = NDArray[Any]

# Correlation distances are rounded to multiples of this, so that equal ones are equal.
CORRELATION_GRID = 2.0**-40
# Pairs a feature below which mapping takes longer than computing all of them, as measured.
_FEW_PAIRS = 32
# Below this many products per query computing all distances is faster than bounds.
_FEW_TERMS = 1 << 13
# The unit roundoff of double precision.
UNIT = 2.0**-53
# No number of a map may be larger, so that all products of a few of them are finite.
LARGEST = 2.0**200
# With such numbers all that underflow takes from a squared distance of p features is less
# than p^2 times this: at most p^2 + 4 p products lose 2^-1074 each, times at most 2^402.
TINY = 2.0**-600
# A product in single precision errs by about this fraction of the squared length of rows.
_WIDEST = 2.0**-20


def map_points(
    name: str, A: Any, B: Any, *, params: dict[str, Any], pairwise: Callable[[Any, Any], Floats]
) -> Mapped | None:
    """Find a distance by products that answers for a metric, and map the points for it.

    Parameters
    ----------
    name : str
        The metric, without aliases.
    A, B : indexable
        Points and candidates.
    params : dict
        What the metric takes beside them.
    pairwise : callable
        Computes its table of distances.

    Returns
    -------
    tuple or None
        The distance and both sets of points in the form it takes. None where the metric has
        none, where its parameters are not those of the map, where the map could err too much
        to be of use, and where pairs are so few that it does not pay: the metric has to be
        computed then, and reports itself what may be wrong with its parameters.
    """
    find = _MAPS.get(name)
    if find is None or issparse(A) or issparse(B):
        return None
    left = np.asarray(A)
    right = left if B is A else np.asarray(B)
    if left.dtype.kind not in "biuf" or right.dtype.kind not in "biuf":
        return None
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        return None
    if len(left) * len(right) < _FEW_PAIRS * max(_FEW_PAIRS, left.shape[1]):
        return None
    return find(left, right, pairwise, **params)


def _map_seuclidean(
    A: Table, B: Table, pairwise: Cross, *, V: Any, **others: Any
) -> Mapped | None:
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = 1.0 / np.sqrt(np.asarray(V, dtype=np.float64))
    rows = None if others else scaled_rows(A, B, factors, pairwise)
    return rows and (MappedEuclidean(), *rows)


def _map_mahalanobis(
    A: Table, B: Table, pairwise: Cross, *, VI: Any, **others: Any
) -> Mapped | None:
    rows = None if others else whitened_rows(A, B, np.asarray(VI, dtype=np.float64), pairwise)
    return rows and (MappedEuclidean(), *rows)


def _map_correlation(A: Table, B: Table, pairwise: Cross, **others: Any) -> Mapped | None:
    rows = None if others else centered_rows(A, B, pairwise)
    return rows and (MappedCosine(), *rows)


def _map_minkowski(
    A: Table, B: Table, pairwise: Cross, *, p: float = 2, w: Any = None, **others: Any
) -> Mapped | None:
    """Map to Euclidean distance, which it is with the default `p`."""
    if others or p != 2:
        return None
    if w is None:
        return Euclidean(), A, B
    with np.errstate(invalid="ignore"):
        factors = np.sqrt(np.asarray(w, dtype=np.float64))
    rows = scaled_rows(A, B, factors, pairwise)
    return rows and (MappedEuclidean(), *rows)


def _map_nan_euclidean(
    A: Table,
    B: Table,
    pairwise: Cross,
    *,
    squared: bool = False,
    missing_values: float = np.nan,
    **others: Any,
) -> Mapped | None:
    """Map to Euclidean distance, which it is, to the last bit, where nothing is missing."""
    if others or not np.isnan(missing_values) or np.isnan(A).any() or np.isnan(B).any():
        return None
    return (SquaredEuclidean() if squared else Euclidean()), A, B


def _map_jaccard(A: Table, B: Table, pairwise: Cross, **others: Any) -> Mapped | None:
    """Map to Tanimoto distance, which it is of truth values."""
    if others:
        return None
    left = np.asarray(A, dtype=bool)
    return Tanimoto(), left, left if B is A else np.asarray(B, dtype=bool)


_MAPS: dict[str, Callable[..., Mapped | None]] = {
    "correlation": _map_correlation,
    "jaccard": _map_jaccard,
    "mahalanobis": _map_mahalanobis,
    "minkowski": _map_minkowski,
    "nan_euclidean": _map_nan_euclidean,
    "seuclidean": _map_seuclidean,
}


class _MappedDistance(Quadratic):
    """The samples are `MappedRows`."""

    def _embed(self, X: Any) -> Any:
        return X

    def _finish(self, squares: Floats) -> Floats:
        """Return what mapped rows give for pairs, which are the distances already."""
        return squares

    def bind(self, A: Any, B: Any, *, groups: Groups | None = None, **search: Any) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        if groups is not None and len(B) * B.terms < _FEW_TERMS:
            return TablePairs(lambda rows, columns: B.pairwise(A.given[rows], B.given[columns]))
        return super().bind(A, B, groups=groups, **search)


class MappedEuclidean(_MappedDistance):
    """The metric is the Euclidean distance of the mapped rows."""

    def _reach(self, eps: Floats) -> Floats:
        return eps


class MappedCosine(_MappedDistance):
    """The metric is half of the squared distance of the mapped rows."""

    def _reach(self, eps: Floats) -> Floats:
        return np.sqrt(2.0 * np.minimum(eps, FARTHEST_COSINE))


def map_both(A: Any, B: Any, map_rows: Callable[[Any], MappedRows | None]) -> Rows | None:
    """Map points and candidates; None where that failed or errs too much to be of use."""
    left = map_rows(A)
    right = left if B is A else map_rows(B)
    if left is None or right is None:
        return None
    lengths = max(squared_lengths(some.rows).max(initial=0.0) for some in (left, right))
    errors = max(some.errors.max(initial=0.0) for some in (left, right))
    return (left, right) if errors <= _WIDEST * lengths < np.inf else None


def squared_lengths(rows: Floats) -> Floats:
    """Return the squared length of each row."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def scaled_rows(A: Any, B: Any, factors: Floats, pairwise: Cross) -> Rows | None:
    """Map x to f (x - m), with m the mean of the candidates.

    `pairwise` takes the root of the sum of w (x - z)^2 or (x - z)^2 / V, with f the root of w or
    of 1 / V. Let y be the exact image of x, u the unit roundoff and p the number of features.
    Four roundings (of x - m, of f twice, of their product) leave each number of a computed row
    within 4.1 u of its own size, and so the row within 4.1 u |y|. The squared distance of two
    rows then errs by at most 2 (4.1 u) (|y| + |y'|)^2, up to terms in u^2, which is less than
    17 u (|y|^2 + |y'|^2). In `pairwise` each term is rounded four times at most, p of them are
    added up in any order, and the root is rounded: the square errs by (p + 6) u |y - y'|^2 at
    most, less than (2 p + 12) u (|y|^2 + |y'|^2). Together that is less than
    (2 p + 32) u (|y|^2 + |y'|^2); a tenth more covers that lengths are those of computed rows.
    """
    p = A.shape[1]
    if factors.shape != (p,) or not ((factors >= 0.0) & (factors <= LARGEST)).all():
        return None
    center = np.mean(B, axis=0, dtype=np.float64)

    def map_rows(X: Any) -> MappedRows | None:
        rows = np.asarray(X, dtype=np.float64) - center
        if not np.abs(rows).max(initial=0.0) <= LARGEST:
            return None
        rows *= factors
        errors = 1.1 * (2 * p + 32) * UNIT * squared_lengths(rows) + p**2 * TINY
        return MappedRows(rows, errors, X, p, pairwise)

    return map_both(A, B, map_rows)


def centered_rows(A: Any, B: Any, pairwise: Cross) -> Rows | None:
    """Map x to its deviation from its mean, at length one; None if a row is constant.

    SciPy takes the means from the rows as is done here, with the same result, and goes on with
    one minus the cosine of the centred rows x. With the exact y = x / |x| that is
    |y - y'|^2 / 2. Let u be the unit roundoff and p the number of features. A computed length
    errs by (p / 2 + 1) u of itself, so that a computed row is within (p / 2 + 3) u of y; the
    squared distance of two such rows errs by less than 4 (p + 6) u + 2 u. The cosine errs by
    p u in the sum of products, by (p + 2) u in the two lengths and by 2 u in their product and
    the quotient; taking it from one adds 2 u; doubled, that is (4 p + 12) u. The grid adds
    2^-40. Together that is less than (8 p + 48) u + 2^-40, of which each row has half. Lengths
    are so far from underflow that what it takes is less than u.

    Means that come in another order than SciPy's would move x by (p + 2) u of the largest
    number of the row, which may be much longer than x itself: that is allowed for, too.
    """
    p = A.shape[1]

    def map_rows(X: Any) -> MappedRows | None:
        given = np.ascontiguousarray(X, dtype=np.float64)
        rows = given - given.mean(axis=1, keepdims=True)
        lengths = np.sqrt(squared_lengths(rows))
        if not ((lengths >= 1.0 / LARGEST) & (lengths <= LARGEST)).all():
            return None
        moved = np.sqrt(p) * (p + 2) * UNIT * np.abs(given).max(axis=1) / lengths
        errors = (4 * p + 24) * UNIT + CORRELATION_GRID / 2 + 8.0 * moved
        rows /= lengths[:, None]
        return MappedRows(rows, 1.1 * errors, X, p, pairwise)

    return map_both(A, B, map_rows)


@dataclass(frozen=True)
class _Whitening:
    """The map x -> turn (units x), whose squared lengths are x' VI x but for an error."""

    units: Floats  # powers of two that bring the diagonal of VI near one
    turn: Floats
    error: float  # per squared length of `units x`


def whitened_rows(A: Any, B: Any, VI: Floats, pairwise: Cross) -> Rows | None:
    """Map x to T (x - m) with T'T = VI; None if `VI` is not positive semidefinite."""
    p = A.shape[1]
    whitening = _whiten(VI) if VI.shape == (p, p) else None
    if whitening is None:
        return None
    center = np.mean(B, axis=0, dtype=np.float64)

    def map_rows(X: Any) -> MappedRows | None:
        rows = np.asarray(X, dtype=np.float64) - center
        if not np.abs(rows).max(initial=0.0) <= LARGEST:
            return None
        rows *= whitening.units
        errors = whitening.error * squared_lengths(rows) + p**2 * TINY
        return MappedRows(rows @ whitening.turn.T, errors, X, p**2, pairwise)

    return map_both(A, B, map_rows)


def _whiten(VI: Floats) -> _Whitening | None:
    """Find the map by an eigendecomposition, and measure how well it does.

    Write x for centred rows times the units, which as powers of two change no digit, V for VI
    in these units, S for its symmetric half, T for `turn`, and d for the difference of two
    rows; q for |T|^2 and g for |V|, in Frobenius norm; u for the unit roundoff, p for the
    number of features. What lies between the squared distance of computed rows and the square
    of what `pairwise` computes is

    - the decomposition: |d'S d - |T d|^2| <= |S - T'T| |d|^2. That difference is computed
      here, which errs by (p + 2) u q + 2 u g at most: whatever the decomposition did wrong,
      and eigenvalues below 0, are in it;
    - the rounding of rows: centring and a product with p terms, in any order, leave T x within
      (p + 2) u |T| |x|, and the squared distance within 4 (p + 3) u q (|x|^2 + |x'|^2);
    - the rounding in `pairwise`, two sums of p terms over rounded differences, and a root: at
      most (2 p + 8) u g |d|^2.

    With |d|^2 <= 2 (|x|^2 + |x'|^2), each row contributes its |x|^2 times
    2 |S - T'T| + ((6 p + 16) q + (4 p + 20) g) u. A tenth more covers the rounding of norms.
    """
    if not (np.abs(VI) <= LARGEST).all():
        return None
    size = VI.diagonal()
    units = np.exp2(np.round(np.log2(np.where(size > 1.0 / LARGEST, size, 1.0)) / 2))
    V = VI / units / units[:, None]
    if not (np.abs(V) <= LARGEST).all():
        return None
    S = (V + V.T) / 2
    values, vectors = np.linalg.eigh(S)
    turn = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    p, q, g = len(V), float(np.sum(turn**2)), float(np.linalg.norm(V))
    residual = float(np.linalg.norm(S - turn.T @ turn))
    rounding = ((6 * p + 16) * q + (4 * p + 20) * g) * UNIT
    return _Whitening(units, turn, 1.1 * (2 * residual + rounding))
