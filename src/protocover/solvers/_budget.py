"""At most k prototypes, of one problem or several: prices, prefixes, swaps and branch and bound.

A limit is relaxed with a multiplier, which raises the cost of a prototype to a price. The least
objective at that price, less k times the multiplier, bounds every selection of at most k
prototypes. The best bound is at the price at which a selection with too many prototypes and one
within the limit are equally good.

Every selection found along the way is an order, each prefix of which is a candidate for the
budget. For large problems a subgradient method replaces the linear programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import block_diag, csc_array

from .._cover import (
    CoverProblem,
    CoverSolution,
    Limit,
    SharedBound,
    common_step,
    first_cover,
    judge,
    rounded_up,
)
from .._typing import Floats, Indices
from ._branch_and_bound import TRIALS, BranchAndBound
from ._duals import ascend
from ._finish import best_selection, describe
from ._greedy import choose_by_drop
from ._local_search import improve_at_size
from ._multipliers import Look, find_multipliers
from ._residual import Residual

Order = tuple[Indices, Floats]
# Solves problems at a changed cost of a prototype.
SolveAt = Callable[[Sequence[CoverProblem]], Sequence[CoverSolution]]
# Selections, and a bound on the sum of objectives within the limit, None if there is none.
Bounded = tuple[list[Indices], Fraction | None]
# Solutions, and what is stated about them together.
Joint = tuple[list[CoverSolution], SharedBound]

# Prices tried at most (the search usually ends before), and prices that would overflow.
_MOST_PRICES, _LARGEST_PRICE = 24, 2**1000
# Fraction of the remaining time that one price may take.
_SHARE = 0.25
# Perturbations without success in large problems, and their fixed seed.
_PATIENCE, SEED = 200, 0
# Mean fractions of the subgradient method above which a candidate is chosen and considered.
_CHOSEN, CONSIDERED = 0.5, 0.02
# Integers up to here, and differences of their sums, are exact as floats.
LARGEST = 2**50
# Relative rounding error that no sum exceeds.
_ROUNDING = 1e-9


class TimeLeft:
    """A time limit that is divided among prices and branch and bound."""

    def __init__(self, time_limit: float | None) -> None:
        self.deadline = math.inf if time_limit is None else time.monotonic() + time_limit

    def any(self) -> bool:
        """Whether there is time left."""
        return time.monotonic() < self.deadline

    def share(self) -> float | None:
        """Return the seconds for one price; None if there is no limit."""
        left = max(0.0, self.deadline - time.monotonic())
        return None if math.isinf(self.deadline) else _SHARE * left


class Point(NamedTuple):
    """What a selection uses of a limit (prototypes or cost), and its value without that."""

    used: Fraction | int
    value: Fraction

    def at(self, multiplier: Fraction) -> Fraction:
        """Return the value in the relaxed problem."""
        return self.value + multiplier * self.used


def search_multipliers(
    little: Point,
    much: Point,
    solve: Callable[[Fraction], Point],
    *,
    is_little: Callable[[Point], bool],
    in_time: Callable[[], bool],
) -> None:
    """Solve the relaxed problem at the multiplier at which two selections are equally good.

    `little` uses less than `much` and has a larger value. The new selection replaces one of
    them, until it is not better than they are.
    """
    for _ in range(_MOST_PRICES):
        if little.used >= much.used:
            return
        multiplier = (little.value - much.value) / (much.used - little.used)
        if not 0 < multiplier < _LARGEST_PRICE or not in_time():
            return
        new = solve(multiplier)
        if new.at(multiplier) >= much.at(multiplier):
            return
        little, much = (new, much) if is_little(new) else (little, new)


# One problem or several within a budget.


@dataclass(frozen=True, eq=False)
class Trial:
    """Solutions of all problems with one cost of a prototype.

    Parameters
    ----------
    price : float
        That cost.
    multiplier : Fraction
        What it exceeds ``prototype_cost`` by.
    solutions : sequence of CoverSolution
        One for each problem at that cost.
    point : Point
        Their number of prototypes and their objective at the original cost.
    proved, claimed : Fraction or None
        Bounds on the objective within the budget: the one that the dual vectors prove, and the
        one if solutions that a solver calls optimal are; None if there is none.
    """

    price: float
    multiplier: Fraction
    solutions: Sequence[CoverSolution]
    point: Point
    proved: Fraction | None
    claimed: Fraction | None

    @classmethod
    def at(
        cls, problems: Sequence[CoverProblem], price: float, solve: SolveAt, budget: int
    ) -> Trial:
        """Solve all problems with the cost of a prototype raised to `price`."""
        relaxed = [problem.at_cost(price) for problem in problems]
        solutions = solve(relaxed)
        multiplier = relaxed[0].exact_cost - problems[0].exact_cost
        proved, claimed = [], []
        for problem, solution in zip(relaxed, solutions, strict=True):
            proved.append(None if solution.dual is None else problem.exact_bound(solution.dual))
            optimal = _value(problem, solution.selected) if solution.is_optimal else None
            claimed.append(proved[-1] if optimal is None else optimal)
        return cls(
            price=price,
            multiplier=multiplier,
            solutions=solutions,
            point=_point(problems, [solution.selected for solution in solutions]),
            proved=_within(proved, multiplier, budget),
            claimed=_within(claimed, multiplier, budget),
        )


def solve_within(
    problems: Sequence[CoverProblem],
    solve: SolveAt,
    budget: int,
    *,
    close: Closing | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Joint:
    """Choose at most `budget` candidates of all problems together.

    Never worse than the first `budget` choices of the paper's greedy. The problems have one
    cost of a prototype, and `solve` solves them at any other without a budget. `close` may
    close the gap that prices leave, and `in_time` tells whether to try another price.
    """
    orders = [[choose_by_drop(problem, budget)[0]] for problem in problems]
    first = _share(problems, orders, budget)
    trials = [Trial.at(problems, problems[0].prototype_cost, solve, budget)]
    unlimited = trials[0].point
    if unlimited.used <= budget and unlimited.value <= total_value(problems, first):
        solutions = list(trials[0].solutions)
        joint = shared_bound(problems, solutions, budget, trials[0].proved, trials[0].claimed)
        return solutions, joint
    if unlimited.used > budget:

        def solve_at(multiplier: Fraction) -> Point:
            price = float(problems[0].exact_cost + multiplier)
            trials.append(Trial.at(problems, price, solve, budget))
            return trials[-1].point

        search_multipliers(
            _point(problems, first),
            unlimited,
            solve_at,
            is_little=lambda point: point.used <= budget,
            in_time=lambda: len(trials) < _MOST_PRICES and in_time(),
        )
    for trial in trials:
        for problem, known, solution in zip(problems, orders, trial.solutions, strict=True):
            known.append(_filled(problem, solution, budget))
    best = _share(problems, orders, budget)
    trial = max(trials, key=lambda one: _rounded_bound(problems, one.claimed))
    bound = trial.claimed
    if close is not None and _rounded_bound(problems, bound) < total_value(problems, best):
        best, bound = close(problems, trial, budget, best)
    return _described(problems, trial, budget, best, bound)


def solve_alone(
    problem: CoverProblem,
    solver: Callable[..., CoverSolution],
    budget: int,
    *,
    time_limit: float | None = None,
    close: Callable[..., Any] | None = None,
) -> CoverSolution:
    """Solve one problem with at most `budget` prototypes, by a solver with a ``time_limit``."""
    left = TimeLeft(time_limit)

    def solve(relaxed: Sequence[CoverProblem]) -> list[CoverSolution]:
        return [solver(one, time_limit=left.share()) for one in relaxed]

    close = None if close is None else partial(close, deadline=left.deadline)
    return solve_within([problem], solve, budget, close=close, in_time=left.any)[0][0]


def keep_first(
    problems: Sequence[CoverProblem], orders: Sequence[Order], budget: int, *, bound: bool = True
) -> Joint:
    """Keep the first `budget` choices, by score, of greedy orders of all problems together.

    Each order should have one choice more than `budget`. The score of the first choice that is
    not kept is the price at which the greedy would have stopped there; dual ascent at that
    price gives the bound, if `bound`.
    """
    problem_of = np.repeat(np.arange(len(orders)), [len(chosen) for chosen, _ in orders])
    score = np.concatenate([value for _, value in orders])
    by_score = np.argsort(-score, kind="stable")
    problem_of, score = problem_of[by_score], score[by_score]
    sizes = np.bincount(problem_of[:budget], minlength=len(problems)).tolist()
    is_cut, prices = len(score) > budget, {problems[0].prototype_cost}
    if is_cut:  # between the last score that is kept and the first that is not
        prices = {float(drop) for drop in score[max(budget - 1, 0) : budget + 1]}
    tried = [Trial.at(problems, price, _ascended, budget) for price in sorted(prices) if bound]
    best = max(tried, key=lambda one: one.proved or 0, default=None)
    alone, solutions = len(problems) == 1, []
    for number, (problem, (chosen, value)) in enumerate(zip(problems, orders, strict=True)):
        n_kept = sizes[number]
        limited = is_cut and best is not None
        solution = CoverSolution.of(
            problem,
            chosen[:n_kept],
            score=value[:n_kept],
            dual=None if best is None else best.solutions[number].dual,
            limit=Limit(at_most=(budget if alone else n_kept) if limited else None),
            price=best.price if limited and best is not None else None,
        )
        solutions.append(solution)
    proved = None if best is None else best.proved
    proved = None if proved is None else _rounded_bound(problems, proved)
    return solutions, shared_bound(problems, solutions, budget, proved, None)


def shared_bound(
    problems: Sequence[CoverProblem],
    solutions: Sequence[CoverSolution],
    budget: int,
    proved: Fraction | None,
    claim: Fraction | None,
) -> SharedBound:
    """State a bound on the sum of the objectives of at most `budget` candidates."""
    objective = total_value(problems, [solution.selected for solution in solutions])
    bound, certificate = judge(objective, proved, claim)
    return SharedBound(Limit(at_most=budget), float(objective), bound, certificate)


def total_value(problems: Sequence[CoverProblem], selections: Sequence[Indices]) -> Fraction:
    """Return the exact sum of the objectives of selections."""
    return sum(map(_value, problems, selections), Fraction(0))


def _value(problem: CoverProblem, selected: Indices) -> Fraction:
    """Return the exact objective of a selection."""
    return problem.exact_objective(selected, first_cover(problem, selected))


def _point(problems: Sequence[CoverProblem], selections: Sequence[Indices]) -> Point:
    """Return number and objective of selections."""
    return Point(sum(map(len, selections)), total_value(problems, selections))


def _within(
    bounds: Sequence[Fraction | None], multiplier: Fraction, budget: int
) -> Fraction | None:
    """Return the bound within the budget from those of the relaxed problems."""
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return None
    return sum(known, Fraction(0)) - multiplier * budget


def _step(problems: Sequence[CoverProblem]) -> Fraction:
    """Return a number of which all sums of objectives are multiples; 0 if none is known."""
    steps = [problem.step for problem in problems]
    return common_step(steps) if all(steps) else Fraction(0)


def _rounded_bound(problems: Sequence[CoverProblem], bound: Fraction | None) -> Fraction:
    """Round a bound up to a possible value; -1 if there is none."""
    return Fraction(-1) if bound is None else rounded_up(bound, _step(problems))


def _ascended(problems: Sequence[CoverProblem]) -> list[CoverSolution]:
    """Return empty selections with the bound of dual ascent."""
    return [CoverSolution.of(one, [], dual=ascend(one)) for one in problems]


def _filled(problem: CoverProblem, solution: CoverSolution, budget: int) -> Indices:
    """Return a solution as an order, filled up greedily to `budget` choices."""
    chosen = solution.selected
    if len(chosen) >= budget:
        return chosen
    covered = first_cover(problem, chosen) < len(chosen)
    more = choose_by_drop(problem, budget - len(chosen), covered=covered)[0]
    return np.concatenate((chosen, more))


def _described(
    problems: Sequence[CoverProblem],
    trial: Trial,
    budget: int,
    selections: Sequence[Indices],
    bound: Fraction | None,
) -> Joint:
    """Describe the selections and their bounds, alone and together."""
    alone, solutions = len(problems) == 1, []
    claim = None if bound is None else _rounded_bound(problems, bound)
    for problem, chosen, found in zip(problems, selections, trial.solutions, strict=True):
        solution = describe(
            problem,
            chosen,
            dual=found.dual,
            claim=claim if alone else None,
            limit=Limit(at_most=budget if alone else len(chosen)),
            price=trial.price,
        )
        solutions.append(replace(solution, status=f"best of {budget}"))
    proved = None if trial.proved is None else _rounded_bound(problems, trial.proved)
    return solutions, shared_bound(problems, solutions, budget, proved, claim)


# The best selection known of every size.


def _share(
    problems: Sequence[CoverProblem], orders: Sequence[Iterable[Indices]], budget: int
) -> list[Indices]:
    """Return the prefixes of known orders that together cost least within the budget.

    At equal size the cost of prototypes is the same, so weights are compared; these are sums on
    a grid, and exact. Ties are broken in favour of fewer prototypes.
    """
    total, shares, best = np.zeros(1), [], []
    for problem, known in zip(problems, orders, strict=True):
        weight, order = _best_of_each_size(problem, known, budget)
        total, share = _shared_out(total, weight, budget)
        shares.append(share)
        best.append(order)
    cost = problems[0].exact_cost
    sizes = np.flatnonzero(np.isfinite(total)).tolist()
    size = min(sizes, key=lambda n: (Fraction(float(total[n])) + n * cost, n))
    selections = []
    for order, share in zip(reversed(best), reversed(shares), strict=True):
        selections.append(order[share[size]][: share[size]])
        size -= int(share[size])
    return selections[::-1]


def _best_of_each_size(
    problem: CoverProblem, orders: Iterable[Indices], budget: int
) -> tuple[Floats, list[Indices]]:
    """Return the least weight of a prefix of each size, and the order that it is a prefix of."""
    weight = np.full(min(budget, problem.n_candidates) + 1, np.inf)
    best: list[Indices] = [np.empty(0, dtype=np.intp)] * len(weight)
    for order in orders:
        kept = order[: len(weight) - 1]
        first = first_cover(problem, kept)
        covered = first < len(kept)
        won = np.bincount(first[covered], problem.prize[covered], minlength=len(kept))
        change = np.concatenate(([0.0], np.cumsum(problem.wrong[kept] - won)))
        found = np.asarray(problem.prize.sum() + change)
        for size in np.flatnonzero(found < weight[: len(found)]).tolist():
            weight[size], best[size] = found[size], kept
    return weight, best


def _shared_out(total: Floats, weight: Floats, budget: int) -> tuple[Floats, Indices]:
    """Return the least weights with one more problem, and its part of each total size."""
    n_sizes = min(budget, len(total) + len(weight) - 2) + 1
    joined, share = np.full(n_sizes, np.inf), np.zeros(n_sizes, dtype=np.intp)
    for size in np.flatnonzero(np.isfinite(weight[:n_sizes])).tolist():
        reached = total[: n_sizes - size] + weight[size]
        better = np.flatnonzero(reached < joined[size : size + len(reached)])
        joined[size + better] = reached[better]
        share[size + better] = size
    return joined, share


# Branch and bound.


class Closing(Protocol):
    """Closes the gap that prices leave, or a part of it."""

    def __call__(
        self, problems: Sequence[CoverProblem], trial: Trial, budget: int, best: list[Indices]
    ) -> Bounded: ...


def close_by_tree(
    problems: Sequence[CoverProblem],
    trial: Trial,
    budget: int,
    best: list[Indices],
    *,
    deadline: float = math.inf,
    max_nodes: float = math.inf,
    largest: float = math.inf,
    trials: tuple[int, int] = TRIALS,
    verbose: int = 0,
) -> Bounded:
    """Search for better selections by branch and bound, or prove that there are none.

    Candidates are fixed first, by reduced cost at the price of the trial. Nothing is done if
    more than `largest` memberships are left.
    """
    known, step, value = trial.claimed, _step(problems), total_value(problems, best)
    most = sum(float(problem.prize.sum()) for problem in problems)
    if not step or known is None or most > step * LARGEST or time.monotonic() >= deadline:
        return best, known
    kept = list(_possible(problems, trial, budget, float(value - step)))
    if sum(map(n_kept_memberships, problems, kept)) > largest:
        return best, known
    root = join_residuals(problems, kept, step)
    tree = BranchAndBound(
        root,
        float(value / step) - 1.0,
        trials=trials,
        verbose=verbose,
        weight=np.ones(root.cover.shape[1]),
        capacity=float(budget),
    )
    tree.grow(deadline=deadline, max_nodes=max_nodes)
    bound = known if math.isinf(tree.bound) else max(known, Fraction(tree.bound) * step)
    if tree.columns is None:
        return best, bound
    ends = np.cumsum([len(one) for one in kept])
    chosen = np.zeros(ends[-1], dtype=bool)
    chosen[root.candidates[tree.columns]] = True
    parts = zip(kept, np.split(chosen, ends[:-1]), strict=True)
    return [one[part] for one, part in parts], bound


def _possible(
    problems: Sequence[CoverProblem], trial: Trial, budget: int, target: float
) -> Iterator[Indices]:
    """Yield the candidates of each problem that selections of value `target` may contain."""
    slacks, bound = [], -float(trial.multiplier) * budget
    for problem, solution in zip(problems, trial.solutions, strict=True):
        useful = problem.worthwhile
        u = problem.snap(np.zeros(problem.n_points) if solution.dual is None else solution.dual)
        slack = problem.wrong[useful] + trial.price - problem.prize_sums(u)[useful]
        bound += float(u.sum() + np.minimum(slack, 0.0).sum())
        slacks.append(slack)
    most = with_rounding(target - bound, abs(target) + abs(bound))
    for problem, slack in zip(problems, slacks, strict=True):
        yield problem.worthwhile[slack <= most]


def with_rounding(missing: float, size: float) -> float:
    """Return the reduced cost that is possible, with what rounding may have added to it."""
    return missing + _ROUNDING * (size + 1.0)


def join_residuals(
    problems: Sequence[CoverProblem], kept: Sequence[Indices], step: Fraction
) -> Residual:
    """Return the block diagonal problem of the candidates kept, in steps of the objective."""
    pairs = list(zip(problems, kept, strict=True))
    cover = csc_array(block_diag([problem.members(columns) for problem, columns in pairs]))
    wrong = np.concatenate([problem.wrong[columns] for problem, columns in pairs])
    prize = in_steps(np.concatenate([problem.prize for problem in problems]), step)
    n_rows, n_columns = cover.shape
    whole = Residual(
        cover=cover.astype(bool),
        cost=in_steps(wrong, step) + float(problems[0].exact_cost / step),
        prize=prize,
        candidates=np.arange(n_columns),
        rows=np.arange(n_rows),
        share=np.zeros(n_rows),
        taken=np.empty(0, dtype=np.intp),
        constant=0.0,
        unit=step,
        ties=1,
        exact=True,
    )
    held = np.bincount(cover.indices, minlength=n_rows) > 0
    return replace(whole.keep_rows(held), constant=float(prize[~held].sum()))


def n_kept_memberships(problem: CoverProblem, kept: Indices) -> int:
    """Return the number of memberships of the candidates kept."""
    return int(problem.sizes[kept].sum())


def in_steps(amounts: Floats, step: Fraction) -> Floats:
    """Return amounts as integer numbers of steps."""
    return np.round(amounts / float(step))


# Large problems.


def best_of_large(
    problem: CoverProblem, budget: int, *, time_limit: float | None = None
) -> CoverSolution:
    """Choose at most `budget` candidates; never worse than a prefix of the paper's greedy.

    The mean of the selections of a subgradient method is close to the solution of the linear
    program. It is rounded, completed among the candidates in it, and improved by swaps.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    first = choose_by_drop(problem, budget)[0]
    question = _Budget(budget, problem.objective(first))
    found = find_multipliers(problem, question, initial_dual(problem, first), deadline=deadline)
    support = np.union1d(np.flatnonzero(found.fraction > CONSIDERED), first)
    part = plain_part(problem, support)
    chosen = improve_at_size(
        part,
        rounded_order(part, found.fraction[support])[:budget],
        np.random.default_rng(SEED),
        patience=_PATIENCE,
        deadline=deadline,
    )
    solution = describe(
        problem,
        best_selection(problem, (first, support[chosen])),
        dual=found.dual,
        limit=Limit(at_most=budget),
        price=problem.prototype_cost + question.price(found.gains),
    )
    return replace(solution, status=f"best of {budget}")


