"""Solutions, their bounds and certificates, and the results of verification."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Floats, Indices
from .arithmetic import bound_as_float, rounded_up
from .problem import NO_LIMIT, CoverProblem, Limit, first_cover
from .proof import ProofTree, bound_by_proof
from .table import check_selection


@dataclass(frozen=True, eq=False)
class CoverSolution:
    """A selection for one :class:`CoverProblem`, with its bound and certificate.

    Parameters
    ----------
    selected : ndarray of int
        Chosen candidates, in the order chosen.
    score : ndarray of float
        Score of each choice, by which they are ordered: never increasing, and comparable
        between classes. By default the decrease of the objective before ``prototype_cost``.
    newly_covered : ndarray of int
        Number of points that each choice is the first to cover.
    objective : float
        Recomputed from the problem.
    lower_bound : float
        No selection has a smaller objective; -inf if there is no bound.
    certificate : str
        ``"verified"`` (`dual` or `proof` prove the bound), ``"solver"`` (an unverified claim of
        the solver) or ``"none"`` (no bound).
    dual : ndarray of float, shape (n_points,), or None
        The dual vector that proves the bound, or a part of it.
    status : str
        How the solver ended.
    details : mapping
        Further results of the solver.
    limit : Limit
        The bound holds for selections within this limit.
    price : float or None
        Cost of a prototype, or with ``limit.uncovered`` of a unit of cost, in the relaxed problem
        in which `dual` proves the bound; None if nothing is relaxed.
    proof : ProofTree or None
        The branch-and-bound tree with its vectors, if it proves more than `dual` and is small.

    See Also
    --------
    protocover._cover.verify : Recheck all of this from the problem.
    """

    selected: Indices
    score: Floats
    newly_covered: Indices
    objective: float
    lower_bound: float = -math.inf
    certificate: str = "none"
    dual: Floats | None = None
    status: str = "heuristic"
    details: Mapping[str, Any] = field(default_factory=dict)
    limit: Limit = NO_LIMIT
    price: float | None = None
    proof: ProofTree | None = None

    @classmethod
    def of(
        cls,
        problem: CoverProblem,
        selected: ArrayLike,
        *,
        score: Floats | None = None,
        dual: Floats | None = None,
        claim: Fraction | None = None,
        status: str = "heuristic",
        details: Mapping[str, Any] | None = None,
        limit: Limit = NO_LIMIT,
        price: float | None = None,
        proof: ProofTree | None = None,
    ) -> CoverSolution:
        """Return the solution of a selection, with every number computed from `problem`.

        Without a `score`, it is the decrease of the objective along the given order. `claim` is
        an unverified bound of the solver. With a `limit`, `dual` is a vector of the problem
        relaxed at `price`. A `proof` that proves no more than `dual` is not kept.
        """
        chosen = check_selection(selected, problem.n_candidates)
        first = first_cover(problem, chosen)
        covered = first < len(chosen)
        if score is None:
            won = np.bincount(first[covered], problem.prize[covered], minlength=len(chosen))
            lost = problem.wrong[chosen] if limit.uncovered is None else 0.0
            score = np.minimum.accumulate(won - lost)
        if limit.uncovered is None:
            objective = problem.exact_objective(chosen, first)
        else:
            objective = problem.spent(chosen)
        dual = None if dual is None else problem.snap(dual)
        proved = problem.bound(dual, limit=limit, price=price)
        if limit.uncovered is not None and objective == 0:  # nothing can be saved
            proved = Fraction(0)
        if proved is not None and proved >= objective:
            proof = None
        if proof is not None:
            by_tree = _bound_by_tree(problem, chosen, proof, dual, limit, price)
            if by_tree is None or (proved is not None and proved >= by_tree):
                proof = None
            else:
                proved = by_tree
        bound, certificate = judge(objective, proved, claim)
        return cls(
            selected=chosen,
            score=score,
            newly_covered=np.bincount(first[covered], minlength=len(chosen)),
            objective=float(objective),
            lower_bound=bound,
            certificate=certificate,
            dual=dual,
            status=status,
            details={} if details is None else details,
            limit=limit,
            price=price,
            proof=proof,
        )

    @classmethod
    def best_single(cls, problem: CoverProblem) -> CoverSolution:
        """Return the best selection of one candidate: optimal if none is worth its cost."""
        return cls.of(
            problem, [problem.best_single], status="best single", limit=Limit(at_least=1)
        )

    def renumbered(self, candidates: Indices) -> CoverSolution:
        """Return the solution of a problem in which candidate j is ``candidates[j]``."""
        proof = None if self.proof is None else self.proof.renumbered(candidates)
        return replace(self, selected=candidates[self.selected], proof=proof)

    def prefix(self, problem: CoverProblem, n_choices: int | None) -> CoverSolution:
        """Return the solution of the first `n_choices`; the bound also holds for fewer."""
        if n_choices is None or len(self.selected) <= n_choices:
            return self
        return self.first(n_choices).recomputed(problem)

    def first(self, n_choices: int) -> CoverSolution:
        """Return only the first choices, with the objective and bound of all."""
        return replace(
            self,
            selected=self.selected[:n_choices],
            score=self.score[:n_choices],
            newly_covered=self.newly_covered[:n_choices],
        )

    def recomputed(self, problem: CoverProblem) -> CoverSolution:
        """Return the solution with all numbers computed from `problem`.

        A larger bound than `dual` and `proof` prove is kept with the certificate "solver".
        """
        found = CoverSolution.of(
            problem,
            self.selected,
            score=self.score,
            dual=self.dual,
            status=self.status,
            details=self.details,
            limit=self.limit,
            price=self.price,
            proof=self.proof,
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
        """Relative optimality gap: 0 if optimal, inf if there is no bound."""
        return relative_gap(self.objective, self.lower_bound)


@dataclass(frozen=True)
class SharedBound:
    """What is stated about the solutions of several problems under one limit.

    The bounds of the problems, each among selections of as many candidates as it has, do not
    add up to a bound, because another problem might have made better use of a candidate.

    Parameters
    ----------
    limit : Limit
        The limit on all selections together.
    objective : float
        Sum of the objectives, rounded once.
    lower_bound : float
        No selections within the limit have a smaller sum.
    certificate : str
        Of the bound, as in :class:`CoverSolution`.
    """

    limit: Limit
    objective: float
    lower_bound: float
    certificate: str


def _bound_by_tree(
    problem: CoverProblem,
    chosen: Indices,
    proof: ProofTree,
    dual: Floats | None,
    limit: Limit,
    price: float | None,
) -> Fraction | None:
    """Return the bound of a proof tree; under a limit it is a tree of the relaxed problem."""
    if limit.at_most is not None or (limit.uncovered is not None and not price):
        return None
    relaxed = problem if limit.uncovered is None else problem.at_price(price or 0.0)
    objective = relaxed.exact_objective(chosen, first_cover(relaxed, chosen))
    bound = bound_by_proof(relaxed, proof, dual=dual, objective=objective)[0]
    if bound is None or limit.uncovered is None:
        return bound
    left = (bound - limit.uncovered) / problem.exact_price(price or 0.0)
    return rounded_up(left, problem.cost_step)


def relative_gap(objective: float, lower_bound: float) -> float:
    """Return the largest fraction of `objective`, a sum of weights, that could be saved."""
    if objective <= max(lower_bound, 0.0):
        return 0.0
    return (objective - lower_bound) / objective


def judge(
    objective: Fraction, bound: Fraction | None, claim: Fraction | None
) -> tuple[float, str]:
    """Return the better of a verified bound and a solver's claim, and its certificate."""
    if claim is not None and (bound is None or (bound < objective and claim > bound)):
        return bound_as_float(claim, objective), "solver"
    return (-math.inf, "none") if bound is None else (bound_as_float(bound, objective), "verified")


