"""Lists of near pairs (i, j, distance) from any neighbour search, made into neighbour graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from .._exceptions import DissimilarityError

# Similarities computed in single precision may exceed 1 by as much.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class PairFormat:
    """What the columns of a pair list mean.

    Parameters
    ----------
    columns : tuple of str
        The columns of the two samples and of the distance.
    directed : bool
        Whether the pair (i, j) says nothing about (j, i).
    similarity : bool
        Whether the third column is a similarity of at most 1.
    n_samples : int
        Number of samples.
    ids : pyarrow.Array or None
        Identifiers of the samples; None if they are row numbers.
    """

    columns: tuple[str, str, str] = ("i", "j", "distance")
    directed: bool = False
    similarity: bool = False
    n_samples: int = 0
    ids: Any = None

    def with_samples(self, n_samples: int | None, ids: Any) -> PairFormat:
        """Add the samples, given by their number or by their identifiers."""
        if ids is None:
            if n_samples is None or isinstance(n_samples, bool) or int(n_samples) < 1:
                raise ValueError(
                    f"n_samples must be a positive integer, got {n_samples!r}; if i and j are "
                    "identifiers, pass ids=, an array of them in the order of the samples, or "
                    "return_ids=True for those that occur in the list"
                )
            return replace(self, n_samples=int(n_samples))
        if n_samples is not None and n_samples != len(ids):
            raise ValueError(f"n_samples is {n_samples}, but ids holds {len(ids)}; pass only ids")
        known = _arrow().array(ids)
        if known.null_count or len(known.unique()) < len(known):
            raise ValueError("ids must name every sample once, got missing or repeated values")
        return replace(self, n_samples=len(known), ids=known)


@dataclass(frozen=True)
class Fault:
    """The first row of a list, or of a part of it, that cannot be used."""

    row: int
    reason: str

    def error(self, start: int = 0) -> DissimilarityError:
        """Return the error, for a part whose first row is number `start` of the list."""
        return DissimilarityError(f"row {self.row + start} of the pairs {self.reason}")


@dataclass(frozen=True, eq=False)
class Entries:
    """Checked entries of a neighbour graph.

    Parameters
    ----------
    i, j : ndarray of int, shape (n_entries,)
        Rows and columns; for undirected pairs in the order as listed, without the mirrored ones.
    distance : ndarray of float, shape (n_entries,)
    """

    i: NDArray[Any]
    j: NDArray[Any]
    distance: NDArray[np.float64]

    def mirrored(self) -> Entries:
        """Return the entries with those of the opposite direction, each pair next to its own."""
        other = self.i != self.j
        twice = 1 + other.astype(np.intp)
        i, j = np.repeat(self.i, twice), np.repeat(self.j, twice)
        second = np.cumsum(twice)[other] - 1
        i[second], j[second] = self.j[other], self.i[other]
        return Entries(i, j, np.repeat(self.distance, twice))


def pairs_to_graph(
    pairs: Any,
    *,
    n_samples: int | None = None,
    ids: Any = None,
    columns: tuple[str, str, str] = ("i", "j", "distance"),
    directed: bool = False,
    similarity: bool = False,
    return_ids: bool = False,
) -> Any:
    """Make a neighbour graph of a list of near pairs.

    Parameters
    ----------
    pairs : path, Arrow table, pandas, polars or Dask data frame, or mapping of arrays
        A table with one row per pair, or the Parquet file, or the folder of such files, that
        contains it. Needs pyarrow.
    n_samples : int or None, default=None
        Number of samples, if i and j are row numbers from 0.
    ids : array-like or None, default=None
        Identifiers of the samples, such as strings, in the order of the rows of the graph, if i
        and j are identifiers. With neither `n_samples` nor `ids` they are those that occur in
        the list, sorted; this requires ``return_ids=True``.
    columns : tuple of three str, default=("i", "j", "distance")
        Names of the columns.
    directed : bool, default=False
        If False, a pair holds in both directions and must be listed in one. If True, every entry
        of the graph is listed, such as (i, j) and (j, i) by most radius searches.
    similarity : bool, default=False
        Whether the third column is a similarity of at most 1; the distance is 1 minus it.
    return_ids : bool, default=False
        Whether to return the identifiers too.

    Returns
    -------
    graph : csr_array, shape (n_samples, n_samples)
        For ``BallCover(metric="precomputed")`` and ``PVMClassifier(metric="precomputed")``. A
        pair that is not listed is farther apart than any radius.
    ids : ndarray, shape (n_samples,)
        Identifiers of the rows, only with ``return_ids=True``.

    Raises
    ------
    DissimilarityError
        If a pair is listed twice, or a value is missing, negative, not finite or out of range.
        The message names the first such row, counted from 0.

    See Also
    --------
    protocover.distributed.DaskBallCover : Takes lists that do not fit into memory.

    Notes
    -----
    The radius of a fit may not exceed what the list contains. That is its largest distance
    unless you pass ``metric=Precomputed(cutoff=...)`` with the radius of the search.

    Examples
    --------
    >>> from protocover import BallCover, pairs_to_graph
    >>> pairs = {"i": ["a", "a", "d"], "j": ["b", "c", "e"], "distance": [0.1, 0.2, 0.1]}
    >>> graph, ids = pairs_to_graph(pairs, return_ids=True)
    >>> cover = BallCover(eps=0.2, closed_ball=True, metric="precomputed").fit(graph)
    >>> ids[cover.representative_indices_].tolist()
    ['a', 'd']
    """
    table = read_table(pairs, columns)
    if n_samples is None and ids is None and return_ids:
        ids = found_ids([table[name] for name in columns[:2]])
    form = PairFormat(columns, directed, similarity).with_samples(n_samples, ids)
    entries = check_entries(table, form)
    del table
    if isinstance(entries, Fault):
        raise entries.error()
    n = form.n_samples
    whole = entries if directed else entries.mirrored()
    # SciPy adds up what is listed twice.
    graph = coo_array((whole.distance, (whole.i, whole.j)), shape=(n, n)).tocsr()
    if graph.nnz < len(whole.i):
        raise repeated(entries, form).error()
    graph.sort_indices()
    if not return_ids:
        return graph
    return graph, (np.arange(n) if form.ids is None else as_numpy(form.ids))


def read_table(pairs: Any, columns: tuple[str, str, str]) -> Any:
    """Return the three columns of a pair list as an Arrow table."""
    arrow, names = _arrow(), list(columns)
    if isinstance(pairs, str | Path):
        return arrow.parquet.read_table(pairs, columns=names)
    if hasattr(pairs, "npartitions") and hasattr(pairs, "compute"):
        pairs = pairs.compute()
    if not (isinstance(pairs, Mapping) or hasattr(pairs, "__arrow_c_stream__")):
        raise TypeError(
            "pairs must be a path, an Arrow table, a data frame or a mapping of arrays, got "
            f"{type(pairs).__name__}"
        )
    held = list(getattr(pairs, "column_names", getattr(pairs, "columns", pairs)))
    missing = [name for name in names if name not in held]
    if missing:
        raise ValueError(
            f"pairs must have the columns {names}, got {held}; name yours with columns="
        )
    if isinstance(pairs, Mapping):
        return arrow.table({name: pairs[name] for name in names})
    if hasattr(pairs, "select") and hasattr(pairs, "schema"):
        return arrow.table(pairs.select(names))
    return arrow.Table.from_pandas(pairs[names], preserve_index=False)


def found_ids(parts: list[Any]) -> Any:
    """Return the values that occur in some Arrow columns, sorted, as an Arrow array."""
    arrow = _arrow()
    parts = [part.unique() for part in parts]
    # Dictionary-encoded columns are compared by value.
    parts = [
        part.dictionary_decode() if arrow.types.is_dictionary(part.type) else part
        for part in parts
    ]
    ids = arrow.chunked_array(parts).unique().drop_null()
    return ids.take(arrow.compute.sort_indices(ids))


def check_entries(table: Any, form: PairFormat) -> Entries | Fault:
    """Return the entries of a list, or its first row with a value that cannot be used."""
    names = form.columns
    ends = [_positions(table[name], form) for name in names[:2]]
    distance = as_numpy(table[names[2]].cast("float64"))
    if form.similarity:
        distance = 1.0 - distance
        distance[(distance < 0.0) & (distance >= -_ROUNDING)] = 0.0
    bad = ~(np.isfinite(distance) & (distance >= 0.0))
    for place in ends:
        bad |= place < 0
    if bad.any():
        row = int(bad.argmax())
        return Fault(row, _reason(table, row, [int(place[row]) for place in ends], form))
    return Entries(ends[0], ends[1], distance)


def repeated(entries: Entries, form: PairFormat) -> Fault:
    """Return the first row that lists a pair again."""
    low, high = entries.i.astype(np.int64), entries.j.astype(np.int64)
    if not form.directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    _, first = np.unique(low * form.n_samples + high, return_index=True)
    again = np.ones(len(low), dtype=bool)
    again[first] = False
    row = int(again.argmax())
    return Fault(row, repetition(entries.i[row], entries.j[row], form))


def repetition(i: int, j: int, form: PairFormat) -> str:
    """Return what is wrong with a row that lists a pair again."""
    pair = tuple(int(k) if form.ids is None else form.ids[int(k)].as_py() for k in (i, j))
    way_out = "" if form.directed else "; if the list holds both directions, pass directed=True"
    return f"lists {pair} again; list every pair once{way_out}"


def _positions(column: Any, form: PairFormat) -> NDArray[Any]:
    """Return the sample that each value of a column names, -1 where it is none."""
    arrow = _arrow()
    narrow = np.int32 if form.n_samples < 2**31 else np.int64
    if form.ids is not None:
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            place = arrow.compute.index_in(column.cast(form.ids.type), value_set=form.ids)
        except arrow.ArrowException as error:
            raise TypeError(
                f"pairs must name samples as ids does, by {form.ids.type}, got {column.type}"
            ) from error
        place = place.fill_null(-1) if place.null_count else place
        return as_numpy(place).astype(narrow, copy=False)
    if not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        raise TypeError(
            f"pairs must name samples by row numbers if n_samples is given, got {column.type}; "
            "for identifiers pass ids= or return_ids=True instead"
        )
    # Integers with missing values are floats in pandas.
    number = as_numpy(column.fill_null(-1) if column.null_count else column)
    known = (number >= 0) & (number < form.n_samples) & (number == np.floor(number))
    return np.where(known, number, -1).astype(narrow)


def _reason(table: Any, row: int, places: list[int], form: PairFormat) -> str:
    """Return what is wrong with a row, the first column first."""
    for name, place in zip(form.columns, places, strict=False):
        value = table[name][row].as_py()
        if value is None:
            return f"has no {name}"
        if place < 0:
            among = f"from 0 to {form.n_samples - 1}" if form.ids is None else "in ids"
            return f"has {name} = {value!r}, but samples are those {among}"
    name = form.columns[2]
    value = table[name][row].as_py()
    if value is None:
        return f"has no {name}"
    rule = "a number up to 1" if form.similarity else "a finite non-negative number"
    return f"has {name} = {value!r}, which must be {rule}"


def as_numpy(column: Any) -> NDArray[Any]:
    """Return an Arrow column as an array that may be written to."""
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    return np.array(column.to_numpy(zero_copy_only=False))


def _arrow() -> Any:
    """Import pyarrow, which only pair lists and Parquet files need."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError('pair lists need pyarrow; pip install "protocover[cli]"') from error
    return pyarrow
