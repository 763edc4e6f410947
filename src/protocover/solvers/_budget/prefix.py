"""The first choices of a greedy order, and what is proved of so few.

The paper's greedy takes prototypes one by one, so that its answer to a budget is a prefix.
The drop of the first choice that is left out tells the price: at that cost, or above it,
greedy would have stopped there by itself, and dual ascent at that cost gives a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, CoverSolution, judge
from .._duals import ascend
from .prices import rounded_up, total_value
from .within import Budgeted

Order = tuple[NDArray[np.intp], NDArray[np.float64]]


def keep_first(
    problems: Sequence[CoverProblem],
    orders: Sequence[Order],
    budget: int,
    *,
    bound: bool = True,
) -> Budgeted:
    """Keep the first `budget` choices of all problems together, by falling score.

    Parameters
    ----------
    problems : sequence of CoverProblem
        All with one cost of a prototype.
    orders : sequence of (selected, score)
        Greedy's choices for each, one more than `budget` where there are as many.
    budget : int
        How many are kept.
    bound : bool, default=True
        Whether to say how far from the best they are.
    """
    problem_of, score = _joint_order(orders)
    sizes = np.bincount(problem_of[:budget], minlength=len(problems)).tolist()
    kept = [(chosen[:n], value[:n]) for (chosen, value), n in zip(orders, sizes, strict=True)]
    proofs: list[_Proof | None] = [None]
    if bound and len(score) > budget:
        # Between the last drop that is kept and the first that is not.
        costs = {float(drop) for drop in score[max(budget - 1, 0) : budget + 1]}
        proofs = [_Proof.at(problems, cost) for cost in sorted(costs)]
    elif bound:
        proofs = [_Proof.at(problems, problems[0].prototype_cost)]
    proof = max(proofs, key=lambda one: Fraction(-1) if one is None else one.within(budget))
    return _described(problems, kept, proof, budget, cut=len(score) > budget)


@dataclass(frozen=True, eq=False)
class _Proof:
    """Vectors that bound all selections at one cost of a prototype."""

    cost: float
    price: Fraction
    duals: list[NDArray[np.float64]]
    bound: Fraction

    @classmethod
    def at(cls, problems: Sequence[CoverProblem], cost: float) -> _Proof:
        """Make the vectors by dual ascent."""
        priced = [problem.at_cost(cost) for problem in problems]
        duals = [ascend(problem) for problem in priced]
        bound = sum(map(lambda one, u: one.exact_bound(u), priced, duals), Fraction(0))
        return cls(cost, priced[0].exact_cost - problems[0].exact_cost, duals, bound)

    def within(self, budget: int) -> Fraction:
        """Return what selections within the budget cost at least."""
        return self.bound - self.price * budget


def _described(
    problems: Sequence[CoverProblem],
    kept: Sequence[Order],
    proof: _Proof | None,
    budget: int,
    *,
    cut: bool,
) -> Budgeted:
    """Describe what is kept of each problem's order, and of all."""
    alone, solutions = len(problems) == 1, []
    for number, (problem, (chosen, score)) in enumerate(zip(problems, kept, strict=True)):
        solutions.append(
            CoverSolution.of(
                problem,
                chosen,
                score=score,
                dual=None if proof is None else proof.duals[number],
                budget=(budget if alone else len(chosen)) if cut and proof else None,
                priced_at=proof.cost if cut and proof else None,
            )
        )
    objective = total_value(problems, [chosen for chosen, _ in kept])
    bound = None if proof is None else rounded_up(problems, proof.within(budget))
    return Budgeted(solutions, *judge(objective, bound, None))


def _joint_order(orders: Sequence[Order]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return whose choice each is, and its score, in one order of all choices."""
    problem_of = np.repeat(np.arange(len(orders)), [len(chosen) for chosen, _ in orders])
    score = np.concatenate([value for _, value in orders])
    order = np.argsort(-score, kind="stable")
    return problem_of[order], score[order]
