"""Local search among selections of any size, and among those of one size.

Both start with a selection, improve it by swaps until none helps, then perturb it again and
again and keep what is not worse. Among selections of any size, columns are also added and removed
while that pays. A price cannot distinguish the many selections of one size that are nearly as
good, so after the search for a price the best selection within a budget is improved at its size.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.sparse import csc_array, csr_array

from .._cover import CoverProblem
from .._cover.table import line_members
from .._typing import Floats, Indices
from ._residual import Residual

# Columns that a perturbation removes at most, and perturbations per column of a small problem.
_MOST_OUT, _TRIALS_PER_COLUMN = 3, 10
# Choices that a perturbation at fixed size replaces: at least, and below.
_REPLACED = (2, 5)
# Up to this number of rows a loop is faster than gathering their columns.
_FEW = 12
# Memberships from which on finding a swap takes as long as dozens of other changes.
_MOST_SWAPPED = 300_000


def search(
    residual: Residual,
    rng: np.random.Generator,
    *,
    patience: int,
    deadline: float = math.inf,
    start: Indices | None = None,
    enough: float = -math.inf,
) -> Indices:
    """Return the best columns found from the candidates `start`, some of which may be gone.

    The search ends after `patience` perturbations without improvement, at the `deadline`, or at
    a value of `enough`. Adding a column to the result does not lower the objective.
    """
    nothing: Indices = np.empty(0, dtype=np.intp)
    begun = np.isin(residual.candidates, nothing if start is None else start)
    current = Working.of(residual, np.flatnonzero(begun))
    current.improve()
    best, tries = current, 0
    if len(residual.candidates) == 0:
        return np.flatnonzero(best.chosen)
    enough -= residual.constant
    patience = min(patience, _TRIALS_PER_COLUMN * len(residual.candidates))
    while tries < patience and best.value > enough and time.monotonic() < deadline:
        trial = current.copy()
        _shake(trial, rng)
        if not np.array_equal(trial.chosen, current.chosen):
            trial.improve()
        if trial.value <= current.value:  # equal ones too: plateaus are wide
            current = trial
        tries += 1
        if current.value < best.value:
            best, tries = current, 0
    return np.flatnonzero(best.chosen)


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

    The search ends after `patience` perturbations without improvement, at the `deadline`, or
    once the uncovered and miscovered weight is at most `enough`. `problem` must not be nested.
    """
    if len(selected) in (0, problem.n_candidates):
        return selected
    current = Working(problem.parts, problem.by_point, problem.wrong, problem.prize, selected)
    order = selected.copy()
    _swap_until_local_optimum(current, order, np.arange(len(order)))
    best, tries = (current, order), 0
    while tries < patience and best[0].value > enough and time.monotonic() < deadline:
        trial, its_order = current.copy(), order.copy()
        _replace_some(trial, its_order, rng)
        tries += 1
        if trial.value <= current.value:  # equal ones too: plateaus are wide
            current, order = trial, its_order
        if current.value < best[0].value:
            best, tries = (current, order), 0
    _swap_until_local_optimum(*best, np.arange(len(order)))
    return best[1]


