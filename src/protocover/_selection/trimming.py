"""Members of balls that no ball worth choosing holds, left out before they are sorted.

Members are counted by candidate, class and distance bin. The counts bound the gain of every
ball that ends in a bin, its own weight less that of its rivals. If a smaller ball of the
candidate gains as much for sure, none that ends in the bin is worth choosing. With no limit
to the radii, hardly any member is beyond the last bin of which this cannot be said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._balls.traits import Near
from .._typing import Floats, Indices

Units = NDArray[np.int64]
Bins = NDArray[np.int32]

_MANTISSA = 23

# The leading bits of a distance in single precision tell its bin. More bins to a factor of two
# let fewer members through; each bin must have a few members to be worth its counter.
_FEWEST_BITS, _MOST_BITS, _OCTAVES = 3, 7, 6
_LEAST_PER_COUNTER = 2


@dataclass(frozen=True, eq=False)
class GainTrim:
    """Leaves out members beyond the last ball that can be worth choosing.

    Parameters
    ----------
    codes : ndarray of int, shape (n_points,)
        Class numbers.
    units : ndarray of int, shape (n_points,)
        Weights, as integers.
    n_classes : int
        Number of classes.
    served : ndarray of int, shape (n_candidates,), or None
        The class that each candidate may serve, -1 for any; None if all may serve any.
    """

    codes: Indices
    units: Units
    n_classes: int
    served: Indices | None = None

    def __call__(self, near: Near, first: int) -> Near:
        """Return members of candidates, counted from `first`, but for those that no ball needs."""
        point, candidate, low, slack = near
        kept = self._needed(first, point, candidate, low, float(slack.max(initial=0.0)))
        if kept is None:
            return near
        return point[kept], candidate[kept], low[kept], slack[kept]

    def of_table(self, table: Floats, first: int) -> Near:
        """Return the members that a ball needs, given all points' distances from candidates."""
        points, candidates = (np.arange(size) for size in table.shape)
        kept = self._needed(first, points[:, None], candidates, table, 0.0)
        if kept is None:
            kept = np.ones(table.shape, dtype=bool)
        # NumPy finds places in a flat table several times faster.
        places = np.flatnonzero(kept.ravel())
        point, candidate = np.divmod(places, max(1, len(candidates)))
        no_slack = np.zeros(len(places), dtype=np.float32)
        return point, candidate, table.ravel()[places], no_slack

    def _needed(
        self, first: int, point: Indices, candidate: Indices, low: NDArray[Any], slack: float
    ) -> NDArray[np.bool_] | None:
        """Tell which members a ball needs; None if they are too few to be worth asking.

        Points and candidates are those of each member, or of each row and column of a table.
        """
        n_candidates = int(candidate.max(initial=0)) + 1
        served = None if self.served is None else self.served[first : first + n_candidates]
        if served is not None and (served < 0).any():
            served = None  # all classes are looked at
        n_ways = self.n_classes if served is None else 2
        n_bits = _bits_for(low.size / (n_candidates * n_ways))
        if n_bits < _FEWEST_BITS:
            return None
        bins = _bin_numbers(low, slack, n_bits)
        way = self.codes[point]
        if served is not None:
            way = (way != served[candidate]).astype(np.intp)
        shape = n_candidates, n_ways, _n_bins(n_bits)
        place = (candidate * np.intp(n_ways) + way) * shape[2] + bins
        weights = self._count(point, place, shape)
        own = weights if served is None else weights[:, :1]
        last = _last_needed(own, weights.sum(axis=1), blurred=int(slack > 0.0))
        return np.asarray(bins <= last[candidate])

    def _count(self, point: Indices, place: Indices, shape: tuple[int, int, int]) -> Units:
        """Return the weights of members by candidate, class or whether it is its own, and bin."""
        if (self.units == 1).all():
            return np.bincount(place.ravel(), minlength=math.prod(shape)).reshape(shape)
        units = self.units[point].astype(np.float64)  # integers whose sums are exact
        weights = np.broadcast_to(units, place.shape).ravel()
        counts = np.bincount(place.ravel(), weights, minlength=math.prod(shape))
        return counts.astype(np.int64).reshape(shape)


def _bits_for(members: float) -> int:
    """Return by how many leading bits to tell so many members of a candidate and class apart."""
    most = members / (_LEAST_PER_COUNTER * _OCTAVES)
    return min(_MOST_BITS, int(math.log2(max(1.0, most))))


def _n_bins(n_bits: int) -> int:
    """Return the number of bins, all nearer distances being in the first one."""
    return _OCTAVES << n_bits


def _bin_numbers(low: NDArray[Any], slack: float, n_bits: int) -> Bins:
    """Return the bin of each member; two that are more than one apart differ by the slack."""
    with np.errstate(over="ignore"):  # huge distances share the last bin
        bits = low.astype(np.float32).view(np.int32)
    bits >>= _MANTISSA - n_bits
    # From here on a bin is wider than twice the slack: its width is its start's share of that.
    wide = np.array(slack * (4 << n_bits), dtype=np.float32).view(np.int32)
    n_bins = _n_bins(n_bits)
    bits -= max(int(bits.max()) - (n_bins - 1), int(wide) >> (_MANTISSA - n_bits))
    return np.clip(bits, 0, n_bins - 1, out=bits)


def _last_needed(own: Units, total: Units, *, blurred: int) -> Indices:
    """Return the last bin of each candidate whose members are needed.

    `own` are weights by candidate, class and bin, `total` those of all classes. The order of
    members is certain if their bins are more than `blurred` apart.
    """
    n_bins = own.shape[2]
    held = np.cumsum(own, axis=2)
    rivals = np.cumsum(total, axis=1)[:, None] - held
    # A ball that ends in a bin holds no less of its rivals and no more of its class than this.
    most_own = _shifted(held, blurred, held[..., -1:])
    fewest_rivals = _shifted(rivals, -1 - blurred)
    # The ball of all members up to a bin, which is smaller than those that end later.
    certain = held - _shifted(rivals, blurred, rivals[..., -1:])
    best = np.maximum.accumulate(certain, axis=2)
    before = _shifted(best, -1 - blurred, np.iinfo(np.int64).min)
    hoped = (own > 0) & (most_own - fewest_rivals > before)
    place = np.arange(n_bins)
    last = np.where(hoped.any(axis=1), place, 0).max(axis=1) + blurred
    # The radius ends at the next member, whatever its class.
    following = (place > last[:, None]) & (total > 0)
    next_one = np.where(following.any(axis=1), following.argmax(axis=1), n_bins)
    return np.asarray(next_one + blurred)


def _shifted(values: Units, by: int, fill: Any = 0) -> Units:
    """Return for each bin the value `by` bins further on, `fill` beyond the ends."""
    found = np.empty_like(values)
    n_bins = values.shape[-1]
    if by >= 0:
        found[..., : n_bins - by] = values[..., by:]
        found[..., n_bins - by :] = fill
    else:
        found[..., :-by] = fill
        found[..., -by:] = values[..., :by]
    return found
