"""The sparse points x candidates table of who lies in whose ball, built tile by tile.

A tile is a block of points against a block of candidates. Its dissimilarities are
computed, compared with eps and reduced to the few pairs that are members; nothing of
the size points x candidates is ever held.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import _safe_indexing

from .._exceptions import DissimilarityError
from .._resources import limited_threads, progress_bar, row_count, worker_map
from .._typing import Floats, Indices
from .assembly import Found, assemble
from .levels import members_of
from .traits import (
    Dissimilarity,
    LevelTest,
    PreparedDissimilarity,
    RadiusSearch,
    Tile,
    map_if_faster,
    traits_of,
)

# Where a dissimilarity does not know better.
TILE_ROWS = 1024
TILE_COLUMNS = 1024


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
    return _search(dissimilarity, X, Z, radii, closed, n_jobs, verbose, dtype=bool)


def build_levels(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    radii: Floats,
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
    return _search(dissimilarity, X, Z, radii, closed, n_jobs, verbose, dtype=dtype)


def level_test(
    dissimilarity: Dissimilarity, X: Any, Z: Any, *, radii: Floats, closed: bool
) -> LevelTest:
    """Return the tile test of `dissimilarity`: its own fast one, or compute and compare."""
    quick, left, right = map_if_faster(dissimilarity, X, Z)
    if isinstance(quick, RadiusSearch):
        return quick.level_test(left, right, radii=radii, closed=closed)
    tile = table_tile(dissimilarity, X, Z)

    def test(rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        return members_of(tile(rows, columns), radii, closed=closed)

    return test


def table_tile(dissimilarity: Dissimilarity, A: Any, B: Any) -> Tile:
    """Return a function of (rows, columns) that gives that tile of ``pairwise(A, B)``."""
    if isinstance(dissimilarity, PreparedDissimilarity):
        return dissimilarity.prepare(A, B)
    return lambda rows, columns: dissimilarity.pairwise(
        _safe_indexing(A, rows), _safe_indexing(B, columns)
    )


def check_dissimilarities(D: Any, shape: tuple[int, int], source: str) -> Floats:
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
    refuse_negative(table, source)
    return table


def refuse_negative(values: Floats, source: str) -> None:
    """Refuse dissimilarities that are below zero by more than rounding explains."""
    lowest = values.min(initial=0.0)
    if lowest < -1e-9 * values.max(initial=0.0):
        raise DissimilarityError(
            f"Negative values in data: {source} must not be negative, got {lowest:g}"
        )


def cut_tiles(
    n_points: int, n_candidates: int, shape: tuple[int, int], *, symmetric: bool
) -> list[tuple[slice, slice]]:
    """Cut the table into tiles, row by row; of a symmetric one those of the upper half."""
    n_rows, n_columns = shape
    return [
        (slice(i, min(i + n_rows, n_points)), slice(j, min(j + n_columns, n_candidates)))
        for i in range(0, n_points, n_rows)
        for j in range(i if symmetric else 0, n_candidates, n_columns)
    ]


def _search(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    radii: Floats,
    closed: bool,
    n_jobs: int | None,
    verbose: int,
    *,
    dtype: Any,
) -> csr_array:
    """Test all tiles, several at once, and join what they found."""
    traits = traits_of(dissimilarity)
    symmetric = Z is X and traits.symmetric
    with limited_threads(n_jobs):
        test = level_test(dissimilarity, X, Z, radii=radii, closed=closed)
    shape = row_count(X), row_count(Z)
    tile_shape = getattr(test, "tile", (TILE_ROWS, TILE_COLUMNS))
    tiles = cut_tiles(*shape, tile_shape, symmetric=symmetric)
    row_order, column_order = getattr(test, "order", (None, None))

    def members(tile: tuple[slice, slice]) -> Found:
        found = _place(*tile, *test(*tile), dtype=dtype, symmetric=symmetric)
        return found if column_order is None else found.with_columns(column_order)

    with (
        worker_map(n_jobs, thread_safe=traits.thread_safe) as run,
        progress_bar(run(members, tiles), len(tiles), "balls", verbose) as found,
    ):
        return assemble(found, shape, dtype=dtype, symmetric=symmetric, row_order=row_order)


def _place(
    rows: slice,
    columns: slice,
    i: Indices,
    j: Indices,
    level: Indices,
    *,
    dtype: Any,
    symmetric: bool,
) -> Found:
    """Give a tile's pairs their columns in the whole table, of a symmetric one the upper half."""
    row, column = i.astype(np.int32), j.astype(np.int32)
    column += columns.start
    value = np.ones(len(i), dtype=bool) if dtype is bool else (level + 1).astype(dtype)
    if symmetric and columns.start < rows.stop:
        upper = column >= row + np.int32(rows.start)
        row, column, value = row[upper], column[upper], value[upper]
    return Found(rows, row, column, value)
