"""Rows of points after a map that makes a metric a Euclidean distance, but for a bounded error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._typing import Floats, Indices

# Products computed in the time that a call takes, about.
_TERMS_AT_ONCE = 1 << 15


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Points as rows whose squared Euclidean distances are those of a metric, or nearly.

    Parameters
    ----------
    rows : ndarray of float, shape (n_points, n_mapped)
        The points, mapped.
    errors : ndarray of float, shape (n_points,)
        The square that belongs to a distance as computed by `pairwise` differs from that of the
        two rows by at most the sum of both errors.
    given : ndarray, shape (n_points, n_features)
        The points as they came.
    terms : int
        Number of products in one distance as computed by `pairwise`.
    pairwise : callable
        The metric's own table of distances between two sets of points as they came. Where the
        brackets leave a question open, it decides.
    """

    rows: Floats
    errors: Floats
    given: NDArray[Any]
    terms: int
    pairwise: Callable[[Any, Any], Floats]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of mapped features."""
        return self.rows.shape[0], self.rows.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def distances(self, other: MappedRows, i: Indices, j: Indices) -> Floats:
        """Return the metric's own distances of pairs, points `i` and the other's `j`.

        A call of `pairwise` is dear and a pair cheap: there is one for a few points of the side
        that has fewer, with all their partners, of which more pairs come out than were asked.
        """
        by_left = len(np.unique(i)) <= len(np.unique(j))
        keys, place = np.unique(i if by_left else j, return_inverse=True)
        order = np.argsort(place, kind="stable")
        width = self._keys_at_once(len(i) / max(1, len(keys)))
        distances = np.empty(len(i))
        for first in range(0, len(keys), width):
            start, stop = np.searchsorted(place, (first, first + width), sorter=order)
            some, few = order[start:stop], keys[first : first + width]
            if by_left:
                table = self.pairwise(self.given[few], other.given[j[some]]).T
            else:
                table = self.pairwise(self.given[i[some]], other.given[few])
            distances[some] = table[np.arange(len(some)), place[some] - first]
        return distances

    def _keys_at_once(self, partners: float) -> int:
        """Return for how many points with so many partners each a table is worth its waste."""
        return max(1, int((_TERMS_AT_ONCE / (self.terms * max(1.0, partners))) ** 0.5))
