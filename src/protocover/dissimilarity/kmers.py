"""Counts of gapped k-mers, and the mismatch kernel as products of them.

A gapped k-mer keeps some of the k positions of a window and forgets the others. Two
windows that agree in exactly a positions share C(a, t) gapped k-mers with t positions
kept, so any function of a is a sum over t of products of such counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, hstack

__all__ = ["GappedCounts", "count_gapped", "product_tiles", "sharing_weights"]

Floats = NDArray[np.float64]

# A feature that this share of the examples have is cheaper in a dense product.
_DENSE_SHARE = 0.12
_MOST_WORDS = 2**62


@dataclass(frozen=True)
class GappedCounts:
    """How often each gapped k-mer occurs in each sequence.

    Attributes
    ----------
    counts : csr_array of float, shape (n_sequences, n_features)
    weights : ndarray of float, shape (n_features,)
        What a pair of occurrences of the feature adds to the kernel.
    """

    counts: csr_array
    weights: Floats

    def take(self, rows: slice) -> GappedCounts:
        """Return the counts of some of the sequences."""
        return GappedCounts(self.counts[rows], self.weights)

    def diagonal(self) -> Floats:
        """Return the kernel of each sequence with itself."""
        squares = self.counts.copy()
        squares.data **= 2
        return np.asarray(squares @ self.weights)


def sharing_weights(k: int, m: int, n_letters: int) -> dict[int, int]:
    """Return w with: words within m of both of two k-mers = sum_t w[t] C(agreements, t).

    By binomial inversion. Words within m of both exist only where at most 2 m places
    differ, so only t >= k - 2 m appear.
    """
    weights = {}
    for t in range(k + 1):
        weight = sum(
            (-1) ** (t - a) * comb(t, a) * _words_near_both(k, m, n_letters, k - a)
            for a in range(t + 1)
        )
        if weight:
            weights[t] = weight
    return weights


def count_gapped(
    letters: NDArray[np.int64],
    lengths: NDArray[np.int64],
    *,
    k: int,
    n_letters: int,
    weights: dict[int, int],
) -> GappedCounts:
    """Count every gapped k-mer with t positions kept, for each t of `weights`."""
    ends = np.cumsum(lengths)
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    windows = np.flatnonzero(np.arange(len(letters)) + k <= ends[sequence])
    rows = sequence[windows]
    tables, shares = [], []
    for t, weight in weights.items():
        for kept in combinations(range(k), t):
            words, n_words = _number_words(letters, windows, kept, n_letters)
            ones = np.ones(len(rows))
            table = coo_array((ones, (rows, words)), shape=(len(lengths), n_words)).tocsr()
            tables.append(table)
            shares.append(np.full(n_words, float(weight)))
    return GappedCounts(csr_array(hstack(tables, format="csr")), np.concatenate(shares))


def product_tiles(left: GappedCounts, right: GappedCounts) -> Callable[[slice, slice], Floats]:
    """Return a function of (rows, columns) that gives that tile of the kernel matrix.

    Sums of products of integers are exact below 2^53, so a value does not depend on the
    tile it is computed in.
    """
    together = _sequence_share(left.counts) * _sequence_share(right.counts)
    common = np.flatnonzero(together > _DENSE_SHARE**2)
    rare = np.flatnonzero((together > 0.0) & (together <= _DENSE_SHARE**2))
    right_dense, right_sparse = right.counts[:, common].toarray(), right.counts[:, rare]
    left_dense, left_sparse = right_dense, right_sparse
    if left is not right:
        left_dense, left_sparse = left.counts[:, common].toarray(), left.counts[:, rare]
    dense_weights = left.weights[common]
    # The few weights of the sparse part are put on once, those of the dense part tile by tile.
    left_sparse = csr_array(left_sparse * left.weights[rare])

    def tile(rows: slice, columns: slice) -> Floats:
        product = (left_dense[rows] * dense_weights) @ right_dense[columns].T
        product += (left_sparse[rows] @ right_sparse[columns].T).toarray()
        return np.asarray(product)

    return tile


def _words_near_both(k: int, m: int, n_letters: int, h: int) -> int:
    """Count the words within m mismatches of both of two k-mers that differ in h places."""
    total = 0
    for i in range(min(m, k - h) + 1):
        elsewhere = comb(k - h, i) * (n_letters - 1) ** i
        for first in range(h + 1):
            for second in range(h - first + 1):
                # Of the h places: as in the first, as in the second, as in neither.
                if i + h - first <= m and i + h - second <= m:
                    neither = h - first - second
                    ways = factorial(h) // factorial(first) // factorial(second)
                    ways = ways // factorial(neither) * (n_letters - 2) ** neither
                    total += elsewhere * ways
    return total


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
