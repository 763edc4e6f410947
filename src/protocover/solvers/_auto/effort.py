"""How many nodes the trees of the default get: several problems share one effort, in counts.

What a node takes goes with the candidates of its linear program, what a greedy fit takes with the
pairs of point and candidate and with the members of the balls: so these of all problems make a
credit, and a node is paid for by its candidates. What one tree saves the others get. Beyond the
credit trees grow only until no more than a hundredth of the objective of all problems together
could be saved.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Protocol

from ..._cover import relative_gap

# Credit of any fit, pairs of point and candidate and memberships that make one more of it, and
# what a node costs beyond its candidates.
_LEAST_CREDIT, _PAIRS_A_CREDIT, _MEMBERS_A_CREDIT, _ANY_NODE = 1200, 6500, 600, 100
# Share of the objective below which it is as good as closed, and then so many times the credit
# goes into closing it.
_NEAR, _MORE = 2e-3, 4
# Share of the objective that is left open in the end, if so many nodes a tree suffice.
_ENOUGH, _MOST_NODES = 0.01, 60


class Growing(Protocol):
    """A search whose tree can grow."""

    @property
    def n_pairs(self) -> int: ...
    @property
    def n_memberships(self) -> int: ...
    @property
    def n_candidates_left(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    def grow(self, max_nodes: int, deadline: float) -> None: ...


def grow_together(searches: Sequence[Growing], *, deadline: float = math.inf) -> None:
    """Let the trees of all searches grow, smallest first.

    Parameters
    ----------
    searches : sequence of AutoSearch
        Each as far as its stages before the tree have come.
    deadline : float, default=inf
        Time on the monotonic clock when no further node is begun.
    """
    trees = sorted((one for one in searches if one.is_open), key=lambda one: one.n_candidates_left)
    credit = float(_LEAST_CREDIT)
    for one in searches:
        credit += one.n_pairs / _PAIRS_A_CREDIT + one.n_memberships / _MEMBERS_A_CREDIT
    left = _share_out(trees, credit, deadline)
    if _open_share(searches) <= _NEAR:
        _share_out(trees, left + _MORE * credit, deadline)
    for tree in trees:
        while _open_share(searches) > _ENOUGH and _can_grow(tree, deadline):
            tree.grow(1, deadline)


def _share_out(trees: Sequence[Growing], credit: float, deadline: float) -> float:
    """Give each tree an equal share of the credit that is left, then all; return the rest."""
    for n_left, tree in zip(range(len(trees), 0, -1), trees, strict=True):
        credit -= _spend(tree, credit / n_left, deadline)
    for tree in trees:
        credit -= _spend(tree, credit, deadline)
    return credit


def _spend(tree: Growing, credit: float, deadline: float) -> int:
    """Let a tree grow by the nodes that a credit pays for; return what they cost."""
    price, before = tree.n_candidates_left + _ANY_NODE, tree.n_nodes
    if _can_grow(tree, deadline):
        tree.grow(min(int(credit // price), _MOST_NODES - before), deadline)
    return (tree.n_nodes - before) * price


def _can_grow(tree: Growing, deadline: float) -> bool:
    """Whether there is a node to look at, and time for it."""
    return tree.is_open and tree.n_nodes < _MOST_NODES and time.monotonic() < deadline


def _open_share(searches: Iterable[Growing]) -> float:
    """Return the largest share of all objectives together that something better could save."""
    objective = math.fsum(one.objective for one in searches)
    return relative_gap(objective, math.fsum(one.lower_bound for one in searches))
