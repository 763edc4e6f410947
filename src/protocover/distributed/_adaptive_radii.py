"""Balls of their own radii: found by block and chunk, and each class solved in one task.

Where a ball may end, all points near its candidate decide together. So the members that all
chunks have found for a block come together, nearest first, in the task that reduces it; from
there on it is the walk of one machine, and the problem of a class is the same, column by
column. The labels and weights of all points, sixteen bytes each, go to every worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._balls import OrderedMembers, ordered_members, spans
from .._selection.adaptive_radii import CandidateBalls, Rules, join_balls
from .._selection.selection import ClassSelection
from ._blocks import CandidateBlock
from ._chunks import Chunk, ChunkedPoints
from ._rounds import choose_whole

# Members that are walked along together, at some two hundred bytes each.
_MEMBERS = 1 << 18

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]


def gather_rules(
    client: Any, points: ChunkedPoints, *, eps: float, closed: bool, prototype_cost: float
) -> Any:
    """Return a future of what decides which balls are worth looking at."""
    told = client.map(_labels_and_weights, points.chunks)
    return client.submit(
        _rules,
        told,
        n_classes=len(points.classes),
        least_cost=prototype_cost,
        eps=eps,
        closed=closed,
    )


@dataclass(frozen=True, eq=False)
class ChunkMembers:
    """Which points of one chunk lie within the limit of which candidates of a block."""

    candidate: Indices  # by its place in the block, rising
    point: Indices  # by its number among all points
    distance: Floats

    def between(self, low: int, high: int) -> ChunkMembers:
        """Return the members of the candidates from `low` to before `high`."""
        cut = slice(*np.searchsorted(self.candidate, [low, high]))
        return ChunkMembers(self.candidate[cut], self.point[cut], self.distance[cut])


def chunk_members(
    chunk: Chunk,
    block: CandidateBlock,
    dissimilarity: Any,
    *,
    first: int,
    eps: float,
    closed: bool,
) -> ChunkMembers:
    """Find the members of a block's balls in a chunk whose points are numbered from `first` on."""
    if len(block.numbers) == 0 or len(chunk.codes) == 0:
        none = np.empty(0, dtype=np.intp)
        return ChunkMembers(none, none, np.empty(0))

    def take(members: OrderedMembers) -> ChunkMembers:
        point = members.point.astype(np.intp) + first
        return ChunkMembers(members.candidate, point, members.distance)

    # One thread: the workers already run as many tasks as they have cores.
    strips = ordered_members(
        dissimilarity, chunk.points, block.points, take, eps=eps, closed=closed, n_jobs=1
    )
    return ChunkMembers(*_joined(list(strips)))


def reduce_own(
    block: CandidateBlock, parts: Sequence[ChunkMembers], rules: Rules
) -> list[CandidateBalls]:
    """Return for each class the balls of a block that may be worth choosing.

    `parts` are the members in all chunks. In the share of a class its points are numbered
    among themselves, and it is class 0, as if there were no other.
    """
    here = replace(rules, served=block.served)
    balls = _side_by_side(
        [CandidateBalls.of(members, here) for members in _by_candidate(parts, len(block.numbers))]
    )
    place = _places_in_class(rules.codes)
    shares = []
    for label in range(rules.n_classes):
        mine = _taken(balls, np.flatnonzero(balls.label == label))
        shares.append(
            replace(
                mine,
                label=np.zeros_like(mine.label),
                candidate=block.numbers[mine.candidate],
                point=place[mine.point],
            )
        )
    return shares


def solve_own(
    shares: Sequence[CandidateBalls],
    weights: Floats | None,
    *,
    n_points: int,
    prototype_cost: float,
    **options: Any,
) -> ClassSelection:
    """Run the greedy on a class of `n_points`, given the neighbourhoods of all blocks for it."""
    prize = np.ones(n_points) if weights is None else weights
    alone = Rules(np.zeros(n_points, dtype=np.intp), prize, 1, prototype_cost, np.inf, False)
    balls = _side_by_side(shares)
    balls = _taken(balls, np.argsort(balls.candidate, kind="stable"))
    (described,) = join_balls([balls], alone, prototype_cost=prototype_cost)
    problem = described.problem
    solution = choose_whole(problem, **options)
    covered = np.diff(problem.members(solution.selected).indptr).astype(np.intp)
    return replace(ClassSelection.of(described, solution), covered=covered)


def _labels_and_weights(chunk: Chunk) -> tuple[Indices, Floats]:
    """Return what the rules need of a chunk."""
    return chunk.codes, chunk.weights


def _rules(told: Sequence[tuple[Indices, Floats]], **options: Any) -> Rules:
    """Put the labels and weights of all chunks together."""
    codes, weights = (np.concatenate(part) for part in zip(*told, strict=True))
    return Rules(codes, weights, **options)


def _by_candidate(parts: Sequence[ChunkMembers], n_candidates: int) -> Iterator[OrderedMembers]:
    """Yield the members in all chunks, nearest first, of some candidates after the other."""
    sizes = np.array([np.bincount(part.candidate, minlength=n_candidates) for part in parts])
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes.sum(axis=0)) // _MEMBERS, prepend=0)).tolist()
    for low, high in zip([0, *cuts], [*cuts, n_candidates], strict=True):
        yield OrderedMembers.of(*_joined([part.between(low, high) for part in parts]))


def _joined(parts: Sequence[ChunkMembers]) -> tuple[Indices, Indices, Floats]:
    """Return the members of all parts one after the other, as arrays of what they are."""
    return (
        np.concatenate([part.candidate for part in parts]),
        np.concatenate([part.point for part in parts]),
        np.concatenate([part.distance for part in parts]),
    )


def _places_in_class(codes: Indices) -> Indices:
    """Give each point its number among those of its class, in the order of all points."""
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], codes[order])
    places = np.empty(len(codes), dtype=np.intp)
    places[order] = np.arange(len(codes)) - first
    return places


def _side_by_side(shares: Sequence[CandidateBalls]) -> CandidateBalls:
    """Put balls one after the other, as they come."""
    return CandidateBalls(
        **{
            field.name: np.concatenate([getattr(share, field.name) for share in shares])
            for field in fields(CandidateBalls)
        }
    )


def _taken(balls: CandidateBalls, places: Indices) -> CandidateBalls:
    """Return some of the balls, in the order of `places`, each with the points of its own."""
    starts = np.cumsum(balls.size) - balls.size
    parts = {
        field.name: getattr(balls, field.name)[places]
        for field in fields(CandidateBalls)
        if field.name != "point"
    }
    return CandidateBalls(**parts, point=balls.point[spans(starts[places], balls.size[places])])
