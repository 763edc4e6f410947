"""Edited nearest neighbours, Wilson's and the repeated kind of Devijver and Kittler.

D. L. Wilson, Asymptotic properties of nearest neighbor rules using edited data, *IEEE
Transactions on Systems, Man, and Cybernetics* 2 (1972), 408-421.
P. A. Devijver and J. Kittler, On the edited nearest neighbor rule, *Proceedings of the 5th
International Conference on Pattern Recognition* (1980), 72-80.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from imblearn.under_sampling import CondensedNearestNeighbour, EditedNearestNeighbours
from numpy.typing import NDArray

from .codebook import Codebook

# Of multiedit: parts that the examples fall into, and rounds without a change that end it.
N_PARTS, QUIET = 3, 3


def edit(X: NDArray[np.float64], y: NDArray[Any]) -> Codebook:
    """Drop the examples whose three nearest others vote for another class (Wilson)."""
    sampler = EditedNearestNeighbours(n_neighbors=3, kind_sel="mode", sampling_strategy="all")
    classes, codes = np.unique(y, return_inverse=True)
    sampler.fit_resample(X, codes)
    kept = np.isin(np.arange(len(y)), sampler.sample_indices_)
    # A class of which nothing is left keeps all its examples, else it could not be told.
    kept |= np.bincount(codes[kept], minlength=len(classes))[codes] == 0
    return Codebook(X[kept], y[kept])


def undersample(X: NDArray[np.float64], y: NDArray[Any], *, seed: int) -> Codebook:
    """Condense as imbalanced-learn does, which is not Hart's way.

    The smallest class is kept whole, and each other class is gone through once and condensed
    against the smallest alone, so that training examples may still be wrong in the end.
    """
    return Codebook(*CondensedNearestNeighbour(random_state=seed).fit_resample(X, y))


def multiedit(X: NDArray[np.float64], y: NDArray[Any], *, seed: int) -> Codebook:
    """Drop what other parts of the examples get wrong, until nothing is dropped any more.

    In each round the examples fall at random into three parts, each of which is answered by
    1-NN on the next one; the wrong ones are dropped. A class may be dropped altogether: the
    method is made for many examples, and it shows where there are few.
    """
    rng = np.random.default_rng(seed)
    rows, quiet = np.arange(len(y)), 0
    while quiet < QUIET and len(rows) >= N_PARTS:
        kept = edit_once(X, y, rng.permutation(rows))
        if len(kept) == 0:
            break
        quiet = quiet + 1 if len(kept) == len(rows) else 0
        rows = kept
    return Codebook(X[rows], y[rows])


def edit_once(X: NDArray[np.float64], y: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows, in order, that are answered rightly by the next part of them."""
    parts = np.array_split(rows, N_PARTS)
    kept = []
    for k, part in enumerate(parts):
        other = parts[(k + 1) % N_PARTS]
        answers = Codebook(X[other], y[other]).predict(X[part])
        kept.append(part[answers == y[part]])
    return np.sort(np.concatenate(kept))
