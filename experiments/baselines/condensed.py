"""Hart's condensed nearest neighbours, written after his note of 1968.

The first example goes into the store. Every other in turn is answered by the nearest one of
the store, and joins it if the answer is wrong; this goes on, pass after pass, until a pass moves
none. Then 1-NN on the store gets every training example right, unless two with different labels
lie in the same place. What is kept depends on the order of the examples.

P. E. Hart, The condensed nearest neighbor rule, *IEEE Transactions on Information Theory* 14
(1968), 515-516.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codebook import Codebook

# From a row to the distances of all examples from it.
Distances = Callable[[int], NDArray[np.float64]]


def condense(X: NDArray[np.float64], y: NDArray[Any], *, seed: int) -> Codebook:
    """Return the store that is left of the examples, gone through in a random order."""
    order = np.random.default_rng(seed).permutation(len(y))
    rows = choose_store(lambda row: ((X - X[row]) ** 2).sum(axis=1), y, order)
    return Codebook(X[rows], y[rows])


def choose_store(
    distances: Distances, y: NDArray[Any], order: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the rows that the store ends with, in order of joining it.

    Parameters
    ----------
    distances : callable
        Gives the distances of all examples from one of them; any dissimilarity will do.
    y : ndarray, shape (n,)
        Labels.
    order : ndarray of int, shape (n,)
        The order in which the examples are gone through.
    """
    store = [int(order[0])]
    least, answer = distances(store[0]), np.full(len(y), y[order[0]])
    outside = np.ones(len(y), dtype=bool)
    outside[store[0]] = False
    at = moved = 0
    while True:
        # Up to the next wrong answer nothing changes, so that it can be looked for at once.
        wrong = np.flatnonzero((outside & (answer != y))[order[at:]])
        if len(wrong) == 0:
            if moved == 0:
                return np.array(store)
            at = moved = 0
            continue
        at, moved = at + int(wrong[0]) + 1, moved + 1
        row = int(order[at - 1])
        store.append(row)
        outside[row] = False
        near = distances(row)
        # Of equally near ones the first to join answers.
        nearer = near < least
        least, answer = np.where(nearer, near, least), np.where(nearer, y[row], answer)
