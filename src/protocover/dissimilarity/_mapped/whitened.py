"""Mahalanobis distance: Euclidean distance of whitened rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Floats
from .._euclidean.rows import MappedRows
from .limits import LARGEST, TINY, UNIT, Cross, Rows, map_both, squared_lengths


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

    With |d|^2 <= 2 (|x|^2 + |x'|^2), each row's share is its |x|^2 times
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
