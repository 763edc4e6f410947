"""What a matrix of kernel values tells of its rows: K(x, x), and whether it is a kernel."""

from __future__ import annotations

import numpy as np

from ..balls import Floats

__all__ = ["own_values", "worst_square"]


_BLOCK = 1024


def own_values(kernel: Floats, diagonal: Floats) -> Floats | None:
    """Return K(x, x) of each row of a matrix of queries x training points, None if unknown.

    It is known where K(x, x) is the same for all training points, as in a normalised kernel,
    and where the rows are the training points themselves, in their order.

    Parameters
    ----------
    kernel : ndarray, shape (n_queries, n_columns)
        Kernel values.
    diagonal : ndarray, shape (n_columns,)
        K(z, z) of the training points.
    """
    if np.allclose(diagonal, diagonal[0], rtol=1e-9, atol=0.0):
        return np.full(len(kernel), diagonal[0])
    return diagonal if _is_training_matrix(kernel, diagonal) else None


def worst_square(kernel: Floats, diagonal: Floats) -> float:
    """Return the least squared distance as a share of the larger K(x, x) of its pair.

    It is below zero only where the matrix (n, n) is not that of a positive kernel.
    """
    worst = 0.0
    for start in range(0, len(kernel), _BLOCK):
        rows = slice(start, start + _BLOCK)
        squares = np.add.outer(diagonal[rows], diagonal) - 2.0 * kernel[rows]
        size = np.maximum.outer(np.abs(diagonal[rows]), np.abs(diagonal))
        np.divide(squares, size, out=squares, where=size > 0.0)
        worst = min(worst, float(squares.min(initial=0.0)))
    return worst


def _is_training_matrix(kernel: Floats, diagonal: Floats) -> bool:
    """Whether a matrix with the diagonal of the training matrix is symmetric as that is."""
    if kernel.shape != (len(diagonal), len(diagonal)):
        return False
    if not np.array_equal(np.diagonal(kernel), diagonal):
        return False
    return np.allclose(kernel, kernel.T, rtol=1e-9, atol=1e-9 * float(np.abs(diagonal).max()))
