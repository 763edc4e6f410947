"""The distance that a kernel induces: sqrt(K(x, x) + K(z, z) - 2 K(x, z))."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_non_negative

from .._balls import check_dissimilarities
from .._exceptions import warn_caller
from .._resources import batches, row_count
from .._typing import Floats, Indices
from ..data._fields import check_array, check_keywords, check_text, check_whole
from ._arithmetic import grain, round_in_place
from ._metric import narrow_rows
from ._precomputed import pick_columns

_DIAGONAL_BLOCK = 64
_WORST_BLOCK = 1024
# Rows among which squared distances below zero are sought.
_SAMPLE = 256
_SAMPLE_OF_CALLS = 32
# A matrix in single precision may be off by so much of its diagonal.
_ROUNDING = 1e-6


def kernel_to_distance(
    K: ArrayLike,
    *,
    row_diagonal: ArrayLike | None = None,
    column_diagonal: ArrayLike | None = None,
) -> Floats:
    """Turn kernel values into the distances they induce (paper, section 4.1).

    Parameters
    ----------
    K : array-like, shape (n, m)
        Kernel values between n row and m column points.
    row_diagonal, column_diagonal : array-like, shapes (n,) and (m,), or None
        K(x, x) of the rows and of the columns. Both may be left out of a square matrix
        of one set of points with itself, whose diagonal they are.

    Returns
    -------
    ndarray, shape (n, m)
        Distances, ready for ``metric="precomputed"``.

    Notes
    -----
    Squared distances are rounded to multiples of 2^-40 of the larger of K(x, x) and
    K(z, z), brought up to a power of two. That is far above the last bits, in which kernels
    differ from processor to processor, so that what is zero in theory is zero and what is
    equal is equal. Distances below a millionth of the length of x and z are lost in it, as
    they mostly are already in the difference of kernel values. A squared distance below
    zero, which only an indefinite kernel has, counts as zero.

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
    squares = kernel * -2.0
    squares += np.add.outer(rows, columns)
    round_in_place(squares, np.maximum.outer(grain(rows), grain(columns)))
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
    Squared distances are rounded as in :func:`kernel_to_distance`, so that they do not
    depend on the processor.

    With ``"precomputed"`` the training matrix must be square. At prediction the matrix of
    queries x training points does not tell K(x, x) of a query. Which prototype is nearest
    does not depend on it, so that `predict` always has an answer. Distances themselves, and
    so who lies in a ball, are known where the rows are the training matrix again, and where
    the training diagonal is constant, as in a normalised kernel: that constant is then
    taken for the queries. For the distances of other queries use
    :func:`kernel_to_distance` and ``metric="precomputed"``.

    A kernel that is not positive definite may give squared distances below zero, which
    count as zero. `fit` warns of them; except for a precomputed kernel it looks at a sample
    of the rows only.

    Examples
    --------
    >>> from protocover.dissimilarity import KernelDistance
    >>> KernelDistance("linear").fit([[0.0]]).pairwise([[3.0, 4.0]], [[0.0, 0.0]])
    array([[5.]])
    """

    _rows: Indices | None = None  # training points that are points; None for all

    def __init__(
        self, kernel: str | Callable[..., float] = "rbf", params: dict[str, Any] | None = None
    ) -> None:
        self.kernel = kernel
        self.params = params

    @property
    def symmetric(self) -> bool:
        """Whether each pair need be computed only once."""
        return not self.precomputed

    @property
    def precomputed(self) -> bool:
        """Whether `X` is a matrix of kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may be those of a sparse table."""
        return not self.precomputed and not self.positive_only

    @property
    def positive_only(self) -> bool:
        """Whether rows must not hold negative numbers, as in the two kernels of histograms."""
        return isinstance(self.kernel, str) and self.kernel in ("chi2", "additive_chi2")

    @property
    def saved_state(self) -> tuple[str, ...]:
        """Attributes that a model file keeps."""
        return ("diagonal_", "n_candidates_") if self.precomputed else ()

    @property
    def thread_safe(self) -> bool:
        """Whether several blocks may be computed at once."""
        return isinstance(self.kernel, str)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the diagonal of a precomputed kernel; warn of one that is indefinite."""
        if self.precomputed:
            kernel = np.asarray(X, dtype=np.float64)
            if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1]:
                raise ValueError(
                    "a precomputed kernel must be a square matrix to fit on, got shape "
                    f"{kernel.shape}"
                )
            self.diagonal_ = np.diagonal(kernel).copy()
            self.n_candidates_ = len(kernel)
        elif row_count(X) > 0:
            size = _SAMPLE if isinstance(self.kernel, str) else _SAMPLE_OF_CALLS
            rows = _safe_indexing(X, np.unique(np.linspace(0, row_count(X) - 1, size, dtype=int)))
            kernel = self._evaluate(rows, rows)
        else:
            return self
        self._warn_if_indefinite(kernel)
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check the kernel, and the diagonal of a precomputed one, that a model file has."""
        check_text(self.kernel, "kernel", {*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"})
        check_keywords(self.params or {}, "params")
        if self.precomputed:
            check_whole(self.n_candidates_, "n_candidates_", low=1)
            check_array(self.diagonal_, "diagonal_", kinds="f", shape=(self.n_candidates_,))

    def of_rows(self, rows: Indices) -> KernelDistance:
        """Return the same with only some of the training points as points, all as candidates."""
        part = copy(self)
        part._rows = rows
        return part

    def table(self, X: Any) -> Floats:
        """Return the distances that rows of the training kernel matrix induce."""
        rows = self.diagonal_ if self._rows is None else self.diagonal_[self._rows]
        return kernel_to_distance(X, row_diagonal=rows, column_diagonal=self.diagonal_)

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the distances of the rows of A from the rows of B."""
        if self.precomputed:
            kernel, columns, rows = self._read(A, B)
            if rows is None:
                raise ValueError(
                    "these distances need K(x, x) of the queries, which their kernel values with "
                    "the training points do not tell; to find the nearest prototype, predict with "
                    "radii='shared' and outlier_label=None does without; for anything else "
                    "normalise the kernel, or use kernel_to_distance and metric='precomputed'"
                )
            return kernel_to_distance(kernel, row_diagonal=rows, column_diagonal=columns)
        kernel = self._evaluate(A, B)
        rows = self._diagonal(A)
        columns = rows if B is A else self._diagonal(B)
        table = kernel_to_distance(kernel, row_diagonal=rows, column_diagonal=columns)
        return check_dissimilarities(table, kernel.shape, f"kernel {self.kernel!r}")

    def ranking(self, A: Any, B: Any) -> Floats:
        """Return numbers that order the columns `B` of a kernel matrix as distances would.

        Where distances are known they are these. Else they are the squared distances less
        the K(x, x) of each row, which is the same for all columns.
        """
        kernel, diagonal, own = self._read(A, B)
        if own is not None:
            return kernel_to_distance(kernel, row_diagonal=own, column_diagonal=diagonal)
        return round_in_place(diagonal - 2.0 * kernel, grain(np.abs(diagonal).max(initial=0.0)))

    def _evaluate(self, A: Any, B: Any) -> Floats:
        """Return the kernel values of the rows of A with the rows of B."""
        if self.kernel == "laplacian" and issparse(A):
            A, B = narrow_rows(A), narrow_rows(B)
        if self.positive_only:
            A, B = _histograms(A), _histograms(B)
        kernel = pairwise_kernels(A, B, metric=self.kernel, n_jobs=1, **(self.params or {}))
        return np.asarray(kernel, dtype=np.float64)

    def _diagonal(self, A: Any) -> Floats:
        """Return K(x, x) of each row, off the diagonals of small blocks."""
        # Not all sparse formats can be sliced, by old SciPy at least.
        sliced = A.tocsr() if issparse(A) else A
        blocks = (sliced[rows] for rows in batches(row_count(A), _DIAGONAL_BLOCK))
        parts = [np.diagonal(self._evaluate(block, block)) for block in blocks]
        return np.concatenate(parts) if parts else np.empty(0)

    def _read(self, A: Any, B: Any) -> tuple[Floats, Floats, Floats | None]:
        """Return the columns `B` of the matrix `A`, their K(z, z), and K(x, x) of the rows."""
        kernel = np.asarray(A, dtype=np.float64)
        columns = pick_columns(kernel, B, self.n_candidates_, "training points")
        diagonal = self.diagonal_[np.asarray(B, dtype=np.intp)]
        return columns, diagonal, _own_values(kernel, self.diagonal_)

    def _warn_if_indefinite(self, kernel: Floats) -> None:
        """Warn of squared distances that are below zero by more than rounding explains."""
        worst = _worst_square(kernel, np.diagonal(kernel))
        if worst < -_ROUNDING:
            warn_caller(
                f"kernel {self.kernel!r} is not positive definite: squared distances are as low "
                f"as {worst:.2g} times K(x, x), and those below zero count as zero; choose other "
                "parameters or another kernel",
                UserWarning,
            )


