"""The problem in which a candidate may have balls of several radii, one inside the other.

Written out, such a problem has a column for each ball, which holds again all that the
smaller balls of its candidate hold. Here each membership is kept once: in the shell
between the largest ball it is not in and the smallest it is in.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from .given import canonical_cover, check_amounts, check_cost, check_prizes
from .problem import CoverProblem
from .runs import runs
from .sums import ball_sums

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class NestedCoverProblem(CoverProblem):
    """A prize-collecting set cover with balls of several radii about each candidate.

    It is the :class:`CoverProblem` whose columns are all the balls; whatever is asked of
    that can be asked of this, and `cover` is written out when something needs it.

    Parameters
    ----------
    shells : csc_array of bool, shape (n_points, n_balls)
        Which points each ball holds beyond the next smaller one of its candidate. The
        balls of a candidate stand side by side, the smallest first.
    first : ndarray of int, shape (n_balls,)
        The smallest ball of the same candidate.
    wrong : ndarray of float, shape (n_balls,)
        Weight of the points of other classes in each ball, all of it.
    prize, prototype_cost
        As of :class:`CoverProblem`; the prizes on a grid on which their sums are exact.

    Examples
    --------
    >>> import numpy as np
    >>> shells = np.array([[True, False], [False, True], [False, True]])
    >>> problem = NestedCoverProblem(shells, [0, 0], [0.0, 1.0], np.ones(3), 0.5)
    >>> problem.cover.toarray().astype(int)
    array([[1, 1],
           [0, 1],
           [0, 1]])
    """

    shells: csc_array
    first: Indices

    def __init__(
        self, shells: Any, first: ArrayLike, wrong: Any, prize: Any, prototype_cost: float
    ) -> None:
        parts = {
            "shells": canonical_cover(shells),
            "first": np.asarray(first, dtype=np.intp),
            "wrong": check_amounts(wrong, "wrong"),
            "prize": check_prizes(prize),
            "prototype_cost": check_cost(prototype_cost),
        }
        for name, value in parts.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        """Check that the parts fit together."""
        n_points, n_balls = self.shells.shape
        if not (self.first.shape == self.wrong.shape == (n_balls,)) or self.prize.shape != (
            n_points,
        ):
            raise ValueError(
                f"shells of {n_points} points x {n_balls} balls need one prize per point and one "
                f"first ball and wrong weight per ball, got shapes {self.prize.shape}, "
                f"{self.first.shape} and {self.wrong.shape}"
            )
        own = np.arange(n_balls)
        if not ((self.first == own) | (self.first == np.append(-1, self.first)[:-1])).all():
            raise ValueError(
                "first must name the smallest ball of each candidate, whose balls stand side by "
                f"side, got {self.first}"
            )
        units = self.prize / self.grid
        if not (units == np.floor(units)).all():
            raise ValueError(
                "prizes must be multiples of a number so large that their sums are exact; "
                "protocover._selection.by_class.snap_weights makes them so"
            )

    @cached_property
    def cover(self) -> csc_array:
        """The problem written out: whether point i lies in ball j."""
        return self.members(np.arange(self.n_candidates))

    @property
    def parts(self) -> csc_array:
        """What each ball holds beyond the next smaller one of its candidate."""
        return self.shells

    @property
    def n_points(self) -> int:
        """Number of points to cover."""
        return int(self.shells.shape[0])

    @property
    def n_candidates(self) -> int:
        """Number of balls that may be chosen."""
        return int(self.shells.shape[1])

    @cached_property
    def last(self) -> Indices:
        """The largest ball of the same candidate."""
        starts = np.flatnonzero(self.first == np.arange(self.n_candidates))
        ends = np.append(starts, self.n_candidates)[1:]
        return np.repeat(ends - 1, ends - starts)

    @cached_property
    def n_holders(self) -> Indices:
        """Number of balls that hold each point."""
        larger = self.last - np.arange(self.n_candidates) + 1
        return np.asarray(self.shells @ larger, dtype=np.intp)

    @property
    def _starts(self) -> NDArray[Any]:
        """Where the members of each ball begin in the indices of the shells."""
        return np.asarray(self.shells.indptr[self.first])

    @property
    def sizes(self) -> NDArray[Any]:
        """Number of points in each ball."""
        return np.asarray(self.shells.indptr[1:] - self._starts)

    def points_in(self, chosen: Indices) -> NDArray[Any]:
        """Return the points in each of the balls `chosen`, one ball after the other."""
        return np.asarray(self.shells.indices[runs(self._starts[chosen], self.sizes[chosen])])

    def members(self, chosen: Indices) -> csc_array:
        """Return the columns of the balls `chosen`, written out."""
        indices = self.points_in(chosen)
        ends = np.concatenate(([0], np.cumsum(self.sizes[chosen])))
        table = csc_array(
            (np.ones(len(indices), dtype=bool), indices, ends), shape=(self.n_points, len(chosen))
        )
        table.sort_indices()
        return table

    def ball(self, column: int) -> NDArray[Any]:
        """Return the points in one ball."""
        indptr = self.shells.indptr
        return np.asarray(self.shells.indices[indptr[self.first[column]] : indptr[column + 1]])

    def columns_with(self, point: int) -> Indices:
        """Return the balls that hold one point."""
        start, stop = self.by_point.indptr[point : point + 2]
        shells = self.by_point.indices[start:stop].astype(np.intp)
        return runs(shells, self.last[shells] - shells + 1)

    def accumulated(self, values: NDArray[Any], columns: slice = slice(None)) -> NDArray[Any]:
        """Add up over each ball what `values`, counts or sums of prizes, say of its shells."""
        first = self.first[columns] - (columns.start or 0)
        some = values[columns]
        if some.dtype.kind == "f":
            return self._added(np.rint(some / self.grid).astype(np.int64), first) * self.grid
        return self._added(some, first)

    @staticmethod
    def _added(units: NDArray[Any], first: Indices) -> NDArray[Any]:
        """Add up whole numbers from each ball's first on: exact, as sums may wrap around."""
        sums = np.concatenate(([0], np.cumsum(units, dtype=np.int64)))
        return np.asarray(sums[1:] - sums[first])

    def prize_sums(self, values: Floats | None = None) -> Floats:
        """Sum `values` (by default the prizes) over the points of each ball."""
        weights = self.prize if values is None else values
        shares = ball_sums(self.shells, weights)
        for level in self._by_depth:
            shares[level] += shares[level - 1]
        return shares

    @cached_property
    def _by_depth(self) -> list[Indices]:
        """The balls that are second of their candidate, those that are third, and so on."""
        depth = np.arange(self.n_candidates) - self.first
        order = np.argsort(depth, kind="stable")
        cuts = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 1))
        return np.split(order, cuts)[1:]

    def blocks(self, size: int) -> list[slice]:
        """Cut the balls into blocks of about `size`, none through a candidate's."""
        starts = np.unique(self.first[np.arange(0, self.n_candidates, size)])
        ends = np.append(starts, self.n_candidates)[1:]
        return [slice(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    def narrowed(self, candidates: Indices) -> NestedCoverProblem:
        """Return the problem in which only the balls `candidates`, rising, may be chosen."""
        owner = self.first[candidates]
        same = np.concatenate(([False], owner[1:] == owner[:-1])) if len(owner) else owner > 0
        before = np.where(same, np.concatenate(([0], candidates[:-1])), owner - 1)
        starts = self.shells.indptr[before + 1]
        sizes = self.shells.indptr[candidates + 1] - starts
        indices = self.shells.indices[runs(starts, sizes)]
        ends = np.concatenate(([0], np.cumsum(sizes)))
        shells = csc_array(
            (np.ones(len(indices), dtype=bool), indices, ends),
            shape=(self.n_points, len(candidates)),
        )
        shells.sort_indices()
        first = np.maximum.accumulate(np.where(same, 0, np.arange(len(candidates))))
        return NestedCoverProblem(
            shells, first, self.wrong[candidates], self.prize, self.prototype_cost
        )

    def outermost(self, chosen: Indices) -> NDArray[np.bool_]:
        """Tell which of the balls `chosen` lie in no larger one of the same candidate."""
        largest = np.zeros(self.n_candidates, dtype=np.intp)
        np.maximum.at(largest, self.first[chosen], chosen)
        return np.asarray(largest[self.first[chosen]] == chosen)

    def at_cost(self, prototype_cost: float) -> NestedCoverProblem:
        """Return the same problem with another cost of a prototype."""
        return NestedCoverProblem(self.shells, self.first, self.wrong, self.prize, prototype_cost)
