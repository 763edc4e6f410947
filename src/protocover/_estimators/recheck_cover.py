"""A fitted cover rechecked against its data: the problem is written down and counted again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverSolution, Limit, Verification, relative_gap, verify
from .._exceptions import warn_caller
from .._resources import row_count
from .._selection.covering import ResidualProblem
from .._selection.parameters import check_eps, check_target
from .._selection.radii import propose_cover_eps
from .._selection.training import Training, completed, pool_balls, side_by_side
from ..candidates._pool import numbers, source_names, take, training_rows
from ..data._points import check_estimator_points, same_points
from ..solvers._registry import SOLVERS, unwrapped
from .cover_parts import (
    CoverTerms,
    as_set,
    in_column_order,
    labels_and_counts,
    nearest_within,
)
from .remaking import NOT_REMADE, among, columns_of, prepare_again
from .statements import differences

Indices = NDArray[np.intp]

_BY_REPRESENTATIVE = (
    "candidate_indices_",
    "representative_indices_",
    "representative_sources_",
    "counts_",
)


def recheck_cover(model: Any, X: Any, sample_weight: Any = None) -> Verification:
    """Recheck all that a fitted cover says; see `BallCover.verify`."""
    points = check_estimator_points(model, X, model.dissimilarity_, reset=False)
    misfits = _length_faults(model, row_count(points))
    if misfits:
        return Verification(math.nan, -math.inf, "none", misfits)
    again = _Again.of(model, X, sample_weight)
    if not again.remade:
        warn_caller(f"this cover can be rechecked in part only: {NOT_REMADE}")
    found = again.solution_found()
    faults = (
        *again.candidate_faults(),
        *again.promise_faults(),
        *found.faults,
        *again.statement_faults(),
        *again.label_faults(completed(points, again.training.dissimilarity)),
    )
    objective, bound = again.whole(found)
    return Verification(
        objective, bound, found.certificate, faults, "" if again.remade else NOT_REMADE
    )


@dataclass(frozen=True, eq=False)
class _Again:
    """A cover beside its data and terms made again.

    Parameters
    ----------
    model : BallCover
        Fitted.
    training : Training
        With the same candidates if `remade`, else with the representatives alone.
    terms : CoverTerms
        What the parameters ask for.
    columns : ndarray of int
        Each representative's place among the candidates, those that had to be in first.
    residual : ResidualProblem
        The problem of the others.
    """

    model: Any
    training: Training
    remade: bool
    terms: CoverTerms
    columns: Indices
    residual: ResidualProblem

    @classmethod
    def of(cls, model: Any, X: Any, sample_weight: Any) -> _Again:
        """Make data and terms again as the fit did."""
        check_target(model.max_representatives, model.coverage, model.cost)
        nobody = np.zeros(row_count(X), dtype=np.intp)
        training, remade = prepare_again(model, X, nobody, sample_weight)
        if not remade:
            training = among(training, model.representatives_, model.candidate_indices_)
        terms = CoverTerms.of(model, training)
        balls = pool_balls(
            training,
            eps=model.eps_,
            closed=model.closed_ball,
            rng=np.random.default_rng(0),
            n_jobs=model.n_jobs,
            verbose=0,
        )
        residual = ResidualProblem.of(
            side_by_side(balls), training.weights, terms.price, terms.forced
        )
        chosen = columns_of(model.solution_.selected, training)
        return cls(
            model, training, remade, terms, np.concatenate((terms.forced, chosen)), residual
        )

    @property
    def solution(self) -> CoverSolution:
        """What the model says, its candidates numbered as in the problem of the rest."""
        place = np.full(int(self.columns.max(initial=-1)) + 2, -1)
        known = self.residual.columns[self.residual.columns < len(place) - 1]
        place[known] = np.searchsorted(self.residual.columns, known)
        said: CoverSolution = replace(
            self.model.solution_, selected=place[self.columns[len(self.terms.forced) :]]
        )
        if self.remade:
            return said
        return replace(said, dual=None, proof=None, lower_bound=-math.inf, certificate="none")

    def solution_found(self) -> Verification:
        """Recheck selection, objective and bound."""
        target, said = self.terms.target, self.solution
        if target.coverage is not None:
            problem, limit = self.residual.coverage(target.coverage, self.training.weights)
            if said.limit.uncovered is None:  # not in files of earlier versions
                said = replace(said, limit=limit)
            return verify(problem, said, limit=limit)
        ours = (
            isinstance(self.model.solver, str) or unwrapped(self.model.solver) in SOLVERS.values()
        )
        return verify(self.residual.problem(target.cost), said, order_by=None if ours else "own")

    def whole(self, found: Verification) -> tuple[float, float]:
        """Return objective and bound with what had to be in."""
        described = replace(
            self.solution, objective=found.objective, lower_bound=found.lower_bound
        )
        if math.isnan(found.objective):
            return math.nan, -math.inf
        chosen = self.residual.chosen(described, self._cost)
        return chosen.objective, chosen.lower_bound

    @property
    def _cost(self) -> float | None:
        """What had to be in costs that much a piece, None for its price."""
        return None if self.terms.target.coverage is not None else self.terms.target.cost

    def promise_faults(self) -> list[str]:
        """Say where the cover is not what its own parameters ask for."""
        model, target, n = self.model, self.terms.target, len(self.columns)
        faults, stated = [], model.solution_.limit
        if target.number is not None and n > target.number:
            faults.append(f"max_representatives is {target.number}, but there are {n}")
        allowed = None if target.number is None else target.number - len(self.terms.forced)
        if stated.at_most not in (None, allowed):
            faults.append(f"solution_.limit is {stated}, not {Limit(at_most=allowed)}")
        eps = check_eps(model.eps)
        if eps is None:
            eps = propose_cover_eps(
                self.training,
                number=target.number,
                coverage=target.coverage,
                closed=model.closed_ball,
            )
        return [*faults, *differences(model, {"eps_": eps})]

    def candidate_faults(self) -> list[str]:
        """Say where representatives are not the candidates that they are said to be."""
        model, pools, columns = self.model, self.training.pools, self.columns
        if (columns < 0).any():
            unknown = model.solution_.selected[columns[len(self.terms.forced) :] < 0]
            return [f"solution_.selected names {unknown.tolist()}, which are no candidates"]
        columns = in_column_order(columns, self.training)
        said: dict[str, Any] = {"candidate_indices_": numbers(pools)[columns]}
        if self.remade:
            said["representative_indices_"] = training_rows(pools)[columns]
            said["representative_sources_"] = source_names(pools)[columns]
        faults = differences(model, said)
        if not same_points(take(pools, columns), model.representatives_):
            faults.append("representatives_ are not the candidates of candidate_indices_")
        return faults

    def statement_faults(self) -> list[str]:
        """Say where attributes are not what follows from the solution."""
        said = self.model.solution_
        if not math.isfinite(said.objective):
            return [f"solution_.objective is {said.objective!r}, which no cover has"]
        paid = self.residual.chosen(replace(said, selected=said.selected[:0]), self._cost)
        return differences(
            self.model,
            {
                "objective_": paid.objective,
                "lower_bound_": paid.lower_bound,
                "gap_": relative_gap(paid.objective, paid.lower_bound),
                "certificate_": said.certificate,
                "status_": said.status,
            },
        )

    def label_faults(self, points: Any) -> list[str]:
        """Say again of each of `points` who stands for it, from the data and from the model."""
        model, training = self.model, self.training
        if (self.columns < 0).any():
            return []
        columns, dissimilarity = in_column_order(self.columns, training), training.dissimilarity
        representatives = take(training.pools, columns)
        if hasattr(dissimilarity, "for_prototypes"):
            dissimilarity = dissimilarity.for_prototypes(representatives)
        labels, own = (
            nearest_within(
                one, points, eps=model.eps_, closed=model.closed_ball, n_jobs=model.n_jobs
            )
            for one in (as_set(representatives, dissimilarity), model._representatives)
        )
        counts, coverage = labels_and_counts(labels, len(columns), training)
        faults = differences(model, {"labels_": labels, "counts_": counts, "coverage_": coverage})
        if not np.array_equal(labels, own):
            faults.append("what the cover answers from are not these representatives")
        return faults


def _length_faults(model: Any, n_points: int) -> tuple[str, ...]:
    """Say which parts of a cover do not fit together, so that no further look can be had."""
    n, said = len(model.candidate_indices_), model.solution_
    sizes = {name: len(getattr(model, name)) for name in _BY_REPRESENTATIVE}
    sizes["representatives_"] = row_count(model.representatives_)
    faults = [f"{name} holds {size}, not {n}" for name, size in sizes.items() if size != n]
    if len(model.labels_) != n_points:
        faults.append(f"labels_ holds {len(model.labels_)}, not {n_points}: other points than X")
    if not len(said.score) == len(said.newly_covered) == len(said.selected):
        faults.append(
            f"solution_ has a score and count for {len(said.score)} and "
            f"{len(said.newly_covered)} choices, not {len(said.selected)}"
        )
    return tuple(faults)
