"""The rows that a search tries its settings on, all or a sample, and how they are split."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from ..._resources import say
from ..._selection.parameters import is_count
from ...candidates._gather import draw_stratified
from .crossvalidation import Split
from .folds import take_points
from .trials import Labeled

# Rising rows of a sample, None for all rows.
Rows: TypeAlias = NDArray[np.intp] | None

# Samples that every class keeps if it has them, so that all folds have some of each class.
_FEW = 20


def check_max_search_samples(most: Any) -> None:
    """Refuse a number of samples that is not an integer of at least 2, or None."""
    if most is not None and not (is_count(most) and most >= 2):
        raise ValueError(
            "max_search_samples must be an integer of at least 2, or None to search on all "
            f"samples, got {most!r}"
        )


def draw_search_rows(data: Labeled, most: int | None, random_state: Any, verbose: int) -> Rows:
    """Draw a stratified sample of at most `most` rows if there are more.

    Samples of weight zero count as missing. `random_state` is not changed, and None always
    draws the same rows. When `verbose`, a line reports the sample.
    """
    rows = np.flatnonzero(data.weights > 0.0)
    if most is None or len(rows) <= most:
        return None
    labels, codes = np.unique(data.y[rows], return_inverse=True)
    if most < 2 * len(labels):
        raise ValueError(
            f"max_search_samples must allow two samples per class, at least {2 * len(labels)} for "
            f"{len(labels)} classes, got {most}; raise it, or pass None to search on all samples"
        )
    seed = 0 if random_state is None else check_random_state(deepcopy(random_state)).randint(2**31)
    drawn = draw_stratified(int(most), codes, np.random.default_rng(seed), at_least=_FEW)
    say(
        f"searching on a stratified sample of {most} of {len(rows)} samples; the final model is "
        "fitted on all of them (max_search_samples=None also searches on all)",
        verbose,
    )
    return np.asarray(rows[drawn])


def take_rows(data: Labeled, rows: Rows, *, pairwise: bool) -> Labeled:
    """Return some of the labelled samples; a pairwise table is cut on both sides."""
    if rows is None:
        return data
    points = take_points(data.points, rows, beside=rows if pairwise else None)
    return replace(data, points=points, y=data.y[rows], weights=data.weights[rows])


def make_splits(
    cv: Any, data: Labeled, split_params: dict[str, Any], *, rows: Rows
) -> list[Split]:
    """Return the rows to train and to test on, for each fold.

    A sample of the rows is split as all rows are, and its rows are numbered from 0.
    """
    every = np.arange(len(data.y))
    splitter = check_cv(cv, data.y, classifier=True)
    splits = splitter.split(data.points, data.y, **split_params)
    listed = [(every[train], every[test]) for train, test in splits]
    if not listed:
        raise ValueError(f"cv must give at least one split, got none from {cv!r}")
    return listed if rows is None else _restricted(listed, rows, len(every))


def _restricted(splits: list[Split], rows: NDArray[np.intp], n_samples: int) -> list[Split]:
    """Return the sampled rows of each split, numbered from 0, without splits that lose a side."""
    place = np.full(n_samples, -1)
    place[rows] = np.arange(len(rows))
    numbered = [(place[train], place[test]) for train, test in splits]
    kept = [(train[train >= 0], test[test >= 0]) for train, test in numbered]
    kept = [(train, test) for train, test in kept if len(train) and len(test)]
    if not kept:
        raise ValueError(
            f"max_search_samples={len(rows)} leaves no split with samples to train and to test "
            "on; raise it, or pass None to search on all samples"
        )
    return kept
