"""A cover without labels: the fewest representatives, the best so many, or enough of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from .._cover import (
    CoverProblem,
    CoverSolution,
    Limit,
    decimal_fractions,
    exact_sum,
    may_stay_uncovered,
    simplest_fraction,
)
from ..solvers import auto, exact
from ..solvers._budget import TimeLeft
from ..solvers._coverage import (
    Incumbent,
    cover_by_tree,
    cover_large,
    search_coverage_prices,
    solve_coverage,
)
from ..solvers._greedy import choose_by_drop
from ..solvers._registry import Solver, ask_solver, unwrapped
from ..solvers._search import cover_small, is_large

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class CoverTarget:
    """What is asked of a cover: exactly one of a number, a share, or a trade at a cost."""

    # What a representative costs in weight left uncovered; that of a candidate is so many times
    # its own price
    cost: float
    number: int | None = None  # Choose at most this number
    coverage: float | None = None  # Cover so large a share of the weight with as few as possible


@dataclass(frozen=True, eq=False)
class Chosen:
    """Representatives, and what is known of them."""

    columns: Indices  # The candidates chosen: first those that had to be, then by what each adds
    # What was made small, and what no other choice goes below
    objective: float
    lower_bound: float
    # What is chosen beside those that had to be, its candidates numbered among the others, and the
    # vector that proves its bound. With a demanded coverage the objective is what it costs, and
    # `price` the weight that a unit of that is worth to the vector.
    solution: CoverSolution

    def numbered(self, number: Indices) -> CoverSolution:
        """Return the solution with its candidates by their `number`, given that of each column."""
        n_forced = len(self.columns) - len(self.solution.selected)
        return replace(self.solution, selected=number[self.columns[n_forced:]])


def choose_cover(
    balls: csr_array,
    weights: Floats,
    target: CoverTarget,
    solver: Solver,
    *,
    price: Floats | None = None,
    forced: Indices | None = None,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> Chosen:
    """Choose candidates whose neighbourhoods cover the samples as the target demands.

    `balls` has shape (n_samples, n_candidates) and the weights are on a grid on which sums are
    exact. `price` is a factor on the cost of each candidate, None for 1; `forced` are candidates
    that are chosen whatever they cost. `options` are those of the solver.
    """
    kept = np.empty(0, dtype=np.intp) if forced is None else forced
    residual = ResidualProblem.of(balls, weights, price, kept)
    del balls  # where nobody else holds it, the solver has its memory
    if target.coverage is not None:
        return _enough(
            residual, target.coverage, weights, solver, cost=target.cost, rng=rng, options=options
        )
    problem = residual.problem(target.cost)
    budget = None if target.number is None else target.number - len(kept)
    solution = ask_solver(solver, problem, rng=rng, max_prototypes=budget, options=options)
    return residual.chosen(solution, target.cost)


@dataclass(frozen=True, eq=False)
class ResidualProblem:
    """What is left to do once some candidates are chosen."""

    cover: csc_array  # Samples that those do not cover by the other candidates
    columns: Indices  # These candidates' columns in the whole
    weight: Floats  # Of these samples
    price: Floats | None  # Of these candidates
    forced: Indices  # The candidates that are chosen already
    paid: Fraction  # Sum of their prices

    @classmethod
    def of(
        cls, balls: csr_array, weights: Floats, price: Floats | None, forced: Indices
    ) -> ResidualProblem:
        """Leave out what is chosen and covered."""
        columns = np.setdiff1d(np.arange(balls.shape[1]), forced)
        if len(forced) == 0:
            return cls(balls.tocsc(), columns, weights, price, forced, Fraction(0))
        covered = np.asarray(balls[:, forced].sum(axis=1)).ravel() > 0
        return cls(
            cover=balls[~covered].tocsc()[:, columns],
            columns=columns,
            weight=weights[~covered],
            price=None if price is None else price[columns],
            forced=forced,
            paid=Fraction(len(forced))
            if price is None
            else sum(decimal_fractions(price[forced]), Fraction(0)),
        )

    def problem(self, cost: float) -> CoverProblem:
        """Return the problem of which candidates are worth what they cost."""
        nothing = np.zeros(self.cover.shape[1])
        if self.price is None:
            return CoverProblem(self.cover, nothing, self.weight, cost)
        grid = CoverProblem(self.cover, nothing, self.weight, 0.0).grid
        # What costs more than all samples weigh is never chosen, however much more that is.
        most = 2.0 * float(self.weight.sum()) + grid
        with np.errstate(over="ignore"):
            price = np.minimum(cost * self.price, most)
        return CoverProblem(self.cover, np.round(price / grid) * grid, self.weight, 0.0)

    def coverage(self, coverage: float, weights: Floats) -> tuple[CoverProblem, Limit]:
        """Return the problem of covering a fraction of the weight of all samples, and its limit.

        Nothing may stay uncovered if less than the smallest weight may.
        """
        allowed = may_stay_uncovered(weights, simplest_fraction(float(coverage)))
        positive = self.weight[self.weight > 0.0]
        if len(positive) and allowed < Fraction(float(positive.min())):
            allowed = Fraction(0)
        n = self.cover.shape[1]
        cost, each = (np.zeros(n), 1.0) if self.price is None else (self.price, 0.0)
        return CoverProblem(self.cover, cost, self.weight, each), Limit(uncovered=allowed)

    def chosen(self, solution: CoverSolution, cost: float | None) -> Chosen:
        """Add the candidates that were forced, at `cost`, to those of a solution.

        None for an objective that is their number or the sum of their prices.
        """
        paid = self.paid if cost is None else simplest_fraction(cost) * self.paid
        return Chosen(
            columns=np.concatenate((self.forced, self.columns[solution.selected])),
            objective=float(Fraction(solution.objective) + paid),
            lower_bound=solution.lower_bound + float(paid),
            solution=solution,
        )


def _enough(
    residual: ResidualProblem,
    coverage: float,
    weights: Floats,
    solver: Solver,
    *,
    cost: float,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> Chosen:
    """Choose as few candidates, or as cheap ones, as cover a fraction of the weight."""
    problem, limit = residual.coverage(coverage, weights)
    left = TimeLeft(options.get("time_limit"))

    def solve(relaxed: CoverProblem) -> CoverSolution:
        share = left.share()
        limited = {} if share is None else {"time_limit": share}
        return ask_solver(solver, relaxed, rng=rng, options={**options, **limited})

    if is_complete(problem, limit, cost):
        solution = ask_solver(solver, residual.problem(cost), rng=rng, options=options)
        found = as_complete(problem, limit, cost, solution)
        if found is not None:
            return residual.chosen(describe_enough(problem, limit, found), None)
    function = unwrapped(solver)
    closings: dict[Any, Callable[..., Incumbent]] = {exact: cover_by_tree, auto: cover_small}
    close = closings.get(function)
    large = function is auto and is_large(problem)
    found = solve_coverage(
        problem,
        limit,
        partial(cover_large, deadline=left.deadline)
        if large
        else partial(search_coverage_prices, solve=solve, in_time=left.any),
        close=None if close is None else partial(close, deadline=left.deadline),
        in_time=left.any,
    )
    return finish_coverage(residual, problem, limit, found, coverage=coverage, weights=weights)


def finish_coverage(
    residual: ResidualProblem,
    problem: CoverProblem,
    limit: Limit,
    found: Incumbent | None,
    *,
    coverage: float,
    weights: Floats,
) -> Chosen:
    """Sort the choices of an incumbent; raise an error if there is none.

    Without an incumbent all candidates of `problem` together cover too little.
    """
    if found is None:
        total = exact_sum(weights)
        most = total - problem.uncovered(np.arange(problem.n_candidates))
        raise ValueError(
            f"coverage must not be above {float(most / total):.6g}, which is all that the "
            f"candidates' balls hold, got {coverage!r}; take a larger eps or further candidates"
        )
    order = found.selected[choose_by_drop(problem.free.narrowed(found.selected))[0]]
    idle = np.setdiff1d(found.selected, order)
    found = replace(found, selected=np.concatenate((order, idle)))
    return residual.chosen(describe_enough(problem, limit, found), None)


def is_complete(problem: CoverProblem, limit: Limit, price: float) -> bool:
    """Whether every sample must be covered, so that this is the plain cover at `price`.

    Not if costs at that price are too small to be distinguished on the grid of the weights.
    """
    rounding = 0.0 if problem.prototype_cost else problem.n_candidates * problem.grid
    distinct = rounding < price * problem.cost_step
    return distinct and limit.uncovered == 0


def as_complete(
    problem: CoverProblem, limit: Limit, price: float, solution: CoverSolution
) -> Incumbent | None:
    """Take over the solution of a problem in which every sample is worth covering.

    None if it leaves too much uncovered.
    """
    allowed = limit.uncovered
    if allowed is None or problem.uncovered(solution.selected) > allowed:
        return None
    closed = solution.is_optimal
    return Incumbent(
        solution.selected,
        bound=problem.spent(solution.selected) if closed else Fraction(0),
        price=price,
        dual=solution.dual,
        claimed=closed,
        proof=solution.proof,
    )


def describe_enough(problem: CoverProblem, limit: Limit, found: Incumbent) -> CoverSolution:
    """Return the solution of an incumbent that covers enough."""
    solution = CoverSolution.of(
        problem,
        found.selected,
        dual=found.dual,
        claim=found.bound if found.claimed else None,
        limit=limit,
        price=None if found.dual is None else found.price,
        proof=found.proof,
    )
    return replace(solution, status="optimal" if solution.is_optimal else "bounded")
