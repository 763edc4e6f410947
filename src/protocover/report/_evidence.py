"""Where values lie within the classes, and which of a prototype's features tell most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._table import ShownColumn

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# A spread below this share of the whole column's is taken for it, so that a class in
# which a feature happens to be constant does not outshine everything.
_LEAST_SPREAD = 0.1
_MOST_EVIDENCE = 10.0


def weigh_evidence(
    columns: Sequence[ShownColumn], codes: Indices, rows: Indices, classes: Indices
) -> Floats:
    """Tell how much each value of the prototypes speaks for their class, prototypes x columns.

    It is the logarithm of how much more likely the value is within the class than within
    all others, for numbers by normal distributions, for labels by their shares; 0 for
    texts and missing values. The columns have the training cases first, whose classes are
    `codes`; `rows` and `classes` are those of the prototypes.
    """
    evidence = np.zeros((len(rows), len(columns)))
    for j, column in enumerate(columns):
        if column.kind != "text":
            weigh = _label_evidence if column.kind == "label" else _number_evidence
            evidence[:, j] = weigh(column, codes, rows, classes)
    return np.clip(evidence, -_MOST_EVIDENCE, _MOST_EVIDENCE)


def class_ranges(column: ShownColumn, codes: Indices, n_classes: int) -> list[Floats]:
    """Return the quantiles of each class's numbers, none for a class without any."""
    values = column.values[: len(codes)]
    own = (values[(codes == c) & ~np.isnan(values)] for c in range(n_classes))
    return [np.quantile(part, _QUANTILES) if len(part) else np.empty(0) for part in own]


def class_shares(column: ShownColumn, codes: Indices, n_classes: int) -> Floats:
    """Return each category's share of a class's labels, shape (n_classes, n_categories)."""
    if n_classes == 0:
        return np.empty((0, len(column.categories)))
    counts = _count(column, codes, n_classes)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))


def _number_evidence(
    column: ShownColumn, codes: Indices, rows: Indices, classes: Indices
) -> Floats:
    """Return the log-likelihood ratios of numbers."""
    known = ~np.isnan(column.values[: len(codes)])
    numbers, groups = column.values[: len(codes)][known], codes[known]
    if len(numbers) == 0 or numbers.min() == numbers.max():
        return np.zeros(len(rows))
    center, spread = numbers.mean(), numbers.std()
    scaled = (numbers - center) / spread
    size = np.bincount(groups, minlength=int(classes.max()) + 1).astype(float)
    total = np.bincount(groups, scaled, minlength=len(size)).astype(float)
    square = np.bincount(groups, scaled**2, minlength=len(size)).astype(float)
    own = _normal_fit(size, total, square)
    rest = _normal_fit(size.sum() - size, total.sum() - total, square.sum() - square)
    value = (column.values[rows] - center) / spread
    ratio = _log_density(value, own, classes) - _log_density(value, rest, classes)
    comparable = (size > 0) & (size < size.sum())
    return np.where(comparable[classes] & ~np.isnan(ratio), ratio, 0.0)


def _normal_fit(size: Floats, total: Floats, square: Floats) -> tuple[Floats, Floats]:
    """Return mean and spread of each group from its size, sum and sum of squares."""
    n = np.maximum(size, 1.0)
    mean = total / n
    spread = np.sqrt(np.maximum(square / n - mean**2, 0.0))
    return mean, np.maximum(spread, _LEAST_SPREAD)


def _log_density(value: Floats, fit: tuple[Floats, Floats], classes: Indices) -> Floats:
    """Return the logarithm of a normal density, up to a constant."""
    mean, spread = fit[0][classes], fit[1][classes]
    return np.asarray(-0.5 * ((value - mean) / spread) ** 2 - np.log(spread))


def _label_evidence(
    column: ShownColumn, codes: Indices, rows: Indices, classes: Indices
) -> Floats:
    """Return the logarithms of the ratios of shares, each category counted once more."""
    counts = _count(column, codes, int(max(codes.max(), classes.max())) + 1)
    rest = counts.sum(axis=0) - counts
    own = (counts + 1.0) / (counts + 1.0).sum(axis=1, keepdims=True)
    others = (rest + 1.0) / (rest + 1.0).sum(axis=1, keepdims=True)
    # What is missing has place -1, which is a last column of zeros.
    ratio = np.pad(np.log(own / others), ((0, 0), (0, 1)))
    return np.asarray(ratio[classes, column.places[rows]])


def _count(column: ShownColumn, codes: Indices, n_classes: int) -> Floats:
    """Count the categories in each class, shape (n_classes, n_categories)."""
    counts = np.zeros((n_classes, len(column.categories) + 1))
    np.add.at(counts, (codes, column.places[: len(codes)]), 1.0)
    return counts[:, :-1]
