"""What a tree keeps for others to check: where it parted selections, and by what payments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem
from ..._cover.proof import LEAF, MOST_NUMBERS, MOST_STEPS, VECTOR, ProofTree
from .._reduced.residual import Residual

Floats = NDArray[np.float64]

# Memberships beyond which a proof is not checked, nor kept: a tenth of a second at a time.
_MOST_CHECKED = 3_000_000


@dataclass(eq=False)
class Place:
    """A node's place in the tree, filled in as the node is looked at.

    Parameters
    ----------
    payments : list of ndarray of float
        What bounds the node and decides upon columns there, in units of the tree's rows.
    column : int
        What it was branched on, if it was.
    ways : tuple of Place
        Without that column, and with it.
    """

    payments: list[Floats] = field(default_factory=list)
    column: int = -1
    ways: tuple[Place, ...] = ()


def is_too_large(root: Residual, n_places: int) -> bool:
    """Tell whether so many places are more than a proof may hold."""
    return n_places > min(MOST_STEPS // 3, MOST_NUMBERS // max(len(root.rows), 1))


def leaves_of(problem: CoverProblem, root: Residual, place: Place) -> ProofTree | None:
    """Write a tree down in the problem's own candidates and points; None where it is too large."""
    steps: list[int] = []
    vectors: list[Floats] = []
    waiting = [place]
    while waiting:
        here = waiting.pop()
        vectors += here.payments
        steps += [VECTOR] * len(here.payments)
        steps.append(int(root.candidates[here.column]) if here.ways else LEAF)
        waiting += reversed(here.ways)
    if len(steps) > MOST_STEPS or len(vectors) * problem.n_points > MOST_NUMBERS:
        return None
    lifted = (root.spread(problem, dual) for dual in vectors)
    return _written(problem, steps, lifted, len(vectors))


def one_leaf(problem: CoverProblem, vectors: Sequence[Floats]) -> ProofTree | None:
    """Write down vectors of which each leaves out what the next ones need not mind."""
    return _written(problem, [*[VECTOR] * len(vectors), LEAF], vectors, len(vectors))


def _written(
    problem: CoverProblem, steps: list[int], vectors: Iterable[Floats], n_vectors: int
) -> ProofTree | None:
    """Bring vectors to the problem's grid; None where it takes too long to check them."""
    if problem.n_memberships > _MOST_CHECKED:
        return None
    snapped = np.empty((n_vectors, problem.n_points))
    for row, dual in zip(snapped, vectors, strict=True):
        row[:] = problem.snap(dual)
    return ProofTree(np.array(steps, dtype=np.intp), snapped)
