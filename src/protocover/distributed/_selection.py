"""Selection from a cover in blocks: one task per class that fits a worker, else rounds."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem
from .._estimators.fitting import Terms, no_candidates
from .._selection.selection import ClassSelection, Selection, order_jointly
from ._adaptive_radii import solve_own
from ._blocks import BlockCover, ClassCover, join_covers
from ._chunks import Chunk, ChunkedPoints
from ._cluster import Cluster, as_task
from ._rounds import (
    Progress,
    Report,
    begin,
    best_of_block,
    choose_whole,
    conclude,
    force_single,
    report,
    take_round,
)

# Memory of the problem by columns and by rows, its worthwhile part and of joining them.
_BYTES_PER_MEMBERSHIP = 32
# The same with adaptive radii, where neighbourhoods first have to be sorted.
_BYTES_PER_OWN = 64

_WAYS_OUT = (
    "lower eps, the largest radius allowed, take fewer candidates, such as candidates=0.1, or "
    "fit PVMClassifier(radii='adaptive') to a sample"
)

Floats = NDArray[np.float64]

logger = logging.getLogger(__name__)


def check_selection(selection: Any, *, whole: str = "classes", adaptive_radii: bool) -> None:
    """Check the parameter `selection`, which is `whole` for a class in one task."""
    if selection not in ("auto", whole, "rounds"):
        raise ValueError(f"selection must be 'auto', {whole!r} or 'rounds', got {selection!r}")
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
    """Return for each class whether it is selected in rounds.

    With "auto" it is if its reduced cover, which has the given number of memberships, would
    take more than half of the memory that a worker has for a task.
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
    """Raise an error if a class with adaptive radii would have to be selected in rounds."""
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
    """Select for every class, in the order of the greedy on one machine."""
    labels, most = range(len(points.classes)), terms.max_prototypes
    budget = most if isinstance(most, Mapping) else dict.fromkeys(labels, most)
    shares = [cover.shares(client, label) for label in labels]
    weights = [weights_of(client, points, label) for label in labels]

    def solve_whole(
        budgets: Mapping[int, int | None], kept: Any = None
    ) -> dict[int, ClassSelection]:
        solve = [
            partial(solve_own, n_points=int(points.class_count[label]))
            if cover.adaptive_radii
            else _solve
            for label in labels
        ]
        tasks = [
            client.submit(
                solve[label],
                shares[label],
                weights[label],
                prototype_cost=terms.prototype_cost,
                max_prototypes=budgets[label],
                min_per_class=terms.min_per_class,
                keep=(kept or {}).get(label),
            )
            for label in budgets
        ]
        return dict(zip(budgets, client.gather(tasks), strict=True))

    small = {label: budget.get(label) for label in labels if not in_rounds[label]}
    large = [label for label in labels if in_rounds[label]]
    logger.info("selecting %d classes whole and %d in rounds", len(small), len(large))
    solved = solve_whole(small)
    race = {}
    for label in large:
        prize = np.ones(points.class_count[label])
        if weights[label] is not None:
            prize = weights[label].result()
        start = begin(prize, prototype_cost=terms.prototype_cost, max_prototypes=budget.get(label))
        race[label] = start
    race = run_rounds(client, shares, weights, race)
    for label in large:
        if terms.min_per_class and budget.get(label) != 0 and not race[label].score:
            asked = [client.submit(best_of_block, one, weights[label]) for one in shares[label]]
            race[label] = force_single(race[label], client.gather(asked))
        solved[label] = conclude(race[label])
    if terms.min_per_class:
        _check_has_prototypes(solved, points.classes, budget)
    if isinstance(most, int):
        spent = _spend(solved, most, min_per_class=terms.min_per_class)
        # The bound of each class is for the whole budget, so the bounds add up.
        solved |= solve_whole({label: most for label in spent if label in small}, spent)
        solved |= {label: conclude(race[label], spent[label]) for label in spent if label in race}
    return Selection.joined([solved[label] for label in labels])


def weights_of(client: Any, points: ChunkedPoints, label: int) -> Any:
    """Return a future of the weights of the samples of a class, None if all are 1."""
    if not points.weighted:
        return None
    parts = client.map(_weights, points.chunks, label=label)
    return client.submit(np.concatenate, parts)


def run_rounds(
    client: Any,
    shares: Sequence[list[Any]],
    weights: Sequence[Any],
    race: Mapping[int, Progress],
) -> dict[int, Progress]:
    """Run the rounds of the classes in `race` at the same time, given the shares of all."""
    state, n_rounds = dict(race), 0
    while running := [label for label, one in state.items() if not one.done]:
        n_rounds += 1
        covered = [as_task(client, np.packbits(state[label].covered)) for label in running]
        asked = [
            client.submit(
                _report_all,
                list(of_block),
                covered,
                [weights[label] for label in running],
                ask=[state[label].ask for label in running],
                prototype_cost=state[running[0]].prototype_cost,
            )
            for of_block in zip(*(shares[label] for label in running), strict=True)
        ]
        by_class = zip(*client.gather(asked), strict=True)
        for label, reports in zip(running, by_class, strict=True):
            state[label] = take_round(state[label], reports)
    logger.info("%d rounds", n_rounds)
    return state


def _check_has_prototypes(
    solved: Mapping[int, ClassSelection], classes: NDArray[Any], budget: Mapping[int, int | None]
) -> None:
    """Raise an error if a class must have a prototype and has no candidate."""
    without = [
        classes[label : label + 1].tolist()[0]
        for label, one in sorted(solved.items())
        if len(one.solution.selected) == 0 and budget.get(label) != 0
    ]
    if without:
        raise no_candidates(without)


def _spend(
    solved: Mapping[int, ClassSelection], budget: int, *, min_per_class: int = 0
) -> dict[int, int]:
    """Return how many prototypes remain, for the classes that lose some to the budget."""
    classes, place = order_jointly([solved[label].solution for label in range(len(solved))])
    if min_per_class:  # the first of each class goes first
        classes = classes[np.argsort(place > 0, kind="stable")]
    kept = np.bincount(classes[:budget], minlength=len(solved)).tolist()
    return {label: k for label, k in enumerate(kept) if k < len(solved[label].solution.selected)}


def _solve(
    shares: Sequence[ClassCover], weights: Floats | None, *, prototype_cost: float, **options: Any
) -> ClassSelection:
    """Run the greedy on one class; also count the samples in the neighbourhoods chosen."""
    whole = join_covers(shares)
    prize = np.ones(whole.cover.shape[0]) if weights is None else weights
    problem = CoverProblem(whole.cover, whole.wrong, prize, prototype_cost)
    solution = choose_whole(problem, **options)
    chosen = solution.selected
    return ClassSelection(
        replace(solution, selected=whole.numbers[chosen]),
        whole.own[chosen],
        whole.miscovered[chosen],
        None,
    )


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
    """Return the weights of one class's samples in a chunk."""
    return np.asarray(chunk.weights[chunk.codes == label])
