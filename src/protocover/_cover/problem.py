"""The problem: which ball holds which point, what each costs, and the sums over them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array

from .arithmetic import exact_sum, is_above, simplest_fraction
from .given import canonical_cover, check_amounts, check_cost, check_prizes, check_selection
from .runs import line_members
from .sums import ball_sums

# Prizes per cost beyond this could overflow.
_LARGEST_RATIO = 1e300
# What is found out about a problem, once it is asked for, that no cost of a prototype changes.
_COSTLESS = ("by_point", "grid", "n_holders", "on_grid", "reach")


@dataclass(frozen=True, eq=False)
class CoverProblem:
    """A prize-collecting set cover, which asks what balls are worth their cost.

    A selection S of candidates costs (paper, section 2.1 and appendix A)::

        sum of prize over the points in no ball of S
        + sum of wrong over S
        + prototype_cost * len(S)

    Parameters
    ----------
    cover : csc_array of bool, shape (n_points, n_candidates)
        Whether point i of the class lies in the ball of candidate j. Other tables of True
        and False, or 1 and 0, are brought into this form.
    wrong : ndarray of float, shape (n_candidates,)
        Weight of the points of other classes in each ball.
    prize : ndarray of float, shape (n_points,)
        What leaving a point uncovered costs: 1, or its sample weight.
    prototype_cost : float
        The cost of one prototype, lambda in the paper. Like all weights finite and not
        below 0.

    Notes
    -----
    ``prototype_cost`` is kept apart from ``wrong`` so that sums stay exact:
    with `prize` and `wrong` on a common binary grid (see
    :func:`protocover._selection.by_class.snap_weights`) every quantity here is an
    exact grid number plus a whole multiple of the cost of a prototype. That
    cost is the simplest fraction that rounds to ``prototype_cost``, so that
    1/n means one n-th exactly and n times the objective is a whole number.

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
    """

    cover: csc_array
    wrong: NDArray[np.float64]
    prize: NDArray[np.float64]
    prototype_cost: float

    def __post_init__(self) -> None:
        # Frozen from here on: what was given comes into one form once.
        object.__setattr__(self, "cover", canonical_cover(self.cover))
        object.__setattr__(self, "wrong", check_amounts(self.wrong, "wrong"))
        object.__setattr__(self, "prize", check_prizes(self.prize))
        object.__setattr__(self, "prototype_cost", check_cost(self.prototype_cost))
        n_points, n_candidates = self.cover.shape
        if self.wrong.shape != (n_candidates,) or self.prize.shape != (n_points,):
            raise ValueError(
                f"a cover of {n_points} points x {n_candidates} candidates needs one prize per "
                f"point and one wrong weight per candidate, got shapes {self.prize.shape} and "
                f"{self.wrong.shape}"
            )

    @property
    def n_points(self) -> int:
        """Number of points to cover."""
        return int(self.cover.shape[0])

    @property
    def n_candidates(self) -> int:
        """Number of candidates that may be chosen."""
        return int(self.cover.shape[1])

    @property
    def cost(self) -> NDArray[np.float64]:
        """Cost of choosing each candidate, C_l(j) in the paper."""
        return self.wrong + self.prototype_cost

    @property
    def ranked_cost(self) -> NDArray[np.float64]:
        """What each candidate costs where prizes are divided by it.

        A cost of zero, or so small that the ratio could overflow, ranks as a very small one.
        """
        if self.prototype_cost > self.prize.sum() / _LARGEST_RATIO:
            return self.cost
        return self.cost + 1e-9 * min(1.0, float(self.prize.max(initial=0.0)))

    @property
    def exact_cost(self) -> Fraction:
        """Exact meaning of ``prototype_cost``: the simplest fraction that rounds to it."""
        return simplest_fraction(self.prototype_cost)

    @cached_property
    def grid(self) -> float:
        """Power of two on which all sums of numbers below the total prize are exact."""
        total = float(self.prize.sum())
        # No grid is finer than the smallest positive number there is.
        return math.ldexp(1.0, max(math.ceil(math.log2(total)) - 52, -1074)) if total else 1.0

    @cached_property
    def on_grid(self) -> bool:
        """Whether all prizes and wrong weights are multiples of :attr:`grid`."""
        numbers = np.concatenate((self.prize, self.wrong)) / self.grid
        return bool((numbers == np.floor(numbers)).all())

    @property
    def parts(self) -> csc_array:
        """What each ball holds that no other part of the same candidate does: all of it."""
        return self.cover

    @cached_property
    def by_point(self) -> csr_array:
        """The parts as rows: those that hold each point."""
        return self.parts.tocsr()

    @property
    def n_memberships(self) -> int:
        """Number of (point, ball) pairs."""
        return int(self.sizes.sum())

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of points in each ball."""
        return np.asarray(np.diff(self.cover.indptr), dtype=np.intp)

    @cached_property
    def n_holders(self) -> NDArray[np.intp]:
        """Number of balls that hold each point."""
        return np.asarray(np.diff(self.by_point.indptr), dtype=np.intp)

    @cached_property
    def reach(self) -> NDArray[np.float64]:
        """Sum of the prizes in each ball."""
        return self.prize_sums()

    @cached_property
    def worthwhile(self) -> NDArray[np.intp]:
        """Candidates that cost less than the prize they cover; no other is ever needed.

        Dropping any other from a selection saves its cost and uncovers no more than that.
        """
        # Off the grid the prize sums are rounded: what is within that error stays in.
        slop = 0.0 if self.on_grid else float(self.prize.sum()) * 2.0**-30
        return np.flatnonzero(self.above_cost(self.reach - self.wrong + slop))

    @property
    def covers_any(self) -> bool:
        """Whether any candidate covers a point."""
        return bool((self.sizes > 0).any())

    @property
    def best_single(self) -> int:
        """The candidate that alone has the lowest objective, the first of equals.

        Only candidates that cover a point are looked at. If the empty selection is the best of
        all, this one is the best of all that cover a point. Let f(S) be what S saves against
        the empty selection, and j a candidate of S that covers a point. Then f({j}) <= 0, and
        f(S) <= f({j}) + f(S without j) because what a candidate adds only falls as others are
        chosen. The last term is not above 0 either, so f(S) <= f({j}).
        """
        return int(np.argmax(np.where(self.sizes > 0, self.reach - self.wrong, -np.inf)))

    @property
    def core(self) -> CoverProblem:
        """The problem with only the worthwhile candidates: the same optimum and bounds."""
        # A problem that kept itself would stay in memory when nobody else needs it any more.
        everything = len(self.worthwhile) == self.n_candidates
        return self if everything else self._worthwhile_part

    @cached_property
    def _worthwhile_part(self) -> CoverProblem:
        """The core of a problem that has other candidates, too."""
        return self.narrowed(self.worthwhile)

    @cached_property
    def weight_step(self) -> Fraction:
        """All prizes and worthwhile wrong weights are multiples of this; 0 where off the grid."""
        if not self.on_grid:
            return Fraction(0)
        numbers = np.concatenate((self.prize, self.wrong[self.worthwhile])) / self.grid
        return Fraction(self.grid) * int(np.gcd.reduce(numbers.astype(np.int64), initial=0))

    @cached_property
    def step(self) -> Fraction:
        """The optimum is a whole multiple of this; 0 where no such number is known."""
        if not self.on_grid:
            return Fraction(0)
        ends = self.weight_step.denominator * self.exact_cost.denominator
        return Fraction(math.gcd(int(self.weight_step * ends), int(self.exact_cost * ends)), ends)

    def members(self, chosen: NDArray[np.intp]) -> csc_array:
        """Return the columns of the balls `chosen`."""
        return self.cover[:, chosen]

    def points_in(self, chosen: NDArray[np.intp]) -> NDArray[Any]:
        """Return the points in each of the balls `chosen`, one ball after the other."""
        return line_members(self.cover, chosen)

    def ball(self, column: int) -> NDArray[Any]:
        """Return the points in one ball."""
        ends, indices = self.cover.indptr, self.cover.indices
        return np.asarray(indices[ends.item(column) : ends.item(column + 1)])

    def columns_with(self, point: int) -> NDArray[np.intp]:
        """Return the balls that hold one point."""
        ends, indices = self.by_point.indptr, self.by_point.indices
        # NumPy indexes with its own integer type several times faster.
        return np.asarray(indices[ends.item(point) : ends.item(point + 1)], dtype=np.intp)

    def accumulated(self, values: NDArray[Any], columns: slice = slice(None)) -> NDArray[Any]:
        """Add up over each ball what `values` say of its parts: each ball is one."""
        return values[columns]

    def blocks(self, size: int) -> list[slice]:
        """Cut the balls into blocks of `size`."""
        return [slice(start, start + size) for start in range(0, self.n_candidates, size)]

    def outermost(self, chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which of the balls `chosen` lie in no larger one of the same candidate: all."""
        return np.ones(len(chosen), dtype=bool)

    def at_cost(self, prototype_cost: float) -> CoverProblem:
        """Return the same problem with another cost of a prototype."""
        other = replace(self, prototype_cost=prototype_cost)
        vars(other).update({name: vars(self)[name] for name in _COSTLESS if name in vars(self)})
        return other

    def narrowed(self, candidates: NDArray[np.intp]) -> CoverProblem:
        """Return the problem in which only `candidates` may be chosen."""
        kept, wrong = self.cover[:, candidates], self.wrong[candidates]
        kept.has_canonical_format = True  # whole columns of one that has it
        return CoverProblem(kept, wrong, self.prize, self.prototype_cost)

    def prize_sums(self, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Sum `values` (by default the prizes) over the points of each ball."""
        weights = self.prize if values is None else values
        return ball_sums(self.cover, weights)

    def objective(self, selected: ArrayLike) -> float:
        """Recompute the objective of choosing the candidates `selected`."""
        chosen = check_selection(selected, self.n_candidates)
        return float(self.exact_objective(chosen, first_cover(self, chosen)))

    def exact_objective(self, chosen: NDArray[np.intp], first: NDArray[np.intp]) -> Fraction:
        """Objective of `chosen`, given the :func:`first_cover` of each point by it."""
        missed = self.prize[first == len(chosen)]
        return exact_sum(missed) + exact_sum(self.wrong[chosen]) + len(chosen) * self.exact_cost

    def lower_bound(self, dual: NDArray[np.float64]) -> float:
        """Lower bound on every selection's objective, proved by the vector `dual`."""
        return float(self.exact_bound(dual))

    def exact_bound(self, dual: NDArray[np.float64]) -> Fraction:
        """Lower bound on every selection's objective, proved by the vector `dual`.

        For any 0 <= u <= prize the bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))``:
        a selection pays at least u_i for each point, by its ball's cost or by the prize.
        `dual` is first brought into the box and down to the grid, so that no vector and no
        rounding can prove too much; the optimum being a multiple of :attr:`step`, the bound
        is rounded up to one.
        """
        u = self.snap(dual)
        # No candidate but the worthwhile ones can be paid more than it costs.
        useful = self.worthwhile
        wrong = np.floor(self.wrong[useful] / self.grid) * self.grid
        overpaid = self.prize_sums(u)[useful] - wrong
        over = self.above_cost(overpaid)
        bound = exact_sum(u) - exact_sum(overpaid[over]) + int(over.sum()) * self.exact_cost
        return math.ceil(bound / self.step) * self.step if self.step else bound

    def bound_within(
        self, dual: NDArray[np.float64], *, budget: int, priced_at: float
    ) -> Fraction:
        """Lower bound on every selection of at most `budget` candidates, proved by `dual`.

        Let a prototype cost ``priced_at``, which is no less than it does. Then a selection
        costs more by at most `budget` times the difference, the price of the budget. So what
        bounds all selections there, less that, bounds those within the budget here.
        """
        priced = self.at_cost(priced_at)
        price = priced.exact_cost - self.exact_cost
        if price < 0:
            raise ValueError(
                f"priced_at must not be below prototype_cost, {self.prototype_cost!r}, got "
                f"{priced_at!r}"
            )
        bound = priced.exact_bound(dual) - price * budget
        return math.ceil(bound / self.step) * self.step if self.step else bound

    def bound_of_singles(self) -> Fraction | None:
        """Lower bound on selections that cover a point; None if a candidate pays its cost.

        It is the objective of the :attr:`best_single`.
        """
        if len(self.worthwhile) or not self.covers_any:
            return None
        chosen = np.array([self.best_single])
        return self.exact_objective(chosen, first_cover(self, chosen))

    def above_cost(self, amounts: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which amounts exceed the exact cost of a prototype."""
        return is_above(amounts, self.prototype_cost)

    def snap(self, dual: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring a dual vector into the box from 0 to prize and down to the grid."""
        u = np.clip(np.nan_to_num(dual), 0.0, self.prize)
        return np.floor(u / self.grid) * self.grid


def first_cover(problem: CoverProblem, selected: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each point the step at which `selected` first covers it, else ``len(selected)``."""
    steps = np.repeat(np.arange(len(selected)), problem.sizes[selected])
    first = np.full(problem.n_points, len(selected), dtype=np.intp)
    # Written last to first, so that the earliest step is the one that stays.
    first[problem.points_in(selected)[::-1]] = steps[::-1]
    return first
