"""The sparse samples x candidates matrix of neighbourhoods, built tile by tile.

A tile is a block of samples against a block of candidates, of which only the few pairs within
the radius are kept: nothing of the size samples x candidates is ever held. Each block of rows is
packed as soon as its last tile is done, so that a pair takes nine bytes for a moment only and
five from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from .._resources import limited_threads, progress_bar, row_count, worker_map
from .._typing import Floats, Indices
from .pairs import bind, near_members
from .traits import Dissimilarity, traits_of


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
    """Find the samples within `eps` of each candidate.

    Parameters
    ----------
    dissimilarity : Dissimilarity
        Fitted. Where `X` is `Z` and its attribute ``symmetric`` is true, each pair is
        computed once.
    X, Z : indexable of length n_samples and n_candidates
        Samples and candidates.
    eps : float
        Radius of the neighbourhoods.
    closed : bool, default=False
        Whether a sample at distance eps exactly belongs to the neighbourhood.
    n_jobs : int or None, default=None
        Threads; None for as many as the linear algebra library would use.
    verbose : int, default=0
        Above 0, a progress bar over the tiles.

    Returns
    -------
    csr_array of bool, shape (n_samples, n_candidates)
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
    """Find for each pair within the largest radius the first radius that it is within.

    Parameters
    ----------
    radii : ndarray of float, rising
        The radii.
    dissimilarity, X, Z, closed, n_jobs, verbose
        As for :func:`build_balls`.

    Returns
    -------
    csr_array of unsigned int, shape (n_samples, n_candidates)
        Level plus one, so that the neighbourhoods of ``radii[k]`` are the entries up to ``k + 1``.
        With sorted indices.
    """
    dtype = np.uint8 if len(radii) < 255 else np.uint16
    return _search(dissimilarity, X, Z, radii, closed, n_jobs, verbose, dtype=dtype)


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
    """Search all tiles, several at once, and join what they found."""
    traits = traits_of(dissimilarity)
    symmetric = Z is X and traits.symmetric
    with limited_threads(n_jobs):
        pairs = bind(dissimilarity, X, Z, radii=radii)
    shape = row_count(X), row_count(Z)
    tiles = cut_tiles(*shape, pairs.tile, symmetric=symmetric)
    row_order, column_order = pairs.order or (None, None)

    def members(tile: tuple[slice, slice]) -> Found:
        i, j, level, _ = near_members(pairs, *tile, radii, closed=closed)
        found = _place(*tile, i, j, level, dtype=dtype, symmetric=symmetric)
        return found if column_order is None else found.with_columns(column_order)

    with (
        worker_map(n_jobs, thread_safe=traits.thread_safe) as run,
        progress_bar(run(members, tiles), len(tiles), "balls", verbose) as found,
    ):
        return assemble(found, shape, dtype=dtype, symmetric=symmetric, row_order=row_order)


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
    """Return the pairs of a tile; of a symmetric matrix those of the upper triangle."""
    row, column = i.astype(np.int32), j.astype(np.int32)
    column += columns.start
    value = np.ones(len(i), dtype=bool) if dtype is bool else (level + 1).astype(dtype)
    if symmetric and columns.start < rows.stop:
        upper = column >= row + np.int32(rows.start)
        row, column, value = row[upper], column[upper], value[upper]
    return Found(rows, row, column, value)


@dataclass(frozen=True, eq=False)
class Found:
    """The members of one tile.

    Parameters
    ----------
    block : slice
        Rows of the tile.
    row : ndarray of int, shape (n_found,)
        Row of each pair, counted from the start of the block.
    column : ndarray of int, shape (n_found,)
        Column of each pair in the whole table.
    value : ndarray, shape (n_found,)
        Its entry.
    """

    block: slice
    row: NDArray[np.int32]
    column: NDArray[np.int32]
    value: NDArray[Any]

    def with_columns(self, numbers: Indices) -> Found:
        """Return the same members with other numbers for the columns."""
        return replace(self, column=numbers[self.column].astype(np.int32))


def assemble(
    tiles: Iterable[Found],
    shape: tuple[int, int],
    *,
    dtype: Any,
    symmetric: bool,
    row_order: Indices | None = None,
) -> csr_array:
    """Join tiles that come row by row into a table with sorted indices.

    Of a `symmetric` table the tiles hold each pair once, and the diagonal. `row_order` has
    the number of each row where they do not come in the order of the table.
    """
    half = _join(list(_packed(tiles, shape[1])), shape, dtype)
    if row_order is not None:
        half = half[_inverse(row_order)]
    # The diagonal is in both triangles and stays as it is.
    return half.maximum(half.T.tocsr()) if symmetric else half


def _packed(tiles: Iterable[Found], n_columns: int) -> Iterator[csr_array]:
    """Pack the tiles of each block of rows."""
    for (start, stop), found in groupby(tiles, key=_rows):
        some = list(found)
        row = np.concatenate([tile.row for tile in some])
        column = np.concatenate([tile.column for tile in some])
        value = np.concatenate([tile.value for tile in some])
        del some
        # Sorts by row, and by column where the tiles did not come in order.
        yield coo_array((value, (row, column)), shape=(stop - start, n_columns)).tocsr()


def _inverse(order: Indices) -> Indices:
    """Return the place of each number in an order of them."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def _rows(tile: Found) -> tuple[int, int]:
    """First row of a tile, and the first after it."""
    return tile.block.start, tile.block.stop


def _join(blocks: list[csr_array], shape: tuple[int, int], dtype: Any) -> csr_array:
    """Put blocks of rows under one another, using `blocks` up."""
    counts = [np.diff(block.indptr) for block in blocks]
    ends = np.cumsum(np.concatenate([[0], *counts]), dtype=np.int64)
    values = np.concatenate([block.data for block in blocks] or [np.empty(0, dtype)])
    indices = np.concatenate([block.indices for block in blocks] or [np.empty(0, np.int32)])
    blocks.clear()
    fits = ends[-1] <= np.iinfo(np.int32).max
    indptr = ends.astype(np.int32) if fits else ends
    return csr_array((values.astype(dtype, copy=False), indices, indptr), shape=shape)
