"""Who is near whom, nearest radius first: a table of levels as lists that grow with the radius.

The members of a ball of one radius are the first so many of its list, and so are the balls
that hold a point. Nothing is copied or filtered to go from one radius to the next, nor to
leave some points out, so that all radii and all folds of a search look at the same lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._balls import spans

Indices = NDArray[np.intp]
# Numbers of sixteen bits have the fastest sort of all.
_MOST_KEYS = 1 << 16
# To cut a slice takes as long as to look up so many entries one by one.
_LONG = 64


@dataclass(frozen=True, eq=False)
class Lists:
    """The entries of each row of a table of levels, those of the first radius first.

    Parameters
    ----------
    entry : ndarray of int, shape (n_entries,)
        Columns, row after row, rising at each level.
    end : ndarray of int, shape (n_rows, n_radii + 1)
        Where each row starts, and where its entries of each level end.
    """

    entry: NDArray[np.int32]
    end: NDArray[np.int64]

    @classmethod
    def of(cls, levels: csr_array, n_radii: int) -> Self:
        """Sort the rows of a table of levels, which are counted from one."""
        entry, starts = np.empty_like(levels.indices), levels.indptr
        sizes = np.empty((levels.shape[0], n_radii), dtype=np.int64)
        step = max(1, _MOST_KEYS // n_radii)
        for top in range(0, levels.shape[0], step):
            rows = slice(top, min(top + step, levels.shape[0]))
            held = slice(starts[rows.start], starts[rows.stop])
            n_rows = rows.stop - rows.start
            first = np.arange(0, n_rows * n_radii, n_radii, dtype=np.uint16)
            key = np.repeat(first, np.diff(starts[rows.start : rows.stop + 1]))
            key += levels.data[held]
            key -= 1
            order = np.argsort(key, kind="stable")
            entry[held] = levels.indices[held][order]
            sizes[rows] = np.bincount(key, minlength=n_rows * n_radii).reshape(n_rows, n_radii)
        end = np.empty((levels.shape[0], n_radii + 1), dtype=np.int64)
        end[:, 0] = starts[:-1]
        np.cumsum(sizes, axis=1, out=end[:, 1:])
        end[:, 1:] += end[:, :1]
        return cls(entry, end)

    def between(self, rows: Indices, low: int, high: int) -> tuple[Indices, Indices]:
        """Return the entries of some rows at the levels from `low` up to `high`, and their sizes.

        Levels are counted from zero, and `high` is not among them.
        """
        starts, stops = self.end[rows, low], self.end[rows, high]
        sizes = stops - starts
        if int(sizes.sum()) < _LONG * len(rows):
            return self.entry[spans(starts, sizes)].astype(np.intp), sizes
        pairs = zip(starts.tolist(), stops.tolist(), strict=True)
        entry = np.concatenate([self.entry[a:b] for a, b in pairs] or [self.entry[:0]])
        return entry.astype(np.intp), sizes


@dataclass(frozen=True, eq=False)
class Outward:
    """Points and candidates from each other's view.

    Parameters
    ----------
    holders : Lists
        For each point the candidates whose balls hold it.
    members : Lists
        For each candidate the points in its ball.
    """

    holders: Lists
    members: Lists

    @classmethod
    def of(cls, levels: csr_array, n_radii: int, *, symmetric: bool = False) -> Self:
        """Make the lists of a points x candidates table of levels, one of each if `symmetric`."""
        holders = Lists.of(levels, n_radii)
        if symmetric:
            return cls(holders, holders)
        turned: Any = levels.T.tocsr()
        return cls(holders, Lists.of(turned, n_radii))

    @property
    def n_radii(self) -> int:
        """Number of radii."""
        return int(self.holders.end.shape[1]) - 1
