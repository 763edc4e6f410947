"""Pairs whose squared Euclidean distances are bounded by one matrix product.

Rows are augmented so that a single product gives ``|x|^2 + |z|^2 - 2 x.z``. In single
precision that is fast and inexact, but its error is bounded: the product is lowered by
that bound, so that the result is never above the true squared distance and never
more than twice the slack below it. These bounds decide most pairs; the few remaining
distances are computed directly, in double precision. Near pairs are picked out tile by tile,
while the tile is still in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import row_norms

from ..._balls.pairs import Groups, NearPairs, joined_pairs, nearest_in_groups, rounded_up
from ..._typing import Floats, Indices
from .sums import Finish, MappedRows, RowPairs

# Single precision is worth it while bounds are closer than this fraction of eps^2.
_WIDEST = 0.02
# Covers what the product may lose by underflow, where the longest row has length one.
_TINY = 2.0**-100
# Larger scales would overflow when squared.
_LARGEST_SCALE = 2.0**500
# No two rows are that far apart in units in which the longest has length one.
_FARTHEST = 2.0**10
_SPARSE_COLUMNS = 1024
_BLOCK_NUMBERS = 1 << 18
# Prepared rows of Z are kept up to this many bytes, else prepared for each product.
_KEPT_BYTES = 1 << 28
# More than what multiplying a bound by a factor adds to its error.
_ROUNDING = 1e-12

Tables = Iterator[tuple[int, int, NDArray[Any]]]


class ProductPairs(RowPairs):
    """Pairs of embedded rows with bounds by a matrix product.

    Parameters
    ----------
    left, right : indexable
        Embedded samples and candidates.
    finish : callable
        Turns squared distances into dissimilarities.
    reach : callable
        Returns the Euclidean radii of radii.
    eps : float or None
        The Euclidean radius that matters, which decides on the precision.
    outward : bool
        Whether whole columns are searched. The candidates of a strip are then prepared once for
        all samples, whose rows are kept.
    """

    bounded = True
    # Scaled rows are no longer than one.
    largest = 4.0
    # Wide enough for the preparation of rows and the bookkeeping to be small.
    tile = (1024, 4096)

    def __init__(
        self,
        left: Any,
        right: Any,
        finish: Finish,
        reach: Callable[[Any], Any],
        *,
        eps: float | None = None,
        outward: bool = False,
    ) -> None:
        super().__init__(left, right, finish)
        self._reach, self._outward = reach, outward
        self._bounds = bracket(*((right, left) if outward else (left, right)), eps=eps)

    def reduced(self, radii: Any) -> Any:
        """Return the scaled squares of radii."""
        return scaled_squares(self._reach(radii), self._bounds.scale)

    def slack(self, i: Indices, j: Indices) -> Any:
        """Return by how much the scaled squares of pairs may exceed their bounds."""
        x, z = (j, i) if self._outward else (i, j)
        return 2.0 * (self._bounds.x_slack[x] + self._bounds.z_slack[z])

    def widest_slack(self, rows: slice, columns: slice) -> float:
        """Return the largest slack of a tile."""
        x, z = (columns, rows) if self._outward else (rows, columns)
        return float(2.0 * (self._bounds.x_slack[x].max() + self._bounds.z_slack[z].max()))

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return the pairs whose lower bound is at most `radius`, or a little above."""
        limit = float(self.reduced(radius))
        sides = (columns, rows) if self._outward else (rows, columns)
        picked = []
        memory = np.empty(0, dtype=bool)
        for first_row, first_column, table in self._bounds.tables(*sides):
            if memory.size < table.size:
                memory = np.empty(table.size, dtype=bool)
            small = memory[: table.size]
            np.less_equal(table.ravel(), rounded_up(limit, table.dtype), out=small)
            places = np.flatnonzero(small)
            if len(places):
                i = places // table.shape[1]
                j = places - i * table.shape[1]
                picked.append((i + first_row, j + first_column, table.ravel()[places]))
        i, j, lower = joined_pairs(picked)
        if self._outward:
            i, j = j, i
        return i, j, lower.astype(np.float64)

    def contenders(self, rows: slice, groups: Groups) -> tuple[Indices, Indices, Indices]:
        """Return (row, candidate, group) of all pairs that may be the nearest of a group."""
        lower = self._bounds.lower(rows, groups.every)
        # Squares are compared in units of the squared radii, the largest of them 1.
        reach = None if groups.radii is None else self._reach(groups.radii)
        factor = np.ones(lower.shape[1]) if reach is None else (reach.max() / reach) ** 2
        if reach is not None:
            lower = lower * factor
        index, least = nearest_in_groups(lower, groups.bounds)
        # What might be as near as the apparent nearest of its group.
        slack = 2.0 * (self._bounds.x_slack[rows][:, None] + self._bounds.z_slack[index])
        slack = slack * factor[index]
        limit = rounded_up(least + slack + (abs(least) + slack) * _ROUNDING, lower.dtype)
        found = []
        for g, (start, stop) in enumerate(pairwise(groups.bounds.tolist())):
            near = lower[:, start:stop] <= limit[:, g, None]
            # NumPy finds places in a flat table several times faster.
            i, j = np.divmod(np.flatnonzero(near.ravel()), max(1, near.shape[1]))
            found.append((i, j + start, np.full(len(i), g)))
        return joined_pairs(found)


