"""Members of balls where a candidate's column costs much to begin with.

The balls are asked for tile by tile. A dissimilarity that must first prepare each
candidate, from all training points perhaps, would do so again for every tile of points.
Here the first tile to touch a block of candidates decides all points at once and keeps
only who is a member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from .._balls import LevelTest, members_of
from .._typing import Floats, Indices

# Numbers held at once in a block of columns.
_TABLE_SIZE = 1 << 22

Members = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]


def whole_column_test(
    columns_of: Callable[[slice], Floats], n_points: int, *, radii: Floats, closed: bool
) -> LevelTest:
    """Return a test of tiles that asks for each block of candidates once.

    `columns_of` takes a slice of candidates and returns the dissimilarities of all points
    from them; the radii are those of :class:`protocover._balls.RadiusSearch`.
    """
    locks: dict[tuple[int, int], Lock] = {}
    found: dict[tuple[int, int], Members] = {}

    def test(rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        key = (columns.start, columns.stop)
        with locks.setdefault(key, Lock()):
            if key not in found:
                blocks = column_blocks(columns, n_points)
                tables = ((block.start, columns_of(block)) for block in blocks)
                found[key] = _members(tables, columns.start, radii, closed)
        i, j, level = found[key]
        first, last = np.searchsorted(i, (rows.start, rows.stop))
        part = slice(first, last)
        return i[part] - np.intp(rows.start), j[part].astype(np.intp), level[part].astype(np.intp)

    return test


def column_blocks(columns: slice, n_points: int) -> list[slice]:
    """Cut `columns` into blocks whose tables with all points fit in memory."""
    step = max(1, _TABLE_SIZE // max(1, n_points))
    starts = range(columns.start, columns.stop, step)
    return [slice(start, min(start + step, columns.stop)) for start in starts]


def _members(
    tables: Iterable[tuple[int, Floats]], start: int, radii: Floats, closed: bool
) -> Members:
    """Find the members of all points with the columns from `start` on, ordered by point."""
    found: list[Members] = []
    for offset, table in tables:
        i, j, level = members_of(table, radii, closed=closed)
        found.append(
            (i.astype(np.int32), (j + (offset - start)).astype(np.int32), level.astype(np.uint16))
        )
    points, candidates, levels = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(points, kind="stable")
    return points[order], candidates[order], levels[order]
