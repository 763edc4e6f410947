"""The greedy selection in rounds, for a class whose cover is spread over many blocks.

In each round every block reports its best candidates with the points they would newly
cover, and the merit of the next best as a bound on all that it keeps to itself. Gains only
fall, so the bound holds for the rest of the round. The greedy run on the reported
candidates alone makes the choices of the greedy on all of them for as long as its choice
is better than every bound: larger in gain, or equal and of lower number. The first choice
of a round always is, so every round makes progress, and the sequence is that of one machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._cover import CoverProblem, CoverSolution, Limit
from .._selection.selection import ClassSelection, with_floor
from ..solvers import greedy
from ..solvers._greedy import choose_by_drop
from ._blocks import ClassCover, in_order, join_covers

# Memberships that all blocks together are to report on a class in a round.
_REPORTED = 1 << 21

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Report:
    """What a block says in a round."""

    best: ClassCover  # its best candidates, with only those points that are not yet covered
    # Gain and minus the number of its next best candidate; None if no other is worth it.
    bound: tuple[float, int] | None


@dataclass(frozen=True, eq=False)
class Progress:
    """How far the selection for a class has come."""

    prize: Floats  # weights of the points of the class
    prototype_cost: float
    max_prototypes: int | None
    covered: NDArray[np.bool_]  # samples of the class that are covered
    slack: float = -1.0  # the rounds may end once no more than this weight is uncovered
    chosen: tuple[ClassCover, ...] = ()  # by round, with at least the points newly covered
    score: tuple[float, ...] = ()  # gain of each choice
    ask: int = 32  # how many candidates each block is to report next
    done: bool = False  # whether nothing is left to choose
    forced: bool = False  # whether the one choice is not worth its cost


def choose_whole(
    problem: CoverProblem,
    *,
    max_prototypes: int | None,
    min_per_class: int = 0,
    keep: int | None = None,
) -> CoverSolution:
    """Run the greedy on a class that is held in one place.

    The bound is that of at most `max_prototypes`, of which the first `keep` are kept.
    """
    solution = greedy(problem, max_prototypes=max_prototypes).prefix(problem, keep)
    if min_per_class and max_prototypes != 0:
        return with_floor(problem, solution)
    return solution


def begin(
    prize: Floats,
    *,
    prototype_cost: float,
    max_prototypes: int | None = None,
    covered: NDArray[np.bool_] | None = None,
    slack: float = -1.0,
    ask: int = 32,
) -> Progress:
    """Return the start of a selection, by default with nothing covered."""
    if covered is None:
        covered = np.zeros(len(prize), dtype=bool)
    return Progress(prize, prototype_cost, max_prototypes, covered, slack, ask=ask)


def report(
    share: ClassCover,
    covered: NDArray[np.uint8],
    prize: Floats | None,
    *,
    ask: int,
    prototype_cost: float,
) -> Report:
    """Report the `ask` best candidates of a block, of those that gain more than they cost.

    `covered` has a bit for each point of the class, packed; `prize` is None where all weights
    are 1.
    """
    open_ = np.unpackbits(covered, count=share.cover.shape[0]) == 0
    value = open_.astype(np.float64) if prize is None else np.where(open_, prize, 0.0)
    gain = share.cover.T @ value - share.wrong
    worth_it = np.flatnonzero(gain > prototype_cost)
    # Numbers rise along the columns, so a stable sort leaves ties to the lower number.
    ranked = worth_it[np.argsort(-gain[worth_it], kind="stable")]
    best = share.taken(np.sort(ranked[:ask]))
    bound = None
    if len(ranked) > ask:
        bound = (float(gain[ranked[ask]]), -int(share.numbers[ranked[ask]]))
    return Report(replace(best, cover=_only(best.cover, open_)), bound)


def take_round(progress: Progress, reports: Sequence[Report]) -> Progress:
    """Choose from all blocks' reports what the greedy on all candidates would choose next."""
    union = join_covers([report.best for report in reports])
    bound = max((report.bound for report in reports if report.bound is not None), default=None)
    most = progress.max_prototypes
    left = None if most is None else most - len(progress.score)
    picks, score = _choose(union, progress, left)
    safe = len(picks) if bound is None else _count_above(score, union.numbers[picks], bound)
    choices = union.taken(picks[:safe])
    covered = progress.covered.copy()
    covered[choices.cover.indices] = True
    return replace(
        progress,
        covered=covered,
        chosen=(*progress.chosen, choices),
        score=(*progress.score, *score[:safe].tolist()),
        ask=_next_ask(progress.ask, union),
        # Without a bound all that is worth its cost was reported, and has been looked at.
        done=bound is None or safe == left or progress.prize[~covered].sum() <= progress.slack,
    )