class Working:
    """A selection that changes in place, with all its sums.

    Parameters
    ----------
    cover, by_row : csc_array and csr_array, shape (n_rows, n_columns)
        Which rows each column covers, twice.
    cost, prize : ndarray of float
        Of the columns and of the rows.
    columns : ndarray of int
        What is chosen.

    Attributes
    ----------
    chosen : ndarray of bool, shape (n_columns,)
        What is chosen.
    count : ndarray of int, shape (n_rows,)
        Number of chosen columns that cover each row.
    owner : ndarray of int, shape (n_rows,)
        Sum of their indices: if `count` is 1, the only column that covers the row.
    reach : ndarray of float, shape (n_columns,)
        Uncovered prize in each column.
    value : float
        The objective.
    """

    def __init__(
        self, cover: csc_array, by_row: csr_array, cost: Floats, prize: Floats, columns: Indices
    ) -> None:
        self.cover, self.by_row, self.cost, self.prize = cover, by_row, cost, prize
        n_rows, n_columns = cover.shape
        rows = line_members(cover, columns)
        self.owner = np.zeros(n_rows, dtype=np.intp)
        np.add.at(self.owner, rows, np.repeat(columns, np.diff(cover.indptr)[columns]))
        self.count = np.bincount(rows, minlength=n_rows)
        self.chosen = np.zeros(n_columns, dtype=bool)
        self.chosen[columns] = True
        left = np.where(self.count == 0, prize, 0.0)
        self.reach: Floats = np.asarray(cover.T @ left, dtype=np.float64)
        self.value = float(cost[columns].sum() + left.sum())

    @classmethod
    def of(cls, residual: Residual, columns: Indices) -> Working:
        """Choose `columns` of a residual, whose constant is not in the value."""
        cover = residual.cover
        return cls(cover, cover.tocsr(), residual.cost, residual.prize, columns)

    def copy(self) -> Working:
        """Return a selection that can be changed without changing this one."""
        other = object.__new__(Working)
        vars(other).update(vars(self))
        for name in ("chosen", "count", "owner", "reach"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def add(self, column: int) -> None:
        """Choose `column`, which is not chosen."""
        ball = self.ball(column)
        newly = ball[self.count[ball] == 0]
        self.chosen[column] = True
        self.count[ball] += 1
        self.owner[ball] += column
        self.value += float(self.cost[column] - self.prize[newly].sum())
        self.shift(self.reach, newly, -1.0)

    def remove(self, column: int) -> None:
        """Remove `column`, which is chosen."""
        ball = self.ball(column)
        self.chosen[column] = False
        self.count[ball] -= 1
        self.owner[ball] -= column
        exposed = ball[self.count[ball] == 0]
        self.value += float(self.prize[exposed].sum() - self.cost[column])
        self.shift(self.reach, exposed, 1.0)

    def settle(self, banned: Indices | None = None) -> None:
        """Add what pays, largest gain first, then remove what does not, until neither helps.

        Columns in `banned` are not added. Every change lowers the value, so this ends.
        """
        while True:
            self._complete(banned)
            if not self.prune():
                return

    def improve(self) -> None:
        """Settle, and swap columns while that lowers the value."""
        self.settle()
        while (swap := self.best_exchange()) is not None:
            before = self.value
            self.remove(swap[0])
            self.add(swap[1])
            assert self.value < before, "a swap that pays lowers the value"
            self.settle()

    def best_exchange(self) -> tuple[int, int] | None:
        """Return the swap (out, in) that lowers the value most, None if none does.

        Only for a settled selection: no addition or removal alone pays, so the column that goes
        in must contain some of the rows that only the one going out covers.
        """
        if self.by_row.nnz > _MOST_SWAPPED:
            return None
        rows = np.flatnonzero(self.count == 1)
        rows = rows[np.argsort(self.owner[rows], kind="stable")]
        ends = np.searchsorted(self.owner[rows], np.arange(len(self.chosen) + 1))
        owned = csr_array((self.prize[rows], rows, ends), shape=self.cover.shape[::-1])
        kept = owned @ self.by_row  # what stays covered, by the column out and the one in
        price = self.cost - self.reach
        price[self.chosen] = np.inf
        spared = self.cost - self.losses()
        change = price[kept.indices] - kept.data - np.repeat(spared, np.diff(kept.indptr))
        best = int(change.argmin()) if len(change) else 0
        if not len(change) or change[best] >= 0.0:
            return None
        out = int(np.searchsorted(kept.indptr, best, side="right")) - 1
        return out, int(kept.indices[best])

    def prune(self, keep: int | None = None) -> bool:
        """Remove the column that pays least until all pay, but never `keep`; whether any went."""
        pruned = False
        while self.chosen.any():
            surplus = np.where(self.chosen, self.losses() - self.cost, np.inf)
            if keep is not None:
                surplus[keep] = np.inf
            worst = int(surplus.argmin())
            if surplus[worst] > 0.0:
                break
            pruned = True
            self.remove(worst)
        return pruned

    def losses(self) -> Floats:
        """Return for each column the prize that only it covers."""
        alone = self.count == 1
        lost = np.bincount(self.owner[alone], self.prize[alone], minlength=len(self.chosen))
        return np.asarray(lost, dtype=np.float64)

    def ball(self, column: int) -> Indices:
        """Return the rows that `column` covers."""
        start, stop = self.cover.indptr[column : column + 2]
        return np.asarray(self.cover.indices[start:stop], dtype=np.intp)

    def holders(self, row: int) -> Indices:
        """Return the columns that cover `row`."""
        start, stop = self.by_row.indptr[row : row + 2]
        return np.asarray(self.by_row.indices[start:stop], dtype=np.intp)

    def shift(self, reach: Floats, rows: Indices, sign: float) -> None:
        """Add the prizes of `rows`, times `sign`, to the `reach` of the columns around them."""
        if len(rows) < _FEW:
            for row in rows.tolist():
                reach[self.holders(row)] += sign * self.prize[row]
            return
        holders, start = self.by_row.indices, self.by_row.indptr
        changed = np.concatenate([holders[start[row] : start[row + 1]] for row in rows.tolist()])
        weight = np.repeat(self.prize[rows], start[rows + 1] - start[rows])
        reach += sign * np.bincount(changed, weight, minlength=len(reach))

    def _complete(self, banned: Indices | None) -> None:
        """Add the column of largest gain until none gains."""
        while len(self.reach):
            gain = self.reach - self.cost
            if banned is not None:
                gain[banned] = -np.inf
            best = int(gain.argmax())
            if not gain[best] > 0.0:
                return
            self.add(best)


def _shake(working: Working, rng: np.random.Generator) -> None:
    """Force a column in or a few neighbours out, and settle."""
    chosen, free = np.flatnonzero(working.chosen), np.flatnonzero(~working.chosen)
    if len(free) and (len(chosen) == 0 or rng.random() < 0.5):
        forced = int(rng.choice(free))
        working.add(forced)
        working.prune(keep=forced)
    elif len(chosen):
        out = _neighbors(working, int(rng.choice(chosen)), rng)
        for column in out.tolist():
            working.remove(column)
        working.settle(banned=out)
    working.settle()


def _neighbors(working: Working, column: int, rng: np.random.Generator) -> Indices:
    """Return a chosen column and up to two others that meet one column that it meets."""
    size = int(rng.integers(1, _MOST_OUT + 1))
    row = int(rng.choice(working.ball(column)))
    rows = working.ball(int(rng.choice(working.holders(row))))
    near = np.unique(working.owner[rows[working.count[rows] == 1]])
    others = rng.permutation(near[near != column])[: size - 1]
    return np.concatenate(([column], others)).astype(np.intp)


# A selection of fixed size is a `Working` and the `order` of its columns.


def _swap_until_local_optimum(working: Working, order: Indices, places: Indices) -> None:
    """Swap columns at some `places` of the order until no swap there helps."""
    turn, fruitless = 0, 0
    while fruitless < len(places):
        fruitless = 0 if _swap(working, order, int(places[turn])) else fruitless + 1
        turn = (turn + 1) % len(places)


def _swap(working: Working, order: Indices, place: int) -> bool:
    """Swap the column at `place` for the best one without it; whether that is another."""
    before = int(order[place])
    ball, gain = working.ball(before), working.reach - working.cost
    working.shift(gain, ball[working.count[ball] == 1], 1.0)
    stays = gain[before]
    gain[order] = -np.inf
    best = int(gain.argmax())
    if not gain[best] > stays:
        return False
    working.remove(before)
    working.add(best)
    order[place] = best
    return True


def _replace_some(working: Working, order: Indices, rng: np.random.Generator) -> None:
    """Remove a few columns that overlap, add the best ones, and swap around them."""
    places = _overlapping(working, order, int(rng.integers(len(order))), rng)
    before = order[places]
    for column in before.tolist():
        working.remove(column)
    for place in places.tolist():
        gain = working.reach - working.cost
        gain[order] = -np.inf
        order[place] = int(gain.argmax())
        working.add(int(order[place]))
    around = np.concatenate((before, order[places]))
    _swap_until_local_optimum(working, order, _meeting(working, order, around))


def _overlapping(
    working: Working, order: Indices, place: int, rng: np.random.Generator
) -> Indices:
    """Return `place` and a few other places whose columns meet one that its column meets."""
    ball = working.ball(int(order[place]))
    if len(ball) == 0:
        return np.array([place])
    between = rng.choice(working.holders(int(rng.choice(ball))))
    met = _meeting(working, order, np.array([between]))
    others = rng.permutation(met[met != place])[: int(rng.integers(*_REPLACED)) - 1]
    return np.concatenate(([place], others)).astype(np.intp)


def _meeting(working: Working, order: Indices, columns: Indices) -> Indices:
    """Return the places of columns that share a row with `columns`."""
    near = np.zeros(len(working.prize))
    near[line_members(working.cover, columns)] = 1.0
    return np.flatnonzero(working.cover[:, order].T @ near)
