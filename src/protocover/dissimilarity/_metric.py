"""The named metrics of SciPy and scikit-learn, as these compute them in double precision."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import haversine_distances, manhattan_distances
from sklearn.utils.validation import check_non_negative

from .._balls import check_dissimilarities
from .._resources import row_count
from .._typing import Floats
from ..data._fields import check_array, check_keywords, check_text
from ._contributions import contributions_of
from ._gaps import nan_euclidean
from ._inverse import column_products, pseudo_inverse
from ._mapped import map_points
from ._mapped.centered import CORRELATION_GRID
from ._rounding import grain, round_in_place
from ._underflow import refuse_underflow

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
    Where a logarithm, a power or a sine is involved, whose last bits differ, they are
    rounded: ``"correlation"``, ``"haversine"`` and the square of ``"jensenshannon"`` to
    multiples of 2^-40, ``"minkowski"`` with a `p` other than 1, 2 and infinity to about 40
    bits. The inverse covariance that ``"mahalanobis"`` learns is computed from exact sums and
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

    def mapped(self, A: Any, B: Any) -> tuple[Any, Any, Any] | None:
        """Return a distance by products that answers for the metric, and points mapped for it."""
        return map_points(self._name, A, B, params=self.params_, pairwise=self.pairwise)

    @property
    def contribution_unit(self) -> str:
        """What contributions add up to: the "square" of a distance that is a root of squares."""
        return "square" if self._name in _ROOTS_OF_SQUARES else "distance"

    def contributions(self, A: Any, B: Any) -> Floats | None:
        """Return what each column contributes to the distance of A[i] from B[i], or its square.

        None for a metric whose columns have no share of their own.
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
    # A constant feature tells nothing: any positive variance leaves it out.
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
