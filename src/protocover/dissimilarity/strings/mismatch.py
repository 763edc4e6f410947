"""The mismatch kernel of two lists of sequences, and its distance, tile by tile."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...balls import Tile
from ..kernel import kernel_to_distance
from .kmers import GappedCounts, count_gapped, product_tiles
from .sequences import encode

__all__ = ["distance_tiles", "kernel_matrix"]

Floats = NDArray[np.float64]

_BLOCK = 1024


def distance_tiles(
    left: list[Any],
    right: list[Any],
    words: tuple[int, int],
    alphabet: Sequence[Hashable],
    *,
    normalize: bool,
) -> Tile:
    """Return the distances as a function of (rows, columns)."""
    counts = _count_both(left, right, words, alphabet)
    kernel, row_diagonal, column_diagonal = _kernel_tiles(*counts, normalize=normalize)

    def tile(rows: slice, columns: slice) -> Floats:
        return kernel_to_distance(
            kernel(rows, columns),
            row_diagonal=row_diagonal[rows],
            column_diagonal=column_diagonal[columns],
        )

    return tile


def kernel_matrix(
    left: list[Any],
    right: list[Any],
    words: tuple[int, int],
    alphabet: Sequence[Hashable],
    *,
    normalize: bool,
) -> Floats:
    """Fill the kernel matrix block by block, each pair once where both sides are the same."""
    tile, _, _ = _kernel_tiles(*_count_both(left, right, words, alphabet), normalize=normalize)
    kernel = np.empty((len(left), len(right)))
    for i in range(0, len(left), _BLOCK):
        rows = slice(i, i + _BLOCK)
        for j in range(i if right is left else 0, len(right), _BLOCK):
            columns = slice(j, j + _BLOCK)
            kernel[rows, columns] = tile(rows, columns)
            if right is left:
                kernel[columns, rows] = kernel[rows, columns].T
    return kernel


def _count_both(
    left: list[Any],
    right: list[Any],
    words: tuple[int, int],
    alphabet: Sequence[Hashable],
) -> tuple[GappedCounts, GappedCounts]:
    """Count the gapped k-mers of both sides over the same features."""
    k, m = words
    sequences = left if right is left else [*left, *right]
    codes, lengths = encode(sequences, alphabet, k=k)
    counts = count_gapped(codes, lengths, k=k, m=m, n_letters=len(alphabet))
    if right is left:
        return counts, counts
    return counts.take(slice(0, len(left))), counts.take(slice(len(left), None))


def _kernel_tiles(
    rows: GappedCounts, columns: GappedCounts, *, normalize: bool
) -> tuple[Tile, Floats, Floats]:
    """Return the kernel as a function of (rows, columns), and both its diagonals."""
    product = product_tiles(rows, columns)
    row_diagonal, column_diagonal = rows.diagonal(), columns.diagonal()
    if not normalize:
        return product, row_diagonal, column_diagonal
    for diagonal in (row_diagonal, column_diagonal):
        _refuse_empty(diagonal)

    def normalized(rows: slice, columns: slice) -> Floats:
        table = product(rows, columns)
        table /= np.sqrt(row_diagonal[rows, None] * column_diagonal[columns])
        return table

    return normalized, np.ones_like(row_diagonal), np.ones_like(column_diagonal)


def _refuse_empty(diagonal: Floats) -> None:
    """Refuse to normalise a sequence that no word describes."""
    empty = np.flatnonzero(diagonal == 0.0)
    if len(empty):
        raise ValueError(
            f"the sequence at row {empty[0]} has more than m letters in each of its k-mers that "
            "do not occur in the training sequences, so that it has nothing to compare; pass "
            "alphabet= with every letter that may occur"
        )
