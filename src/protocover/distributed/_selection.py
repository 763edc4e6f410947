"""Selection from a cover in blocks: one task for each class that fits a worker, else rounds."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem
from .._estimators.fitting import Terms, no_candidates
from .._selection.selection import ClassSelection, Selection, with_floor
from ..solvers import greedy
from ._adaptive_radii import solve_own
from ._blocks import ClassCover, join_covers
from ._chunks import Chunk, ChunkedPoints
from ._cluster import Cluster, as_task
from ._cover import BlockCover
from ._rounds import (
    Progress,
    Report,
    begin,
    best_of_block,
    conclude,
    force_single,
    report,
    take_round,
)

# The problem by columns and by rows, its worthwhile part and what joining them takes.
_BYTES_PER_MEMBERSHIP = 32
# The same of balls of their own radii, which first have to be put in order.
_BYTES_PER_OWN = 64

# For what radii of their own cannot have.
_WAYS_OUT = (
    "lower eps, the largest radius allowed, take fewer candidates, such as candidates=0.1, or "
    "fit PVMClassifier(radii='adaptive') to a sample"
)

Floats = NDArray[np.float64]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Work:
    """What every way of selecting needs."""

    client: Any
    points: ChunkedPoints
    cover: BlockCover
    prototype_cost: float
    min_per_class: int

    def solver(self, label: int) -> Any:
        """Return what solves a class whose balls are all in one place."""
        if not self.cover.adaptive_radii:
            return _solve
        return partial(solve_own, n_points=int(self.points.class_count[label]))

    def weights(self, label: int) -> Any:
        """Return a future of the weights of a class's points, None where all are 1."""
        if not self.points.weighted:
            return None
        parts = self.client.map(_weights, self.points.chunks, label=label)
        return self.client.submit(np.concatenate, parts)


def check_selection(selection: Any, *, adaptive_radii: bool) -> None:
    """Refuse a way of selecting that does not exist, or not for radii of their own."""
    if selection not in ("auto", "classes", "rounds"):
        raise ValueError(f"selection must be 'auto', 'classes' or 'rounds', got {selection!r}")
    if selection == "rounds" and adaptive_radii:
        raise ValueError(
            "selection must be 'auto' or 'classes' with radii='adaptive', got 'rounds', in which "
            f"blocks compare balls of one radius; {_WAYS_OUT}"
        )


def choose_tiers(
    selection: str,
    memberships: NDArray[np.intp],
    *,
    cluster: Cluster,
    adaptive_radii: bool = False,
) -> NDArray[np.bool_]:
    """Tell for each class whether it is to be selected in rounds.

    With "auto" it is where its reduced cover, of so many memberships, would take more than
    half of the memory that a worker has for a task.
    """
    if selection == "auto":
        n_bytes = _BYTES_PER_OWN if adaptive_radii else _BYTES_PER_MEMBERSHIP
        return memberships * n_bytes > cluster.thread_bytes / 2.0
    return np.full(len(memberships), selection == "rounds")


def refuse_rounds(
    classes: NDArray[Any],
    memberships: NDArray[np.intp],
    in_rounds: NDArray[np.bool_],
    *,
    cluster: Cluster,
) -> None:
    """Refuse classes of balls of their own radii that would have to be selected in rounds."""
    if not in_rounds.any():
        return
    largest = int(memberships.argmax())
    raise ValueError(
        "with radii='adaptive' a class is selected in one task, and "
        f"{classes[largest : largest + 1].tolist()[0]!r} would take "
        f"{memberships[largest] * _BYTES_PER_OWN / 1e9:.2g} GB of the "
        f"{cluster.thread_bytes / 1e9:.2g} GB that a worker has for one; {_WAYS_OUT}, or try "
        "with selection='classes'"
    )


def select_on_cluster(
    client: Any,
    points: ChunkedPoints,
    cover: BlockCover,
    terms: Terms,
    *,
    in_rounds: NDArray[np.bool_],
) -> Selection:
    """Select for every class, in exactly the order of the greedy on one machine."""
    work = _Work(client, points, cover, terms.prototype_cost, terms.min_per_class)
    labels, max_prototypes = range(len(points.classes)), terms.max_prototypes
    budget = (
        max_prototypes
        if isinstance(max_prototypes, Mapping)
        else dict.fromkeys(labels, max_prototypes)
    )
    small = {label: budget.get(label) for label in labels if not in_rounds[label]}
    large = {label: budget.get(label) for label in labels if in_rounds[label]}
    logger.info("selecting %d classes whole and %d in rounds", len(small), len(large))
    solved = _solve_whole(work, small)
    raced = _solve_in_rounds(work, large)
    solved |= {label: conclude(race) for label, race in raced.items()}
    if terms.min_per_class:
        _check_has_prototypes(solved, points.classes, budget)
    if isinstance(max_prototypes, int):
        spent = _spend(solved, max_prototypes, min_per_class=terms.min_per_class)
        # Each class is bounded among as many as the whole budget: so their bounds add up.
        cut = {label: max_prototypes for label in spent if label in small}
        solved |= _solve_whole(work, cut, keep=spent)
        solved |= {
            label: conclude(raced[label], spent[label]) for label in spent if label in large
        }
    return Selection.joined([solved[label] for label in labels])


