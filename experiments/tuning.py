"""The size of a codebook by cross-validation with the one-standard-error rule."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from protocover._estimators.search_results import choose

from .baselines.codebook import Codebook

FitMany = Callable[..., list[Codebook]]


def tune(
    fit_many: FitMany,
    X: NDArray[np.float64],
    y: NDArray[Any],
    sizes: Sequence[int],
    *,
    seed: int,
    n_folds: int = 10,
) -> tuple[Codebook, int]:
    """Return the codebook of the chosen size, trained on all, and that size.

    The same rule, and the same code, that PVMClassifierCV chooses its radius by.
    """
    scores, lengths = [], []
    for train, test in make_folds(X, y, seed=seed, n_folds=n_folds):
        books = fit_many(X[train], y[train], sizes, seed=seed)
        scores.append([1.0 - book.error(X[test], y[test]) for book in books])
        lengths.append([len(book) for book in books])
    best = choose(np.array(scores).T, np.mean(lengths, axis=0), rule="1se")
    return fit_many(X, y, [sizes[best]], seed=seed)[0], int(sizes[best])


def make_folds(
    X: Any, y: NDArray[Any], *, seed: int, n_folds: int = 10
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return stratified folds, the same for every method."""
    with small_classes_allowed():
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y))


def spread_sizes(first: int, last: int, n: int) -> list[int]:
    """Return about `n` whole numbers from `first` to `last` at equal ratios."""
    return np.unique(np.geomspace(first, last, n).round().astype(int)).tolist()


@contextmanager
def small_classes_allowed() -> Iterator[None]:
    """Silence the warning that a class has fewer examples than there are folds."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        yield
