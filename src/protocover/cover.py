"""One class's prize-collecting set cover: the problem, a solution, and what it proves.

Everything the solvers, the estimators and the certificates say about a
selection is computed here, from the problem alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

__all__ = ["CoverProblem", "CoverSolution", "first_cover"]


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
        Whether point i of the class lies in the ball of candidate j.
    wrong : ndarray of float, shape (n_candidates,)
        Weight of the points of other classes in each ball.
    prize : ndarray of float, shape (n_points,)
        What leaving a point uncovered costs: 1, or its sample weight.
    prototype_cost : float
        The price of one prototype, lambda in the paper.

    Notes
    -----
    ``prototype_cost`` is kept apart from ``wrong`` so that sums stay exact:
    with `prize` and `wrong` on a common binary grid (see
    :func:`protocover.formulation.snap_weights`) every quantity here is an
    exact grid number plus a whole multiple of ``prototype_cost``.
    """

    cover: csc_array
    wrong: NDArray[np.float64]
    prize: NDArray[np.float64]
    prototype_cost: float

    def __post_init__(self) -> None:
        n_points, n_candidates = self.cover.shape
        if self.wrong.shape != (n_candidates,) or self.prize.shape != (n_points,):
            raise ValueError(
                f"a cover of {n_points} points x {n_candidates} candidates needs one prize a "
                f"point and one wrong weight a candidate, got shapes {self.prize.shape} and "
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

    def prize_sums(self, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Sum `values` (by default the prizes) over the points of each ball."""
        weights = self.prize if values is None else values
        return np.asarray(self.cover.T @ weights, dtype=np.float64)

    def objective(self, selected: ArrayLike) -> float:
        """Recompute the objective of choosing the candidates `selected`."""
        chosen = np.asarray(selected, dtype=np.intp)
        missed = first_cover(self.cover, chosen) == len(chosen)
        exact = float(self.prize[missed].sum() + self.wrong[chosen].sum())
        return self.value(exact, len(chosen))

    def lower_bound(self, dual: NDArray[np.float64]) -> float:
        """Lower bound on every selection's objective, proved by the vector `dual`.

        For any 0 <= u <= prize the bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))``:
        a selection pays at least u_i for each point, by its ball's cost or by the prize.
        `dual` is clipped into the box first, so that no vector can prove too much.
        """
        u = np.clip(np.nan_to_num(dual), 0.0, self.prize)
        overpaid = self.prize_sums(u) - self.wrong
        violated = overpaid > self.prototype_cost
        exact = float(u.sum() - overpaid[violated].sum())
        return self.value(exact, int(violated.sum()))

    def value(self, exact: float, n_prototypes: int) -> float:
        """``exact + n_prototypes * prototype_cost``, rounded once."""
        return float(Fraction(exact) + n_prototypes * Fraction(self.prototype_cost))


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
    status : str
        How the solver ended, in its own words.
    details : mapping
        Whatever else the solver wants to tell.
    """

    selected: NDArray[np.intp]
    score: NDArray[np.float64]
    newly_covered: NDArray[np.intp]
    objective: float
    lower_bound: float = -math.inf
    status: str = "heuristic"
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        problem: CoverProblem,
        selected: ArrayLike,
        *,
        score: NDArray[np.float64] | None = None,
        dual: NDArray[np.float64] | None = None,
        status: str = "heuristic",
        details: Mapping[str, Any] | None = None,
    ) -> CoverSolution:
        """Describe the choice `selected`, everything recomputed from `problem`.

        Without a `score` the drop in the objective along the given order is used.
        """
        chosen = np.asarray(selected, dtype=np.intp)
        step = first_cover(problem.cover, chosen)
        covered = step < len(chosen)
        newly = np.bincount(step[covered], minlength=len(chosen))
        won = np.bincount(step[covered], problem.prize[covered], minlength=len(chosen))
        if score is None:
            score = np.minimum.accumulate(won - problem.wrong[chosen])
        missed = float(problem.prize[~covered].sum())
        return cls(
            selected=chosen,
            score=score,
            newly_covered=newly,
            objective=problem.value(missed + float(problem.wrong[chosen].sum()), len(chosen)),
            lower_bound=-math.inf if dual is None else problem.lower_bound(dual),
            status=status,
            details={} if details is None else details,
        )

    @property
    def gap(self) -> float:
        """Largest share of the objective that a better selection could save, 0 if optimal."""
        if self.objective <= self.lower_bound:
            return 0.0
        return (self.objective - self.lower_bound) / abs(self.objective)


def first_cover(cover: csc_array, selected: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each point the step at which `selected` first covers it, else ``len(selected)``."""
    starts, stops = cover.indptr[selected], cover.indptr[selected + 1]
    step = np.full(cover.shape[0], len(selected), dtype=np.intp)
    # Written last to first, so that the earliest step is the one that stays.
    for k in range(len(selected) - 1, -1, -1):
        step[cover.indices[starts[k] : stops[k]]] = k
    return step
