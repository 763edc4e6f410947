"""A chosen set of prototypes, ready to be asked which of them is nearest."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils import _safe_indexing

from .._balls import (
    balls_of_radii,
    build_balls,
    nearest_in_groups,
    relative_to,
    traits_of,
    within,
)
from .._balls.graph import nearest_in_graph, pick_entries
from .._balls.nearest import (
    NearestIndex,
    ask_index,
    ask_index_for_two,
    find_nearest,
    two_of_groups,
)
from .._resources import limited_threads, row_count

# Numbers held at once where dissimilarities come by whole rows.
_TABLE_SIZE = 1 << 22


@dataclass(frozen=True, eq=False)
class PrototypeSet:
    """Prototypes side by side by class, so that a tie goes to the class first in order.

    Parameters
    ----------
    points : rows, or column numbers of a table
        The prototypes, class by class.
    order : ndarray of int, shape (n_prototypes,)
        Place of each in the order of selection.
    bounds : ndarray of int, shape (n_classes + 1,)
        Class c is ``points[bounds[c]:bounds[c + 1]]``.
    dissimilarity : dissimilarity
        Fitted, with whatever it needs of the training data for these prototypes.
    radii : ndarray of float, shape (n_prototypes,), or None
        Their radii, class by class, where each has its own: nearest is then the prototype
        whose distance is the smallest multiple of its radius.
    """

    points: Any
    order: NDArray[np.intp]
    bounds: NDArray[np.intp]
    dissimilarity: Any
    radii: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        points: Any,
        classes: NDArray[np.intp],
        *,
        n_classes: int,
        dissimilarity: Any,
        radii: NDArray[np.float64] | None = None,
    ) -> Self:
        """Sort prototypes that stand for the given class numbers."""
        order = np.argsort(classes, kind="stable")
        ordered = _safe_indexing(points, order)
        bounds = np.searchsorted(classes[order], np.arange(n_classes + 1))
        by_class = None if radii is None else radii[order]
        return cls(ordered, order, bounds, dissimilarity, by_class)

    def nearest(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return each query's nearest prototype, in order of selection, and its distance.

        -1 and inf where a graph has no entry for a query.
        """
        index, distance = self._find(X, np.array([0, len(self.order)]), n_jobs)
        return self._as_selected(index[:, 0]), distance[:, 0]

    def covering(
        self, X: Any, *, radii: NDArray[np.float64], closed: bool, n_jobs: int | None = None
    ) -> NDArray[np.intp]:
        """Return each query's nearest prototype, in order of selection, if that covers it.

        Parameters
        ----------
        X : queries
            Checked.
        radii : ndarray of float, shape (n_prototypes,)
            In order of selection.
        closed : bool
            Whether neighbourhoods contain their boundary.

        Returns
        -------
        ndarray of int, shape (n_queries,)
            -1 for queries in no neighbourhood: if the nearest prototype does not cover a
            query, no other one does.
        """
        if len(self.order) == 0:
            return np.full(row_count(X), -1)
        index, distance = self.nearest(X, n_jobs=n_jobs)
        return np.where(within(distance, radii[index], closed=closed), index, -1)

    @property
    def classes(self) -> NDArray[np.intp]:
        """Class number of each prototype, in order of selection."""
        found = np.empty(len(self.order), dtype=np.intp)
        found[self.order] = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        return found

    def nearest_place(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.intp]:
        """Return each query's nearest prototype alone, which may be known where distances are not.

        Of a kernel matrix, for instance, without K(x, x) of the queries.
        """
        ranks = self._is_table and hasattr(self.dissimilarity, "ranking")
        if self.radii is not None or not ranks:
            whole = np.array([0, len(self.order)])
            index, _ = self._find(X, whole, n_jobs, distances=False)
            return self._as_selected(index[:, 0])
        ranking = self.dissimilarity.ranking(X, self.by_selection())
        # In class order, so that a tie goes to the class first in order.
        return np.asarray(self.order[ranking[:, self.order].argmin(axis=1)])

    def nearest_two(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the nearest prototype, and the nearest of any other class, (2, n_queries) each.

        As `nearest`; -1 and inf also where no other class has a prototype.
        """
        if self._index is not None and isinstance(X, np.ndarray):
            index, distance = ask_index_for_two(self._index, X, bounds=self.bounds, n_jobs=n_jobs)
        else:
            found = self._find(X, self.bounds, n_jobs)
            index, distance = two_of_groups(*found, self._score(*found))
        return self._as_selected(index), distance

    def scores_by_class(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what the nearest of each class is ranked by: its distance, or multiple of radius.

        Infinity for a class without prototypes, and where a graph has no entry for any.
        """
        if len(self.order) == 0:
            return np.full((row_count(X), len(self.bounds) - 1), np.inf)
        return self._score(*self._find(X, self.bounds, n_jobs))

    def distances(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the dissimilarities of the queries from all prototypes as selected."""
        if len(self.order) == 0:
            return np.empty((row_count(X), 0))
        with limited_threads(n_jobs):
            if self._is_table:
                return np.asarray(self.dissimilarity.pairwise(X, self.by_selection()))
            table = np.empty((row_count(X), len(self.order)))
            table[:, self.order] = self.dissimilarity.pairwise(X, self.points)
            return table

    def balls(self, X: Any, *, eps: float, closed: bool, n_jobs: int | None = None) -> csr_array:
        """Tell which queries lie within `eps`, or its own radius, of which prototypes."""
        if len(self.order) == 0:
            return csr_array((row_count(X), 0), dtype=bool)
        if self.is_graph(X):
            return self._graph_balls(X, eps, closed=closed)
        if self._answers_whole_rows:
            # A table is in memory already, with more columns than there are prototypes.
            step = row_count(X) if self._is_table else _TABLE_SIZE // len(self.order)
            step = max(1, step)
            starts = range(0, row_count(X), step)
            blocks = (
                self.distances(_safe_indexing(X, slice(i, i + step)), n_jobs=n_jobs)
                for i in starts
            )
            reach = eps if self.radii is None else self.radii[np.argsort(self.order)]
            inside = [csr_array(within(table, reach, closed=closed)) for table in blocks]
            return vstack(inside, format="csr")
        build = partial(build_balls, eps=eps)
        if self.radii is not None:
            build = partial(balls_of_radii, radii=self.radii)
        sorted_by_class = build(self.dissimilarity, X, self.points, closed=closed, n_jobs=n_jobs)
        return sorted_by_class[:, np.argsort(self.order)]

    def is_graph(self, X: Any) -> bool:
        """Whether queries are rows of a neighbour graph."""
        return self._is_table and issparse(X)

    @property
    def _answers_whole_rows(self) -> bool:
        """Whether a query's dissimilarities from some of the prototypes cannot be had alone."""
        return self._is_table or hasattr(self.dissimilarity, "for_prototypes")

    @cached_property
    def _is_table(self) -> bool:
        """Whether queries are rows of a table of values between points."""
        return traits_of(self.dissimilarity).precomputed

    def _graph_balls(self, X: csr_array, eps: float, *, closed: bool) -> csr_array:
        """Tell which entries of a graph are within the radii, prototypes as selected."""
        graph = self.dissimilarity.entries(X, self.by_selection())
        reach = eps if self.radii is None else self.radii[np.argsort(self.order)][graph.indices]
        inside = within(graph.data, reach, closed=closed)
        ends = np.concatenate(([0], np.cumsum(inside)))[graph.indptr]
        members = np.ones(ends[-1], dtype=bool)
        return csr_array((members, graph.indices[inside], ends), shape=graph.shape)

    def _as_selected(self, index: NDArray[np.intp]) -> NDArray[np.intp]:
        """Turn places in class order into those in order of selection; -1 stays."""
        return self._selected[index]

    @cached_property
    def _selected(self) -> NDArray[np.intp]:
        """The order of selection, with -1 for the last, which is the place -1."""
        return np.append(self.order, -1)

    def _score(
        self, index: NDArray[np.intp], distance: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what the nearest prototypes are compared by; inf where there is none."""
        if self.radii is None:
            return distance
        return np.where(index < 0, np.inf, relative_to(self.radii[index], distance))

    def by_selection(self) -> NDArray[np.intp]:
        """Return the prototypes, if they are an array, in order of selection."""
        columns = np.empty_like(self.points)
        columns[self.order] = self.points
        return np.asarray(columns)

    def _find(
        self,
        X: Any,
        bounds: NDArray[np.intp],
        n_jobs: int | None,
        *,
        distances: bool = True,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Find the nearest in each group of prototypes, by place in class order."""
        if self.is_graph(X):
            graph = self.dissimilarity.entries(X, self.by_selection())
            return nearest_in_graph(pick_entries(graph, self.order), bounds, self.radii)
        if self._is_table:
            table = self.distances(X, n_jobs=n_jobs)[:, self.order]
            return nearest_in_groups(table, bounds, self.radii)
        if self._index is not None and isinstance(X, np.ndarray):
            return ask_index(self._index, X, bounds=bounds, distances=distances, n_jobs=n_jobs)
        return find_nearest(
            self.dissimilarity, X, self.points, bounds=bounds, radii=self.radii, n_jobs=n_jobs
        )

    @cached_property
    def _index(self) -> NearestIndex | None:
        """The prototypes made ready for every further call, where that helps."""
        if self.radii is not None or not hasattr(self.dissimilarity, "nearest_index"):
            return None
        index: NearestIndex | None = self.dissimilarity.nearest_index(self.points)
        return index

    def __getstate__(self) -> dict[str, Any]:
        # What was made ready is no part of what is kept: it can be made again.
        return {part.name: getattr(self, part.name) for part in fields(self)}


def column_order(columns: NDArray[np.intp], n_columns: int) -> NDArray[np.intp] | None:
    """Return the order that sorts prototypes which are all columns of a table, else None.

    Queries may come with the columns of all candidates or of the prototypes. Where these
    are as many, only one order of the prototypes makes no difference between the two.
    """
    order = np.argsort(columns, kind="stable")
    return order if np.array_equal(columns[order], np.arange(n_columns)) else None
