"""The mismatch kernel of sequences, tile by tile, from the counts of their gapped k-mers.

A gapped k-mer keeps some of the k positions of a window and forgets the others. Two
windows that agree in exactly a positions share C(a, t) gapped k-mers with t positions
kept, so any function of a is a sum over t of products of such counts.

The function here is how many words lie within m mismatches of both of two k-mers. Write x
for a mismatch of the word with the first k-mer and y for one with the second. At a position
where both have a letter of the alphabet, the word's letter may be the first's, the second's
or one of n - 2 others: ``x + y + (n - 2) x y``, and ``(1 - x)(1 - y)`` more where the two
letters agree. A letter outside the alphabet, an unknown one, mismatches every word. Of the
product over all positions the terms with at most m of x and of y count. Multiplied out, it
is a sum over the sets of positions that are kept, in each of which both must agree.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, coo_array, csr_array, eye_array, hstack, kron

from .._balls.build import cut_tiles
from .._balls.pairs import Tile
from .._typing import Floats, Indices
from ._kernel import kernel_to_distance
from ._sequences import encode

_MOST_WORDS = 2**62
_BLOCK = 1024
# A feature that this fraction of the samples have is cheaper in a dense product.
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
    together = _sequence_fraction(left.counts) * _sequence_fraction(right.counts)
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


def _sequence_fraction(counts: csr_array) -> Floats:
    """Return for each feature the fraction of the sequences that have it."""
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


@dataclass(frozen=True)
class GappedCounts:
    """How often each gapped k-mer occurs in each sequence, and what goes with what.

    Those of k-mers with letters outside the alphabet, unknown ones, are features of their own,
    by the positions that are unknown. `weights` are what a pair of occurrences of two features
    adds to the kernel; without unknown letters each feature goes with itself alone.
    """

    counts: csr_array  # (n_sequences, n_features)
    weights: csr_array  # (n_features, n_features)

    def take(self, rows: slice) -> GappedCounts:
        """Return the counts of some of the sequences."""
        return GappedCounts(self.counts[rows], self.weights)

    def diagonal(self) -> Floats:
        """Return the kernel of each sequence with itself."""
        return np.asarray((self.counts @ self.weights).multiply(self.counts).sum(axis=1))

    @property
    def is_plain(self) -> bool:
        """Whether each feature goes with itself alone."""
        places = self.weights.tocoo()
        return bool((places.row == places.col).all())


def count_gapped(
    letters: NDArray[np.int64], lengths: NDArray[np.int64], *, k: int, m: int, n_letters: int
) -> GappedCounts:
    """Count every gapped k-mer that matters with up to m mismatches; unknown letters are below 0.

    Words within m of two k-mers exist only where at most 2 m places differ, so at least
    k - 2 m positions are kept.
    """
    ends = np.cumsum(lengths)
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    windows = np.flatnonzero(np.arange(len(letters)) + k <= ends[sequence])
    windows, pattern, patterns = _patterns(letters, windows, k=k, m=m)
    tables, weights = [], []
    for t in range(max(0, k - 2 * m), k + 1):
        for kept in combinations(range(k), t):
            mask = sum(1 << position for position in kept)
            sharing = _sharing_weights(mask, patterns, k=k, m=m, n_letters=n_letters)
            if not sharing.any():
                continue
            known = np.flatnonzero(np.array([not mask & bits for bits in patterns])[pattern])
            words, n_words = _number_words(letters, windows[known], kept, n_letters)
            rows, columns = sequence[windows[known]], pattern[known] * n_words + words
            shape = (len(lengths), len(patterns) * n_words)
            table = coo_array((np.ones(len(rows)), (rows, columns)), shape=shape)
            tables.append(table.tocsr())
            weights.append(kron(sharing, eye_array(n_words), format="csr"))
    if not tables:
        return GappedCounts(csr_array((len(lengths), 0)), csr_array((0, 0)))
    return GappedCounts(
        csr_array(hstack(tables, format="csr")), csr_array(block_diag(weights, format="csr"))
    )


def _patterns(
    letters: NDArray[np.int64], windows: Indices, *, k: int, m: int
) -> tuple[Indices, Indices, list[int]]:
    """Return the windows with at most m unknown letters, each one's pattern, and all patterns.

    No word is within m of a k-mer with more. A pattern has a bit for each unknown position.
    """
    if not (letters < 0).any():
        return windows, np.zeros(len(windows), dtype=np.intp), [0]
    unknown = np.stack([letters[windows + position] < 0 for position in range(k)], axis=1)
    few = unknown.sum(axis=1) <= m
    rows, pattern = np.unique(unknown[few], axis=0, return_inverse=True)
    bits = [sum(1 << int(position) for position in np.flatnonzero(row)) for row in rows]
    return windows[few], pattern.reshape(-1), bits


def _number_words(
    letters: NDArray[np.int64], windows: Indices, kept: tuple[int, ...], n_letters: int
) -> tuple[NDArray[np.int64], int]:
    """Give equal numbers to windows with equal letters at the `kept` positions."""
    words = np.zeros(len(windows), dtype=np.int64)
    n_words = 1
    for position in kept:
        # Before numbers get too large, those that do not occur are left out.
        if n_words * n_letters > _MOST_WORDS:
            words, n_words = _renumber(words)
        words = words * n_letters + letters[windows + position]
        n_words *= n_letters
    return (words, n_words) if n_words <= len(words) else _renumber(words)


def _renumber(words: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Give consecutive numbers to the distinct words."""
    distinct, numbers = np.unique(words, return_inverse=True)
    return numbers.reshape(-1), len(distinct)


def _sharing_weights(
    kept: int, unknown: Sequence[int], *, k: int, m: int, n_letters: int
) -> Floats:
    """Return what a pair of occurrences of a gapped k-mer adds to the kernel.

    `kept` has a bit for each position that is kept, each of `unknown` one for each position of
    an unknown letter; the result is by the patterns of the first and of the second k-mer.
    """
    weights = np.zeros((len(unknown), len(unknown)))
    for i, first in enumerate(unknown):
        for j, second in enumerate(unknown):
            if not kept & (first | second):
                counts = (kept, ~(kept | first | second), first & ~second, second & ~first)
                places = tuple((bits % 2**k).bit_count() for bits in (*counts, first & second))
                weights[i, j] = _weight(places, m, n_letters)
    return weights


@lru_cache(maxsize=4096)
def _weight(places: tuple[int, ...], m: int, n: int) -> int:
    """Multiply out: kept, both letters known, first unknown, second unknown, both unknown."""
    factors = (
        {(0, 0): 1, (1, 0): -1, (0, 1): -1, (1, 1): 1},
        {(1, 0): 1, (0, 1): 1, (1, 1): n - 2},
        {(1, 0): 1, (1, 1): n - 1},
        {(0, 1): 1, (1, 1): n - 1},
        {(1, 1): n},
    )
    product = {(0, 0): 1}
    for factor, times in zip(factors, places, strict=True):
        for _ in range(times):
            product = _multiply(product, factor, m)
    return sum(product.values())


def _multiply(
    left: dict[tuple[int, int], int], right: dict[tuple[int, int], int], m: int
) -> dict[tuple[int, int], int]:
    """Multiply two polynomials in x and y, without powers above m."""
    product: dict[tuple[int, int], int] = {}
    for (a, b), one in left.items():
        for (c, d), other in right.items():
            if a + c <= m and b + d <= m:
                product[a + c, b + d] = product.get((a + c, b + d), 0) + one * other
    return product
