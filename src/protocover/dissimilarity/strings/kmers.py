"""Counts of gapped k-mers, and the mismatch kernel as products of them.

A gapped k-mer keeps some of the k positions of a window and forgets the others. Two
windows that agree in exactly a positions share C(a, t) gapped k-mers with t positions
kept, so any function of a is a sum over t of products of such counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, coo_array, csr_array, eye_array, hstack, kron

from .sharing import sharing_weights

__all__ = ["GappedCounts", "count_gapped", "product_tiles"]

Floats = NDArray[np.float64]

# A feature that this share of the points have is cheaper in a dense product.
_DENSE_SHARE = 0.12
_MOST_WORDS = 2**62


@dataclass(frozen=True)
class GappedCounts:
    """How often each gapped k-mer occurs in each sequence.

    Those of k-mers with letters outside the alphabet, unknown ones, are features of their own,
    by the positions that are unknown.

    Attributes
    ----------
    counts : csr_array of float, shape (n_sequences, n_features)
    weights : csr_array of float, shape (n_features, n_features)
        What a pair of occurrences of two features adds to the kernel. Without unknown letters each
        feature goes with itself alone.
    """

    counts: csr_array
    weights: csr_array

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
            sharing = sharing_weights(mask, patterns, k=k, m=m, n_letters=n_letters)
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


def product_tiles(left: GappedCounts, right: GappedCounts) -> Callable[[slice, slice], Floats]:
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


def _mixed_tiles(left: GappedCounts, right: GappedCounts) -> Callable[[slice, slice], Floats]:
    """Return the tiles where features go with others, which unknown letters make them do."""
    weighted, columns_of = csr_array(left.counts @ left.weights), right.counts

    def tile(rows: slice, columns: slice) -> Floats:
        return np.asarray((weighted[rows] @ columns_of[columns].T).toarray())

    return tile


def _patterns(
    letters: NDArray[np.int64], windows: NDArray[np.intp], *, k: int, m: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], list[int]]:
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
    letters: NDArray[np.int64], windows: NDArray[np.intp], kept: tuple[int, ...], n_letters: int
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
    """Give the distinct words numbers without gaps."""
    distinct, numbers = np.unique(words, return_inverse=True)
    return numbers.reshape(-1), len(distinct)


def _sequence_share(counts: csr_array) -> Floats:
    """Return for each feature the share of the sequences that have it."""
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(having / max(1, counts.shape[0]))
