"""Branch and bound on what reductions and fixing left, every node closed in exact arithmetic.

HiGHS proposes payments at each node and fractions to branch on; what is believed is the bound
that those payments prove (:func:`~.fixing.bound_of`), in whole numbers. On covers the linear
relaxation is so close to the optimum that trees are small: most have tens of nodes, the
largest of USPS some hundreds. Cutting planes and heuristics at each node, which make up most
of what HiGHS's and SCIP's own trees do, cost more here than they save.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, ProofTree
from .._reduced.packing import Packing
from .._reduced.residual import Residual
from .branching import TRIALS, History, branch_on
from .nodes import Node, fix
from .proof import Place, is_too_large, leaves_of

Indices = NDArray[np.intp]


@dataclass(eq=False)
class Tree:
    """A search for the best selection of value at most `target`, which can be gone on with.

    Parameters
    ----------
    root : Residual
        What is searched.
    target : float
        Value in units that a selection worth finding has at most; falls as such are found.
    gap : float, default=0.0
        Share of its value by which the next selection must be below the one found.
    trials : (int, int), default=(4, 50)
        Candidates tried at a node before it is branched on one of them, and simplex iterations
        each way.
    verbose : int, default=0
        Above 1 HiGHS writes its log.
    burden : ndarray of float, shape (n_columns,), or None, default=None
        What each column takes, in whole numbers, of something there is only so much of.
    room : float, default=inf
        How much of that there is.
    """

    root: Residual
    target: float
    gap: float = 0.0
    trials: tuple[int, int] = TRIALS
    verbose: int = 0
    burden: NDArray[np.float64] | None = None
    room: float = math.inf
    columns: Indices | None = field(default=None, init=False)
    n_nodes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._packing = Packing(self.root, burden=self.burden, verbose=self.verbose)
        self._history = History.of(self.root.cover.shape[1])
        # Nodes of least bound first, of equal ones the last made: the deepest.
        self._open: list[tuple[float, int, Node]] = []
        self._n_made = 0
        nothing = np.empty(0, dtype=np.intp)
        root = Node(self.root, nothing, -math.inf, burden=self.burden, room=self.room)
        # A burden has a price, of which leaves know nothing.
        self._place: Place | None = root.place if self.burden is None else None
        self._add(root)

    @property
    def bound(self) -> float:
        """No selection has a smaller value; at most the target and one."""
        return min(self._open[0][0] if self._open else math.inf, self.target + 1.0)

    @property
    def closed(self) -> bool:
        """Whether nothing of value at most the target is left to be found."""
        return self.bound > self.target

    def leaves(self, problem: CoverProblem) -> ProofTree | None:
        """Return the tree so far as a proof in the problem's terms; None where it is too large.

        The root must be made of the problem's own candidates, with points at most merged.
        """
        return None if self._place is None else leaves_of(problem, self.root, self._place)

    def grow(
        self,
        *,
        deadline: float = math.inf,
        max_nodes: float = math.inf,
        first: bool = False,
    ) -> None:
        """Look at nodes until the tree is closed, time is up or so many nodes were looked at.

        With `first` until anything is found, too.
        """
        last = self.n_nodes + max_nodes
        while not self.closed and self.n_nodes < last and time.monotonic() < deadline:
            if first and self.columns is not None:
                break
            node = heapq.heappop(self._open)[-1]
            try:
                children = self._expand(node, deadline)
            except BaseException:
                self._add(node)  # whoever catches an interrupt finds the tree whole
                raise
            for child in children:
                self._add(child)

    def _add(self, node: Node) -> None:
        """Keep a node for later."""
        self._n_made += 1
        if is_too_large(self.root, self._n_made):
            self._place = None  # what only it holds is let go
        heapq.heappush(self._open, (node.bound, -self._n_made, node))

    def _expand(self, node: Node, deadline: float) -> list[Node]:
        """Return nodes that together hold all that is worth finding through this one."""
        left = node.left
        payments = node.payments or self._packing.solve(
            left.cost, left.prize, room=node.room, basis=node.basis, deadline=deadline
        )
        if not payments.solved and time.monotonic() >= deadline:
            return [node]
        self.n_nodes += 1
        self._take(node.rounded(payments.fraction))
        fixed = fix(node, payments.dual, self.target, price=payments.price)
        if fixed is None:
            return []
        if len(fixed.open_columns) == 0:  # all is decided
            self._take(fixed.chosen)
            fixed.place.payments.append(fixed.left.prize)  # by which it costs what it does
            return []
        return branch_on(
            fixed,
            payments,
            self._packing,
            self._history,
            self.target,
            trials=self.trials,
            deadline=deadline,
        )

    def _take(self, columns: Indices) -> None:
        """Keep a selection that is good enough, and look only for better ones from then on."""
        value = self.root.value(np.unique(columns))
        if value <= self.target:
            self.columns = np.unique(columns)
            self.target = min(value - 1.0, math.floor(value * (1.0 - self.gap)))
