"""The sparse points x candidates table of who lies in whose ball, built tile by tile.

A tile is a block of points against a block of candidates. Its dissimilarities are
computed, compared with eps and reduced to the few pairs that are members; nothing of
the size points x candidates is ever held.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from .exceptions import DissimilarityError
from .resources import progress_bar, row_count, thread_count

__all__ = ["Dissimilarity", "MemberTest", "RadiusSearch", "build_balls", "check_dissimilarities"]

TILE_ROWS = 1024
TILE_COLUMNS = 1024

MemberTest = Callable[[slice, slice], tuple[NDArray[np.intp], NDArray[np.intp]]]


class Dissimilarity(Protocol):
    """What the balls need to know of a fitted dissimilarity."""

    def cross(self, A: Any, B: Any) -> NDArray[np.float64]:
        """Return the dissimilarities of the rows of A from the rows of B."""
        ...


@runtime_checkable
class RadiusSearch(Dissimilarity, Protocol):
    """A dissimilarity with a faster way to tell members than computing all of `cross`."""

    def member_test(self, X: Any, Z: Any, *, eps: float, closed: bool) -> MemberTest:
        """Return a function of (rows, columns) that gives the member pairs of that tile."""
        ...


def build_balls(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    eps: float,
    closed: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> csr_array:
    """Tell which points lie within `eps` of which candidates.

    Parameters
    ----------
    dissimilarity : Dissimilarity
        Fitted. Where `X` is `Z` and its attribute ``symmetric`` is true, each pair is
        computed once.
    X, Z : indexable of length n_points and n_candidates
        Points and candidates.
    eps : float
        Radius of the balls.
    closed : bool, default=False
        Whether a point at distance eps exactly belongs to the ball.
    n_jobs : int or None, default=None
        Threads; None for as many as the linear algebra library would use.
    verbose : int, default=0
        Above 0, a progress bar over the tiles.

    Returns
    -------
    csr_array of bool, shape (n_points, n_candidates)
        With sorted indices. It does not depend on `n_jobs`.
    """
    n_points, n_candidates = row_count(X), row_count(Z)
    symmetric = Z is X and getattr(dissimilarity, "symmetric", False)
    test = _member_test(dissimilarity, X, Z, eps=eps, closed=closed)
    tiles = _tiles(n_points, n_candidates, symmetric=symmetric)

    def members(tile: tuple[slice, slice]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return _place(*tile, *test(*tile), symmetric=symmetric)

    n_threads = thread_count(n_jobs) if getattr(dissimilarity, "thread_safe", True) else 1
    with (
        threadpool_limits(1 if n_threads > 1 else None, user_api="blas"),
        ThreadPoolExecutor(n_threads) as pool,
        progress_bar(pool.map(members, tiles), len(tiles), "balls", verbose) as done,
    ):
        found = list(done)
    return _assemble(found, (n_points, n_candidates))


def check_dissimilarities(D: Any, shape: tuple[int, int], source: str) -> NDArray[np.float64]:
    """Return `D` as floats after checking that it is a table of non-negative numbers."""
    try:
        table = np.asarray(D, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DissimilarityError(f"{source} must give numbers: {error}") from error
    if table.shape != shape:
        raise DissimilarityError(
            f"{source} must give a table of shape {shape}, got shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise DissimilarityError(
            f"{source} gave NaN or infinity; every dissimilarity must be a finite number (drop or "
            "impute missing values first)"
        )
    lowest = table.min(initial=0.0)
    if lowest < -1e-9 * table.max(initial=0.0):
        raise DissimilarityError(
            f"Negative values in data: {source} must not be negative, got {lowest:g}"
        )
    return table


def _member_test(
    dissimilarity: Dissimilarity, X: Any, Z: Any, *, eps: float, closed: bool
) -> MemberTest:
    """Return the tile test of `dissimilarity`: its own fast one, or cross and compare."""
    if isinstance(dissimilarity, RadiusSearch):
        return dissimilarity.member_test(X, Z, eps=eps, closed=closed)

    def test(rows: slice, columns: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        table = dissimilarity.cross(_safe_indexing(X, rows), _safe_indexing(Z, columns))
        i, j = np.nonzero(table <= eps if closed else table < eps)
        return i, j

    return test


def _tiles(n_points: int, n_candidates: int, *, symmetric: bool) -> list[tuple[slice, slice]]:
    """Cut the table into tiles; of a symmetric one those that touch the upper half."""
    return [
        (slice(i, min(i + TILE_ROWS, n_points)), slice(j, min(j + TILE_COLUMNS, n_candidates)))
        for i in range(0, n_points, TILE_ROWS)
        for j in range(i if symmetric else 0, n_candidates, TILE_COLUMNS)
    ]


def _place(
    rows: slice, columns: slice, i: NDArray[np.intp], j: NDArray[np.intp], *, symmetric: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Give a tile's pairs their numbers within the whole table, mirrored where it is symmetric."""
    row, column = i.astype(np.int32), j.astype(np.int32)
    row += rows.start
    column += columns.start
    if symmetric and rows != columns:
        return np.concatenate((row, column)), np.concatenate((column, row))
    return row, column


def _assemble(
    found: list[tuple[NDArray[np.int32], NDArray[np.int32]]], shape: tuple[int, int]
) -> csr_array:
    """Join the pairs of all tiles, using `found` up, into a table with sorted indices."""
    rows = np.concatenate([row for row, _ in found] or [np.empty(0, np.int32)])
    columns = np.concatenate([column for _, column in found] or [np.empty(0, np.int32)])
    found.clear()
    pairs = coo_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
    # By column and then by row: the second pass leaves each row's columns in order.
    return pairs.tocsc().tocsr()
