"""The problem, its limits, and all sums over its balls."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array

from .._typing import Floats, Indices, Mask
from .arithmetic import (
    common_step,
    decimal_fractions,
    exact_sum,
    is_above,
    rounded_up,
    simplest_fraction,
    snap_weights,
)
from .table import (
    ball_sums,
    canonical_cover,
    check_amounts,
    check_cost,
    check_prizes,
    check_selection,
    incidence,
    line_members,
    runs,
)

# Prizes per cost beyond this could overflow.
_LARGEST_RATIO = 1e300
# Cached properties that do not depend on the cost of a prototype.
_COSTLESS = (
    "by_point",
    "grid",
    "last",
    "n_holders",
    "on_grid",
    "reach",
    "_by_depth",
    "_exact_wrong",
    "_written",
)


@dataclass(frozen=True)
class Limit:
    """A constraint on the selection of a problem, or on those of several problems together.

    Parameters
    ----------
    at_most : int or None, default=None
        Largest number of candidates; None for any number.
    at_least : int, default=0
        Smallest number of candidates of each problem, 0 or 1.
    uncovered : Fraction or None, default=None
        Largest weight that may stay uncovered. The objective is then the cost of the selection
        alone. None if uncovered points only cost their prizes.

    Notes
    -----
    A bound under a limit is a Lagrangian bound. Its multiplier is given as a `price`: the cost of
    a prototype, or with `uncovered` of a unit of cost, in the relaxed problem. See
    :meth:`protocover._cover.CoverProblem.bound`.

    Examples
    --------
    >>> Limit(at_most=20)
    Limit(at_most=20, at_least=0, uncovered=None)
    """

    at_most: int | None = None
    at_least: int = 0
    uncovered: Fraction | None = None


# Any selection is allowed.
NO_LIMIT = Limit()


@dataclass(frozen=True, eq=False, init=False)
class CoverProblem:
    """A prize-collecting set cover.

    The objective of a selection S of candidates is (paper, section 2.1 and appendix A)::

        sum of prize over the points in no ball of S
        + sum of wrong over S
        + prototype_cost * len(S)

    Parameters
    ----------
    cover : csc_array of bool, shape (n_points, n_candidates)
        Whether point i of the class is in the ball of candidate j. Other tables of True and
        False, or 1 and 0, are converted. With `first`, which points each ball contains beyond
        the next smaller ball of its chain.
    wrong : ndarray of float, shape (n_candidates,)
        Weight of the points of other classes in each ball.
    prize : ndarray of float, shape (n_points,)
        Penalty for leaving a point uncovered: 1, or its sample weight.
    prototype_cost : float
        The cost of a prototype, lambda in the paper. Like all weights finite and non-negative.
    first : ndarray of int, shape (n_candidates,), or None, default=None
        The smallest ball of each ball's chain. Balls of one sample with several radii form a
        chain: adjacent columns, the smallest first, each containing the ones before. Each
        membership is then stored once, and prizes must be on a grid on which their sums are
        exact. None if every ball is a chain of its own.

    Notes
    -----
    ``prototype_cost`` is separate from ``wrong`` to keep sums exact. With `prize` and `wrong` on a
    common binary grid (see :func:`protocover._cover.snap_weights`), every quantity is an exact
    grid number plus an integer multiple of the cost of a prototype. That cost is the simplest
    fraction that rounds to ``prototype_cost``, so 1/n means exactly one n-th, and n times the
    objective is an integer.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> cover = csc_array(np.array([[True, False], [True, True], [False, True]]))
    >>> problem = CoverProblem(cover, np.array([0.0, 1.0]), np.ones(3), prototype_cost=0.5)
    >>> problem.objective([0]), problem.objective([0, 1])
    (1.5, 2.0)
    >>> problem.lower_bound(np.array([0.25, 0.25, 1.0]))
    1.5

    A chain of two balls, the second of which contains all points:

    >>> shells = np.array([[True, False], [False, True], [False, True]])
    >>> CoverProblem(shells, [0.0, 1.0], np.ones(3), 0.5, first=[0, 0]).cover.toarray().astype(int)
    array([[1, 1],
           [0, 1],
           [0, 1]])
    """

    parts: csc_array
    wrong: Floats
    prize: Floats
    prototype_cost: float
    first: Indices | None

    def __init__(
        self,
        cover: Any,
        wrong: ArrayLike,
        prize: ArrayLike,
        prototype_cost: float,
        *,
        first: ArrayLike | None = None,
    ) -> None:
        vars(self).update(
            parts=canonical_cover(cover),
            wrong=check_amounts(wrong, "wrong"),
            prize=check_prizes(prize),
            prototype_cost=check_cost(prototype_cost),
            first=None if first is None else np.asarray(first, dtype=np.intp),
        )
        n_points, n_candidates = self.parts.shape
        if self.wrong.shape != (n_candidates,) or self.prize.shape != (n_points,):
            raise ValueError(
                f"a cover of {n_points} points x {n_candidates} candidates needs one prize per "
                f"point and one wrong weight per candidate, got shapes {self.prize.shape} and "
                f"{self.wrong.shape}"
            )
        if self.first is not None:
            self._check_chains(self.first)

    def _check_chains(self, first: Indices) -> None:
        """Check that chains are adjacent columns, and that sums along them are exact."""
        own = np.arange(self.n_candidates)
        if (
            first.shape != own.shape
            or not ((first == own) | (first == np.append(-1, first)[:-1])).all()
        ):
            raise ValueError(
                "first must name the smallest ball of each chain, whose balls are adjacent, for "
                f"each of {len(own)} candidates, got {first}"
            )
        units = self.prize / self.grid
        if not (units == np.floor(units)).all():
            raise ValueError(
                "prizes must be multiples of a number so large that their sums are exact; "
                "protocover._cover.snap_weights makes them so"
            )

    def _derived(self, **changes: Any) -> CoverProblem:
        """Return a problem with some attributes changed, without checks."""
        other = object.__new__(CoverProblem)
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        vars(other).update(given | changes)
        return other

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Iterable[Hashable]],
        costs: ArrayLike | None = None,
        weights: ArrayLike | Mapping[Any, float] | None = None,
        n_elements: int | None = None,
    ) -> CoverProblem:
        """Return a set cover problem: choose sets of least total cost that cover all elements.

        Parameters
        ----------
        sets : iterable of iterables
            The elements of each set: numbers from 0, or any hashable values.
        costs : array-like of float, shape (n_sets,), or None, default=None
            The cost of each set; None for 1 each.
        weights : array-like of float, mapping from element to float, or None, default=None
            The penalty for leaving each element uncovered. None if every element must be
            covered.
        n_elements : int or None, default=None
            Elements are the numbers below this. None if they are the values in the sets.

        Returns
        -------
        CoverProblem
            Candidate j is set j. Without `weights` the objective of a selection that covers
            all elements is its cost. An uncovered element adds a penalty above the cost of
            covering it, so an optimum covers all elements.

        Examples
        --------
        >>> problem = CoverProblem.from_sets([{0, 1, 2}, {1, 3}, {2, 3}, {3}], [3, 2, 2, 1])
        >>> problem.objective([0, 3]), problem.objective([1])
        (4.0, 14.0)
        """
        cover, elements = incidence(sets, weights, n_elements)
        n_elements, n_sets = cover.shape
        cost = np.ones(n_sets) if costs is None else check_amounts(costs, "costs")
        if cost.shape != (n_sets,):
            raise ValueError(f"costs must hold one number per set, {n_sets}, got {cost.shape}")
        if weights is None:
            penalty = np.full(n_elements, _penalty(cover, cost, elements))
        elif isinstance(weights, Mapping):
            penalty = check_amounts([weights.get(one, 0.0) for one in elements], "weights")
        else:
            penalty = check_amounts(weights, "weights")
        same = float(cost[0]) if len(cost) and (cost == cost[0]).all() else None
        if same is not None:
            return cls(cover, np.zeros(n_sets), snap_weights(penalty), same)
        prize = snap_weights(penalty)
        grid = cls(cover, np.zeros(n_sets), prize, 0.0).grid
        return cls(cover, np.round(cost / grid) * grid, prize, 0.0)

    @property
    def n_points(self) -> int:
        """Number of points to cover."""
        return int(self.parts.shape[0])

    @property
    def n_candidates(self) -> int:
        """Number of candidates that may be chosen."""
        return int(self.parts.shape[1])

    @property
    def cost(self) -> Floats:
        """Cost of choosing each candidate, C_l(j) in the paper."""
        return self.wrong + self.prototype_cost

    @property
    def ranked_cost(self) -> Floats:
        """Cost of each candidate as a divisor of prizes; a cost near zero is a very small one."""
        if self.prototype_cost > self.prize.sum() / _LARGEST_RATIO:
            return self.cost
        return self.cost + 1e-9 * min(1.0, float(self.prize.max(initial=0.0)))

    @property
    def exact_cost(self) -> Fraction:
        """The simplest fraction that rounds to ``prototype_cost``."""
        return simplest_fraction(self.prototype_cost)

    @cached_property
    def grid(self) -> float:
        """Power of two on which all sums of numbers below the total prize are exact."""
        total = float(self.prize.sum())
        # At least the smallest positive float.
        return math.ldexp(1.0, max(math.ceil(math.log2(total)) - 52, -1074)) if total else 1.0

    @cached_property
    def on_grid(self) -> bool:
        """Whether all prizes and wrong weights are multiples of :attr:`grid`."""
        numbers = np.concatenate((self.prize, self.wrong)) / self.grid
        return bool((numbers == np.floor(numbers)).all())

    @property
    def is_nested(self) -> bool:
        """Whether balls form chains."""
        return self.first is not None

    @property
    def cover(self) -> csc_array:
        """Whether point i is in ball j, also for chains."""
        return self._written if self.is_nested else self.parts

    @cached_property
    def _written(self) -> csc_array:
        """The table of all memberships."""
        return self.members(np.arange(self.n_candidates))

    @cached_property
    def last(self) -> Indices:
        """The largest ball of each ball's chain."""
        own = np.arange(self.n_candidates)
        if self.first is None:
            return own
        starts = np.flatnonzero(self.first == own)
        ends = np.append(starts, self.n_candidates)[1:]
        return np.repeat(ends - 1, ends - starts)

    @property
    def _starts(self) -> NDArray[Any]:
        """Start of the members of each ball in the indices of the parts."""
        ends = self.parts.indptr
        return np.asarray(ends[:-1] if self.first is None else ends[self.first])

    @cached_property
    def by_point(self) -> csr_array:
        """The parts as rows, one for each point."""
        return self.parts.tocsr()

    @property
    def n_memberships(self) -> int:
        """Number of (point, ball) pairs."""
        return int(self.sizes.sum())

    @property
    def sizes(self) -> Indices:
        """Number of points in each ball."""
        return np.asarray(self.parts.indptr[1:] - self._starts, dtype=np.intp)

    @cached_property
    def n_holders(self) -> Indices:
        """Number of balls that contain each point."""
        if self.first is None:
            return np.asarray(np.diff(self.by_point.indptr), dtype=np.intp)
        larger = self.last - np.arange(self.n_candidates) + 1
        return np.asarray(self.parts @ larger, dtype=np.intp)

    @cached_property
    def reach(self) -> Floats:
        """Sum of the prizes in each ball."""
        return self.prize_sums()

    @cached_property
    def worthwhile(self) -> Indices:
        """Candidates that cost less than the prize they cover; no other is ever needed.

        Removing any other from a selection saves its cost and uncovers no more than that.
        """
        # Off the grid the sums of prizes are rounded, and the comparison allows for that.
        slop = 0.0 if self.on_grid else float(self.prize.sum()) * 2.0**-30
        return np.flatnonzero(self.above_cost(self.reach - self.wrong + slop))

    @property
    def covers_any(self) -> bool:
        """Whether any candidate covers a point."""
        return bool((self.sizes > 0).any())

    @property
    def best_single(self) -> int:
        """The candidate, among those that cover a point, with the lowest objective alone.

        Ties go to the first. If the empty selection is optimal, this one is optimal among
        selections that cover a point. Let f(S) be what S saves compared with the empty
        selection, and j a candidate of S that covers a point. Then f(S) <= f({j}) + f(S without
        j), because f is submodular, and neither term on the right is positive.
        """
        return int(np.argmax(np.where(self.sizes > 0, self.reach - self.wrong, -np.inf)))

    @property
    def core(self) -> CoverProblem:
        """The problem with only the worthwhile candidates: the same optimum and bounds."""
        # Caching itself would keep a problem in memory.
        everything = len(self.worthwhile) == self.n_candidates
        return self if everything else self._worthwhile_part

    @cached_property
    def _worthwhile_part(self) -> CoverProblem:
        """The problem with only the worthwhile candidates, if there are others."""
        return self.narrowed(self.worthwhile)

    @cached_property
    def weight_step(self) -> Fraction:
        """All prizes and worthwhile wrong weights are multiples of this; 0 if off the grid."""
        if not self.on_grid:
            return Fraction(0)
        numbers = np.concatenate((self.prize, self.wrong[self.worthwhile])) / self.grid
        return Fraction(self.grid) * int(np.gcd.reduce(numbers.astype(np.int64), initial=0))

    @cached_property
    def step(self) -> Fraction:
        """The optimum is an integer multiple of this; 0 if no such number is known."""
        if not self.on_grid:
            return Fraction(0)
        return common_step((self.weight_step, self.exact_cost))

    def members(self, chosen: Indices) -> csc_array:
        """Return the table of all members of the balls `chosen`."""
        if self.first is None:
            return self.parts[:, chosen]
        return self._table(self.points_in(chosen), self.sizes[chosen])

    def _table(self, points: NDArray[Any], sizes: NDArray[Any]) -> csc_array:
        """Return the table whose columns have these points and sizes."""
        ends = np.concatenate(([0], np.cumsum(sizes)))
        shape = (self.n_points, len(sizes))
        table = csc_array((np.ones(len(points), dtype=bool), points, ends), shape=shape)
        table.sort_indices()
        return table

    def points_in(self, chosen: Indices) -> NDArray[Any]:
        """Return the points in the balls `chosen`, concatenated."""
        if self.first is None:
            return line_members(self.parts, chosen)
        return np.asarray(self.parts.indices[runs(self._starts[chosen], self.sizes[chosen])])

    def ball(self, column: int) -> NDArray[Any]:
        """Return the points in one ball."""
        ends, indices = self.parts.indptr, self.parts.indices
        start = column if self.first is None else self.first.item(column)
        return np.asarray(indices[ends.item(start) : ends.item(column + 1)])

    def columns_with(self, point: int) -> Indices:
        """Return the balls that contain one point."""
        ends, indices = self.by_point.indptr, self.by_point.indices
        # NumPy indexes with its own integer type several times faster.
        parts = np.asarray(indices[ends.item(point) : ends.item(point + 1)], dtype=np.intp)
        return parts if self.first is None else runs(parts, self.last[parts] - parts + 1)

    def accumulated(self, values: NDArray[Any], columns: slice = slice(None)) -> NDArray[Any]:
        """Return the sum over each ball of `values` of its parts, which are counts or prizes."""
        some = values[columns]
        if self.first is None:
            return some
        first = self.first[columns] - (columns.start or 0)
        is_sum = some.dtype.kind == "f"
        units = np.rint(some / self.grid).astype(np.int64) if is_sum else some
        # Exact even where the running sum wraps around.
        sums = np.concatenate(([0], np.cumsum(units, dtype=np.int64)))
        added = np.asarray(sums[1:] - sums[first])
        return added * self.grid if is_sum else added

    def blocks(self, size: int) -> list[slice]:
        """Divide the balls into blocks of about `size`, none of which splits a chain."""
        starts = np.arange(0, self.n_candidates, size)
        if self.first is not None:
            starts = np.unique(self.first[starts])
        ends = np.append(starts, self.n_candidates)[1:]
        return [slice(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    def outermost(self, chosen: Indices) -> Mask:
        """Return which of the balls `chosen` are in no larger one of the same chain."""
        if self.first is None:
            return np.ones(len(chosen), dtype=bool)
        largest = np.zeros(self.n_candidates, dtype=np.intp)
        np.maximum.at(largest, self.first[chosen], chosen)
        return np.asarray(largest[self.first[chosen]] == chosen)

    def at_cost(self, prototype_cost: float) -> CoverProblem:
        """Return the same problem with another cost of a prototype."""
        known = {name: vars(self)[name] for name in _COSTLESS if name in vars(self)}
        return self._derived(prototype_cost=check_cost(prototype_cost), **known)

    def narrowed(self, candidates: Indices) -> CoverProblem:
        """Return the problem of only some candidates, ascending within each chain."""
        wrong = self.wrong[candidates]
        if self.first is None:
            kept = self.parts[:, candidates]
            kept.has_canonical_format = True  # like the table they are from
            return self._derived(parts=kept, wrong=wrong)
        owner = self.first[candidates]
        same = np.concatenate(([False], owner[1:] == owner[:-1])) if len(owner) else owner > 0
        before = np.where(same, np.concatenate(([0], candidates[:-1])), owner - 1)
        starts = self.parts.indptr[before + 1]
        sizes = self.parts.indptr[candidates + 1] - starts
        parts = self._table(self.parts.indices[runs(starts, sizes)], sizes)
        parts.has_canonical_format = True
        first = np.maximum.accumulate(np.where(same, 0, np.arange(len(candidates))))
        return self._derived(parts=parts, wrong=wrong, first=first)

    def prize_sums(self, values: Floats | None = None) -> Floats:
        """Sum `values` (by default the prizes) over the points of each ball."""
        sums = ball_sums(self.parts, self.prize if values is None else values)
        for level in self._by_depth:
            sums[level] += sums[level - 1]
        return sums

    @cached_property
    def _by_depth(self) -> list[Indices]:
        """The second balls of all chains, the third ones, and so on."""
        if self.first is None:
            return []
        depth = np.arange(self.n_candidates) - self.first
        order = np.argsort(depth, kind="stable")
        cuts = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 1))
        return np.split(order, cuts)[1:]

    def objective(self, selected: ArrayLike) -> float:
        """Return the objective of a selection."""
        chosen = check_selection(selected, self.n_candidates)
        return float(self.exact_objective(chosen, first_cover(self, chosen)))

    def exact_objective(self, chosen: Indices, first: Indices) -> Fraction:
        """Objective of `chosen`, given the :func:`first_cover` of each point by it."""
        missed = self.prize[first == len(chosen)]
        return exact_sum(missed) + exact_sum(self.wrong[chosen]) + len(chosen) * self.exact_cost

    def lower_bound(self, dual: Floats) -> float:
        """Return the lower bound on all objectives that the vector `dual` proves."""
        return float(self.exact_bound(dual))

    def exact_bound(self, dual: Floats) -> Fraction:
        """Return the lower bound on all objectives that the vector `dual` proves.

        For any 0 <= u <= prize the bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))``:
        a selection pays at least u_i for each point, by its ball's cost or by the prize.
        `dual` is first clipped and rounded down to the grid, so no vector can prove too much.
        The bound is rounded up to a multiple of :attr:`step`, because the optimum is one.
        """
        u = self.snap(dual)
        # No other candidate can receive more than it costs.
        useful = self.worthwhile
        wrong = np.floor(self.wrong[useful] / self.grid) * self.grid
        overpaid = self.prize_sums(u)[useful] - wrong
        over = self.above_cost(overpaid)
        bound = exact_sum(u) - exact_sum(overpaid[over]) + int(over.sum()) * self.exact_cost
        return rounded_up(bound, self.step)

    def bound(
        self,
        dual: Floats | None,
        *,
        limit: Limit = NO_LIMIT,
        price: float | None = None,
    ) -> Fraction | None:
        """Return a lower bound on the objective of every selection within a limit.

        The limit is relaxed with a multiplier. In the relaxed problem a prototype, or with
        ``limit.uncovered`` a unit of cost, costs `price`:

        - At most k prototypes: the bound of the relaxed problem minus k times the multiplier,
          which is ``price - prototype_cost``.
        - A weight that may stay uncovered: the bound of the relaxed problem minus that weight,
          divided by `price`.
        - At least one prototype: the objective of the :attr:`best_single` is a bound if no
          candidate is worth its cost.

        Parameters
        ----------
        dual : ndarray of float, shape (n_points,), or None
            Any vector; None if there is none.
        limit : Limit
            The limit; by default none.
        price : float or None
            Cost of a prototype in the relaxed problem; None if the limit on the number is not
            relaxed, but ignored.

        Returns
        -------
        Fraction or None
            None if nothing is proved.
        """
        bounds = [self._relaxed_bound(dual, limit, price)] if dual is not None else []
        if limit.at_least:
            bounds.append(self.bound_of_singles())
        return max((one for one in bounds if one is not None), default=None)

    def _relaxed_bound(self, dual: Floats, limit: Limit, price: float | None) -> Fraction | None:
        """Return the Lagrangian bound that `dual` proves."""
        if limit.uncovered is not None:
            if price is None or not 0.0 < price < math.inf:
                return None
            left = self.at_price(price).exact_bound(dual) - limit.uncovered
            return rounded_up(left / self.exact_price(price), self.cost_step)
        if limit.at_most is None or price is None:
            return self.exact_bound(dual)
        relaxed = self.at_cost(price)
        multiplier = relaxed.exact_cost - self.exact_cost
        if multiplier < 0:
            raise ValueError(
                f"price must not be below prototype_cost, {self.prototype_cost!r}, got {price!r}"
            )
        return rounded_up(relaxed.exact_bound(dual) - multiplier * limit.at_most, self.step)

    def at_price(self, price: float) -> CoverProblem:
        """Return the problem in which a unit of cost is worth `price` of the weight.

        Costs are rounded down to the grid, so a bound also holds for the exact costs. They are
        either all in `wrong`, or ``prototype_cost`` is 1.
        """
        if self.prototype_cost:
            return self.at_cost(price)
        # The next float below a product is at most the exact product.
        exact = zip(self.wrong.tolist(), self._exact_wrong, strict=True)
        above = np.array([Fraction(one) > true for one, true in exact], dtype=bool)
        lowered = np.where(above, np.nextafter(self.wrong, 0.0), self.wrong)
        cost = np.floor(np.nextafter(price * lowered, 0.0) / self.grid) * self.grid
        return self._derived(wrong=cost, prototype_cost=0.0)

    def exact_price(self, price: float) -> Fraction:
        """Return the exact number for `price` in :meth:`at_price`."""
        return simplest_fraction(price) if self.prototype_cost else Fraction(price)

    def spent(self, selected: Indices) -> Fraction:
        """Return the exact cost of a selection; decimals such as 0.1 are exact."""
        own = sum((self._exact_wrong[j] for j in selected.tolist()), Fraction(0))
        return own + len(selected) * self.exact_cost

    def uncovered(self, selected: Indices) -> Fraction:
        """Return the weight that a selection leaves uncovered."""
        return exact_sum(self.prize[first_cover(self, selected) == len(selected)])

    @cached_property
    def free(self) -> CoverProblem:
        """The problem in which candidates cost nothing."""
        return self.at_price(0.0)

    @cached_property
    def cost_step(self) -> Fraction:
        """Every cost of a selection is a multiple of this."""
        return common_step((self.exact_cost, *self._exact_wrong))

    @cached_property
    def _exact_wrong(self) -> list[Fraction]:
        """The wrong weights as decimals."""
        if not self.wrong.any():
            return [Fraction(0)] * self.n_candidates
        return decimal_fractions(self.wrong)

    def bound_of_singles(self) -> Fraction | None:
        """Return the objective of the :attr:`best_single`, None if a candidate is worth its cost.

        It is a lower bound on selections that cover a point.
        """
        if len(self.worthwhile) or not self.covers_any:
            return None
        chosen = np.array([self.best_single])
        return self.exact_objective(chosen, first_cover(self, chosen))

    def above_cost(self, amounts: Floats) -> Mask:
        """Return which amounts exceed the exact cost of a prototype."""
        return is_above(amounts, self.prototype_cost)

    def snap(self, dual: Floats) -> Floats:
        """Clip a dual vector to the range from 0 to prize and round it down to the grid."""
        u = np.clip(np.nan_to_num(dual), 0.0, self.prize)
        return np.floor(u / self.grid) * self.grid


def _penalty(cover: csc_array, cost: Floats, elements: list[Any]) -> float:
    """Return a penalty for an uncovered element above the cost of covering it."""
    cheapest = np.full(cover.shape[0], np.inf)
    np.minimum.at(cheapest, cover.indices, np.repeat(cost, np.diff(cover.indptr)))
    if np.isinf(cheapest).any():
        missing = elements[int(np.argmax(cheapest))]
        raise ValueError(
            f"every element must be in a set, but {missing!r} is in none; add a set with it, or "
            "give weights to let elements stay uncovered"
        )
    if (cost == 1.0).all():  # above the cost of any cover
        return float(cover.shape[0] + 1)
    return 2.0 * float(cheapest.max(initial=0.0)) or 1.0


def first_cover(problem: CoverProblem, selected: Indices) -> Indices:
    """Return the place in `selected` that first covers each point, else ``len(selected)``."""
    steps = np.repeat(np.arange(len(selected)), problem.sizes[selected])
    first = np.full(problem.n_points, len(selected), dtype=np.intp)
    # Assigned last to first, so the first stays.
    first[problem.points_in(selected)[::-1]] = steps[::-1]
    return first
