"""Branch and bound under a budget: something better than the best selection known, or a proof.

What cannot be part of anything better is left out first: at the price that bounds best, a
candidate whose slack exceeds the gap. The rest goes to HiGHS with one more row, the budget.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, csc_array, csr_array, eye_array, hstack, vstack

from ...cover import CoverProblem
from .prices import Trial, common_step, total_value

__all__ = ["Closed", "Closing", "close_by_tree"]

logger = logging.getLogger(__name__)

# Whole numbers up to here, and differences of their sums, are exact as floats.
_LARGEST = 2**50
# HiGHS compares with absolute tolerances around 1e-7; beyond this its numbers blur.
_COMFORTABLE = 2.0**30
# Beyond what any sum of ours is off by rounding, as a share of it.
_ROUNDING = 1e-9

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Closed:
    """The best selections known, and what selections within the budget cost at least."""

    selections: list[Indices]
    bound: Fraction | None


class Closing(Protocol):
    """What tries to close the gap that prices have left."""

    def __call__(
        self,
        problems: Sequence[CoverProblem],
        trial: Trial,
        budget: int,
        best: list[Indices],
    ) -> Closed: ...


def close_by_tree(
    problems: Sequence[CoverProblem],
    trial: Trial,
    budget: int,
    best: list[Indices],
    *,
    time_limit: float = math.inf,
    node_limit: int | None = None,
    largest: int | None = None,
    verbose: int = 0,
) -> Closed:
    """Look for selections below the best known ones, by HiGHS.

    It is not asked where more than `largest` memberships are left.

    One more column stands for giving up: it covers everything, at the objective of the best
    known selections. So the tree ends with it where there is nothing better, and has a bound
    to show whenever it is stopped.
    """
    known = Closed(best, trial.within(budget, trial.claimed))
    step = common_step(problems)
    value = total_value(problems, best)
    most = sum(float(problem.prize.sum()) for problem in problems)
    if not step or known.bound is None or most > step * _LARGEST or time_limit <= 0.0:
        return known
    target = value - step
    kept = _kept(problems, trial, budget, float(target))
    tree = _Tree.of(problems, kept, step)
    if largest is not None and tree.cover.nnz > largest:
        return known
    options: dict[str, Any] = {"mip_rel_gap": 0.0, "disp": verbose > 1, "time_limit": time_limit}
    if node_limit is not None:
        options["node_limit"] = node_limit
    answer = tree.search(budget, float(value / step), options)
    selections = tree.selections(answer.x)
    if selections is None or total_value(problems, selections) >= value:
        selections = best
    return Closed(selections, max(known.bound, tree.bound(answer) * step))


def _kept(
    problems: Sequence[CoverProblem], trial: Trial, budget: int, target: float
) -> list[Indices]:
    """Return the candidates of each problem that something of value `target` may contain.

    At the price of the trial no selection is below its vectors' bound, and none with a
    candidate in it is below that and the candidate's slack.
    """
    slacks, bound = [], -float(trial.price) * budget
    for problem, solution in zip(problems, trial.solutions, strict=True):
        useful = problem.worthwhile
        u = problem.snap(np.zeros(problem.n_points) if solution.dual is None else solution.dual)
        slack = problem.wrong[useful] + trial.cost - problem.prize_sums(u)[useful]
        bound += float(u.sum() + np.minimum(slack, 0.0).sum())
        slacks.append(slack)
    # What rounding may have added to a slack is given to every candidate.
    room = target - bound + _ROUNDING * (abs(target) + abs(bound) + 1.0)
    return [
        problem.worthwhile[slack <= room] for problem, slack in zip(problems, slacks, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Tree:
    """The integer program of what is left of all problems, counted in steps of the objective.

    Parameters
    ----------
    kept : list of ndarray of int
        Candidates of each problem that may be chosen.
    cover : csr_array, shape (n_rows, n_columns)
        Which points lie in which of their balls, all problems side by side; only points
        that lie in some.
    cost, prize : ndarray of float
        Of the columns and of the rows.
    constant : float
        Prizes of the points that lie in no ball that is left.
    """

    kept: list[Indices]
    cover: csr_array
    cost: Floats
    prize: Floats
    constant: float

    @classmethod
    def of(cls, problems: Sequence[CoverProblem], kept: list[Indices], step: Fraction) -> _Tree:
        """Write the program down for the candidates that are kept."""
        pairs = list(zip(problems, kept, strict=True))
        cover = block_diag(
            [problem.members(columns).astype(np.float64) for problem, columns in pairs],
            format="csr",
        )
        cost = np.concatenate(
            [_counted(problem.wrong[columns], step) for problem, columns in pairs]
        ) + float(problems[0].exact_cost / step)
        prize = np.concatenate([_counted(problem.prize, step) for problem in problems])
        held = np.diff(cover.indptr) > 0
        return cls(kept, cover[held], cost, prize[held], float(prize[~held].sum()))

    @property
    def scale(self) -> float:
        """Power of two to divide costs by so that HiGHS's absolute tolerances suit them."""
        largest = max(self.cost.max(initial=1.0), self.prize.max(initial=1.0))
        return float(2.0 ** max(0.0, np.ceil(np.log2(largest / _COMFORTABLE))))

    def search(self, budget: int, value: float, options: dict[str, Any]) -> Any:
        """Let HiGHS look for selections below `value`."""
        n_rows, n_columns = self.cover.shape
        objective = np.concatenate((self.cost, self.prize, [value - self.constant]))
        rows = hstack(
            (self.cover, eye_array(n_rows), np.ones((n_rows, 1))), format="csr", dtype=np.float64
        )
        chosen = csr_array(np.concatenate((np.ones(n_columns), np.zeros(n_rows + 1)))[np.newaxis])
        answer = milp(
            objective / self.scale,
            integrality=np.ones(len(objective)),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(
                csc_array(vstack((rows, chosen))),
                lb=np.append(np.ones(n_rows), -np.inf),
                ub=np.append(np.full(n_rows, np.inf), budget),
            ),
            options=options,
        )
        logger.debug("branch and bound under a budget: %s", answer.message)
        return answer

    def selections(self, x: Floats | None) -> list[Indices] | None:
        """Return what was chosen of each problem; None where nothing better was."""
        if x is None or not np.isfinite(x).all() or x[-1] > 0.5:
            return None
        chosen = x[: len(self.cost)] > 0.5
        ends = np.cumsum([len(columns) for columns in self.kept])[:-1]
        parts = zip(self.kept, np.split(chosen, ends), strict=True)
        return [columns[part] for columns, part in parts]

    def bound(self, answer: Any) -> int:
        """Return HiGHS's bound in steps, rounded up: what its tolerances took is given back."""
        bound: float | None = answer.get("mip_dual_bound")
        if bound is None or not math.isfinite(bound) or answer.status not in (0, 1):
            return -1
        return math.ceil((bound - 1e-3) * self.scale + self.constant)


def _counted(amounts: Floats, step: Fraction) -> Floats:
    """Return amounts as whole numbers of steps."""
    return np.round(amounts / float(step))
