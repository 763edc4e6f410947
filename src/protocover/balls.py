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

__all__ = [
    "Dissimilarity",
    "LevelTest",
    "PreparedDissimilarity",
    "RadiusSearch",
    "Tile",
    "build_balls",
    "build_levels",
    "check_dissimilarities",
    "table_tile",
]

TILE_ROWS = 1024
TILE_COLUMNS = 1024

Indices = NDArray[np.intp]
Tile = Callable[[slice, slice], NDArray[np.float64]]
Found = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16] | None]
LevelTest = Callable[[slice, slice], tuple[Indices, Indices, Indices]]


class Dissimilarity(Protocol):
    """What the balls need to know of a fitted dissimilarity."""

    def cross(self, A: Any, B: Any) -> NDArray[np.float64]:
        """Return the dissimilarities of the rows of A from the rows of B."""
        ...


@runtime_checkable
class PreparedDissimilarity(Dissimilarity, Protocol):
    """A dissimilarity that reads its examples once and then answers tile by tile."""

    def prepare(self, A: Any, B: Any) -> Tile:
        """Return a function of (rows, columns) that gives that tile of ``cross(A, B)``."""
        ...


@runtime_checkable
class RadiusSearch(Dissimilarity, Protocol):
    """A dissimilarity with a faster way to tell members than computing all of `cross`."""

    def level_test(self, X: Any, Z: Any, *, radii: NDArray[np.float64], closed: bool) -> LevelTest:
        """Return a function of (rows, columns) that gives a tile's members and their levels.

        A pair is a member if it is within the last of the rising `radii`; its level is
        the number of the first of them that it is within.
        """
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
    radii = np.array([eps], dtype=np.float64)
    found = _search(dissimilarity, X, Z, radii, closed, n_jobs, verbose, keep_levels=False)
    return _assemble(found, (row_count(X), row_count(Z)), bool)


def build_levels(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    radii: NDArray[np.float64],
    closed: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> csr_array:
    """Tell for each pair within the largest radius which radius is the first it is within.

    Parameters
    ----------
    radii : ndarray of float, rising
        The radii.
    dissimilarity, X, Z, closed, n_jobs, verbose
        As for :func:`build_balls`.

    Returns
    -------
    csr_array of unsigned int, shape (n_points, n_candidates)
        Level plus one, so that the balls of ``radii[k]`` are the entries up to ``k + 1``.
        With sorted indices.
    """
    dtype = np.uint8 if len(radii) < 255 else np.uint16
    found = _search(dissimilarity, X, Z, radii, closed, n_jobs, verbose, keep_levels=True)
    return _assemble(found, (row_count(X), row_count(Z)), dtype)


def table_tile(dissimilarity: Dissimilarity, A: Any, B: Any) -> Tile:
    """Return a function of (rows, columns) that gives that tile of ``cross(A, B)``."""
    if isinstance(dissimilarity, PreparedDissimilarity):
        return dissimilarity.prepare(A, B)
    return lambda rows, columns: dissimilarity.cross(
        _safe_indexing(A, rows), _safe_indexing(B, columns)
    )


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


def _search(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    radii: NDArray[np.float64],
    closed: bool,
    n_jobs: int | None,
    verbose: int,
    *,
    keep_levels: bool,
) -> list[Found]:
    """Test all tiles, several at once, and return what each found, in order."""
    symmetric = Z is X and getattr(dissimilarity, "symmetric", False)
    test = _level_test(dissimilarity, X, Z, radii, closed)
    tiles = _tiles(row_count(X), row_count(Z), symmetric=symmetric)

    def members(tile: tuple[slice, slice]) -> Found:
        i, j, level = test(*tile)
        return _place(*tile, i, j, level if keep_levels else None, symmetric=symmetric)

    n_threads = thread_count(n_jobs) if getattr(dissimilarity, "thread_safe", True) else 1
    with (
        threadpool_limits(1 if n_threads > 1 else None, user_api="blas"),
        ThreadPoolExecutor(n_threads) as pool,
        progress_bar(pool.map(members, tiles), len(tiles), "balls", verbose) as done,
    ):
        return list(done)


def _level_test(
    dissimilarity: Dissimilarity, X: Any, Z: Any, radii: NDArray[np.float64], closed: bool
) -> LevelTest:
    """Return the tile test of `dissimilarity`: its own fast one, or compute and compare."""
    if isinstance(dissimilarity, RadiusSearch):
        return dissimilarity.level_test(X, Z, radii=radii, closed=closed)
    tile = table_tile(dissimilarity, X, Z)

    def test(rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        table = tile(rows, columns)
        i, j = np.nonzero(table <= radii[-1] if closed else table < radii[-1])
        return i, j, np.searchsorted(radii, table[i, j], side="left" if closed else "right")

    return test


def _tiles(n_points: int, n_candidates: int, *, symmetric: bool) -> list[tuple[slice, slice]]:
    """Cut the table into tiles; of a symmetric one those that touch the upper half."""
    return [
        (slice(i, min(i + TILE_ROWS, n_points)), slice(j, min(j + TILE_COLUMNS, n_candidates)))
        for i in range(0, n_points, TILE_ROWS)
        for j in range(i if symmetric else 0, n_candidates, TILE_COLUMNS)
    ]


def _place(
    rows: slice,
    columns: slice,
    i: Indices,
    j: Indices,
    level: Indices | None,
    *,
    symmetric: bool,
) -> Found:
    """Give a tile's pairs their numbers within the whole table, mirrored if symmetric."""
    row, column = i.astype(np.int32), j.astype(np.int32)
    row += rows.start
    column += columns.start
    value = None if level is None else (level + 1).astype(np.uint16)
    if symmetric and rows != columns:
        row, column = np.concatenate((row, column)), np.concatenate((column, row))
        value = None if value is None else np.concatenate((value, value))
    return row, column, value


def _assemble(found: list[Found], shape: tuple[int, int], dtype: Any) -> csr_array:
    """Join the pairs of all tiles, using `found` up, into a table with sorted indices."""
    rows = np.concatenate([row for row, _, _ in found] or [np.empty(0, np.int32)])
    columns = np.concatenate([column for _, column, _ in found] or [np.empty(0, np.int32)])
    levels = [value for _, _, value in found if value is not None]
    values = np.concatenate(levels).astype(dtype) if levels else np.ones(len(rows), dtype=dtype)
    found.clear()
    pairs = coo_array((values, (rows, columns)), shape=shape)
    # By column and then by row: the second pass leaves each row's columns in order.
    return pairs.tocsc().tocsr()
