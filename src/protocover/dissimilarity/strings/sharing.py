"""How many words lie within m mismatches of both of two k-mers, as weights of gapped k-mers.

Write x for a mismatch of the word with the first k-mer and y for one with the second. At a
position where both have a letter of the alphabet, the word's letter may be the first's, the
second's or one of n - 2 others: ``x + y + (n - 2) x y``, and ``(1 - x)(1 - y)`` more where
the two letters agree. A letter outside the alphabet, an unknown one, mismatches every word. Of
the product over all positions the terms with at most m of x and of y count. Multiplied out,
it is a sum over the sets of positions that are kept, in each of which both must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["sharing_weights"]


def sharing_weights(
    kept: int, unknown: Sequence[int], *, k: int, m: int, n_letters: int
) -> NDArray[np.float64]:
    """Return what a pair of occurrences of a gapped k-mer adds to the kernel.

    Parameters
    ----------
    kept : int
        The positions that are kept, a bit each.
    unknown : sequence of int
        Positions that hold unknown letters, a bit each, in different k-mers.

    Returns
    -------
    ndarray of float, shape (n_patterns, n_patterns)
        By the patterns of the first and of the second k-mer.
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
