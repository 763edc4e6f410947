"""Pair lists on Dask: the cover in blocks, and labels, without any distance computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import getitem
from pathlib import Path
from typing import Any, Self

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array

from .._balls import within
from ..data._pairs import (
    Entries,
    Fault,
    PairFormat,
    check_entries,
    found_ids,
    read_table,
    repetition,
)
from ._blocks import ClassCover
from ._cluster import Cluster, as_task

# Memory of an entry while a block is made of the parts of the list.
_BYTES_PER_ENTRY = 64
# Samples of one chunk of the labels.
_CHUNK = 1 << 20
# Pairs in a block, unless memory or the number of threads asks for smaller ones.
_ENTRIES = 20_000_000

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PairBlocks:
    """A neighbour graph in blocks of columns that the workers hold.

    Block b of n_blocks has the columns b, b + n_blocks, b + 2 n_blocks, ...
    """

    blocks: list[Any]  # futures of sparse arrays of distances, shape (n_samples, n_columns)
    form: PairFormat
    largest: float  # the largest distance listed

    @classmethod
    def of(
        cls, client: Any, pairs: Any, form: PairFormat, cluster: Cluster, **samples: Any
    ) -> Self:
        """Read, check and sort a pair list; `samples` has ``n_samples`` and ``ids``."""
        parts = client.compute(_parts(pairs, form.columns))
        if samples["n_samples"] is None and samples["ids"] is None:
            found = client.gather(client.map(_ids, parts, columns=form.columns))
            samples["ids"] = found_ids(found)
        form = form.with_samples(**samples)
        # Dask would name a large keyword argument of map after the keyword.
        given = as_task(client, form)
        entries = [client.submit(_check, part, given) for part in parts]
        stated = client.gather(client.map(_state, entries))
        lengths = [one if isinstance(one, tuple) else (0, 0.0) for one in stated]
        for k, fault in enumerate(stated):
            if isinstance(fault, Fault):
                rows = client.gather(client.map(len, parts[:k]))
                raise fault.error(sum(rows))
        total = sum(n for n, _ in lengths)
        n_blocks = _count_blocks(total, form.n_samples, cluster)
        split = client.map(_split, entries, n_blocks=n_blocks)
        blocks = [
            client.submit(
                _block,
                [client.submit(getitem, one, b) for one in split],
                b,
                n_blocks,
                form.n_samples,
            )
            for b in range(n_blocks)
        ]
        found = [one for one in client.gather(client.map(_again, blocks)) if one is not None]
        if found:
            k = min(part for part, *_ in found)
            rows = [client.submit(_row_of, parts[k], form, one) for one in found if one[0] == k]
            first = min(client.gather(rows), key=lambda fault: fault.row)
            raise first.error(sum(client.gather(client.map(len, parts[:k]))))
        return cls(blocks, form, max((most for _, most in lengths), default=0.0))

    def covers(self, client: Any, *, eps: float, closed: bool) -> list[Any]:
        """Return futures of the neighbourhoods of radius `eps` in each block, of one class."""
        n = len(self.blocks)
        return [
            client.submit(_cover, block, b, n, eps=eps, closed=closed)
            for b, block in enumerate(self.blocks)
        ]

    def labels(self, chosen: Indices, *, eps: float, closed: bool) -> Any:
        """Return the number of the nearest representative of each sample, -1 for none, lazily."""
        n = self.form.n_samples
        starts = np.arange(0, n, _CHUNK)
        given = delayed(chosen)
        near = [
            delayed(_nearest)(block, given, b, len(self.blocks), eps=eps, closed=closed)
            for b, block in enumerate(self.blocks)
        ]
        sizes = np.diff([*starts, n]).tolist()
        chunks = [
            da.from_delayed(  # type: ignore[no-untyped-call]
                delayed(_labels)([one[k] for one in near], int(start), size), (size,), np.intp
            )
            for k, (start, size) in enumerate(zip(starts, sizes, strict=True))
        ]
        return da.concatenate(chunks)  # type: ignore[no-untyped-call]


def _parts(pairs: Any, columns: tuple[str, str, str]) -> list[Any]:
    """Return delayed Arrow tables: the row groups of files, partitions, or slices of a table."""
    # Not pure: Dask would take slices of one table for the same.
    read = delayed(read_table, pure=False)
    if isinstance(pairs, str | Path):
        from pyarrow import dataset

        fragments = [
            (fragment.path, group.id)
            for fragment in dataset.dataset(str(pairs), format="parquet").get_fragments()
            for group in fragment.row_groups
        ]
        return [delayed(_read_group, pure=True)(*one, columns) for one in fragments]
    if hasattr(pairs, "npartitions") and hasattr(pairs, "to_delayed"):
        return [read(part, columns) for part in pairs.to_delayed()]
    table = read_table(pairs, columns)
    step = max(1, _ENTRIES // 20)
    return [
        read(table.slice(start, step), columns) for start in range(0, max(1, table.num_rows), step)
    ]


def _read_group(path: str, group: int, columns: tuple[str, str, str]) -> Any:
    """Read a row group of a Parquet file."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        return file.read_row_group(group, columns=list(columns))


def _ids(table: Any, columns: tuple[str, str, str]) -> Any:
    """Return the identifiers in a part of the list."""
    return found_ids([table[name] for name in columns[:2]])


def _check(table: Any, form: PairFormat) -> Entries | Fault:
    """Return the entries of a part of the list, or what is wrong with it."""
    entries = check_entries(table, form)
    return entries if isinstance(entries, Fault) or form.directed else entries.mirrored()