def best_of_block(share: ClassCover, prize: Floats | None) -> tuple[float, ClassCover] | None:
    """Return the candidate of a block that alone gains most, and its gain; None without any."""
    if len(share.numbers) == 0:
        return None
    value = np.ones(share.cover.shape[0]) if prize is None else prize
    gain = share.cover.T @ value - share.wrong
    best = int(gain.argmax())
    return float(gain[best]), share.taken(np.array([best]))


def force_single(progress: Progress, found: Sequence[tuple[float, ClassCover] | None]) -> Progress:
    """Choose the best candidate of all blocks, of equals the first, though it is not worth it."""
    known = [one for one in found if one is not None]
    if not known:
        return progress
    gain, best = max(known, key=lambda one: (one[0], -int(one[1].numbers[0])))
    return replace(progress, chosen=(best,), score=(gain,), forced=True)


def conclude(progress: Progress, limit: int | None = None) -> ClassSelection:
    """Describe the first `limit` choices; also count the points in their balls.

    The objective is exact. Nothing is proved of the optimum, for which the whole cover would
    have to be looked at in one place.
    """
    k = len(progress.score) if limit is None else limit
    if k == 0:
        cover = csc_array((len(progress.prize), 0), dtype=bool)
        none = np.empty(0, dtype=np.intp)
        chosen = ClassCover(none, cover, np.empty(0), none, none)
    else:
        chosen = in_order(progress.chosen).taken(np.arange(k))
    problem = CoverProblem(chosen.cover, chosen.wrong, progress.prize, progress.prototype_cost)
    solution = CoverSolution.of(
        problem,
        np.arange(k),
        score=np.array(progress.score[:k]),
        limit=Limit(at_least=int(progress.forced and k > 0)),
    )
    return ClassSelection(
        replace(solution, selected=chosen.numbers), chosen.own, chosen.miscovered, None
    )


def _choose(
    union: ClassCover, progress: Progress, limit: int | None
) -> tuple[NDArray[np.intp], Floats]:
    """Run the greedy on the reported candidates and the points that they hold."""
    points, renumbered = np.unique(union.cover.indices, return_inverse=True)
    shape = (len(points), len(union.numbers))
    cover = csc_array((union.cover.data, renumbered, union.cover.indptr), shape=shape)
    problem = CoverProblem(cover, union.wrong, progress.prize[points], progress.prototype_cost)
    return choose_by_drop(problem, limit)


def _count_above(score: Floats, numbers: NDArray[np.intp], bound: tuple[float, int]) -> int:
    """Count the choices up to the first that some unreported candidate might precede."""
    gain, minus_number = bound
    above = (score > gain) | ((score == gain) & (-numbers > minus_number))
    return len(above) if above.all() else int(above.argmin())


def _next_ask(ask: int, union: ClassCover) -> int:
    """Ask for as many candidates as the driver can well take: the more, the fewer the rounds."""
    if union.memberships > _REPORTED:
        return max(1, ask // 2)
    return 2 * ask if 2 * union.memberships <= _REPORTED else ask


def _only(cover: csc_array, points: NDArray[np.bool_]) -> csc_array:
    """Leave out of every ball the points that are not among `points`."""
    kept = points[cover.indices]
    indptr = np.concatenate(([0], np.cumsum(kept)))[cover.indptr]
    data = np.ones(int(indptr[-1]), dtype=bool)
    return csc_array((data, cover.indices[kept], indptr), shape=cover.shape)
