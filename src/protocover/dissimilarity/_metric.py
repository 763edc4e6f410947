"""The named metrics of SciPy and scikit-learn, as these compute them in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import haversine_distances, manhattan_distances
from sklearn.utils.validation import check_non_negative

from .._balls import Groups, Pairs, check_dissimilarities, pairwise_pairs
from .._resources import row_count
from .._typing import Floats
from ..data._fields import check_array, check_keywords, check_text
from ._arithmetic import (
    column_products,
    grain,
    pseudo_inverse,
    refuse_underflow,
    round_in_place,
)
from ._mapped import CORRELATION_GRID, map_points

_BOOLEAN = {"dice", "jaccard", "matching", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}

# Metrics of numbers, with what SciPy and scikit-learn call them otherwise.
_OF_NUMBERS = {
    "braycurtis": "",
    "canberra": "",
    "chebyshev": "ch cheb cheby chebychev infinity",
    "cityblock": "c cb cblock l1 manhattan",
    "correlation": "co",
    "hamming": "h ha hamm",
    "haversine": "",
    "jensenshannon": "js",
    "mahalanobis": "mah mahal",
    "minkowski": "m mi p pnorm",
    "nan_euclidean": "",
    "seuclidean": "s se",
}
# The same of metrics of truth values, and of those of the fast path.
_OF_OTHERS = {
    "cosine": "cos",
    "euclidean": "e eu euclid l2",
    "jaccard": "j ja jacc",
    # Both are 2 d / (n + d) for d of n places that differ.
    "rogerstanimoto": "sokalmichener",
    "sqeuclidean": "sqe sqeuclid",
}

# Pairs worked on at a time: a core's cache holds a few arrays of that many.
_STRIP = 1 << 15
_ROOTS_OF_SQUARES = {"nan_euclidean", "seuclidean"}

METRIC_NAMES = frozenset({*_BOOLEAN, *_OF_NUMBERS, "manhattan", "l1"})
METRIC_ALIASES = {
    alias: name
    for name, aliases in (_OF_NUMBERS | _OF_OTHERS).items()
    for alias in aliases.split()
}


def _only(name: str, meaning: str) -> property:
    """Return a property that is true of one metric alone."""
    return property(lambda self: self._name == name, doc=meaning)


class Metric(BaseEstimator):
    """A metric by its name in SciPy or scikit-learn.

    Parameters
    ----------
    name : str
        Such as ``"cityblock"``, ``"minkowski"``, ``"jaccard"`` or ``"haversine"``.
    params : dict or None, default=None
        What the metric takes beside the rows, such as ``{"p": 1.5}``. The variances of
        ``"seuclidean"`` and the inverse covariance of ``"mahalanobis"`` are learned in
        `fit` when they are not given here.

    Notes
    -----
    Distances do not depend on the processor. Most are sums in the order of the features.
    Those that involve a logarithm, a power or a sine, whose last bits differ, are rounded:
    ``"correlation"``, ``"haversine"`` and the square of ``"jensenshannon"`` to multiples of
    2^-40, ``"minkowski"`` with a `p` other than 1, 2 and infinity to about 40 bits.
    The inverse covariance that ``"mahalanobis"`` learns is computed from exact sums and
    elementwise operations, and rounded to 2^-40 of its largest entry. Directions in which the
    standardised training points do not extend, except for rounding, do not count in it.

    Balls and nearest prototypes of ``"seuclidean"``, ``"mahalanobis"``, ``"correlation"``
    without weights, ``"minkowski"`` of p = 2, and ``"nan_euclidean"`` where nothing is missing
    are found by matrix products, and are those of comparing with `pairwise`; so are those of
    ``"jaccard"``, by way of :class:`Tanimoto`.

    Examples
    --------
    >>> from protocover.dissimilarity import Metric
    >>> Metric("chebyshev").fit([[0.0, 0.0]]).pairwise([[3.0, 4.0]], [[0.0, 0.0]])
    array([[4.]])
    """

    symmetric = True
    saved_state: ClassVar[tuple[str, ...]] = ("params_",)

    def __init__(self, name: str, params: dict[str, Any] | None = None) -> None:
        self.name = name
        self.params = params

    allows_nan = _only("nan_euclidean", "Whether rows may hold missing values.")
    accepts_sparse = _only("cityblock", "Whether rows may be those of a sparse table.")
    positive_only = _only("jensenshannon", "Whether rows must not hold negative numbers.")

    @property
    def stateless(self) -> bool:
        """Whether `fit` has no influence on `pairwise`."""
        learned = {"seuclidean": "V", "mahalanobis": "VI"}.get(self._name)
        return learned is None or learned in (self.params or {})

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the metric takes from the training data."""
        known = {*METRIC_NAMES, *METRIC_ALIASES.values()}
        if self._name not in known:
            raise ValueError(f"name must be one of {', '.join(sorted(known))}, got {self.name!r}")
        self._refuse_sparse(X)
        params = dict(self.params or {})
        p = params.get("p", 2)
        if (
            self._name in ("minkowski", "nan_euclidean")
            and isinstance(p, int | float)
            and 1 <= p < np.inf
        ):
            refuse_underflow(X, float(p), self._name)
        if self._name == "seuclidean" and "V" not in params:
            params["V"] = _variances(X)
        if self._name == "mahalanobis":
            params["VI"] = _inverse_covariance(X) if "VI" not in params else params["VI"]
            _check_inverse(params["VI"], np.shape(X)[1])
        self.params_ = params
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check the name and the parameters that a model file has, one value a feature."""
        check_text(self.name, "the name of a metric", {*METRIC_NAMES, *METRIC_ALIASES})
        shapes = {"V": (n_features,), "w": (n_features,), "VI": (n_features, n_features)}
        for key, value in check_keywords(self.params_, "params_").items():
            if key in shapes and value is not None:
                check_array(np.asarray(value), key, kinds="biuf", shape=shapes[key])

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from the rows of B."""
        self._refuse_sparse(A, B)
        source = f"metric {self.name!r}"
        if self.positive_only:
            check_non_negative(A, source)
            check_non_negative(B, source)
        return check_dissimilarities(self._compute(A, B), (row_count(A), row_count(B)), source)

    def bind(
        self,
        A: Any,
        B: Any,
        *,
        radii: Floats | None = None,
        groups: Groups | None = None,
        **search: Any,
    ) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        searched = radii is not None or groups is not None
        mapped = self._mapped(A, B) if searched else None
        if mapped is None:
            return pairwise_pairs(self, A, B)
        distance, left, right = mapped
        pairs: Pairs = distance.bind(left, right, radii=radii, groups=groups, **search)
        return pairs

    def _mapped(self, A: Any, B: Any) -> tuple[Any, Any, Any] | None:
        """Return a distance by products that equals the metric, and the samples mapped for it."""
        return map_points(self._name, A, B, params=self.params_, pairwise=self.pairwise)

    @property
    def contribution_unit(self) -> str:
        """What contributions add up to: the "square" of a distance that is a root of squares."""
        return "square" if self._name in _ROOTS_OF_SQUARES else "distance"

    def contributions(self, A: Any, B: Any) -> Floats | None:
        """Return what each column contributes to the distance of A[i] from B[i], or its square.

        None for a metric that is not a sum over the columns.
        """
        self._refuse_sparse(A, B)
        return contributions_of(self._name, A, B, self.params_)

    @property
    def _name(self) -> str:
        """The name without aliases."""
        return METRIC_ALIASES.get(self.name, self.name)

    def _compute(self, A: Any, B: Any) -> Floats:
        """Return the table as the metric's home gives it, but for the last bits."""
        if issparse(A) or issparse(B):
            return np.asarray(manhattan_distances(narrow_rows(A), narrow_rows(B)))
        if self._name == "nan_euclidean":
            return nan_euclidean(A, B, **self.params_)
        if self._name == "haversine":
            return round_in_place(haversine_distances(A, B, **self.params_), 2.0**-40)
        dtype: Any = bool if self._name in _BOOLEAN else np.float64
        left, right = np.asarray(A, dtype=dtype), np.asarray(B, dtype=dtype)
        return self._rounded(cdist(left, right, self._name, **self.params_))

    def _rounded(self, table: Floats) -> Floats:
        """Take out the last bits where they depend on the machine."""
        if self._name == "correlation":
            return round_in_place(table, CORRELATION_GRID)
        if self._name == "jensenshannon":
            return np.sqrt(round_in_place(table * table, 2.0**-40))
        if self._name == "minkowski" and self.params_.get("p", 2) not in (1, 2, np.inf):
            return round_in_place(table, grain(table))
        return table

    def _refuse_sparse(self, *tables: Any) -> None:
        """Refuse sparse rows where the metric does not take them."""
        if not self.accepts_sparse and any(issparse(table) for table in tables):
            raise ValueError(
                f"metric {self.name!r} does not take sparse input; pass X.toarray(), or "
                "use 'euclidean', 'sqeuclidean', 'cosine' or 'cityblock'"
            )


