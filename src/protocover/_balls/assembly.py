"""From the pairs found tile by tile to one table with sorted indices.

Each block of rows is packed as soon as its last tile is in, so that a pair takes nine
bytes only for a moment and five from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from .._typing import Indices


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
    # The diagonal is in both halves and stays what it is.
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
