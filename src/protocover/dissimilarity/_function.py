"""A dissimilarity given as a Python function of two points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from .._balls import check_dissimilarities
from .._exceptions import DissimilarityError
from .._resources import row_count
from .._typing import Floats


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