def _state(entries: Entries | Fault) -> tuple[int, float] | Fault:
    """Return the number of entries and the largest distance of a part."""
    if isinstance(entries, Fault):
        return entries
    return len(entries.i), float(entries.distance.max(initial=0.0))


def _count_blocks(n_entries: int, n_samples: int, cluster: Cluster) -> int:
    """Choose how many blocks to make: enough for all threads, and small enough for one."""
    for_memory = 4.0 * n_entries * _BYTES_PER_ENTRY / cluster.thread_bytes
    for_speed = min(4 * cluster.n_threads, n_entries / (_ENTRIES / 20))
    wanted = max(for_memory, for_speed, n_entries / _ENTRIES)
    return max(1, min(int(np.ceil(wanted)), n_samples))


def _split(entries: Entries, n_blocks: int) -> list[Entries]:
    """Divide entries among the blocks of their columns, in the order of the list."""
    block = entries.j % n_blocks
    order = np.argsort(block, kind="stable")
    cuts = np.searchsorted(block[order], np.arange(1, n_blocks))
    parts = (np.split(one[order], cuts) for one in (entries.i, entries.j, entries.distance))
    return [Entries(*part) for part in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class _Block:
    """Some columns of the graph, or the first pair in them that is listed again."""

    graph: csc_array | None = None
    # Its part of the list, i, j, and whether the same part lists it before.
    again: tuple[int, int, int, bool] | None = None


def _block(parts: Sequence[Entries], b: int, n_blocks: int, n_samples: int) -> _Block:
    """Return the block of some entries; a sample not listed with itself has distance 0."""
    i = np.concatenate([part.i for part in parts])
    column = np.concatenate([part.j for part in parts]) // n_blocks
    distance = np.concatenate([part.distance for part in parts])
    numbers = np.arange(b, n_samples, n_blocks)
    listed = np.zeros(len(numbers), dtype=bool)
    listed[column[i == b + column * n_blocks]] = True
    own = np.flatnonzero(~listed)
    entries = (
        np.concatenate((distance, np.zeros(len(own)))),
        (np.concatenate((i, numbers[own])), np.concatenate((column, own))),
    )
    graph = coo_array(entries, shape=(n_samples, len(numbers))).tocsc()
    if graph.nnz == len(entries[0]):
        graph.sort_indices()
        return _Block(graph)
    key = column.astype(np.int64) * n_samples + i
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    row = int((first[place] < np.arange(len(key))).argmax())
    ends = np.cumsum([len(part.i) for part in parts])
    part, earlier = (
        int(np.searchsorted(ends, at, side="right")) for at in (row, first[place[row]])
    )
    return _Block(again=(part, int(i[row]), int(column[row]) * n_blocks + b, part == earlier))


def _again(block: _Block) -> tuple[int, int, int, bool] | None:
    """Return where a block found a pair again."""
    return block.again


def _row_of(table: Any, form: PairFormat, again: tuple[int, int, int, bool]) -> Fault:
    """Return the row of a part that lists a pair again."""
    entries, (_, i, j, within_part) = check_entries(table, form), again
    assert isinstance(entries, Entries)
    same = (entries.i == i) & (entries.j == j)
    if not form.directed:
        same |= (entries.i == j) & (entries.j == i)
    row = int(np.flatnonzero(same)[int(within_part)])
    return Fault(row, repetition(int(entries.i[row]), int(entries.j[row]), form))


def _cover(block: _Block, b: int, n_blocks: int, *, eps: float, closed: bool) -> list[ClassCover]:
    """Return the neighbourhoods of a block as those of one class."""
    graph = block.graph
    assert graph is not None
    inside = within(graph.data, eps, closed=closed)
    indptr = np.concatenate(([0], np.cumsum(inside)))[graph.indptr]
    data = np.ones(int(indptr[-1]), dtype=bool)
    cover = csc_array((data, graph.indices[inside], indptr), shape=graph.shape)
    numbers = np.arange(b, graph.shape[0], n_blocks)
    none = np.zeros(len(numbers))
    sizes = np.diff(indptr)
    return [ClassCover(numbers, cover, none, none.astype(np.intp), sizes)]


def _nearest(
    block: _Block, chosen: Indices, b: int, n_blocks: int, *, eps: float, closed: bool
) -> list[NDArray[Any]]:
    """Return the samples near the representatives of a block, divided among the label chunks.

    In each array the rows are sample, representative and distance.
    """
    assert block.graph is not None
    mine = np.flatnonzero(chosen % n_blocks == b)
    near = block.graph[:, chosen[mine] // n_blocks]
    number = np.repeat(mine, np.diff(near.indptr))
    inside = within(near.data, eps, closed=closed)
    found = np.stack((near.indices[inside], number[inside], near.data[inside]))
    found = found[:, np.argsort(found[0], kind="stable")]
    cuts = np.searchsorted(found[0], np.arange(_CHUNK, near.shape[0], _CHUNK))
    return np.split(found, cuts, axis=1)


def _labels(parts: Sequence[NDArray[Any]], start: int, size: int) -> Indices:
    """Return the nearest representative of each sample of a chunk, -1 for none."""
    sample, number, distance = np.concatenate(parts, axis=1)
    order = np.lexsort((number, distance, sample))
    place = sample[order].astype(np.intp) - start
    labels = np.full(size, -1)
    labels[place[::-1]] = number[order][::-1].astype(np.intp)
    return labels
