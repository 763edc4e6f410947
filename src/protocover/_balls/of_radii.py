"""Balls of which each has a radius that is given: cut out of their members, nearest first."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from .._resources import row_count
from .._typing import Floats, Indices, Mask
from .levels import within
from .ordered import OrderedMembers, ordered_members, spans
from .traits import Dissimilarity


def balls_of_radii(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    radii: Floats,
    closed: bool = False,
    n_jobs: int | None = None,
) -> csr_array:
    """Tell which points lie in which candidate's ball, each with a radius of its own.

    The arguments are those of :func:`protocover._balls.build_balls`.
    """

    def cut(members: OrderedMembers) -> tuple[Indices, Indices]:
        kept = inside_radii(members, radii, closed=closed)
        return members.point[kept], members.candidate[kept]

    widest = float(radii.max(initial=0.0))
    found = ordered_members(dissimilarity, X, Z, cut, eps=widest, closed=closed, n_jobs=n_jobs)
    none = np.empty(0, dtype=np.intp)
    rows, columns = (np.concatenate(part) for part in zip((none, none), *found, strict=True))
    inside = np.ones(len(rows), dtype=bool)
    return coo_array((inside, (rows, columns)), shape=(row_count(X), row_count(Z))).tocsr()


def inside_radii(members: OrderedMembers, radii: Floats, *, closed: bool) -> Mask:
    """Tell which members are within the radius of their candidate, measuring only a few of them.

    Groups come in the order of their distances: where the first members of two in a row are
    inside, all of the first is, and where both are outside all of the second is.
    """
    groups = np.arange(len(members.group_end))
    start, size = members.group_spans(groups)
    center = members.candidate[start]
    first = np.flatnonzero(np.diff(center, prepend=-1))
    last = np.append(first, len(groups))[1:]
    outside = _bisect(members, radii[center[first]], start, first, last, closed=closed)
    outside = np.repeat(outside, last - first)
    inside = np.repeat(groups + 1 < outside, size)
    near_the_end = (groups == outside) | (groups + 1 == outside)
    places = spans(start[near_the_end], size[near_the_end])
    inside[places] = within(
        members.distances(places), radii[members.candidate[places]], closed=closed
    )
    return inside


def _bisect(
    members: OrderedMembers,
    radii: Floats,
    start: Indices,
    low: Indices,
    high: Indices,
    *,
    closed: bool,
) -> Indices:
    """Find for each candidate the first group, from `low` on, whose first member is outside."""
    while (low < high).any():
        middle = np.minimum((low + high) // 2, len(start) - 1)
        inside = within(members.distances(start[middle]), radii, closed=closed) & (low < high)
        low = np.where(inside, middle + 1, low)
        high = np.where(inside, high, np.minimum(middle, high))
    return low
