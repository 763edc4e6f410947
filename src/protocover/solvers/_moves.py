"""A selection that is being changed: adding, removing, exchanging, all sums kept up to date."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._cover.runs import line_members
from ._reduced.residual import Residual

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# So few rows are cheaper to go through one by one than to gather.
_FEW = 12
# Memberships from which on finding an exchange takes as long as dozens of other changes.
_MOST_EXCHANGED = 300_000


@dataclass(eq=False)
class Working:
    """A selection of a residual's columns; the one thing here that changes in place.

    Parameters
    ----------
    residual : Residual
        What is chosen from.
    by_row : csr_array
        Its cover as rows.
    chosen : ndarray of bool, shape (n_columns,)
        What is chosen.
    count : ndarray of int, shape (n_rows,)
        How many chosen columns cover each row.
    owner : ndarray of int, shape (n_rows,)
        Sum of their numbers: where `count` is 1, the one column that covers the row.
    reach : ndarray of float, shape (n_columns,)
        Uncovered prize in each column.
    value : float
        Objective in units, the residual's constant left out.
    """

    residual: Residual
    by_row: csr_array
    chosen: NDArray[np.bool_]
    count: Indices
    owner: Indices
    reach: Floats
    value: float

    @classmethod
    def of(cls, residual: Residual, columns: Indices) -> Working:
        """Start with `columns` chosen."""
        n_rows, n_columns = residual.cover.shape
        rows = line_members(residual.cover, columns)
        numbers = np.repeat(columns, np.diff(residual.cover.indptr)[columns])
        owner = np.zeros(n_rows, dtype=np.intp)
        np.add.at(owner, rows, numbers)
        count = np.bincount(rows, minlength=n_rows)
        left = np.where(count == 0, residual.prize, 0.0)
        chosen = np.zeros(n_columns, dtype=bool)
        chosen[columns] = True
        return cls(
            residual=residual,
            by_row=residual.cover.tocsr(),
            chosen=chosen,
            count=count,
            owner=owner,
            reach=np.asarray(residual.cover.T @ left, dtype=np.float64),
            value=float(residual.cost[columns].sum() + left.sum()),
        )

    def copy(self) -> Working:
        """Return a selection that can be changed without changing this one."""
        return Working(
            self.residual,
            self.by_row,
            self.chosen.copy(),
            self.count.copy(),
            self.owner.copy(),
            self.reach.copy(),
            self.value,
        )

    def add(self, column: int) -> None:
        """Choose `column`, which is not chosen."""
        ball = self.ball(column)
        newly = ball[self.count[ball] == 0]
        self.chosen[column] = True
        self.count[ball] += 1
        self.owner[ball] += column
        self.value += float(self.residual.cost[column] - self.residual.prize[newly].sum())
        self._shift_reach(newly, -1.0)

    def remove(self, column: int) -> None:
        """Leave out `column`, which is chosen."""
        ball = self.ball(column)
        self.chosen[column] = False
        self.count[ball] -= 1
        self.owner[ball] -= column
        exposed = ball[self.count[ball] == 0]
        self.value += float(self.residual.prize[exposed].sum() - self.residual.cost[column])
        self._shift_reach(exposed, 1.0)

    def settle(self, banned: Indices | None = None) -> None:
        """Add what pays, largest gain first, then remove what no longer pays, until neither does.

        Columns in `banned` are not added. The value falls with every change, so this ends.
        """
        while True:
            self._complete(banned)
            if not self.prune():
                return

    def improve(self) -> None:
        """Settle, and put one column in another's place while that pays."""
        self.settle()
        while (exchange := self.best_exchange()) is not None:
            before = self.value
            self.remove(exchange[0])
            self.add(exchange[1])
            assert self.value < before, "an exchange that pays lowers the value"
            self.settle()

    def best_exchange(self) -> tuple[int, int] | None:
        """Return a chosen column and what pays most in its place, None where nothing does.

        Of a settled selection, where nothing pays to be added or removed by itself. So of the
        rows that the one alone covers the other must hold some, and only such pairs are
        looked at.
        """
        if self.by_row.nnz > _MOST_EXCHANGED:
            return None
        rows = np.flatnonzero(self.count == 1)
        rows = rows[np.argsort(self.owner[rows], kind="stable")]
        ends = np.searchsorted(self.owner[rows], np.arange(len(self.chosen) + 1))
        owned = csr_array(
            (self.residual.prize[rows], rows, ends), shape=self.residual.cover.shape[::-1]
        )
        kept = owned @ self.by_row  # what stays covered, by the column out and the one in
        price = self.residual.cost - self.reach
        price[self.chosen] = np.inf
        spared = self.residual.cost - self.losses()
        change = price[kept.indices] - kept.data - np.repeat(spared, np.diff(kept.indptr))
        best = int(change.argmin()) if len(change) else 0
        if not len(change) or change[best] >= 0.0:
            return None
        out = int(np.searchsorted(kept.indptr, best, side="right")) - 1
        return out, int(kept.indices[best])

    def prune(self, keep: int | None = None) -> bool:
        """Remove the column that pays least until all pay, but not `keep`; tell if any went."""
        pruned = False
        while self.chosen.any():
            surplus = np.where(self.chosen, self.losses() - self.residual.cost, np.inf)
            if keep is not None:
                surplus[keep] = np.inf
            worst = int(surplus.argmin())
            if surplus[worst] > 0.0:
                break
            pruned = True
            self.remove(worst)
        return pruned

    def losses(self) -> Floats:
        """For each column the prize that only it covers."""
        alone = self.count == 1
        prize = self.residual.prize[alone]
        lost = np.bincount(self.owner[alone], prize, minlength=len(self.chosen))
        return np.asarray(lost, dtype=np.float64)

    def ball(self, column: int) -> Indices:
        """Rows that `column` covers."""
        start, stop = self.residual.cover.indptr[column : column + 2]
        return np.asarray(self.residual.cover.indices[start:stop], dtype=np.intp)

    def holders(self, row: int) -> Indices:
        """Columns that cover `row`."""
        start, stop = self.by_row.indptr[row : row + 2]
        return np.asarray(self.by_row.indices[start:stop], dtype=np.intp)

    def _complete(self, banned: Indices | None) -> None:
        """Add the column of largest gain until none gains."""
        while len(self.reach):
            gain = self.reach - self.residual.cost
            if banned is not None:
                gain[banned] = -np.inf
            best = int(gain.argmax())
            if not gain[best] > 0.0:
                return
            self.add(best)

    def _shift_reach(self, rows: Indices, sign: float) -> None:
        """Let `rows` count for the columns that hold them, or no more."""
        prize = self.residual.prize
        if len(rows) < _FEW:
            for row in rows.tolist():
                self.reach[self.holders(row)] += sign * prize[row]
            return
        holders, start = self.by_row.indices, self.by_row.indptr
        changed = np.concatenate([holders[start[row] : start[row + 1]] for row in rows.tolist()])
        weight = np.repeat(prize[rows], start[rows + 1] - start[rows])
        self.reach += sign * np.bincount(changed, weight, minlength=len(self.reach))
