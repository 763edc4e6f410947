"""Branch and bound under a budget: something better than the best selection known, or a proof.

What cannot be part of anything better is left out first: at the price that bounds best, a
candidate whose slack exceeds the gap. The tree goes on with the rest, the budget its room. A
limit on the uncovered weight is the same question: whether a cheaper selection than the
incumbent leaves no more uncovered than is allowed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csc_array

from ..._cover import CoverProblem, Limit
from .._budget import Incumbent, Trial, shared_step, total_value
from .._reduced.residual import Residual
from .branching import TRIALS
from .tree import Tree

# Whole numbers up to here, and differences of their sums, are exact as floats.
_LARGEST = 2**50
# Beyond what any sum of ours is off by rounding, as a share of it.
_ROUNDING = 1e-9

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def close_by_tree(
    problems: Sequence[CoverProblem],
    trial: Trial,
    budget: int,
    best: list[Indices],
    *,
    time_limit: float = math.inf,
    max_nodes: float = math.inf,
    largest: float = math.inf,
    trials: tuple[int, int] = TRIALS,
    verbose: int = 0,
) -> tuple[list[Indices], Fraction | None]:
    """Look for selections below the best known ones, or show that there are none.

    Not where more than `largest` memberships are left.
    """
    known = trial.within(budget, trial.claimed)
    step = shared_step(problems)
    value = total_value(problems, best)
    most = sum(float(problem.prize.sum()) for problem in problems)
    if not step or known is None or most > step * _LARGEST or time_limit <= 0.0:
        return best, known
    deadline = time.monotonic() + time_limit
    kept = _kept(problems, trial, budget, float(value - step))
    # Written down only where it is small enough: the whole is larger than the problems are.
    if sum(map(_memberships, problems, kept)) > largest:
        return best, known
    root = _joined(problems, kept, step)
    burden = np.ones(root.cover.shape[1])
    target = float(value / step) - 1.0
    tree = Tree(root, target, trials=trials, verbose=verbose, burden=burden, room=float(budget))
    tree.grow(deadline=deadline, max_nodes=max_nodes)
    selections = best if tree.columns is None else _parted(kept, root.candidates[tree.columns])
    bound = known if math.isinf(tree.bound) else Fraction(tree.bound) * step
    return selections, max(known, bound)


def cover_by_tree(
    problem: CoverProblem,
    limit: Limit,
    found: Incumbent,
    *,
    time_limit: float = math.inf,
    max_nodes: float = math.inf,
    largest: float = math.inf,
    trials: tuple[int, int] = TRIALS,
) -> Incumbent:
    """Look for a cheaper selection that covers enough, or show that there is none.

    Not where more than `largest` memberships are left.
    """
    deadline, free = time.monotonic() + time_limit, problem.free
    total, dearest = Fraction(float(problem.prize.sum())), problem.spent(found.selected)
    step, allowed = problem.cost_step, limit.uncovered
    assert allowed is not None, "the limit is one on the uncovered weight"
    if not free.step or max(total / free.step, dearest / step) > _LARGEST:
        return found
    while found.bound < problem.spent(found.selected) and max_nodes > 0:
        spent, kept = problem.spent(found.selected), _affordable(problem, allowed, found)
        if _memberships(free, kept) > largest or time.monotonic() >= deadline:
            break
        root = _joined([free], [kept], free.step)
        tree = Tree(
            root,
            float(allowed // free.step),
            trials=trials,
            burden=_counted(problem.cost[kept], step),
            room=float(spent / step) - 1.0,
        )
        tree.grow(deadline=deadline, max_nodes=max_nodes, first=True)
        max_nodes -= tree.n_nodes
        if tree.columns is None:
            return replace(found, bound=spent, claimed=True) if tree.closed else found
        found = replace(found, selected=kept[root.candidates[tree.columns]])
    return found


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


def _affordable(problem: CoverProblem, allowed: Fraction, found: Incumbent) -> Indices:
    """Return the candidates that a cheaper selection than the incumbent may contain.

    At the price of its vector a candidate whose slack exceeds what is missing in the vector's
    bound for such a cost is in nothing that covers enough.
    """
    everything = problem.free.worthwhile
    if found.dual is None:
        return everything
    relaxed, less = (
        problem.at_price(found.price),
        problem.spent(found.selected) - problem.cost_step,
    )
    u = relaxed.snap(found.dual)
    slack = relaxed.cost - relaxed.prize_sums(u)
    bound = float(u.sum() + np.minimum(slack, 0.0).sum())
    most = float(allowed) + found.price * float(less)
    room = most - bound + _ROUNDING * (most + abs(bound) + 1.0)
    return everything[slack[everything] <= room]


def _joined(problems: Sequence[CoverProblem], kept: list[Indices], step: Fraction) -> Residual:
    """Write what is left of all problems side by side, in steps of the objective."""
    pairs = list(zip(problems, kept, strict=True))
    cover = csc_array(block_diag([problem.members(columns) for problem, columns in pairs]))
    wrong = np.concatenate([problem.wrong[columns] for problem, columns in pairs])
    prize = _counted(np.concatenate([problem.prize for problem in problems]), step)
    n_rows, n_columns = cover.shape
    whole = Residual(
        cover=cover.astype(bool),
        cost=_counted(wrong, step) + float(problems[0].exact_cost / step),
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


def _memberships(problem: CoverProblem, kept: Indices) -> int:
    """Return how many pairs of point and ball the candidates kept have."""
    return int(problem.sizes[kept].sum())


def _parted(kept: list[Indices], columns: Indices) -> list[Indices]:
    """Return what was chosen of each problem's candidates."""
    ends = np.cumsum([len(one) for one in kept])
    chosen = np.zeros(ends[-1], dtype=bool)
    chosen[columns] = True
    parts = zip(kept, np.split(chosen, ends[:-1]), strict=True)
    return [one[part] for one, part in parts]


def _counted(amounts: Floats, step: Fraction) -> Floats:
    """Return amounts as whole numbers of steps."""
    return np.round(amounts / float(step))
