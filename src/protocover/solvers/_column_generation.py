"""Problems with balls of several radii, solved over the few columns that matter.

Written out, such a problem has ten times more columns than a solution of its linear relaxation
needs. The linear program starts from the columns of both greedies, and its dual prices all balls
at once: of each candidate the ball that is overpaid most is added, until none is. Then a dive
fixes columns of large fractions, prices again and repeats, until nothing fractional is left. A
small gap between the two is closed by HiGHS's branch and cut: on the columns of small reduced
cost for a better selection, on all that reduced-cost fixing leaves for a proof.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem, CoverSolution, first_cover, relative_gap
from .._resources import progress_line
from ._duals import ascend, mend
from ._finish import best_selection, describe
from ._greedy import choose_by_drop, choose_by_ratio
from ._lp import make_packing, scale_of, solve_mip
from ._registry import check_values

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Memberships, written out, up to which a program over all balls is as fast.
_SMALL = 20_000
# Payments beyond the cost, as a share of the largest, that count as overpaid; and fractions
# nearer than this to an integer that count as one.
_OVERPAID, _INTEGRAL = 1e-9, 1e-6
# Memberships kept beyond which there is one dive only: the way back takes as long as columns did.
_LARGE = 300_000
# What HiGHS's bounds and our own sums may be off by, as a share.
_TOLERANCE, _ROUNDING = 1e-6, 1e-9


@dataclass(frozen=True)
class ColumnEffort:
    """How much work a search may take, in counts.

    Parameters
    ----------
    rounds : int
        Linear programs of column generation.
    iterations : int
        Simplex iterations for each row and column of a linear program.
    fixed : tuple of float
        Of each dive, the share of the fractional columns that a step fixes at least.
    near : float
        Reduced cost up to which a column is in the restricted program, in mean prizes.
    columns, memberships : int
        Size up to which the restricted program is solved; by default none is, as no limit of
        nodes bounds the root node.
    nodes : int
        Nodes of its search tree.
    proves : bool
        Whether a proof of optimality is sought.
    """

    rounds: int = 60
    iterations: int = 5
    fixed: tuple[float, ...] = (0.1, 0.05)
    near: float = 0.1
    columns: int = 0
    memberships: int = 30_000
    nodes: int = 20
    proves: bool = False


DIVE = ColumnEffort()
PROOF = ColumnEffort(columns=1500, memberships=100_000, proves=True)


def suits(problem: CoverProblem) -> bool:
    """Whether column generation is the way to solve a problem."""
    return problem.is_nested and problem.core.n_memberships > _SMALL


class Master:
    """The linear program over some of the columns of a problem, solved as a packing.

    Parameters
    ----------
    problem : CoverProblem
        Whose columns are generated.
    columns : ndarray of int
        Those to start with.
    effort : ColumnEffort
        Limits the simplex iterations.

    Attributes
    ----------
    columns : ndarray of int
        Columns generated so far.
    fraction : ndarray of float
        How much of each is selected.
    dual : ndarray of float, shape (n_points,)
        Payments of the points, between 0 and their prizes.
    solved : bool
        Whether that is the optimum over these columns.
    """

    def __init__(self, problem: CoverProblem, columns: Indices, effort: ColumnEffort) -> None:
        self.problem, self.columns = problem, columns
        self._effort = effort
        self._known = np.zeros(problem.n_candidates, dtype=bool)
        self._known[columns] = True
        self._scale = scale_of(problem.cost, problem.prize)
        self._packing = make_packing(problem.members(columns))
        self.dual, self.fraction = np.zeros(problem.n_points), np.zeros(len(columns))
        self.solved = False

    def solve(self, covered: NDArray[np.bool_], deadline: float) -> bool:
        """Solve the program in which some points are covered already; return `solved`."""
        problem, prize = self.problem, np.where(covered, 0.0, self.problem.prize)
        self.solved = False
        if time.monotonic() >= deadline:
            return False
        if len(self.columns) == 0:  # HiGHS would have nothing to do; all points pay all
            self.dual, self.fraction, self.solved = prize, np.empty(0), True
            return True
        limit = self._effort.iterations * (problem.n_points + len(self.columns)) + 1000
        found = self._packing.solve(
            prize / self._scale,
            problem.cost[self.columns] / self._scale,
            iterations=limit,
            deadline=deadline,
        )
        self.dual = np.clip(found.columns * self._scale, 0.0, prize)
        self.fraction = np.clip(found.multipliers, 0.0, 1.0)
        self.solved = found.solved
        return found.solved

    def extend(self) -> bool:
        """Add the most overpaid ball of each candidate; return whether there is any."""
        problem = self.problem
        excess = problem.prize_sums(self.dual) - problem.cost
        excess[self._known] = 0.0
        new = _largest_of_each(problem, excess)
        new = new[excess[new] > _OVERPAID * max(float(problem.prize.max(initial=0.0)), 1e-300)]
        if len(new) == 0:
            return False
        self._known[new] = True
        self.solved = False
        self._packing.extend(problem.members(new))
        self.columns = np.concatenate((self.columns, new))
        return True


def generate_columns(
    problem: CoverProblem,
    start: Indices,
    *,
    effort: ColumnEffort,
    deadline: float = math.inf,
) -> Master:
    """Solve the linear relaxation over all balls by adding those that its dual overpays.

    Parameters
    ----------
    problem : CoverProblem
        With worthwhile candidates only.
    start : ndarray of int
        Columns of good selections.
    effort : ColumnEffort
        Limits of rounds and iterations; the dual is a bound after any, once repaired.
    deadline : float, default=inf
        Time on the monotonic clock when no further round is begun.
    """
    master = Master(problem, start, effort)
    nothing = np.zeros(problem.n_points, dtype=bool)
    for _ in range(effort.rounds):
        if not master.solve(nothing, deadline) or not master.extend():
            break
    return master


def dive(
    master: Master, share: float, *, effort: ColumnEffort, deadline: float = math.inf
) -> Indices:
    """Fix columns of large fraction and solve again, until no fraction is left.

    Each step fixes the columns at 1 and a `share` of the fractional ones, and adds columns that
    the next dual overpays. What limits leave undone the greedy completes.
    """
    problem, chosen = master.problem, np.empty(0, dtype=np.intp)
    covered = np.zeros(problem.n_points, dtype=bool)
    for _ in range(effort.rounds if master.solve(covered, deadline) else 0):
        order = np.argsort(-master.fraction, kind="stable")
        falling = master.fraction[order]
        n_full = int(np.count_nonzero(falling >= 1.0 - _INTEGRAL))
        n_fractional = int(np.count_nonzero(falling > _INTEGRAL)) - n_full
        n_more = math.ceil(share * n_fractional)
        fixed = master.columns[order[: n_full + n_more]]
        chosen = np.concatenate((chosen, fixed))
        covered[problem.points_in(fixed)] = True
        if n_fractional == 0 or not master.solve(covered, deadline):
            break
        if master.extend() and not master.solve(covered, deadline):
            break
    rest = choose_by_drop(problem, covered=covered)[0]
    return without_redundant(problem, np.union1d(chosen, rest))


def without_redundant(problem: CoverProblem, selected: Indices) -> Indices:
    """Leave out candidates whose own points are worth no more than they cost, dearest first."""
    times = np.bincount(problem.points_in(selected), minlength=problem.n_points)
    cost, kept = problem.cost, []
    for column in selected[np.argsort(-cost[selected], kind="stable")].tolist():
        ball = problem.ball(column)
        if float(problem.prize[ball[times[ball] == 1]].sum()) > cost[column]:
            kept.append(column)
        else:
            times[ball] -= 1
    return np.sort(np.array(kept, dtype=np.intp))


@dataclass(eq=False)
class ColumnSearch:
    """Column generation at work on one problem.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    effort : ColumnEffort
        Limits of all stages.
    max_nodes : int or None
        Nodes of the search tree of a proof.
    gap : float, default=0.0
        Share of the objective that may be left open.
    verbose : int, default=0
        Above 0 a line that shows bound and best; above 1 HiGHS's log too.
    """

    problem: CoverProblem
    effort: ColumnEffort = field(default_factory=ColumnEffort)
    max_nodes: int | None = None
    gap: float = 0.0
    verbose: int = 0

    def __post_init__(self) -> None:
        check_values(max_nodes=self.max_nodes, gap=self.gap, verbose=self.verbose)
        self._dual: Floats | None = None
        self._claim: Fraction | None = None
        self._is_late = self._is_closed = self.is_finished = False

    def go_on(self, seconds: float | None = None) -> None:
        """Search for at most so many seconds, without a limit if None."""
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds
        with progress_line(self.verbose) as write:
            if self._dual is None:
                self._begin()
                write(f"dive: {self._described}")
                self._improve()
                write(f"restricted program: {self._described}")
            if self.effort.proves and self.open_share > self.gap:
                self._is_closed = False
                self._prove()
        self._is_closed &= self.effort.proves
        is_open = self.open_share > self.gap and not self._is_closed
        self._is_late = is_open and self._seconds == 0.0
        self.is_finished = not (self._is_late and self.effort.proves)

    @property
    def objective(self) -> float:
        """Objective of the best selection so far."""
        return float(self._value)

    @property
    def lower_bound(self) -> float:
        """No selection has a smaller objective, as far as is known."""
        return float(self._bound)

    @property
    def open_share(self) -> float:
        """Largest share of the objective that a better selection could save."""
        return math.inf if self._dual is None else relative_gap(self.objective, self.lower_bound)

    def solution(self) -> CoverSolution:
        """Describe the best selection so far and what is proved of it."""
        found = describe(self.problem, self._selected, dual=self._dual, claim=self._claim)
        return replace(found, status=self._status(found))

    def _begin(self) -> None:
        """Generate columns and dive; not worse than either greedy."""
        problem = self.problem.core
        known = [choose_by_drop(problem)[0], choose_by_ratio(problem)[0]]
        start = np.union1d(*known)
        master = generate_columns(problem, start, effort=self.effort, deadline=self._deadline)
        duals = [mend(problem, master.dual)]
        if not master.solved:
            duals.append(ascend(problem))
        self._dual = max(duals, key=problem.exact_bound)
        self._proved = problem.exact_bound(self._dual)
        self._take(self.problem.worthwhile[best_selection(problem, known)])
        n_dives = 1 if problem.parts.nnz > _LARGE and not self.effort.proves else None
        for share in self.effort.fixed[:n_dives]:
            if self.open_share > self.gap and self._seconds > 0.0:
                found = dive(master, share, effort=self.effort, deadline=self._deadline)
                self._improve_to(self.problem.worthwhile[found])

    def _improve(self) -> None:
        """Solve the restricted program over the columns of small reduced cost."""
        problem, effort = self.problem.core, self.effort
        if self.open_share <= self.gap or self._seconds == 0.0:
            return
        slack = problem.cost - problem.prize_sums(self._dual)
        near = effort.near * float(problem.prize.mean())
        columns = np.flatnonzero(slack <= min(near, self._room(slack)))
        columns = columns[np.argsort(slack[columns], kind="stable")]
        fits = np.cumsum(problem.sizes[columns]) <= effort.memberships
        columns = np.sort(columns[fits])
        if 0 < len(columns) <= effort.columns:
            self._solve_over(columns, effort.nodes)

    def _prove(self) -> None:
        """Solve the program over the columns that reduced-cost fixing leaves."""
        problem = self.problem.core
        if self._seconds == 0.0:
            return
        slack = problem.cost - problem.prize_sums(self._dual)
        bound = self._solve_over(np.flatnonzero(slack <= self._room(slack)), self.max_nodes)
        # What was left out is not below the incumbent by more than the gap.
        highest = self._value * (1 - Fraction(self.gap))
        self._claim = max(self._bound, min(self._rounded(bound), self._next_step(highest)))

    def _solve_over(self, columns: Indices, nodes: int | None) -> float:
        """Solve the program over some columns, keep a better selection, and return its bound."""
        problem, seconds = self.problem.core, self._seconds
        found = solve_mip(
            problem.members(columns),
            problem.cost[columns],
            problem.prize,
            max_nodes=nodes,
            time_limit=None if math.isinf(seconds) else seconds,
            verbose=self.verbose > 1,
        )
        if found.selected is not None:
            selected = without_redundant(problem, columns[found.selected])
            self._improve_to(self.problem.worthwhile[selected])
        self._is_closed = found.status == "optimal"
        return found.bound

    def _improve_to(self, selected: Indices) -> None:
        """Take a selection if it is better than the best one so far."""
        self._take(best_selection(self.problem, (self._selected, selected)))

    def _take(self, selected: Indices) -> None:
        """Make a selection the best one so far."""
        self._selected = selected
        first = first_cover(self.problem, selected)
        self._value = self.problem.exact_objective(selected, first)

    def _room(self, slack: Floats) -> float:
        """Return the reduced cost up to which a column may be in anything worth looking for."""
        assert self._dual is not None
        step = float(self.problem.step)
        paid = float(self._dual.sum()) + float(np.minimum(slack, 0.0).sum())
        target = min(self.objective - step, self.objective * (1.0 - self.gap))
        return target - paid + _ROUNDING * (self.objective + 1.0)

    def _rounded(self, bound: float) -> Fraction:
        """Return a bound that HiGHS claims less what it may be off by, rounded up to a step."""
        return self._next_step(Fraction(bound - _TOLERANCE * (abs(bound) + 1.0)))

    def _next_step(self, amount: Fraction) -> Fraction:
        """Round up to the next objective there can be."""
        step = self.problem.step
        return math.ceil(amount / step) * step if step else amount

    @property
    def _bound(self) -> Fraction:
        """Best bound known, proved or claimed."""
        return self._proved if self._claim is None else max(self._proved, self._claim)

    @property
    def _seconds(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._deadline - time.monotonic())

    @property
    def _described(self) -> str:
        """Best and bound, for the progress line."""
        return f"best {self.objective:.6g}, bound {self.lower_bound:.6g}"

    def _status(self, found: CoverSolution) -> str:
        """Say how the search ended."""
        if found.is_optimal:
            return "optimal"
        if self._is_late:
            return "time limit"
        if not self.effort.proves:
            return "bounded"
        if self._is_closed:
            return "gap reached" if self.gap > 0.0 else "optimal up to rounding"
        return "gap reached" if self.open_share <= self.gap else "node limit"


def _largest_of_each(problem: CoverProblem, amounts: Floats) -> Indices:
    """Return the ball of the largest amount of each candidate, the first of equals."""
    if problem.first is None:
        return np.arange(problem.n_candidates)
    if len(amounts) == 0:
        return np.empty(0, dtype=np.intp)
    starts = np.unique(problem.first)
    largest = np.maximum.reduceat(amounts, starts)
    sizes = np.diff(np.append(starts, problem.n_candidates))
    hit = np.flatnonzero(amounts == np.repeat(largest, sizes))
    owner = problem.first[hit]
    return np.asarray(hit[np.append(True, owner[1:] != owner[:-1])])
