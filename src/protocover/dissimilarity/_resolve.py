"""The dissimilarity that `metric` names, computes or is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array

from .._balls import check_dissimilarities, traits_of
from .._exceptions import DissimilarityError
from .._resources import row_count
from .._typing import Floats
from ._euclidean import Cosine, Euclidean, SquaredEuclidean
from ._gower import Gower
from ._metric import METRIC_ALIASES, METRIC_NAMES, Metric
from ._precomputed import Precomputed

_OWN = {
    "euclidean": Euclidean,
    "sqeuclidean": SquaredEuclidean,
    "cosine": Cosine,
    "precomputed": Precomputed,
}
# Those of this package that take `metric_params`.
_OWN_WITH_PARAMETERS: dict[str, Any] = {"gower": Gower}


def resolve_metric(metric: Any, params: dict[str, Any] | None = None) -> Any:
    """Return a new, unfitted dissimilarity for whatever `metric` is.

    Parameters
    ----------
    metric : str, callable, or object with ``fit`` and ``pairwise``
        As in ``PVMClassifier(metric=...)``.
    params : dict or None, default=None
        Parameters of a named metric or further arguments of a callable.
    """
    if not (params is None or isinstance(params, Mapping)):
        raise ValueError(
            f"metric_params must be a dict such as {{'p': 3}}, or None, got {params!r}"
        )
    if isinstance(metric, str):
        return _resolve_name(metric, params)
    if hasattr(metric, "pairwise") and hasattr(metric, "fit"):
        if params:
            raise ValueError(
                f"metric_params go with a named metric or a callable; set the parameters of "
                f"{type(metric).__name__} itself"
            )
        return clone(metric, safe=False)
    if callable(metric):
        return Function(metric, params)
    raise ValueError(
        "metric must be the name of a metric, a function of two points, or an object with "
        f"fit and pairwise, got {metric!r}"
    )


def input_tags(metric: Any, params: dict[str, Any] | None = None) -> dict[str, bool]:
    """Return scikit-learn's tags for the input that `metric` takes.

    Empty for anything that is not a metric, which `fit` will refuse.
    """
    try:
        made = metric if hasattr(metric, "pairwise") else resolve_metric(metric, params)
    except ValueError:
        return {}
    traits = traits_of(made)
    return {
        "pairwise": traits.precomputed,
        "sparse": traits.accepts_graph if traits.precomputed else traits.accepts_sparse,
        "allow_nan": traits.allows_nan,
        "positive_only": traits.positive_only,
        **traits.input_tags,
    }


def _resolve_name(name: str, params: dict[str, Any] | None) -> Any:
    """Look a metric up by name, or by what SciPy or scikit-learn call it otherwise."""
    full = METRIC_ALIASES.get(name, name)
    if full in _OWN:
        if params:
            raise ValueError(f"metric {name!r} takes no metric_params, got {params!r}")
        return _OWN[full]()
    if full in _OWN_WITH_PARAMETERS:
        return _OWN_WITH_PARAMETERS[full](**(params or {}))
    if full in METRIC_NAMES:
        return Metric(name, params)
    known = ", ".join(sorted(METRIC_NAMES | {"l2"} | set(_OWN) | set(_OWN_WITH_PARAMETERS)))
    raise ValueError(f"metric must be one of {known}, got {name!r}")


class Function(BaseEstimator):
    """A function ``d(x, z)`` of two points that returns a non-negative number.

    Parameters
    ----------
    function : callable
        Called once a pair, the training point or query first, the candidate second. It
        need not be symmetric.
    params : dict or None, default=None
        Further keyword arguments for `function`.

    Examples
    --------
    Examples may be anything, such as strings.

    >>> from protocover.dissimilarity import Function
    >>> Function(lambda a, b: abs(len(a) - len(b))).fit(["a"]).pairwise(["tree"], ["sea", "o"])
    array([[1., 3.]])
    """

    requires_array = False
    symmetric = False
    thread_safe = False
    stateless = True

    def __init__(
        self, function: Callable[..., float], params: dict[str, Any] | None = None
    ) -> None:
        self.function = function
        self.params = params

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: there is nothing to learn."""
        return self

    def check_examples(self, X: Any) -> Any:
        """Return a table of numbers as an array; leave any other points as they are."""
        if issparse(X) or _is_numeric(X):
            return check_array(X, accept_sparse="csr")
        return X if hasattr(X, "shape") else list(X)

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the points of A from those of B."""
        left, right = _examples(A), _examples(B)
        params = self.params or {}
        table = np.empty((len(left), len(right)))
        for i, x in enumerate(left):
            for j, z in enumerate(right):
                table[i, j] = self._one(x, z, params)
        return check_dissimilarities(table, table.shape, "the metric callable")

    def _one(self, x: Any, z: Any, params: dict[str, Any]) -> float:
        """Call the function on one pair."""
        try:
            value = self.function(x, z, **params)
        except Exception as error:
            raise DissimilarityError(
                f"the metric callable raised {type(error).__name__}: {error}"
            ) from error
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise DissimilarityError(
                f"the metric callable must return one number a pair, got {value!r}"
            ) from error


def _is_numeric(X: Any) -> bool:
    """Whether X is a table of numbers, and not a list of words or of unequal series."""
    try:
        return np.asarray(X).dtype.kind in "biuf"
    except ValueError:
        return False


def _examples(X: Any) -> list[Any]:
    """List the points of X: rows of a table, or the items of a sequence."""
    if issparse(X):
        return [X[i] for i in range(row_count(X))]
    if hasattr(X, "iloc"):
        return list(X.to_numpy())
    return list(X)
