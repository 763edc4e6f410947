"""The distance that a kernel induces: sqrt(K(x, x) + K(z, z) - 2 K(x, z))."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import pairwise_kernels

from ..balls import check_dissimilarities
from ..resources import row_count

__all__ = ["KernelDistance", "kernel_to_distance"]

_DIAGONAL_BLOCK = 64


def kernel_to_distance(
    K: ArrayLike,
    *,
    row_diagonal: ArrayLike | None = None,
    column_diagonal: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Turn kernel values into the distances they induce (paper, section 4.1).

    Parameters
    ----------
    K : array-like, shape (n, m)
        Kernel values between n row and m column examples.
    row_diagonal, column_diagonal : array-like, shapes (n,) and (m,), or None
        K(x, x) of the rows and of the columns. Both may be left out of a square matrix
        of one set of examples with itself, whose diagonal they are.

    Returns
    -------
    ndarray, shape (n, m)
        Distances, ready for ``metric="precomputed"``.

    Examples
    --------
    >>> from protocover.dissimilarity import kernel_to_distance
    >>> kernel_to_distance([[1.0, 0.5], [0.5, 1.0]])
    array([[0., 1.],
           [1., 0.]])
    """
    kernel = np.asarray(K, dtype=np.float64)
    if kernel.ndim != 2:
        raise ValueError(f"K must have two dimensions, got shape {kernel.shape}")
    if (row_diagonal is None or column_diagonal is None) and kernel.shape[0] != kernel.shape[1]:
        raise ValueError(
            f"a kernel matrix of shape {kernel.shape} is not square, so K(x, x) cannot be read "
            "off it; pass row_diagonal and column_diagonal"
        )
    rows = np.diagonal(kernel) if row_diagonal is None else np.asarray(row_diagonal)
    columns = np.diagonal(kernel) if column_diagonal is None else np.asarray(column_diagonal)
    squares = rows[:, None] + columns[None, :] - 2.0 * kernel
    # Rounding may leave the square of a distance of zero a little below zero.
    return np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)


class KernelDistance(BaseEstimator):
    """The distance induced by a kernel.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        A kernel of ``sklearn.metrics.pairwise.pairwise_kernels`` by name, a function of
        two rows, or ``"precomputed"`` when `X` is a kernel matrix.
    params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.1}``.

    Notes
    -----
    With ``"precomputed"`` the training matrix must be square. At prediction the matrix of
    queries x training points does not tell K(x, x) of a query. Where the training
    diagonal is constant, as in a normalised kernel, that constant is taken; for other
    kernels use :func:`kernel_to_distance` and ``metric="precomputed"``.

    Examples
    --------
    >>> from protocover.dissimilarity import KernelDistance
    >>> KernelDistance("linear").fit([[0.0]]).cross([[3.0, 4.0]], [[0.0, 0.0]])
    array([[5.]])
    """

    def __init__(
        self,
        kernel: str | Callable[..., float] = "rbf",
        params: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.params = params

    @property
    def symmetric(self) -> bool:
        """Whether each pair need be computed only once."""
        return not self.pairwise

    @property
    def pairwise(self) -> bool:
        """Whether `X` is a matrix of kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def thread_safe(self) -> bool:
        """Whether several blocks may be computed at once."""
        return isinstance(self.kernel, str)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the diagonal of a precomputed kernel; otherwise do nothing."""
        if self.pairwise:
            kernel = np.asarray(X, dtype=np.float64)
            if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1]:
                raise ValueError(
                    "a precomputed kernel must be a square matrix to fit on, got shape "
                    f"{kernel.shape}"
                )
            self.diagonal_ = np.diagonal(kernel).copy()
            self.n_candidates_ = len(kernel)
        return self

    def table(self, X: Any) -> NDArray[np.float64]:
        """Return the distances that the kernel matrix of the training points stands for."""
        return kernel_to_distance(X)

    def cross(self, A: Any, B: Any) -> NDArray[np.float64]:
        """Return the distances of the rows of A from the rows of B."""
        if self.pairwise:
            return self._cross_precomputed(A, B)
        kernel = self._evaluate(A, B)
        rows = self._diagonal(A)
        columns = rows if B is A else self._diagonal(B)
        table = kernel_to_distance(kernel, row_diagonal=rows, column_diagonal=columns)
        return check_dissimilarities(table, kernel.shape, f"kernel {self.kernel!r}")

    def _evaluate(self, A: Any, B: Any) -> NDArray[np.float64]:
        """Return the kernel values of the rows of A with the rows of B."""
        kernel = pairwise_kernels(A, B, metric=self.kernel, n_jobs=1, **(self.params or {}))
        return np.asarray(kernel, dtype=np.float64)

    def _diagonal(self, A: Any) -> NDArray[np.float64]:
        """Return K(x, x) of each row, off the diagonals of small blocks."""
        starts = range(0, row_count(A), _DIAGONAL_BLOCK)
        blocks = (A[start : start + _DIAGONAL_BLOCK] for start in starts)
        parts = [np.diagonal(self._evaluate(block, block)) for block in blocks]
        return np.concatenate(parts) if parts else np.empty(0)

    def _cross_precomputed(self, A: Any, B: Any) -> NDArray[np.float64]:
        """Return the distances that columns `B` of the kernel matrix `A` stand for."""
        columns = np.asarray(B, dtype=np.intp)
        kernel = np.asarray(A, dtype=np.float64)
        if kernel.shape[1] == self.n_candidates_:
            kernel = kernel[:, columns]
        elif kernel.shape[1] != len(columns):
            raise ValueError(
                f"X must have a column for each of the {self.n_candidates_} training points, or "
                f"for each of the {len(columns)} prototypes, got {kernel.shape[1]} columns"
            )
        constant = self.diagonal_[0]
        if not np.allclose(self.diagonal_, constant, rtol=1e-9, atol=0.0):
            raise ValueError(
                "K(x, x) of the queries is not known from their kernel values with the training "
                "points; normalise the kernel, or use kernel_to_distance and "
                "metric='precomputed'"
            )
        return kernel_to_distance(
            kernel,
            row_diagonal=np.full(len(kernel), constant),
            column_diagonal=self.diagonal_[columns],
        )