def narrow_rows(X: Any) -> csr_matrix:
    """Return sparse rows with 32-bit indices, which scikit-learn's Manhattan distance wants."""
    rows = csr_matrix(X)
    rows.sum_duplicates()
    narrow = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return csr_matrix((rows.data, *narrow), shape=rows.shape)


def _check_inverse(VI: Any, n_features: int) -> None:
    """Refuse an inverse covariance of another size, beyond whose end SciPy would read."""
    if np.shape(VI) != (n_features, n_features):
        raise ValueError(
            f"VI must be the inverse covariance of the {n_features} features, of shape "
            f"{(n_features, n_features)}, got shape {np.shape(VI)}"
        )


def _variances(X: Any) -> Floats:
    """Return the variance of each feature."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if len(rows) < 2:
        return np.ones(rows.shape[1])
    variance = rows.var(axis=0, ddof=1)
    if ((variance == 0.0) & (rows.max(axis=0) > rows.min(axis=0))).any():
        raise ValueError(
            "X holds values so close that their variance underflows; rescale the features"
        )
    # A constant feature is ignored: any positive variance leaves it out.
    return np.where(variance > 0.0, variance, 1.0)


def _inverse_covariance(X: Any) -> Floats:
    """Return the inverse covariance of the rows, without the directions they do not extend in.

    By way of the correlations, whose rounding does not depend on the units of the features.
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    p = rows.shape[1]
    if len(rows) < 2:
        return np.eye(p)
    deviation = np.sqrt(_variances(rows))
    standard = (rows - rows.mean(axis=0)) / deviation
    correlation = round_in_place(column_products(standard) / (len(rows) - 1), 2.0**-40)
    inverse = pseudo_inverse(correlation, rtol=p * 2.0**-38)
    round_in_place(inverse, grain(np.abs(inverse).max()))
    result: Floats = inverse / np.outer(deviation, deviation)
    return result


