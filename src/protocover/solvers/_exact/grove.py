"""A tree that others can check and, where that one does not end soon, a smaller one.

Trees on all that a vector leaves room for, points merged at most, are as small as any on the
covers of dense balls. On sparse ones reductions that argue by exchanges leave far less, but no
proof beyond our word: they come second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, ProofTree
from .._local_search import search
from .._reduced.reductions import merge_identical_points, reduce_cover
from .._reduced.residual import Residual
from .branching import TRIALS
from .tree import Tree

Indices = NDArray[np.intp]

# How many times smaller reductions must make the table.
_SMALLER = 4
# Memberships from which on reductions take longer than nodes.
_MOST_REDUCED = 60_000


@dataclass(eq=False)
class Grove:
    """A search for selections of value at most `target` by one tree or two.

    Parameters are those of :class:`~.tree.Tree`; `left` is what its vector leaves possible, and
    `soon` after how many nodes reductions are tried.
    """

    left: Residual
    target: float
    gap: float = 0.0
    trials: tuple[int, int] = TRIALS
    verbose: int = 0
    soon: int = 40

    def __post_init__(self) -> None:
        self._tree = self._planted(merge_identical_points(self.left), self.target)
        # What the first tree has come to, once there is a second.
        self._nodes_before, self._bound_before = 0, -math.inf
        self._found: Indices | None = None
        self._is_settled = self.left.cover.nnz > _MOST_REDUCED

    @property
    def n_nodes(self) -> int:
        """Nodes looked at so far."""
        return self._nodes_before + self._tree.n_nodes

    @property
    def bound(self) -> float:
        """No selection has a smaller value; at most one above what is still looked for."""
        return max(self._bound_before, self._tree.bound)

    @property
    def best(self) -> float:
        """Value of the best selection known, found here or before."""
        return self._tree.target + 1.0

    @property
    def open_share(self) -> float:
        """Largest share of the best value that something better could save."""
        return max(self.best - self.bound, 0.0) / max(self.best, 1.0)

    @property
    def selection(self) -> Indices | None:
        """Candidates of the best that was found, if anything was.

        Reductions count on a selection that no candidate more would improve.
        """
        root, columns = self._tree.root, self._tree.columns
        if columns is None:
            return self._found
        start, rng = root.candidates[columns], np.random.default_rng(0)
        return root.selection(search(root, rng, patience=0, start=start))

    def grow(self, *, deadline: float = math.inf, max_nodes: float = math.inf) -> None:
        """Look at nodes until the tree is closed, time is up or so many nodes were looked at."""
        last = self.n_nodes + max_nodes
        if not self._is_settled:
            self._tree.grow(deadline=deadline, max_nodes=min(last, self.soon) - self.n_nodes)
            if not self._tree.closed and self.n_nodes >= self.soon:
                self._replant(deadline)
        self._tree.grow(deadline=deadline, max_nodes=last - self.n_nodes)

    def leaves(self, problem: CoverProblem) -> ProofTree | None:
        """Return what others can check, None where there is no such thing."""
        return None if self._nodes_before else self._tree.leaves(problem)

    def _planted(self, root: Residual, target: float) -> Tree:
        """Return a tree on a residual."""
        return Tree(root, target, gap=self.gap, trials=self.trials, verbose=self.verbose)

    def _replant(self, deadline: float) -> None:
        """Go on with a tree on what reductions leave, where that is far less."""
        self._is_settled = True
        reduced = reduce_cover(self.left, deadline=deadline)
        branched = self._tree.root
        if _SMALLER * math.prod(reduced.cover.shape) > math.prod(branched.cover.shape):
            return
        self._found, self._bound_before = self.selection, self._tree.bound
        self._nodes_before, target = self.n_nodes, self._tree.target
        self._tree = self._planted(reduced, target)
