"""The best selection known of every size, for each problem and for all of them together.

Selections come as orders, of which every prefix is one. At equal size the cost of the
prototypes is the same, so that the weights alone are compared; these are sums on a grid,
and exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, first_cover

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Frontier:
    """The best selections of a problem by their size, up to a budget.

    Parameters
    ----------
    weight : ndarray of float, shape (n_sizes,)
        Uncovered and wrongly covered weight of the best selection of each size; inf where
        none is known.
    order : list of ndarray of int
        The order whose prefix each of these is.
    """

    weight: Floats
    order: list[Indices]

    @classmethod
    def of(cls, problem: CoverProblem, orders: Iterable[Indices], budget: int) -> Frontier:
        """Compare the prefixes of several orders, up to `budget` choices each."""
        weight = np.full(min(budget, problem.n_candidates) + 1, np.inf)
        best: list[Indices] = [np.empty(0, dtype=np.intp)] * len(weight)
        for order in orders:
            kept = order[: len(weight) - 1]
            found = _weights_along(problem, kept)
            for size in np.flatnonzero(found < weight[: len(found)]).tolist():
                weight[size], best[size] = found[size], kept
        return cls(weight, best)

    def selection(self, size: int) -> Indices:
        """Return the best selection of a size."""
        return self.order[size][:size]


def best_within(
    frontiers: Sequence[Frontier], budget: int, prototype_cost: Fraction
) -> list[Indices]:
    """Share the budget out among the problems so that all together cost least.

    Of equally good shares one with the fewest prototypes is returned.
    """
    total, shares = np.zeros(1), []
    for frontier in frontiers:
        total, share = _joined(total, frontier.weight, budget)
        shares.append(share)
    sizes = np.flatnonzero(np.isfinite(total)).tolist()
    size = min(sizes, key=lambda n: (Fraction(float(total[n])) + n * prototype_cost, n))
    selections = []
    for frontier, share in zip(reversed(frontiers), reversed(shares), strict=True):
        selections.append(frontier.selection(int(share[size])))
        size -= int(share[size])
    return selections[::-1]


def _joined(total: Floats, weight: Floats, budget: int) -> tuple[Floats, Indices]:
    """Return the least weights with one more problem, and how many it takes of each number."""
    n_sizes = min(budget, len(total) + len(weight) - 2) + 1
    joined, share = np.full(n_sizes, np.inf), np.zeros(n_sizes, dtype=np.intp)
    for size in np.flatnonzero(np.isfinite(weight[:n_sizes])).tolist():
        reached = total[: n_sizes - size] + weight[size]
        better = np.flatnonzero(reached < joined[size : size + len(reached)])
        joined[size + better] = reached[better]
        share[size + better] = size
    return joined, share


def _weights_along(problem: CoverProblem, order: Indices) -> Floats:
    """Return the uncovered and wrongly covered weight of each prefix of an order."""
    first = first_cover(problem, order)
    covered = first < len(order)
    won = np.bincount(first[covered], problem.prize[covered], minlength=len(order))
    change = np.concatenate(([0.0], np.cumsum(problem.wrong[order] - won)))
    return np.asarray(problem.prize.sum() + change)