def contributions_of(name: str, A: Any, B: Any, params: Mapping[str, Any]) -> Floats | None:
    """Return what each column contributes to the distance of A[i] from B[i], or its square.

    None for a metric that is not a sum over the columns, or has other parameters.
    """
    terms, known = _TERMS.get(name, (None, set()))
    if terms is None or not set(params) <= known:
        return None
    left, right = (np.asarray(X.toarray() if issparse(X) else X, dtype=float) for X in (A, B))
    return terms(left, right, **params)


def _cityblock(A: Floats, B: Floats, w: Any = None) -> Floats:
    return abs(A - B) * _weights(w, A)


def _canberra(A: Floats, B: Floats, w: Any = None) -> Floats:
    total = abs(A) + abs(B)
    return np.asarray(abs(A - B) / np.where(total > 0.0, total, 1.0) * _weights(w, A))


def _hamming(A: Floats, B: Floats, w: Any = None) -> Floats:
    weights = _weights(w, A)
    return np.asarray((A != B) * (weights / weights.sum()))


def _seuclidean(A: Floats, B: Floats, V: Any) -> Floats:
    return np.asarray((A - B) ** 2 / np.asarray(V))


def _nan_euclidean(A: Floats, B: Floats) -> Floats:
    known = ~(np.isnan(A) | np.isnan(B))
    common = np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(known, (A - B) ** 2, 0.0) * (A.shape[1] / common))


def _weights(w: Any, A: Floats) -> Floats:
    """Return the weights of the columns, which are 1 where none are given."""
    return np.ones(A.shape[1]) if w is None else np.asarray(w, dtype=float)


_TERMS: dict[str, tuple[Callable[..., Floats], set[str]]] = {
    "canberra": (_canberra, {"w"}),
    "cityblock": (_cityblock, {"w"}),
    "manhattan": (_cityblock, {"w"}),
    "hamming": (_hamming, {"w"}),
    "nan_euclidean": (_nan_euclidean, set()),
    "seuclidean": (_seuclidean, {"V"}),
}


def nan_euclidean(
    A: Any, B: Any, *, squared: bool = False, missing_values: float = np.nan
) -> Floats:
    """Return ``sqrt(p / common * sum of squares)`` over the features that both rows have.

    NaN for a pair without one. The arguments are those of
    ``sklearn.metrics.pairwise.nan_euclidean_distances``.
    """
    left, right = _features(A, missing_values), _features(B, missing_values)
    # Counts of ones: integers, which any order of adding gives exactly.
    common = (~np.isnan(left)).T.astype(np.float64) @ (~np.isnan(right)).astype(np.float64)
    squares = _add_squares(left, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A factor of 1, and so Euclidean distance to the last bit, where nothing is missing.
        squares *= len(left) / common
    return squares if squared else np.sqrt(squares, out=squares)


def _features(X: Any, missing_values: float) -> Floats:
    """Return the features as rows, NaN where a value is missing."""
    rows = np.asarray(X, dtype=np.float64)
    if not np.isnan(missing_values):
        rows = np.where(rows == missing_values, np.nan, rows)
    return np.ascontiguousarray(rows.T)


def _add_squares(left: Floats, right: Floats) -> Floats:
    """Add up the squared differences in the features (p, n) and (p, m) that are there."""
    total = np.zeros((left.shape[1], right.shape[1]))
    incomplete = [
        bool(np.isnan(x).any() or np.isnan(z).any()) for x, z in zip(left, right, strict=True)
    ]
    step = max(1, _STRIP // max(1, right.shape[1]))
    for start in range(0, len(total), step):
        strip = total[start : start + step]
        difference = np.empty_like(strip)
        for x, z, missing in zip(left[:, start : start + step], right, incomplete, strict=True):
            np.subtract(x[:, None], z, out=difference)
            np.multiply(difference, difference, out=difference)
            if missing:
                # Of NaN and zero fmax gives the zero.
                np.fmax(difference, 0.0, out=difference)
            strip += difference
    return total