@dataclass(frozen=True)
class _Budget:
    """The objective of at most `number` candidates, known to be at most `reached`."""

    number: int
    reached: float

    def look(self, paid: float, gains: Floats, best: float) -> Look:
        """Score a dual vector by the bound that it proves."""
        order = np.argsort(-gains, kind="stable")[: self.number]
        taken = order[gains[order] > 0.0]
        bound = paid - float(gains[taken].sum())
        return Look(bound, taken, (self.reached + max(bound, best)) / 2.0 - bound)

    def price(self, gains: Floats) -> float:
        """Return the multiplier at which as many candidates gain as are allowed."""
        if self.number == 0 or len(gains) <= self.number:
            return 0.0 if self.number else max(float(gains.max(initial=0.0)), 0.0)
        return max(float(np.partition(gains, -self.number)[-self.number]), 0.0)


def initial_dual(problem: CoverProblem, selected: Indices) -> Floats:
    """Return a dual vector in which each choice receives what the one with the least can."""
    first = first_cover(problem, selected)
    won = np.bincount(first, problem.prize, minlength=len(selected) + 1)[:-1]
    won = np.maximum(won, problem.prize.max(initial=0.0))
    share = np.append(won.min(initial=math.inf) / won, 1.0)
    return np.asarray(np.minimum(share, 1.0)[first] * problem.prize)


def plain_part(problem: CoverProblem, support: Indices) -> CoverProblem:
    """Return the problem of the candidates in `support`, without chains."""
    return CoverProblem(
        problem.members(support), problem.wrong[support], problem.prize, problem.prototype_cost
    )


def rounded_order(part: CoverProblem, fraction: Floats) -> Indices:
    """Return the candidates with large fractions, then others, each by decrease."""
    sure = np.flatnonzero(fraction > _CHOSEN)
    sure = sure[choose_by_drop(part.narrowed(sure))[0]]
    covered = first_cover(part, sure) < len(sure)
    return np.concatenate((sure, choose_by_drop(part, covered=covered)[0]))
