"""Slow and obvious versions of everything fast, for the tests to compare with."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.spatial.distance import cdist


def members(D, eps, closed=False):
    """Ball memberships by comparing every dissimilarity with eps."""
    return eps >= D if closed else eps > D


def objective(problem, selected):
    """A selection's objective, point by point, as the paper writes it."""
    cover = problem.cover.toarray()
    value = 0.0
    for i in range(problem.n_points):
        if not any(cover[i, j] for j in selected):
            value += problem.prize[i]
    for j in selected:
        value += problem.wrong[j]
    return value + problem.prototype_cost * len(selected)


def optimum(problem):
    """The least objective over all subsets of the candidates."""
    candidates = range(problem.n_candidates)
    return min(
        objective(problem, subset)
        for size in range(problem.n_candidates + 1)
        for subset in itertools.combinations(candidates, size)
    )


def pvm_objective(inside, y, weights, prototypes, prototype_cost):
    """The integer program's objective (paper, equation 3) for (candidate, class) pairs."""
    value = prototype_cost * len(prototypes)
    for i in range(len(y)):
        own = [j for j, label in prototypes if label == y[i] and inside[i, j]]
        other = [j for j, label in prototypes if label != y[i] and inside[i, j]]
        value += weights[i] * ((not own) + len(other))
    return value


def pvm_greedy(inside, y, weights, prototype_cost, n_classes):
    """The paper's greedy on all classes at once, every gain recomputed at every step.

    Ties go to the class first in order, then to the lower candidate.
    """
    chosen, gains = [], []
    covered = np.zeros(len(y), dtype=bool)
    while True:
        best, best_gain = None, prototype_cost
        for label in range(n_classes):
            own = y == label
            for j in range(inside.shape[1]):
                new = weights[inside[:, j] & own & ~covered].sum()
                wrong = weights[inside[:, j] & ~own].sum()
                if new - wrong > best_gain:
                    best, best_gain = (j, label), new - wrong
        if best is None:
            return chosen, gains
        chosen.append(best)
        gains.append(best_gain)
        covered |= inside[:, best[0]] & (y == best[1])


def ratio_greedy(problem):
    """Least cost per newly covered prize at every step, every ratio recomputed."""
    cover = problem.cover.toarray()
    uncovered = np.ones(problem.n_points, dtype=bool)
    chosen = []
    while True:
        best, best_ratio = None, math.inf
        for j in range(problem.n_candidates):
            new = problem.prize[cover[:, j] & uncovered].sum()
            if (
                new - problem.wrong[j] > problem.prototype_cost
                and problem.cost[j] / new < best_ratio
            ):
                best, best_ratio = j, problem.cost[j] / new
        if best is None:
            return chosen
        chosen.append(best)
        uncovered &= ~cover[:, best]


def nearest_class(X, prototypes, labels):
    """Class of the nearest prototype, ties to the class first in order (paper, equation 1)."""
    D = cdist(X, prototypes)
    classes = np.unique(labels)
    per_class = np.array([D[:, labels == label].min(axis=1) for label in classes])
    return classes[per_class.argmin(axis=0)]


def mismatch_features(sequence, k, m, alphabet):
    """For every word of k letters, how many k-mers are within m mismatches of it."""
    kmers = [sequence[i : i + k] for i in range(len(sequence) - k + 1)]
    return np.array(
        [
            sum(sum(a != b for a, b in zip(kmer, word, strict=True)) <= m for kmer in kmers)
            for word in itertools.product(alphabet, repeat=k)
        ]
    )


def mismatch_kernel(A, B, k, m, alphabet):
    """The (k, m)-mismatch kernel by explicit feature vectors."""
    left = [mismatch_features(sequence, k, m, alphabet) for sequence in A]
    right = [mismatch_features(sequence, k, m, alphabet) for sequence in B]
    return np.array([[x @ z for z in right] for x in left])
