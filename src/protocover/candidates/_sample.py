"""A stratified sample of the training points as candidates."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_number(candidates: Any) -> bool:
    """Whether `candidates` is a number or a share of the training points to draw."""
    return isinstance(candidates, Real) and not isinstance(candidates, bool | np.bool_)


def draw_stratified(
    size: int | float, y: NDArray[np.intp], rng: np.random.Generator, *, at_least: int = 1
) -> NDArray[np.intp]:
    """Draw rows without repetition, of each class in proportion and `at_least` a few.

    Every class gets one row, and as many of the `at_least` as it has and `size` allows.

    `size` is a whole number of rows, all of them if there are fewer, or a share between 0 and
    1; `y` are class numbers. The row numbers rise.
    """
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    n = _total(size, len(y), len(labels))
    if n == len(y):
        return np.arange(n)
    shares = _shares(n, counts, np.minimum(counts, max(1, min(at_least, n // len(labels)))))
    drawn = [
        rng.choice(np.flatnonzero(codes == k), share, replace=False)
        for k, share in enumerate(shares.tolist())
    ]
    return np.sort(np.concatenate(drawn))


def _total(size: int | float, n_points: int, n_classes: int) -> int:
    """Return how many rows to draw in all."""
    if isinstance(size, Integral) and int(size) >= n_classes:
        return min(int(size), n_points)
    if not isinstance(size, Integral) and 0.0 < float(size) < 1.0:
        return max(n_classes, round(float(size) * n_points))
    raise ValueError(
        "candidates must be a whole number not below the number of classes "
        f"({n_classes}) or a share between 0 and 1, got {size!r}; 'train' takes all points"
    )


def _shares(n: int, counts: NDArray[np.intp], least: NDArray[np.intp]) -> NDArray[np.intp]:
    """Share `n` out in proportion to `counts`, by largest remainder and at least `least`."""
    rare = n * counts < least * counts.sum()
    rest = max(0, n - int(least[rare].sum()))
    quota = np.where(rare, least, rest * counts / max(1, int(counts[~rare].sum())))
    shares = np.maximum(least, np.floor(quota).astype(np.intp))
    while shares.sum() < n:
        shares[np.where(shares < counts, quota - shares, -np.inf).argmax()] += 1
    while shares.sum() > n:
        shares[np.where(shares > least, shares - quota, -np.inf).argmax()] -= 1
    return np.asarray(shares)
