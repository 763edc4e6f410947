"""Local search among selections of one size: one candidate for another, and small shakes.

A price cannot tell apart the many selections of a size that are nearly as good. So what prices
or a greedy have found is improved at its size: each choice is exchanged for the candidate that
is worth most without it, until none is worth more; then a few choices that overlap are taken
out, and their places filled anew.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Choices that one shake takes out, at least and at most.
_OUT = (2, 5)


def improve_at_size(
    problem: CoverProblem,
    selected: Indices,
    rng: np.random.Generator,
    *,
    patience: int,
    deadline: float = math.inf,
    enough: float = -math.inf,
) -> Indices:
    """Return a selection of the same size and no larger objective.

    Parameters
    ----------
    problem : CoverProblem
        Among whose candidates it is searched.
    selected : ndarray of int
        Where to begin.
    rng : numpy.random.Generator
        Decides the shakes.
    patience : int
        Shakes without success after which the search ends.
    deadline, enough : float
        When it ends besides: at this time, or at this weight left uncovered or wrongly covered.
    """
    if len(selected) in (0, problem.n_candidates):
        return selected
    current = _Places.of(problem, selected)
    current.exchange_among(np.arange(len(selected)))
    best, tries = current.copy(), 0
    while tries < patience and best.weight > enough and time.monotonic() < deadline:
        trial = current.copy()
        trial.shake(rng)
        tries += 1
        if trial.weight <= current.weight:  # equal ones too: plateaus are wide
            current = trial
        if current.weight < best.weight:
            best, tries = current.copy(), 0
    best.exchange_among(np.arange(len(selected)))
    return best.chosen


class _Places:
    """A selection of fixed size, with what every candidate would add to it.

    Parameters
    ----------
    problem : CoverProblem
        Whose candidates may be chosen.
    chosen : ndarray of int
        The selection.
    count : ndarray of int, shape (n_points,)
        How many of the balls chosen hold each point.
    worth : ndarray of float, shape (n_candidates,)
        Prize that each candidate would newly cover, less what it covers wrongly.
    """

    def __init__(
        self, problem: CoverProblem, chosen: Indices, count: Indices, worth: Floats
    ) -> None:
        self.problem, self.chosen, self.count, self.worth = problem, chosen, count, worth

    @classmethod
    def of(cls, problem: CoverProblem, selected: Indices) -> _Places:
        """Count what a selection covers."""
        count = np.bincount(problem.points_in(selected), minlength=problem.n_points)
        worth = problem.prize_sums(np.where(count == 0, problem.prize, 0.0)) - problem.wrong
        return cls(problem, selected.copy(), count, worth)

    def copy(self) -> _Places:
        """Return the same to be changed by itself."""
        return _Places(self.problem, self.chosen.copy(), self.count.copy(), self.worth.copy())

    @property
    def weight(self) -> float:
        """Weight that is left uncovered or covered wrongly."""
        problem = self.problem
        return float(problem.prize[self.count == 0].sum() + problem.wrong[self.chosen].sum())

    def exchange_among(self, places: Indices) -> None:
        """Exchange choices at `places` until none can be exchanged for something better."""
        turn, fruitless = 0, 0
        while fruitless < len(places):
            fruitless = 0 if self.exchange(int(places[turn])) else fruitless + 1
            turn = (turn + 1) % len(places)

    def exchange(self, place: int) -> bool:
        """Put in what is best without the choice at `place`, if that is better than it."""
        before = int(self.chosen[place])
        ball = self.problem.ball(before)
        without = self.worth + self._prizes_of_holders(ball[self.count[ball] == 1])
        best = self._best(without)
        if not without[best] > without[before]:
            return False
        self.worth = without
        self.count[ball] -= 1
        self._put_in(place, best)
        return True

    def shake(self, rng: np.random.Generator) -> None:
        """Take out a few choices that overlap, fill their places, and exchange those around."""
        places = self._neighbors(int(rng.integers(len(self.chosen))), rng)
        before = self.chosen[places]
        for column in before.tolist():
            self._take_out(column)
        for place in places.tolist():
            self._put_in(place, self._best(self.worth))
        self.exchange_among(self._meeting(np.concatenate((before, self.chosen[places]))))

    def _best(self, worth: Floats) -> int:
        """Return the candidate worth most of those that are in no place."""
        free = worth.copy()
        free[self.chosen] = -np.inf
        return int(free.argmax())

    def _neighbors(self, place: int, rng: np.random.Generator) -> Indices:
        """Return a place and a few others whose balls some candidate's ball meets, too."""
        ball = self.problem.ball(int(self.chosen[place]))
        if len(ball) == 0:
            return np.array([place])
        between = rng.choice(self.problem.columns_with(int(rng.choice(ball))))
        met = self._meeting(np.array([between]))
        others = rng.permutation(met[met != place])[: int(rng.integers(*_OUT)) - 1]
        return np.concatenate(([place], others)).astype(np.intp)

    def _meeting(self, columns: Indices) -> Indices:
        """Return the places of choices whose balls meet those of `columns`."""
        near = np.zeros(self.problem.n_points)
        near[self.problem.points_in(columns)] = 1.0
        return np.flatnonzero(self.problem.members(self.chosen).T @ near)

    def _take_out(self, column: int) -> None:
        """Uncover what only this candidate covers."""
        ball = self.problem.ball(column)
        self.worth += self._prizes_of_holders(ball[self.count[ball] == 1])
        self.count[ball] -= 1

    def _put_in(self, place: int, column: int) -> None:
        """Cover what is in the ball of a candidate and in no other."""
        ball = self.problem.ball(column)
        self.worth -= self._prizes_of_holders(ball[self.count[ball] == 0])
        self.count[ball] += 1
        self.chosen[place] = column

    def _prizes_of_holders(self, points: Indices) -> Floats:
        """Return the prize of `points` that each candidate's ball holds."""
        held = self.problem.by_point[points]
        amounts = self.problem.prize[points].repeat(np.diff(held.indptr))
        sums = np.bincount(held.indices, amounts, minlength=len(self.worth))
        return np.asarray(sums, dtype=np.float64)