def _histograms(A: Any) -> Floats:
    """Return rows for the kernels of histograms, which want to be able to write to them."""
    rows = np.require(A, dtype=np.float64, requirements="W")
    check_non_negative(rows, "KernelDistance")
    return rows


def _own_values(kernel: Floats, diagonal: Floats) -> Floats | None:
    """Return K(x, x) of each row of a matrix of queries x training points, None if unknown.

    It is known where K(z, z), the `diagonal`, is the same for all training points, as in a
    normalised kernel, and where the rows are the training points themselves, in their order.
    """
    if np.allclose(diagonal, diagonal[0], rtol=1e-9, atol=0.0):
        return np.full(len(kernel), diagonal[0])
    return diagonal if _is_training_matrix(kernel, diagonal) else None


def _is_training_matrix(kernel: Floats, diagonal: Floats) -> bool:
    """Whether a matrix with the diagonal of the training matrix is symmetric as that is."""
    if kernel.shape != (len(diagonal), len(diagonal)):
        return False
    if not np.array_equal(np.diagonal(kernel), diagonal):
        return False
    return np.allclose(kernel, kernel.T, rtol=1e-9, atol=1e-9 * float(np.abs(diagonal).max()))


def _worst_square(kernel: Floats, diagonal: Floats) -> float:
    """Return the least squared distance as a fraction of the larger K(x, x) of its pair.

    It is below zero only where the matrix (n, n) is not that of a positive kernel.
    """
    worst = 0.0
    for rows in batches(len(kernel), _WORST_BLOCK):
        squares = np.add.outer(diagonal[rows], diagonal) - 2.0 * kernel[rows]
        size = np.maximum.outer(np.abs(diagonal[rows]), np.abs(diagonal))
        np.divide(squares, size, out=squares, where=size > 0.0)
        worst = min(worst, float(squares.min(initial=0.0)))
    return worst