@dataclass(frozen=True)
class Verification:
    """The result of rechecking a solution.

    Parameters
    ----------
    objective : float
        Recomputed objective of the selection; nan if the selection is invalid.
    lower_bound : float
        The bound that the solution proves, -inf if there is none.
    certificate : str
        ``"verified"`` if there is a bound, otherwise ``"none"``. A solver's claim does not count.
    faults : tuple of str
        Differences between what the solution states and what was recomputed.
    unchecked : str
        What could not be rechecked and why; empty if everything was.
    """

    objective: float
    lower_bound: float
    certificate: str
    faults: tuple[str, ...]
    unchecked: str = field(default="", repr=False)

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.faults


@dataclass(frozen=True, repr=False)
class ModelVerification:
    """The result of rechecking a fitted model.

    Parameters
    ----------
    by_class : mapping from label to Verification
        The result of each class.
    faults : tuple of str
        Faults of the model as a whole.
    unchecked : str
        What could not be rechecked and why; empty if everything was.
    together : Verification or None
        The result of all classes together if they share a budget.

    See Also
    --------
    protocover.PVMClassifier.verify : Rechecks a model against its training data.
    """

    by_class: Mapping[Any, Verification]
    faults: tuple[str, ...] = ()
    unchecked: str = ""
    together: Verification | None = None

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        found = [*self.by_class.values(), *([self.together] if self.together else [])]
        return not self.faults and all(one.ok for one in found)

    @property
    def objective(self) -> float:
        """Recomputed objective of all classes."""
        return math.fsum(found.objective for found in self.by_class.values())

    @property
    def lower_bound(self) -> float:
        """The bound of all classes that is proved, -inf if one has none."""
        if self.together is not None:
            return self.together.lower_bound
        return math.fsum(found.lower_bound for found in self.by_class.values())

    @property
    def certificate(self) -> str:
        """``"verified"`` if there is a bound, otherwise ``"none"``."""
        if self.together is not None:
            return self.together.certificate
        return min(found.certificate for found in self.by_class.values())

    def __repr__(self) -> str:
        lines = [
            f"{'Verified' if self.ok else 'Not verified'}: objective {self.objective:g}, "
            f"lower bound {self.lower_bound:g}"
        ]
        joint = self.together.faults if self.together else ()
        lines += [f"  fault: {fault}" for fault in (*self.faults, *joint)]
        for label, found in self.by_class.items():
            lines += [
                f"  class {label!r}: objective {found.objective:g}, "
                f"lower bound {found.lower_bound:g}"
            ]
            lines += [f"    fault: {fault}" for fault in found.faults]
        return "\n".join(
            [*lines, *([f"  not rechecked: {self.unchecked}"] * bool(self.unchecked))]
        )
