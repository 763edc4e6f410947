"""Checks of what users pass to the estimators, each with a way out in its message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from .exceptions import warn_caller

__all__ = [
    "check_column",
    "check_costs",
    "check_eps",
    "check_n_prototypes",
    "check_outlier_label",
    "check_prototype_cost",
    "check_radii",
    "check_verbose",
    "check_weights",
    "unchanged_on_error",
]


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Put an estimator back as it was if fitting it fails, whatever the reason."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_eps(eps: Any) -> float | None:
    """Return the radius as a float, or None for ``"auto"``."""
    if isinstance(eps, str) and eps == "auto":
        return None
    if isinstance(eps, Real) and not isinstance(eps, bool) and 0.0 < float(eps) < np.inf:
        return float(eps)
    raise ValueError(
        f"eps must be a positive number or 'auto', got {eps!r}; suggest_eps(X, y) proposes a grid"
    )


def check_prototype_cost(cost: Any, weights: NDArray[np.float64]) -> float:
    """Return the cost of a prototype: 1/n of the mean weight unless given."""
    if cost is None:
        positive = weights[weights > 0.0]
        return float(positive.mean() / len(positive))
    if isinstance(cost, Real) and not isinstance(cost, bool) and 0.0 <= float(cost) < np.inf:
        return float(cost)
    raise ValueError(f"prototype_cost must be a number not below 0, or None for 1/n, got {cost!r}")


def check_radii(eps: Any) -> NDArray[np.float64]:
    """Return a grid of radii, rising and without repetition."""
    radii = np.unique(np.atleast_1d(np.asarray(eps, dtype=np.float64)))
    if radii.ndim != 1 or len(radii) == 0 or not (np.isfinite(radii) & (radii > 0.0)).all():
        raise ValueError(
            f"eps must be positive numbers, got {eps!r}; suggest_eps(X, y) proposes a grid"
        )
    return radii


def check_costs(costs: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a grid of costs, rising and without repetition."""
    if costs is None:
        return np.array([check_prototype_cost(None, weights)])
    grid = np.unique(np.atleast_1d(np.asarray(costs, dtype=np.float64)))
    if len(grid) == 0 or not (np.isfinite(grid) & (grid >= 0.0)).all():
        raise ValueError(f"prototype_costs must be numbers not below 0, got {costs!r}")
    return grid


def check_n_prototypes(n_prototypes: Any, classes: NDArray[Any]) -> int | dict[int, int] | None:
    """Return the budget, a mapping's labels turned into class numbers."""
    if n_prototypes is None:
        return None
    if isinstance(n_prototypes, Mapping):
        number = {label: k for k, label in enumerate(classes.tolist())}
        unknown = [label for label in n_prototypes if label not in number]
        if unknown:
            raise ValueError(
                f"n_prototypes names classes that are not in y: {unknown}; the classes are "
                f"{classes.tolist()}"
            )
        return {number[label]: _count(k) for label, k in n_prototypes.items()}
    return _count(n_prototypes)


def check_outlier_label(label: Any, classes: NDArray[Any], y: NDArray[np.intp]) -> Any:
    """Return the label of queries in no ball, or None to answer without looking."""
    if label is None:
        return None
    if isinstance(label, str) and label == "most_frequent":
        return classes[np.bincount(y).argmax()]
    if not np.isscalar(label):
        raise ValueError(
            f"outlier_label must be one label, 'most_frequent' or None, got {label!r}"
        )
    if (np.asarray(label).dtype.kind in "US") != (classes.dtype.kind in "US") and (
        classes.dtype.kind != "O"
    ):
        raise ValueError(
            f"outlier_label must be of the kind of the labels in y, {classes.dtype}, got {label!r}"
        )
    return label


def check_verbose(verbose: Any) -> None:
    """Refuse a verbosity that is no number."""
    if not isinstance(verbose, Integral | np.bool_):
        raise ValueError(f"verbose must be a whole number, 0 for silence, got {verbose!r}")


def check_column(y: Any) -> NDArray[Any]:
    """Return labels as one dimension, with scikit-learn's warning for a table of one column."""
    column = np.asarray(column_or_1d(y))
    if len(y.shape if hasattr(y, "shape") else np.asarray(y).shape) == 2:
        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
    return column


def check_weights(
    sample_weight: Any, y: NDArray[np.intp], classes: NDArray[Any]
) -> NDArray[np.float64]:
    """Return one weight a point, not negative and with something of every class."""
    if sample_weight is None:
        return np.ones(len(y))
    weights = np.asarray(
        _check_sample_weight(sample_weight, np.empty((len(y), 1))), dtype=np.float64
    )
    if (weights < 0.0).any():
        raise ValueError(
            f"sample_weight must not be negative, got {weights.min():g}; use 0 to leave a "
            "point out"
        )
    if not (weights > 0.0).any():
        raise ValueError("sample_weight must be positive for some point, got all zero")
    empty = np.setdiff1d(np.arange(len(classes)), y[weights > 0.0])
    if len(empty):
        raise ValueError(
            f"every class needs a point of positive sample_weight, got none for "
            f"{classes[empty].tolist()}; drop those points from X and y instead"
        )
    return weights


def _count(k: Any) -> int:
    """Return a number of prototypes as an int."""
    if isinstance(k, Integral) and not isinstance(k, bool) and int(k) >= 0:
        return int(k)
    raise ValueError(
        f"n_prototypes must be a whole number not below 0, or a dict of them by class, got {k!r}"
    )
