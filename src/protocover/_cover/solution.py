"""Solutions, their bounds and certificates, and the results of verification."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arithmetic import bound_as_float, rounded_up
from .limit import NO_LIMIT, Limit
from .problem import CoverProblem, first_cover
from .proof import ProofTree, bound_by_proof
from .validation import check_selection


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
        What the bound rests on: ``"verified"`` (`dual` or `proof` prove it), ``"solver"``
        (a claim of the solver that cannot be rechecked) or ``"none"`` (no bound).
    dual : ndarray of float, shape (n_points,), or None
        The vector that proves the bound, or all of it that a vector proves.
    status : str
        How the solver ended, in its own words.
    details : mapping
        Whatever else the solver wants to tell.
    limit : Limit
        The bound holds for selections within this limit.
    price : float or None
        The cost of a prototype, or with ``limit.uncovered`` of a unit of cost, in the relaxed
        problem in which `dual` proves the bound; None if nothing is relaxed.
    proof : ProofTree or None
        The tree of a branch and bound with its vectors, if it proves more than `dual` and is
        small enough to be kept.

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
    limit: Limit = NO_LIMIT
    price: float | None = None
    proof: ProofTree | None = None

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
        limit: Limit = NO_LIMIT,
        price: float | None = None,
        proof: ProofTree | None = None,
    ) -> CoverSolution:
        """Describe the choice `selected`, everything recomputed from `problem`.

        Without a `score` the drop in the objective along the given order is used. `claim`
        is a lower bound that only the solver states. With a `limit`, `dual` is a vector of the
        problem relaxed at `price`. A `proof` that proves no more than `dual` is not kept.
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
            limit=limit,
            price=price,
            proof=proof,
        )

    @classmethod
    def best_single(cls, problem: CoverProblem) -> CoverSolution:
        """Describe the best choice of one candidate: the optimum if none is worth its cost."""
        return cls.of(
            problem, [problem.best_single], status="best single", limit=Limit(at_least=1)
        )

    def renumbered(self, candidates: NDArray[np.intp]) -> CoverSolution:
        """Return the same of a problem in which candidate j is ``candidates[j]``."""
        proof = None if self.proof is None else self.proof.renumbered(candidates)
        return replace(self, selected=candidates[self.selected], proof=proof)

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
        """Largest share of the objective that a better selection could save, 0 if optimal.

        No selection has an objective below 0; inf where nothing is proved.
        """
        return relative_gap(self.objective, self.lower_bound)


def _bound_by_tree(
    problem: CoverProblem,
    chosen: NDArray[np.intp],
    proof: ProofTree,
    dual: NDArray[np.float64] | None,
    limit: Limit,
    price: float | None,
) -> Fraction | None:
    """Return the bound of a proof tree, which is one of the relaxed problem under a limit."""
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
    """Return the largest share of `objective`, a sum of weights, that could be saved."""
    if objective <= max(lower_bound, 0.0):
        return 0.0
    return (objective - lower_bound) / objective


def judge(
    objective: Fraction, bound: Fraction | None, claim: Fraction | None
) -> tuple[float, str]:
    """Return the better of a verified bound and a solver's claim, and what it rests on."""
    if claim is not None and (bound is None or (bound < objective and claim > bound)):
        return bound_as_float(claim, objective), "solver"
    return (-math.inf, "none") if bound is None else (bound_as_float(bound, objective), "verified")


@dataclass(frozen=True)
class Verification:
    """What a recheck of a solution found.

    Parameters
    ----------
    objective : float
        Objective of the selection, recomputed; nan if it is no selection.
    lower_bound : float
        What the dual vector proves, -inf if there is none.
    certificate : str
        ``"verified"`` if there is a bound, otherwise ``"none"``. A solver's claim cannot be
        rechecked and does not count.
    faults : tuple of str
        What the solution says that is not so; empty if it tells the truth.
    unchecked : str
        What could not be rechecked and why; empty if all could.
    """

    objective: float
    lower_bound: float
    certificate: str
    faults: tuple[str, ...]
    unchecked: str = field(default="", repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything that can be rechecked is as the solution says."""
        return not self.faults


@dataclass(frozen=True, repr=False)
class ModelVerification:
    """What a recheck of a fitted model found.

    Parameters
    ----------
    by_class : mapping from label to Verification
        What was found of each class.
    faults : tuple of str
        What the model says as a whole that is not so, or not of these data.
    unchecked : str
        What could not be rechecked and why; empty if all could.
    together : Verification or None
        What was found of all classes together where they share a budget.

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
        """Whether everything that can be rechecked is as the model says."""
        found = [*self.by_class.values(), *([self.together] if self.together else [])]
        return not self.faults and all(one.ok for one in found)

    @property
    def objective(self) -> float:
        """Objective of all classes, recomputed."""
        return math.fsum(found.objective for found in self.by_class.values())

    @property
    def lower_bound(self) -> float:
        """What the dual vectors prove, -inf if one is missing."""
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