def bracket(X: Any, Z: Any, *, eps: float | None = None) -> DenseBracket | SparseBracket:
    """Bracket the squared distances of the rows of X from those of Z.

    `eps` is the radius that matters: the arithmetic is made as precise as it needs.
    Without it single precision is used. Both results have

    - ``scale``: lengths are in units of ``1 / scale``, a power of two that brings the
      longest row to about one, so that nothing over- or underflows;
    - ``lower(rows, columns)``: bounds never above the scaled squared distances;
    - ``tables(rows, columns)``: the same in tiles, as (first row, first column, bounds)
      counted from the start of the slices; the next tile may reuse the memory of the last;
    - ``x_slack``, ``z_slack``: adding twice both gives bounds never below them.

    Of mapped rows it is the squares of the metric's own distances that are bracketed.
    """
    if isinstance(X, MappedRows):
        return DenseBracket(X.rows, Z.rows, eps=eps, errors=(X.errors, Z.errors))
    if issparse(X) or issparse(Z):
        return SparseBracket(X, Z)
    return DenseBracket(X, Z, eps=eps)


class DenseBracket:
    """The bracket of dense rows, centred to make it narrower.

    Rows of X are read and made ready block by block, so that X may be a file. `errors` of the
    rows of X and of Z, in squared units, are added to what the product may err by.
    """

    def __init__(
        self,
        X: NDArray[Any],
        Z: NDArray[Any],
        *,
        eps: float | None = None,
        errors: tuple[Any, Any] = (0.0, 0.0),
    ) -> None:
        self._X, self._Z = X, Z
        self._center = np.asarray(np.mean(Z, axis=0, dtype=np.float64))
        self._x_norms = _squared_norms(X, self._center)
        self._z_norms = self._x_norms if Z is X else _squared_norms(Z, self._center)
        self.scale = power_of_unit(self._x_norms, self._z_norms)
        # Single precision, unless the scaled radius is too small for it.
        width = 8.0 * _error_rate(X.shape[1], np.float32)
        fine = eps is not None and width > _WIDEST * scaled_squares(eps, self.scale)
        self._dtype: Any = np.float64 if fine else np.float32
        self.x_slack, self.z_slack = (
            error_slack(norms, X.shape[1], self.scale, self._dtype) + error * self.scale**2
            for norms, error in zip((self._x_norms, self._z_norms), errors, strict=True)
        )
        n_bytes = Z.shape[0] * (Z.shape[1] + 2) * np.dtype(self._dtype).itemsize
        self._kept = self._right(slice(0, len(Z))) if n_bytes <= _KEPT_BYTES else None

    def lower(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Lower bounds on a tile of scaled squared distances."""
        product: NDArray[Any] = self._left(rows) @ self._columns(columns).T
        return product

    def tables(self, rows: slice, columns: slice) -> Tables:
        """Yield the lower bounds in tiles that stay in the processor's cache."""
        left = self._left(rows)
        n_rows, n_columns = _tile_shape(left.shape[1])
        memory = np.empty(n_rows * n_columns, dtype=self._dtype)
        for j in range(columns.start, columns.stop, n_columns):
            right = self._columns(slice(j, min(j + n_columns, columns.stop)))
            for i in range(0, len(left), n_rows):
                some = left[i : i + n_rows]
                table = memory[: len(some) * len(right)].reshape(len(some), len(right))
                yield i, j - columns.start, np.matmul(some, right.T, out=table)

    def _columns(self, columns: slice) -> NDArray[Any]:
        """Return rows of Z, ready for the product."""
        return self._right(columns) if self._kept is None else self._kept[columns]

    def _left(self, rows: slice) -> NDArray[Any]:
        """Make rows of X ready for the product."""
        ready = _centered(self._X[rows], self._center, -2.0 * self.scale, self._dtype)
        ready[:, -2] = self._x_norms[rows] * self.scale**2 - self.x_slack[rows]
        return ready

    def _right(self, columns: slice) -> NDArray[Any]:
        """Make rows of Z ready for the product."""
        ready = _centered(self._Z[columns], self._center, self.scale, self._dtype)
        ready[:, -1] = self._z_norms[columns] * self.scale**2 - self.z_slack[columns]
        return ready


class SparseBracket:
    """The bracket of CSR rows, in double precision."""

    def __init__(self, X: Any, Z: Any) -> None:
        X, Z = csr_array(X), csr_array(Z)
        x_norms, z_norms = (row_norms(A.astype(np.float64), squared=True) for A in (X, Z))
        self.scale = power_of_unit(x_norms, z_norms)
        self.x_slack, self.z_slack = (
            error_slack(norms, X.shape[1], self.scale, np.float64) for norms in (x_norms, z_norms)
        )
        self._x_part = x_norms * self.scale**2 - self.x_slack
        self._z_part = z_norms * self.scale**2 - self.z_slack
        self._left = X.astype(np.float64) * (-2.0 * self.scale)
        self._right = (Z.astype(np.float64) * self.scale).T.tocsc()

    def lower(self, rows: slice, columns: slice) -> Floats:
        """Lower bounds on a tile of scaled squared distances."""
        product = (self._left[rows] @ self._right[:, columns]).toarray()
        product += self._x_part[rows, None]
        product += self._z_part[columns]
        return np.asarray(product)

    def tables(self, rows: slice, columns: slice) -> Tables:
        """Yield the lower bounds in tiles of moderate width."""
        for j in range(columns.start, columns.stop, _SPARSE_COLUMNS):
            some = slice(j, min(j + _SPARSE_COLUMNS, columns.stop))
            yield 0, j - columns.start, self.lower(rows, some)


def _error_rate(n_features: int, dtype: Any) -> float:
    """Bound the error of an entry by ``rate * (|x|^2 + |z|^2)``.

    With unit roundoff u, summing p + 2 products in any order errs by at most (p + 2) u
    times the sum of their absolute values, which is at most 2 (|x|^2 + |z|^2). Rounding
    the rows themselves adds at most 4 u (|x|^2 + |z|^2), rounding the norms u more. The
    rest of the 16 covers terms in u^2. The direct sum, which decides, has an error of
    the same form in double precision.
    """
    return float((2 * n_features + 16) * (np.finfo(dtype).eps + np.finfo(np.float64).eps) / 2)


def error_slack(norms: Floats, n_features: int, scale: float, dtype: Any) -> Floats:
    """Bound what rows with these squared norms add to the error of a scaled entry.

    Rows so short that their squares leave the range of normal numbers lose up to half of
    the smallest number with every square, in the norms and in the direct sum.
    """
    underflow = float(_TINY + (n_features + 8) * 2.0**-1073 * scale**2)
    return _error_rate(n_features, dtype) * norms * scale**2 + underflow


def _tile_shape(n_features: int) -> tuple[int, int]:
    """Rows and columns of the fastest tiles, as measured.

    With few features the product is cheap and the table must not leave the second-level
    cache; with many, larger tiles pay because BLAS then packs its operands less often.
    """
    if n_features <= 48:
        return 256, 512
    return (512, 512) if n_features <= 384 else (1024, 1024)


def power_of_unit(x_norms: Floats, z_norms: Floats) -> float:
    """Return the power of two that brings the longest row to a length of at most one."""
    longest = np.sqrt(max(x_norms.max(initial=0.0), z_norms.max(initial=0.0)))
    if not np.isfinite(longest):
        refuse_overflow()
    if longest == 0.0:
        return 1.0
    return float(min(2.0 ** -np.ceil(np.log2(longest)), _LARGEST_SCALE))


def scaled_squares(reach: Any, scale: float) -> Any:
    """Return the squares of scaled radii, none of them larger than any distance needs."""
    # Scaled rows have lengths up to one.
    return (np.minimum(reach, _FARTHEST / scale) * scale) ** 2


def refuse_overflow() -> NoReturn:
    """Refuse points whose distances are beyond what numbers can be."""
    raise ValueError(
        "X holds values so large that squared distances overflow; rescale the features"
    )


def _squared_norms(X: NDArray[Any], center: Floats) -> Floats:
    """Squared norms of the centred rows, in double precision."""
    norms = np.empty(len(X))
    for block in _blocks(X):
        rows = X[block] - center
        np.einsum("ij,ij->i", rows, rows, out=norms[block])
    return norms


def _centered(X: NDArray[Any], center: Floats, factor: float, dtype: Any) -> NDArray[Any]:
    """Centred rows times `factor`, followed by two columns of ones."""
    rows = np.ones((len(X), X.shape[1] + 2), dtype=dtype)
    for block in _blocks(X):
        rows[block, :-2] = (X[block] - center) * factor
    return rows


def _blocks(X: NDArray[Any]) -> list[slice]:
    """Cut the rows into blocks of a few megabytes in double precision."""
    step = max(1, _BLOCK_NUMBERS // max(1, X.shape[1]))
    return [slice(start, start + step) for start in range(0, len(X), step)]
