"""Named metrics that are sums over the columns: what each column contributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._typing import Floats


def contributions_of(name: str, A: Any, B: Any, params: Mapping[str, Any]) -> Floats | None:
    """Return what each column contributes to the distance of A[i] from B[i], or its square.

    None for a metric that is no sum over the columns, or has parameters not reckoned with.
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
