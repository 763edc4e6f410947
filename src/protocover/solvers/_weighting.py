"""Row weighting: a local search for sparse covers, in which uncovered rows grow in weight.

Columns are removed until a cover would be cheaper than the best one known, then the rows left
uncovered are covered again one by one. Rows that stay uncovered gain weight, so that the search
leaves local optima (Gao, Weise and Li, European Journal of Operational Research 246, 2015). Plain
lists, not arrays: a move touches a few dozen numbers.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array, hstack

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Selected columns of which the one that loses least is removed.
_SAMPLE = 40
# Uncovered rows, the latest, that gain weight in a move.
_RAISED = 24
# Moves from one look at the clock to the next.
_LOOK_EVERY = 1000


def search_by_weights(
    cover: csc_array,
    cost: Floats,
    prize: Floats,
    start: Indices,
    *,
    moves: int,
    seed: int = 0,
    enough: float = -math.inf,
    deadline: float = math.inf,
) -> Indices:
    """Return columns at least as good as `start`, found by `moves` moves.

    Parameters
    ----------
    cover : csc_array of bool, shape (n_rows, n_columns)
        Each row is in a column.
    cost, prize : ndarray of float
        Of choosing a column, and of leaving a row uncovered.
    start : ndarray of int
        Columns to start from.
    moves : int
        Maximum number of moves.
    seed : int, default=0
        Decides ties and samples.
    enough : float, default=-inf
        A value that ends the search.
    deadline : float, default=inf
        Time on the monotonic clock when the search ends.
    """
    n_rows, n_columns = cover.shape
    if 0 in cover.shape:
        return start
    rows = cover.tocsr()
    cheapest = np.minimum.reduceat(cost[rows.indices], rows.indptr[:-1])
    # A row that need not be covered may be covered by its prize: a column of its own.
    optional = np.flatnonzero(prize <= cheapest)
    singles = csc_array(eye_array(n_rows, format="csc")[:, optional])
    table = csc_array(hstack((cover, singles), format="csc")) if len(optional) else cover
    working = Weighting.of(table, np.concatenate((cost, prize[optional])), seed)
    covered = np.zeros(n_rows, dtype=bool)
    for column in start.tolist():
        working.add(column)
        covered[cover.indices[cover.indptr[column] : cover.indptr[column + 1]]] = True
    for place in np.flatnonzero(~covered[optional]).tolist():
        working.add(n_columns + place)
    working.complete()
    best = working.run(moves, enough, deadline)
    return np.asarray(best[best < n_columns], dtype=np.intp)


@dataclass(eq=False)
class Weighting:
    """A selection that is being changed, with weights of rows and scores of columns.

    The score of a column is the weight of the rows that become covered by adding it or, of one
    that is selected, uncovered by removing it.
    """

    rows_of: list[list[int]]
    columns_of: list[list[int]]
    cost: list[float]
    rng: Random

    @classmethod
    def of(cls, table: csc_array, cost: Floats, seed: int) -> Weighting:
        """Start with nothing selected."""
        return cls(_lists(table), _lists(csr_array(table)), cost.tolist(), Random(seed))

    def __post_init__(self) -> None:
        n_rows, n_columns = len(self.columns_of), len(self.rows_of)
        self.weight = [1] * n_rows
        self.count = [0] * n_rows
        self.owner = [0] * n_rows  # sum of the selected columns with the row
        self.score = [len(rows) for rows in self.rows_of]
        self.selected: list[int] = []
        self.place = [-1] * n_columns
        self.uncovered: list[int] = list(range(n_rows))
        self.gap_place = list(range(n_rows))
        self.stamp = [0] * n_columns
        self.free = [True] * n_columns  # whether a neighbour changed since it was removed
        self.total = 0.0
        self.redundant: list[int] = []
        self.flipped: list[int] = []

    def add(self, column: int) -> None:
        """Select a column."""
        count, owner, score, weight = self.count, self.owner, self.score, self.weight
        self.place[column] = len(self.selected)
        self.selected.append(column)
        self.flipped.append(column)
        self.total += self.cost[column]
        own = score[column]
        uncovered, gap_place, free = self.uncovered, self.gap_place, self.free
        for row in self.rows_of[column]:
            n = count[row]
            count[row] = n + 1
            if n == 0:
                w = weight[row]
                for other in self.columns_of[row]:
                    score[other] -= w
                    free[other] = True
                last = uncovered.pop()
                hole = gap_place[row]
                if last != row:
                    uncovered[hole] = last
                    gap_place[last] = hole
            elif n == 1:
                one = owner[row]
                score[one] -= weight[row]
                if score[one] == 0:
                    self.redundant.append(one)
            owner[row] += column
        score[column] = own

    def remove(self, column: int) -> None:
        """Remove a selected column."""
        count, owner, score, weight = self.count, self.owner, self.score, self.weight
        last, hole = self.selected.pop(), self.place[column]
        if last != column:
            self.selected[hole] = last
            self.place[last] = hole
        self.place[column] = -1
        self.flipped.append(column)
        self.total -= self.cost[column]
        own = score[column]
        uncovered, gap_place, free = self.uncovered, self.gap_place, self.free
        for row in self.rows_of[column]:
            n = count[row] - 1
            count[row] = n
            owner[row] -= column
            if n == 0:
                w = weight[row]
                for other in self.columns_of[row]:
                    score[other] += w
                    free[other] = True
                gap_place[row] = len(uncovered)
                uncovered.append(row)
            elif n == 1:
                score[owner[row]] += weight[row]
        score[column] = own
        free[column] = False

    def complete(self) -> None:
        """Cover all rows, and remove what is redundant."""
        while self.uncovered:
            self.add(self._best_for(self.uncovered[-1]))
        self.redundant += [column for column in self.selected if self.score[column] == 0]
        self._drop_redundant()

    def run(self, moves: int, enough: float, deadline: float) -> Indices:
        """Move, each time a column out and others in; return the best cover seen."""
        best = np.zeros(len(self.rows_of), dtype=bool)
        best_total = math.inf
        rng, uncovered, weight, score = self.rng.random, self.uncovered, self.weight, self.score
        for move in range(1, moves + 1):
            if not uncovered:
                self._drop_redundant()
                if self.total < best_total:
                    best_total = self.total
                    _toggle(best, self.flipped)
                    self.flipped.clear()
                if not self.selected or best_total <= enough:
                    break
                self._remove_least(move, -1)
            if not self.selected:
                break
            self._remove_least(move, move - 2)
            while uncovered:
                column = self._best_for(uncovered[int(rng() * len(uncovered))])
                if self.total + self.cost[column] >= best_total:
                    break
                self.add(column)
                self.stamp[column] = move
                self._drop_redundant()
            for row in uncovered[-_RAISED:]:
                weight[row] += 1
                for column in self.columns_of[row]:
                    score[column] += 1
            if move % _LOOK_EVERY == 0 and time.monotonic() >= deadline:
                break
        return np.flatnonzero(best)

    def _remove_least(self, move: int, since: int) -> None:
        """Remove the column that loses least for its cost, the longest unchanged of equal ones."""
        selected, score, cost, stamp = self.selected, self.score, self.cost, self.stamp
        rng, n = self.rng.random, len(self.selected)
        best, least, age = -1, math.inf, 0
        for _ in range(_SAMPLE):
            column = selected[int(rng() * n)]
            loss = score[column] / cost[column] if cost[column] else math.inf
            if loss < least or (loss == least and stamp[column] < age):
                if 0 <= since < stamp[column]:
                    continue
                best, least, age = column, loss, stamp[column]
        if best < 0:
            best = selected[int(rng() * n)]
        self.remove(best)
        self.stamp[best] = move

    def _best_for(self, row: int) -> int:
        """Return the column that covers a row and most besides for its cost."""
        score, cost, stamp, free = self.score, self.cost, self.stamp, self.free
        columns = self.columns_of[row]
        best, most, age = -1, -1.0, 0
        for column in columns:
            if not free[column]:
                continue
            gain = score[column] / cost[column] if cost[column] else math.inf
            if gain > most or (gain == most and stamp[column] < age):
                best, most, age = column, gain, stamp[column]
        return best if best >= 0 else columns[int(self.rng.random() * len(columns))]

    def _drop_redundant(self) -> None:
        """Remove columns without which all that is covered stays covered."""
        while self.redundant:
            column = self.redundant.pop()
            if self.place[column] >= 0 and self.score[column] == 0:
                self.remove(column)


def _lists(table: csc_array | csr_array) -> list[list[int]]:
    """Return the entries of each line of a table."""
    ends, indices = table.indptr.tolist(), table.indices.tolist()
    return [indices[a:b] for a, b in pairwise(ends)]


def _toggle(selection: NDArray[np.bool_], flipped: list[int]) -> None:
    """Flip columns, each as often as it is listed."""
    np.logical_xor.at(selection, flipped, True)
