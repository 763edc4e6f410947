"""The rows that a search tries its settings on, which are a sample if there are many."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ...candidates.sample import draw_stratified
from ...selection.parameters import is_count
from .crossvalidation import Split
from .folds import take_points
from .trials import Labelled

__all__ = ["check_max_search_samples", "draw_search_rows", "restrict_splits", "take_rows"]

# Samples that every class keeps if it has them, so that all folds have some of each class.
_FEW = 20


def check_max_search_samples(most: Any) -> None:
    """Refuse a number of samples that is not an integer of at least 2, or None."""
    if most is not None and not (is_count(most) and most >= 2):
        raise ValueError(
            "max_search_samples must be an integer of at least 2, or None to search on all "
            f"samples, got {most!r}"
        )


def draw_search_rows(
    y: NDArray[Any], weights: NDArray[np.float64], most: int | None, random_state: Any
) -> NDArray[np.intp] | None:
    """Return the rising rows of a stratified sample, or None where all are few enough.

    Samples of weight zero count as missing. `random_state` is not changed, and None always
    draws the same rows.
    """
    rows = np.flatnonzero(weights > 0.0)
    if most is None or len(rows) <= most:
        return None
    labels, codes = np.unique(y[rows], return_inverse=True)
    if most < 2 * len(labels):
        raise ValueError(
            f"max_search_samples must allow two samples per class, at least {2 * len(labels)} for "
            f"{len(labels)} classes, got {most}; raise it, or pass None to search on all samples"
        )
    seed = 0 if random_state is None else check_random_state(deepcopy(random_state)).randint(2**31)
    return rows[draw_stratified(int(most), codes, np.random.default_rng(seed), at_least=_FEW)]


def take_rows(data: Labelled, rows: NDArray[np.intp], *, pairwise: bool) -> Labelled:
    """Return some of the labelled samples; a pairwise table is cut on both sides."""
    points = take_points(data.points, rows, beside=rows if pairwise else None)
    return replace(data, points=points, y=data.y[rows], weights=data.weights[rows])


def restrict_splits(splits: list[Split], rows: NDArray[np.intp], n_samples: int) -> list[Split]:
    """Return splits of all samples as splits of the sampled `rows`, numbered from 0."""
    place = np.full(n_samples, -1)
    place[rows] = np.arange(len(rows))
    restricted = [tuple(part[part >= 0] for part in map(place.__getitem__, s)) for s in splits]
    kept = [(train, test) for train, test in restricted if len(train) and len(test)]
    if not kept:
        raise ValueError(
            f"max_search_samples={len(rows)} leaves no split with samples to train and to test "
            "on; raise it, or pass None to search on all samples"
        )
    return kept
