"""A solution: what was chosen, what it costs, and what is proved about that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arithmetic import bound_as_float
from .given import check_selection
from .leaves import Leaves, bound_by_leaves
from .problem import CoverProblem, first_cover


@dataclass(frozen=True, eq=False)
class CoverSolution:
    """A selection for one :class:`CoverProblem` and what is proved about it.

    Parameters
    ----------
    selected : ndarray of int
        Chosen candidates, in the order chosen.
    score : ndarray of float
        What the order was made by, never rising along it and comparable between
        classes; the paper's greedy puts the drop in the objective before
        ``prototype_cost`` here.
    newly_covered : ndarray of int
        How many points each choice covered that none before it did.
    objective : float
        Recomputed from the problem.
    lower_bound : float
        No selection has a smaller objective; -inf where nothing was proved.
    certificate : str
        What the bound rests on: ``"verified"`` (`dual` or `leaves` prove it), ``"solver"``
        (a claim of the solver that cannot be rechecked) or ``"none"`` (no bound).
    dual : ndarray of float, shape (n_points,), or None
        The vector that proves the bound, or all of it that a vector proves.
    status : str
        How the solver ended, in its own words.
    details : mapping
        Whatever else the solver wants to tell.
    budget : int or None
        The bound is one on selections of at most so many candidates; None for any number.
    priced_at : float or None
        With a budget, the cost of a prototype at which `dual` bounds all selections; what it
        is above ``prototype_cost`` is the price of the budget. Of a selection that had to
        cover so much, the same cost, and None where there is no vector.
    at_least : int, default=0
        The bound is one on selections of at least this many candidates, 0 or 1.
    leaves : Leaves or None
        The cases of a branch and bound with their vectors, where these prove more than `dual`
        and are few enough to be kept.

    See Also
    --------
    protocover._cover.verify : Recheck all of this from the problem.
    """

    selected: NDArray[np.intp]
    score: NDArray[np.float64]
    newly_covered: NDArray[np.intp]
    objective: float
    lower_bound: float = -math.inf
    certificate: str = "none"
    dual: NDArray[np.float64] | None = None
    status: str = "heuristic"
    details: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None
    priced_at: float | None = None
    leaves: Leaves | None = None
    at_least: int = 0

    @classmethod
    def of(
        cls,
        problem: CoverProblem,
        selected: ArrayLike,
        *,
        score: NDArray[np.float64] | None = None,
        dual: NDArray[np.float64] | None = None,
        claim: Fraction | None = None,
        status: str = "heuristic",
        details: Mapping[str, Any] | None = None,
        budget: int | None = None,
        priced_at: float | None = None,
        leaves: Leaves | None = None,
        at_least: int = 0,
    ) -> CoverSolution:
        """Describe the choice `selected`, everything recomputed from `problem`.

        Without a `score` the drop in the objective along the given order is used. `claim`
        is a lower bound for which there is only a solver's word. With a `budget`, `dual` is
        a vector for prototypes that cost `priced_at`. Of `leaves` that prove no more than
        `dual` none are kept.
        """
        chosen = check_selection(selected, problem.n_candidates)
        first = first_cover(problem, chosen)
        covered = first < len(chosen)
        if score is None:
            won = np.bincount(first[covered], problem.prize[covered], minlength=len(chosen))
            score = np.minimum.accumulate(won - problem.wrong[chosen])
        objective = problem.exact_objective(chosen, first)
        dual = None if dual is None else problem.snap(dual)
        proved = _proved(problem, dual, budget, priced_at)
        if at_least:
            known = [one for one in (proved, problem.bound_of_singles()) if one is not None]
            proved = max(known, default=None)
        if proved is not None and proved >= objective:
            leaves = None
        by_leaves = _proved_by_leaves(problem, leaves, dual, objective)
        if by_leaves is None or (proved is not None and proved >= by_leaves):
            leaves = None
        else:
            proved = by_leaves
        bound, word = judge(objective, proved, claim)
        return cls(
            selected=chosen,
            score=score,
            newly_covered=np.bincount(first[covered], minlength=len(chosen)),
            objective=float(objective),
            lower_bound=bound,
            certificate=word,
            dual=dual,
            status=status,
            details={} if details is None else details,
            budget=budget,
            priced_at=priced_at,
            leaves=leaves,
            at_least=at_least,
        )

    @classmethod
    def best_single(cls, problem: CoverProblem) -> CoverSolution:
        """Describe the best choice of one candidate: the optimum if none is worth its cost."""
        return cls.of(problem, [problem.best_single], status="best single", at_least=1)

    def renumbered(self, candidates: NDArray[np.intp]) -> CoverSolution:
        """Return the same of a problem in which candidate j is ``candidates[j]``."""
        leaves = None if self.leaves is None else self.leaves.renumbered(candidates)
        return replace(self, selected=candidates[self.selected], leaves=leaves)

    def prefix(self, problem: CoverProblem, n_choices: int | None) -> CoverSolution:
        """Keep the first `n_choices`, described anew; the whole where there are no more.

        The bound holds for fewer choices too.
        """
        if n_choices is None or len(self.selected) <= n_choices:
            return self
        return self.first(n_choices).recomputed(problem)

    def first(self, n_choices: int) -> CoverSolution:
        """Cut off all but the first choices; what is said of the whole stands as it was."""
        return replace(
            self,
            selected=self.selected[:n_choices],
            score=self.score[:n_choices],
            newly_covered=self.newly_covered[:n_choices],
        )

    def recomputed(self, problem: CoverProblem) -> CoverSolution:
        """Describe the same choices with all numbers from `problem`.

        What the solver says of a bound beyond what its vector proves stays its word.
        """
        found = CoverSolution.of(
            problem,
            self.selected,
            score=self.score,
            dual=self.dual,
            status=self.status,
            details=self.details,
            budget=self.budget,
            priced_at=self.priced_at,
            leaves=self.leaves,
            at_least=self.at_least,
        )
        if self.lower_bound <= found.lower_bound:
            return found
        claim = min(self.lower_bound, found.objective)
        return replace(found, lower_bound=claim, certificate="solver")

    @property
    def is_optimal(self) -> bool:
        """Whether the bound reaches the objective."""
        return self.lower_bound >= self.objective

    @property
    def gap(self) -> float:
        """Largest share of the objective that a better selection could save, 0 if optimal.

        No selection has an objective below 0; inf where nothing is proved.
        """
        return relative_gap(self.objective, self.lower_bound)


@dataclass(frozen=True)
class SharedBudget:
    """What is stated about the solutions of all classes if they share a budget.

    The bounds of the classes, each among selections of as many prototypes as it has, do not
    add up to a bound: another class might have made better use of a prototype.

    Parameters
    ----------
    n_prototypes : int
        Maximum number of prototypes in total.
    objective : float
        Sum of the objectives of all classes, rounded once.
    lower_bound : float
        No choice of that many prototypes has a smaller objective.
    certificate : str
        What the bound rests on, as in :class:`CoverSolution`.
    """

    n_prototypes: int
    objective: float
    lower_bound: float
    certificate: str


@dataclass(frozen=True, eq=False)
class CoverageTarget:
    """A weight that must be covered at the least expense.

    Parameters
    ----------
    allowed : Fraction
        The weight that may stay uncovered.
    expense : ndarray of float, shape (n_candidates,), or None, default=None
        What each candidate costs; None for 1 each.
    """

    allowed: Fraction
    expense: NDArray[np.float64] | None = None


def relative_gap(objective: float, lower_bound: float) -> float:
    """Return the largest share of `objective`, a sum of weights, that could be saved."""
    if objective <= max(lower_bound, 0.0):
        return 0.0
    return (objective - lower_bound) / objective


def _proved(
    problem: CoverProblem,
    dual: NDArray[np.float64] | None,
    budget: int | None,
    priced_at: float | None,
) -> Fraction | None:
    """Return the bound that a vector proves, under a budget if there is one."""
    if dual is None:
        return None
    if budget is None or priced_at is None:
        return problem.exact_bound(dual)
    return problem.bound_within(dual, budget=budget, priced_at=priced_at)


def _proved_by_leaves(
    problem: CoverProblem,
    leaves: Leaves | None,
    dual: NDArray[np.float64] | None,
    objective: Fraction,
) -> Fraction | None:
    """Return the bound that leaves prove, None where there are none or they are no tree."""
    if leaves is None:
        return None
    return bound_by_leaves(problem, leaves, dual=dual, objective=objective)[0]


def judge(
    objective: Fraction, bound: Fraction | None, claim: Fraction | None
) -> tuple[float, str]:
    """Return the better of a verified bound and a solver's claim, and what it rests on."""
    if claim is not None and (bound is None or (bound < objective and claim > bound)):
        return bound_as_float(claim, objective), "solver"
    return (-math.inf, "none") if bound is None else (bound_as_float(bound, objective), "verified")
