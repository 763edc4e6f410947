"""Checks of points and queries, as far as the dissimilarity wants them checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

__all__ = ["check_estimator_examples", "check_examples"]

_DTYPES = [np.float64, np.float32]


def check_examples(X: Any, dissimilarity: Any) -> Any:
    """Check examples outside of an estimator."""
    _refuse_dask(X)
    if getattr(dissimilarity, "accepts_anything", False):
        return _as_wanted(X, dissimilarity)
    return check_array(
        X,
        accept_sparse=_sparse(dissimilarity),
        dtype=_DTYPES,
        ensure_all_finite=_finite(dissimilarity),
    )


def check_estimator_examples(estimator: Any, X: Any, dissimilarity: Any, *, reset: bool) -> Any:
    """Check an estimator's points (`reset`) or queries, and their features' names."""
    _refuse_dask(X)
    if getattr(dissimilarity, "accepts_anything", False):
        if len(getattr(X, "shape", ())) == 2:  # lists may hold examples of unequal length
            validate_data(estimator, X, skip_check_array=True, reset=reset)
        return _as_wanted(X, dissimilarity)
    if getattr(dissimilarity, "pairwise", False):
        return _check_table(estimator, X, reset=reset)
    return validate_data(
        estimator,
        X,
        accept_sparse=_sparse(dissimilarity),
        dtype=_DTYPES,
        ensure_all_finite=_finite(dissimilarity),
        reset=reset,
    )


def _refuse_dask(X: Any) -> None:
    """Refuse a collection of Dask, which would silently be loaded into this memory."""
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            "X must be in memory, got a collection of Dask; use "
            "protocover.distributed.DaskPVMClassifier, or pass X.compute()"
        )


def _as_wanted(X: Any, dissimilarity: Any) -> Any:
    """Let the dissimilarity check examples of its own kind, if it does."""
    check = getattr(dissimilarity, "check_examples", None)
    return X if check is None else check(X)


def _sparse(dissimilarity: Any) -> str | bool:
    """Return scikit-learn's word for the form of sparse tables that is allowed, if any."""
    dense = getattr(dissimilarity, "pairwise", False)
    return "csr" if getattr(dissimilarity, "accepts_sparse", True) and not dense else False


def _finite(dissimilarity: Any) -> bool | str:
    """Return scikit-learn's word for whether missing values are allowed."""
    return "allow-nan" if getattr(dissimilarity, "allows_nan", False) else True


def _check_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check a table of values between examples, whole or with prototypes' columns only."""
    if reset:
        return validate_data(estimator, X, dtype=np.float64)
    table = check_array(X, dtype=np.float64)
    n_prototypes = len(estimator.prototype_indices_)
    if table.shape[1] not in (estimator.n_features_in_, n_prototypes):
        raise ValueError(
            f"X has {table.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input, one for each candidate, or "
            f"{n_prototypes}, one for each prototype in order of selection"
        )
    return table
