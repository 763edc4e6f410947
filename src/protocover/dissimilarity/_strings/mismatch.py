"""The mismatch kernel of two lists of sequences, and its distance, tile by tile."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..._balls import Tile
from ..._balls.build import cut_tiles
from ..._typing import Floats
from .._kernel import kernel_to_distance
from .kmers import GappedCounts, count_gapped
from .sequences import encode

_BLOCK = 1024
# A feature that this share of the points have is cheaper in a dense product.
_DENSE_SHARE = 0.12


def kernel_tiles(
    left: list[Any],
    right: list[Any],
    words: tuple[int, int],
    alphabet: Sequence[Hashable],
    *,
    normalize: bool,
) -> tuple[Tile, Floats, Floats]:
    """Return the kernel as a function of (rows, columns), and both its diagonals."""
    ours, theirs = _count_both(left, right, words, alphabet)
    product, diagonals = _product_tiles(ours, theirs), (ours.diagonal(), theirs.diagonal())
    if not normalize:
        return product, *diagonals
    for diagonal in diagonals:
        _refuse_empty(diagonal)

    def normalized(rows: slice, columns: slice) -> Floats:
        table = product(rows, columns)
        table /= np.sqrt(diagonals[0][rows, None] * diagonals[1][columns])
        return table

    return normalized, np.ones(len(left)), np.ones(len(right))


def distance_tiles(kernel: Tile, row_diagonal: Floats, column_diagonal: Floats) -> Tile:
    """Return the distances that the kernel induces as a function of (rows, columns)."""

    def tile(rows: slice, columns: slice) -> Floats:
        return kernel_to_distance(
            kernel(rows, columns),
            row_diagonal=row_diagonal[rows],
            column_diagonal=column_diagonal[columns],
        )

    return tile


def kernel_matrix(kernel: Tile, shape: tuple[int, int], *, symmetric: bool) -> Floats:
    """Fill the kernel matrix block by block, each pair of a symmetric one once."""
    matrix = np.empty(shape)
    for rows, columns in cut_tiles(*shape, (_BLOCK, _BLOCK), symmetric=symmetric):
        matrix[rows, columns] = kernel(rows, columns)
        if symmetric:
            matrix[columns, rows] = matrix[rows, columns].T
    return matrix


def _count_both(
    left: list[Any], right: list[Any], words: tuple[int, int], alphabet: Sequence[Hashable]
) -> tuple[GappedCounts, GappedCounts]:
    """Count the gapped k-mers of both sides over the same features."""
    k, m = words
    codes, lengths = encode(left if right is left else [*left, *right], alphabet, k=k)
    counts = count_gapped(codes, lengths, k=k, m=m, n_letters=len(alphabet))
    if right is left:
        return counts, counts
    return counts.take(slice(0, len(left))), counts.take(slice(len(left), None))


def _product_tiles(left: GappedCounts, right: GappedCounts) -> Tile:
    """Return a function of (rows, columns) that gives that tile of the kernel matrix.

    Sums of products of integers are exact below 2^53, so a value does not depend on the
    tile it is computed in.
    """
    if not left.is_plain:
        return _mixed_tiles(left, right)
    together = _sequence_share(left.counts) * _sequence_share(right.counts)
    common = np.flatnonzero(together > _DENSE_SHARE**2)
    rare = np.flatnonzero((together > 0.0) & (together <= _DENSE_SHARE**2))
    weights = left.weights.diagonal()
    right_dense, right_sparse = right.counts[:, common].toarray(), right.counts[:, rare]
    left_dense, left_sparse = right_dense, right_sparse
    if left is not right:
        left_dense, left_sparse = left.counts[:, common].toarray(), left.counts[:, rare]
    dense_weights = weights[common]
    # The few weights of the sparse part are put on once, those of the dense part tile by tile.
    left_sparse = csr_array(left_sparse * weights[rare])

    def tile(rows: slice, columns: slice) -> Floats:
        product = (left_dense[rows] * dense_weights) @ right_dense[columns].T
        product += (left_sparse[rows] @ right_sparse[columns].T).toarray()
        return np.asarray(product)

    return tile


def _mixed_tiles(left: GappedCounts, right: GappedCounts) -> Tile:
    """Return the tiles where features go with others, which unknown letters make them do."""
    weighted, columns_of = csr_array(left.counts @ left.weights), right.counts

    def tile(rows: slice, columns: slice) -> Floats:
        return np.asarray((weighted[rows] @ columns_of[columns].T).toarray())

    return tile


def _sequence_share(counts: csr_array) -> Floats:
    """Return for each feature the share of the sequences that have it."""
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(having / max(1, counts.shape[0]))


def _refuse_empty(diagonal: Floats) -> None:
    """Refuse to normalise a sequence that no word describes."""
    empty = np.flatnonzero(diagonal == 0.0)
    if len(empty):
        raise ValueError(
            f"the sequence at row {empty[0]} has more than m letters in each of its k-mers that "
            "do not occur in the training sequences, so that it has nothing to compare; pass "
            "alphabet= with every letter that may occur"
        )
