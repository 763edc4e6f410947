"""Neighbour graphs: sparse distance matrices, in which a missing pair is far apart.

What is stored is a dissimilarity, a zero too; a pair without an entry is farther apart than
any radius. All answers are made of the entries: nothing of the size of the table is held.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from .._exceptions import DissimilarityError
from .._typing import Floats, Indices
from .pairs import NearPairs, Pairs
from .traits import refuse_negative, relative_to, within

# Entries that a thread compares together.
_BLOCK_ENTRIES = 1 << 20
_KINDS = ("csr", "csc", "coo", "lil", "dok")


def check_graph(X: Any, source: str = "X") -> csr_array:
    """Return a sparse table as a graph: rows in order, double precision, every pair once.

    `X` stays as it is, and is not copied where it is such a graph already.
    """
    if X.format not in _KINDS:
        raise DissimilarityError(
            f"{source} must be a sparse table of one of the formats {', '.join(_KINDS)}, got "
            f"{X.format}, which is filled up with zeros that are no dissimilarities"
        )
    if X.ndim != 2:
        raise DissimilarityError(f"{source} must be a table of two dimensions, got {X.ndim}")
    if X.dtype.kind not in "iuf":
        raise DissimilarityError(
            f"{source} must store dissimilarities, which are numbers, got {X.dtype}; scikit-learn "
            "makes such graphs with mode='distance'"
        )
    rows = X.tocsr()
    graph = csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    if not graph.has_sorted_indices:
        graph = graph.sorted_indices()
    # From a list of pairs SciPy has made sums by now.
    if graph.nnz < X.nnz or not graph.has_canonical_format:
        raise DissimilarityError(
            f"{source} must store a pair once, got some more often, of which SciPy would make the "
            "sum; drop what is double, or call X.sum_duplicates() if the sum is meant"
        )
    return _check_entries(graph, source)


def _check_entries(graph: csr_array, source: str) -> csr_array:
    """Return the graph with entries of double precision, all finite and not negative."""
    entries = graph.data.astype(np.float64, copy=False)
    if not np.isfinite(entries).all():
        raise DissimilarityError(
            f"{source} stores NaN or infinity; every entry must be a finite number, and a pair "
            "that is far apart, or of which nothing is known, has none"
        )
    refuse_negative(entries, source)
    return csr_array((entries, graph.indices, graph.indptr), shape=graph.shape)


def with_own_distances(graph: csr_array) -> csr_array:
    """Return a square graph in which every point is its own neighbour, at 0 if nothing is said.

    So scikit-learn's DBSCAN reads a graph, and many are made without their diagonals.
    """
    row = _rows_of(graph)
    alone = np.ones(graph.shape[0], dtype=bool)
    alone[row[graph.indices == row]] = False
    if not alone.any():
        return graph
    points = np.flatnonzero(alone)
    before = np.bincount(row[graph.indices < row], minlength=len(alone))
    places = graph.indptr[points] + before[points]
    ends = np.concatenate(([0], np.cumsum(alone)))
    return csr_array(
        (
            np.insert(graph.data, places, 0.0),
            np.insert(graph.indices, places, points.astype(graph.indices.dtype)),
            graph.indptr + ends.astype(graph.indptr.dtype),
        ),
        shape=graph.shape,
    )


def names_itself(graph: csr_array) -> bool:
    """Whether a graph has any entry on its diagonal."""
    return bool((graph.indices == _rows_of(graph)).any())


def pick_entries(graph: csr_array, columns: Indices) -> csr_array:
    """Return some columns of a graph, in that order."""
    if np.array_equal(columns, np.arange(graph.shape[1])):
        return graph
    picked = graph[:, columns]
    picked.sort_indices()
    return picked


def filled(graph: csr_array) -> Floats:
    """Return a small graph as a table, infinity where it has no entry."""
    table = np.full(graph.shape, np.inf)
    table[_rows_of(graph), graph.indices] = graph.data
    return table


def dense_part(table: Any, rows: Indices, columns: Indices) -> Floats:
    """Return some rows and columns of a table, of a graph with infinity where nothing is."""
    if issparse(table):
        return filled(pick_entries(table[rows], columns))
    return np.asarray(table[np.ix_(rows, columns)])


def same_graphs(one: csr_array, other: csr_array) -> bool:
    """Whether two graphs have the same entries, zeros among them."""
    parts = ("indptr", "indices", "data")
    return one.shape == other.shape and all(
        np.array_equal(getattr(one, part), getattr(other, part)) for part in parts
    )


def nearest_in_graph(
    graph: csr_array, bounds: Indices, radii: Floats | None = None
) -> tuple[Indices, Floats]:
    """Find the smallest entry of each group of columns, row by row; given radii, as multiples.

    As :func:`protocover._balls.pairs.nearest_in_groups` of a table, but -1 and infinity also
    where a row has no entry in a group.
    """
    n_rows, n_groups = graph.shape[0], len(bounds) - 1
    index = np.full((n_rows, n_groups), -1, dtype=np.intp)
    value = np.full((n_rows, n_groups), np.inf)
    if graph.nnz == 0:
        return index, value
    ranking = graph.data if radii is None else relative_to(radii[graph.indices], graph.data)
    row, group = _rows_of(graph), np.searchsorted(bounds, graph.indices, side="right") - 1
    # Columns rise along a row, and groups with them.
    starts = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (np.diff(group) != 0)))
    sizes = np.diff(np.append(starts, graph.nnz))
    least = np.repeat(np.minimum.reduceat(ranking, starts), sizes)
    place = np.where(ranking == least, np.arange(graph.nnz), graph.nnz)
    first = np.minimum.reduceat(place, starts)
    index[row[first], group[first]] = graph.indices[first]
    value[row[first], group[first]] = graph.data[first]
    return index, value


class GraphPairs(Pairs):
    """Pairs that are the entries of a graph.

    Parameters
    ----------
    graph : csr_array or csc_array, shape (n_samples, n_candidates)
        The entries, by row or by column.
    """

    def __init__(self, graph: csr_array | csc_array) -> None:
        self._graph = graph
        n_rows, n_columns = graph.shape
        at_once = int(_BLOCK_ENTRIES / max(1, graph.nnz) * n_rows)
        self.tile = max(1, min(n_rows, at_once)), max(1, n_columns)

    def table(self, rows: slice, columns: slice) -> Floats:
        """Return the distances of some rows from some columns, infinity if there is no entry."""
        return filled(csr_array(self._graph[rows, columns]))

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return the pairs within `radius`, counted from the slices' starts, and distances."""
        by_column = self._graph.format == "csc"
        major, minor = (columns, rows) if by_column else (rows, columns)
        indptr = self._graph.indptr[major.start : major.stop + 1]
        entries = slice(indptr[0], indptr[-1])
        found, distance = self._graph.indices[entries], self._graph.data[entries]
        line = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        inside = within(distance, radius, closed=closed)
        if minor != slice(0, self._graph.shape[0 if by_column else 1]):
            inside &= (found >= minor.start) & (found < minor.stop)
        line, place = line[inside], found[inside].astype(np.intp) - minor.start
        i, j = (place, line) if by_column else (line, place)
        return i, j, distance[inside]


def _rows_of(graph: csr_array) -> Indices:
    """Return the row of each entry."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