def _check_has_prototypes(
    solved: Mapping[int, ClassSelection], classes: NDArray[Any], budget: Mapping[int, int | None]
) -> None:
    """Refuse a class that must have a prototype and has nothing to choose from."""
    without = [
        classes[label : label + 1].tolist()[0]
        for label, one in solved.items()
        if len(one.solution.selected) == 0 and budget.get(label) != 0
    ]
    if without:
        raise no_candidates(without)


def _spend(
    solved: Mapping[int, ClassSelection], budget: int, *, min_per_class: int = 0
) -> dict[int, int]:
    """Say how many prototypes remain to classes that lose some of theirs to the budget."""
    in_order = Selection.joined([solved[label] for label in range(len(solved))]).classes
    if min_per_class:  # the first of each class goes first
        order = np.argsort(in_order, kind="stable")
        is_later = np.ones(len(in_order), dtype=bool)
        is_later[order[np.flatnonzero(np.diff(in_order[order], prepend=-1))]] = False
        in_order = in_order[np.argsort(is_later, kind="stable")]
    kept = np.bincount(in_order[:budget], minlength=len(solved)).tolist()
    return {label: k for label, k in enumerate(kept) if k < len(solved[label].solution.selected)}


def _solve_whole(
    work: _Work,
    budgets: Mapping[int, int | None],
    *,
    keep: Mapping[int, int] | None = None,
) -> dict[int, ClassSelection]:
    """Solve each class of `budgets` in a task of its own, and keep so many of its choices."""
    tasks = [
        work.client.submit(
            work.solver(label),
            work.cover.shares(work.client, label),
            work.weights(label),
            prototype_cost=work.prototype_cost,
            max_prototypes=most,
            min_per_class=work.min_per_class,
            keep=(keep or {}).get(label),
        )
        for label, most in budgets.items()
    ]
    return dict(zip(budgets, work.client.gather(tasks), strict=True))


def _solve(
    shares: Sequence[ClassCover],
    weights: Floats | None,
    *,
    prototype_cost: float,
    max_prototypes: int | None,
    min_per_class: int = 0,
    keep: int | None = None,
) -> ClassSelection:
    """Run the greedy on one class; also count the points in the balls chosen.

    What is bounded is a choice of `max_prototypes`, of which the first `keep` are kept.
    """
    whole = join_covers(shares)
    prize = np.ones(whole.cover.shape[0]) if weights is None else weights
    problem = CoverProblem(whole.cover, whole.wrong, prize, prototype_cost)
    solution = greedy(problem, max_prototypes=max_prototypes).prefix(problem, keep)
    if min_per_class and max_prototypes != 0:
        solution = with_floor(problem, solution)
    chosen = solution.selected
    named = replace(solution, selected=whole.numbers[chosen])
    return ClassSelection(named, whole.own[chosen], whole.miscovered[chosen], None)


def _solve_in_rounds(work: _Work, budgets: Mapping[int, int | None]) -> dict[int, Progress]:
    """Run the rounds of all classes of `budgets` side by side."""
    shares = {label: work.cover.shares(work.client, label) for label in budgets}
    weights = {label: work.weights(label) for label in budgets}
    state = {}
    for label, most in budgets.items():
        given = weights[label]
        prize = np.ones(work.points.class_count[label]) if given is None else given.result()
        state[label] = begin(prize, prototype_cost=work.prototype_cost, max_prototypes=most)
    n_rounds = 0
    while running := [label for label in budgets if not state[label].done]:
        n_rounds += 1
        told = _ask(work, [(shares[label], weights[label], state[label]) for label in running])
        for label, reports in zip(running, told, strict=True):
            state[label] = take_round(state[label], reports)
    logger.info("%d rounds", n_rounds)
    for label, most in budgets.items():
        if work.min_per_class and most != 0 and not state[label].score:
            asked = [
                work.client.submit(best_of_block, share, weights[label]) for share in shares[label]
            ]
            state[label] = force_single(state[label], work.client.gather(asked))
    return state


def _ask(work: _Work, running: Sequence[tuple[list[Any], Any, Progress]]) -> list[list[Report]]:
    """Have every block report on all running classes, in one task a block.

    `running` holds each class's shares of all blocks, its weights and its progress; each
    class's reports come back.
    """
    shares, weights, states = zip(*running, strict=True)
    covered = [as_task(work.client, np.packbits(state.covered)) for state in states]
    asked = [
        work.client.submit(
            _report_all,
            list(of_block),
            covered,
            list(weights),
            ask=[state.ask for state in states],
            prototype_cost=work.prototype_cost,
        )
        for of_block in zip(*shares, strict=True)
    ]
    return [list(reports) for reports in zip(*work.client.gather(asked), strict=True)]


def _report_all(
    shares: Sequence[ClassCover],
    covered: Sequence[NDArray[np.uint8]],
    weights: Sequence[Floats | None],
    *,
    ask: Sequence[int],
    prototype_cost: float,
) -> list[Report]:
    """Report on several classes' shares of one block."""
    return [
        report(share, bits, prize, ask=most, prototype_cost=prototype_cost)
        for share, bits, prize, most in zip(shares, covered, weights, ask, strict=True)
    ]


def _weights(chunk: Chunk, label: int) -> Floats:
    """Return the weights of one class's points in a chunk."""
    return np.asarray(chunk.weights[chunk.codes == label])
