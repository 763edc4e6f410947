"""Dissimilarities that the user has computed already, of all pairs or of those that are near."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from .._balls import Pairs, check_dissimilarities, pairwise_pairs
from .._balls.graph import (
    GraphPairs,
    check_graph,
    filled,
    pick_entries,
    with_own_distances,
)
from .._typing import Floats
from ..data._fields import check_number, check_whole


class Precomputed(BaseEstimator):
    """A points x candidates table: a point is its row, a candidate its column number.

    The table may be sparse, a neighbour graph: its entries are dissimilarities, zeros too, and
    a pair without an entry is farther apart than any radius.

    Parameters
    ----------
    cutoff : float or None, default=None
        Up to which dissimilarity a graph holds all pairs, and so how large balls may be. None
        for its largest entry, which is a little less than the radius it was made with.

    Attributes
    ----------
    n_candidates_ : int
        Number of columns.
    bare_ : bool
        Whether points were not their own neighbours in the graph that was completed.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover.dissimilarity import Precomputed
    >>> table = np.array([[0.0, 2.0], [2.0, 0.0], [1.0, 3.0]])
    >>> Precomputed().fit(table).pairwise(table, [1])
    array([[2.],
           [0.],
           [3.]])
    >>> from scipy.sparse import csr_array
    >>> graph = csr_array(([2.0, 1.0], ([1, 2], [0, 0])), shape=(3, 2))
    >>> Precomputed().fit(graph).pairwise(graph, [0, 1])
    array([[inf, inf],
           [ 2., inf],
           [ 1., inf]])
    """

    accepts_sparse = False
    accepts_graph = True
    precomputed = True
    positive_only = True
    symmetric = False
    stateless = True
    bare_ = False
    saved_state: ClassVar[tuple[str, ...]] = ("n_candidates_",)

    def __init__(self, cutoff: float | None = None) -> None:
        self.cutoff = cutoff

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the table and remember how many candidates it has."""
        if not (
            self.cutoff is None or (isinstance(self.cutoff, Real) and 0.0 < self.cutoff < np.inf)
        ):
            raise ValueError(
                f"cutoff must be a positive number, or None for the graph's largest entry, got "
                f"{self.cutoff!r}"
            )
        self.n_candidates_ = self.table(X).shape[1]
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check the number of columns that a model file has, and the cutoff."""
        check_whole(self.n_candidates_, "n_candidates_")
        if self.cutoff is not None:
            check_number(self.cutoff, "cutoff")

    def table(self, X: Any) -> Any:
        """Return the table of dissimilarities, or the graph, that `X` is."""
        return check_graph(X) if issparse(X) else check_dissimilarities(X, np.shape(X), "X")

    def complete(self, graph: Any) -> Any:
        """Return a square graph with all points as their own neighbours, others as they are."""
        if graph.shape[0] != graph.shape[1]:
            return graph
        whole = with_own_distances(graph)
        self.bare_ = whole is not graph
        return whole

    def cutoff_of(self, graph: Any) -> float:
        """Return the largest radius whose neighbourhoods a graph holds."""
        return float(graph.data.max(initial=0.0)) if self.cutoff is None else float(self.cutoff)

    def entries(self, A: Any, B: Any) -> Any:
        """Return the columns `B` of the table or graph `A`, or `A` itself if it has only those."""
        return pick_columns(A, B, self.n_candidates_, "candidates")

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the columns `B` of the table `A`, or `A` itself if it has only those."""
        table = self.entries(A, B)
        return filled(table) if issparse(table) else np.asarray(table)


class NeighborGraph:
    """A neighbour graph of samples x candidates, searched without a table."""

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the columns `B` of the graph `A`, infinity where it has no entry."""
        return filled(pick_entries(A, B))

    def bind(
        self, A: Any, B: Any, *, radii: Floats | None = None, outward: bool = False, **search: Any
    ) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        if radii is None:
            return pairwise_pairs(self, A, B)
        graph = pick_entries(A, B)
        return GraphPairs(graph.tocsc() if outward else graph)


def read_table(table: Any) -> Precomputed | NeighborGraph:
    """Return the dissimilarity whose values between points and candidates a table holds."""
    return NeighborGraph() if issparse(table) else Precomputed().fit(table)


def pick_columns(A: Any, B: Any, n_columns: int, meaning: str) -> Any:
    """Return the columns `B` of the table `A`, which may have all `n_columns` or only those."""
    table = A.tocsr() if issparse(A) else np.asarray(A, dtype=np.float64)
    if table.shape[1] == n_columns:
        columns = np.asarray(B, dtype=np.intp)
        return pick_entries(table, columns) if issparse(table) else table[:, columns]
    if table.shape[1] == len(B):
        return table
    raise ValueError(
        f"X must have a column for each of the {n_columns} {meaning}, or for each of the "
        f"{len(B)} prototypes, got {table.shape[1]} columns"
    )
