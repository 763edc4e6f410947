"""Which sets contain which, for many sets at once, by comparing their bits word by word."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

_PAIRS_AT_ONCE = 1 << 21
_BITS_AT_ONCE = 1 << 26

Indices = NDArray[np.intp]


def contained_pairs(
    sets: csc_array, wanted: Callable[[Indices, Indices], NDArray[np.bool_]]
) -> tuple[Indices, Indices]:
    """Find pairs of columns (small, large), small a subset of large, that `wanted` lets pass.

    A set that contains another contains its rarest element, so only the sets around that
    one are compared. Empty columns are in no pair.

    Parameters
    ----------
    sets : csc_array of bool
        Each column the set of its rows, indices sorted.
    wanted : callable (small, large) -> ndarray of bool
        Judges pairs before they are compared.
    """
    rows = sets.tocsr()
    words = _bits(sets)
    small = np.flatnonzero(np.diff(sets.indptr))
    rarest = _rarest(sets, np.diff(rows.indptr))[small]
    around = np.diff(rows.indptr)[rarest]
    found = []
    for block in _blocks(around):
        left = np.repeat(small[block], around[block])
        right = rows[rarest[block]].indices.astype(np.intp)
        keep = wanted(left, right) & (left != right)
        found.append(_compare(words, left[keep], right[keep]))
    if not found:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def _bits(sets: csc_array) -> NDArray[np.uint64]:
    """Columns as rows of bits, shape (n_words, n_columns)."""
    n_elements, n_sets = sets.shape
    n_words = -(-n_elements // 64)
    words = np.empty((n_words, n_sets), dtype=np.uint64)
    step = max(1, _BITS_AT_ONCE // max(1, 64 * n_words))
    for start in range(0, n_sets, step):
        dense = np.zeros((min(step, n_sets - start), 64 * n_words), dtype=bool)
        block = sets[:, start : start + step]
        dense[np.repeat(np.arange(dense.shape[0]), np.diff(block.indptr)), block.indices] = True
        words[:, start : start + step] = np.packbits(dense, axis=1).view(np.uint64).T
    return words


def _rarest(sets: csc_array, frequency: Indices) -> Indices:
    """For each column its element that is in the fewest columns; 0 for empty ones."""
    filled = np.flatnonzero(np.diff(sets.indptr))
    n_elements = sets.shape[0]
    key = frequency[sets.indices].astype(np.int64) * n_elements + sets.indices
    rarest = np.zeros(sets.shape[1], dtype=np.intp)
    if len(filled):
        rarest[filled] = np.minimum.reduceat(key, sets.indptr[filled]) % n_elements
    return rarest


def _blocks(sizes: Indices) -> list[slice]:
    """Slices of consecutive items of about `_PAIRS_AT_ONCE` in total size."""
    number = np.cumsum(sizes, dtype=np.int64) // _PAIRS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(edges) if a < b]


def _compare(words: NDArray[np.uint64], small: Indices, large: Indices) -> tuple[Indices, Indices]:
    """Keep the pairs of which the first is contained in the second."""
    for word in words:
        inside = (word[small] & ~word[large]) == 0
        if not inside.all():
            small, large = small[inside], large[inside]
        if len(small) == 0:
            break
    return small, large
