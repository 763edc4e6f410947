"""The inverse of a covariance that comes out the same on every processor, bit for bit.

Linear algebra libraries choose the order of their sums by the processor. Here sums are exact, or
matrices are changed elementwise by one product of two vectors after another.
"""

from __future__ import annotations

import numpy as np

from .._typing import Floats
from ._tangent.exact_products import split

_ROWS_AT_ONCE = 4096


def column_products(rows: Floats) -> Floats:
    """Return ``rows.T @ rows`` to nearly double precision, from sums that are exact."""
    parts = split(rows.T, 2)
    sums = np.zeros((3, rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        high, low = parts[..., start : start + _ROWS_AT_ONCE].astype(np.float64)
        sums += high @ high.T, high @ low.T, low @ low.T
    return np.asarray(sums[0] + (sums[1] + sums[1].T + sums[2]))


def pseudo_inverse(matrix: Floats, *, rtol: float) -> Floats:
    """Return the pseudoinverse of a symmetric positive semidefinite matrix.

    Directions of variance up to `rtol` of the largest entry count as none.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover.dissimilarity._inverse import pseudo_inverse
    >>> pseudo_inverse(np.array([[2.0, 0.0], [0.0, 4.0]]), rtol=1e-12)
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    >>> pseudo_inverse(np.ones((2, 2)), rtol=1e-12)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    factor = _pivoted_factor(matrix, rtol)
    if factor.shape[1] == len(matrix):
        return _inverse(matrix)
    # With A = L L' the pseudoinverse is M M' for M = L (L'L)^-1.
    across = _product(factor, _inverse(_product(factor.T, factor)))
    return _product(across, across.T)


def _pivoted_factor(matrix: Floats, rtol: float) -> Floats:
    """Return L of as many columns as the matrix has rank, so that L L' is the matrix."""
    left = matrix.copy()
    least = rtol * float(left.diagonal().max(initial=0.0))
    columns: list[Floats] = []
    while len(columns) < len(matrix):
        pivot = int(left.diagonal().argmax())
        if not left[pivot, pivot] > least:
            break
        column = left[:, pivot] / np.sqrt(left[pivot, pivot])
        columns.append(column)
        left -= np.multiply.outer(column, column)
        left[pivot], left[:, pivot] = 0.0, 0.0
    return np.array(columns).reshape(-1, len(matrix)).T


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric positive definite matrix, by elimination."""
    swept, waiting = matrix.copy(), np.ones(len(matrix), dtype=bool)
    for _ in range(len(matrix)):
        pivot = int(np.where(waiting, swept.diagonal(), -np.inf).argmax())
        waiting[pivot] = False
        column, size = swept[:, pivot].copy(), float(swept[pivot, pivot])
        swept -= np.multiply.outer(column, column) / size
        swept[pivot] = swept[:, pivot] = column / size
        swept[pivot, pivot] = -1.0 / size
    return 0.0 - swept


def _product(left: Floats, right: Floats) -> Floats:
    """Return ``left @ right``, added up in the order of the inner dimension."""
    product = np.zeros((left.shape[0], right.shape[1]))
    for column, row in zip(left.T, right, strict=True):
        product += np.multiply.outer(column, row)
    return product
