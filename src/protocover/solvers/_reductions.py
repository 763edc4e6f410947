"""Reductions: smaller problems with the same optimum, each with its proof.

The classical row dominance of set cover, which drops every point that is in all balls of
another, is false here, because the other point may stay uncovered. With candidates {i, k} at
cost 5 and {i} at 0.5 and prizes 1 the optimum is 1.5; without i it would be 1.
:func:`drop_implied_points` is the part of it that is true.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from .._cover.table import line_members
from .._typing import Indices, Mask
from ._residual import Residual

# Pairs of sets that are compared at once, and in one reduction at most.
_PAIRS_AT_ONCE, _MOST_PAIRS = 1 << 21, 10**7
# Words of 64 bits that a set is hashed into, exactly if it has no more elements.
_WORDS = 16


def reduce_cover(residual: Residual, *, deadline: float = math.inf) -> Residual:
    """Apply all reductions until none makes the problem smaller, or time is up."""
    size = None
    while size != residual.cover.shape and residual.cover.shape[1]:
        size = residual.cover.shape
        for reduction in ALL_REDUCTIONS:
            if time.monotonic() >= deadline:
                return residual
            residual = reduction(residual)
    return residual if residual.cover.shape[1] else absorb_private_points(residual)


def drop_unprofitable_candidates(residual: Residual) -> Residual:
    """Drop candidates whose cost is not below the prize that they cover.

    Proof. Removing one from a selection saves its cost and uncovers no more than that.
    """
    return residual.keep_columns(residual.cost < residual.cover.T @ residual.prize)


def drop_replaceable_candidates(residual: Residual) -> Residual:
    """Drop candidates that cheaper ones, and points left uncovered, replace at no more cost.

    Each point of a ball is assigned to the cheapest candidate that contains it (ties: lower
    index). For the points assigned to another candidate, its cost or, if that is less, their
    prizes are counted; for the rest, their prizes. If this sum is not above the candidate's cost,
    the candidate is dropped.

    Proof. Replace the candidate by those in the sum: every point of its ball is covered or its
    prize counted, at no more cost. Each replacement is by earlier candidates in the order by cost
    and index, so replacing ends with none of the dropped left.
    """
    cost, rows = residual.cost, residual.cover.tocsr()
    held = np.flatnonzero(np.diff(rows.indptr))
    rank = np.empty(len(cost), dtype=np.intp)
    by_cost = np.argsort(cost, kind="stable")
    rank[by_cost] = np.arange(len(cost))
    cheapest = by_cost[np.minimum.reduceat(rank[rows.indices], rows.indptr[held])]
    given = csr_array(
        (residual.prize[held], (held, cheapest)), shape=(len(residual.prize), len(cost))
    )
    paid = csr_array(residual.cover.T @ given)
    payer = np.repeat(np.arange(len(cost)), np.diff(paid.indptr))
    own = paid.indices == payer
    amounts = np.where(own, paid.data, np.minimum(paid.data, cost[paid.indices]))
    return residual.keep_columns(np.bincount(payer, amounts, minlength=len(cost)) > cost)


def absorb_private_points(residual: Residual) -> Residual:
    """Subtract private points from the cost of their candidate, and take it once it is free.

    Proof. A point that one candidate alone contains is uncovered exactly if the candidate is not
    chosen. So its prize goes into the constant, and is subtracted from the candidate's cost. A
    point in no ball always costs its prize. A candidate of cost 0 or less can be added to any
    selection.

    The points' dual variables are their prizes, or as much of them as the candidate costs.
    """
    rows = residual.cover.tocsr()
    degree = np.diff(rows.indptr)
    private = degree == 1
    if not (degree < 2).any() and not (residual.cost <= 0).any():
        return residual
    holder = rows.indices[rows.indptr[:-1][private]]
    refund = np.bincount(holder, residual.prize[private], minlength=len(residual.cost))
    cost = np.maximum(residual.cost, 0.0)
    share = np.ones(len(degree))
    share[private] = np.divide(cost, refund, out=np.ones_like(cost), where=refund > cost)[holder]
    absorbed = replace(
        residual,
        cost=residual.cost - refund,
        constant=residual.constant + float(residual.prize[degree < 2].sum()),
    ).keep_rows(degree >= 2, share)
    return absorbed.take(absorbed.cost <= 0)


def merge_identical_points(residual: Residual) -> Residual:
    """Merge points in the same balls into one with the sum of their prizes.

    Proof. Every selection covers all of them or none.
    """
    rows = residual.cover.tocsr()
    group = _identical_rows(rows)
    first = np.unique(group)
    if len(first) == len(group):
        return residual
    number = np.searchsorted(first, group)
    return replace(
        residual,
        cover=csc_array(rows[first]),
        prize=np.asarray(np.bincount(number, residual.prize), dtype=np.float64),
        rows=residual.renumbered(number),
    )


def drop_dominated_candidates(residual: Residual) -> Residual:
    """Drop candidates whose ball is in that of another that costs no more.

    Proof. Replace one by the other. Of two with equal balls and costs the first stays. Dominance
    is transitive, so a dominating candidate stays.
    """
    cost, size = residual.cost, np.diff(residual.cover.indptr)

    def may_dominate(small: Indices, large: Indices) -> Mask:
        cheaper, equal = cost[large] < cost[small], cost[large] == cost[small]
        grown = (size[large] > size[small]) | ((size[large] == size[small]) & (large < small))
        return np.asarray((cheaper & (size[large] >= size[small])) | (equal & grown))

    small, _ = contained_pairs(residual.cover, may_dominate)
    keep = np.ones(len(cost), dtype=bool)
    keep[small] = False
    return residual.keep_columns(keep)


def drop_implied_points(residual: Residual) -> Residual:
    """Drop points that are in every ball of another point which is sure to be covered.

    A point is sure if its prize exceeds the cost of the cheapest candidate that contains it.

    Proof. A selection that leaves a sure point uncovered gets cheaper by adding that candidate.
    So an optimum covers all sure points, and with each of them every point that is in all of its
    balls. The same holds for any selection that no addition improves. So a selection found for
    the smaller problem must be completed before it is mapped back.
    """
    rows = residual.cover.tocsr()
    degree = np.diff(rows.indptr)
    held = np.flatnonzero(degree)
    cheapest = np.full(len(degree), np.inf)
    cheapest[held] = np.minimum.reduceat(residual.cost[rows.indices], rows.indptr[held])
    sure = residual.prize > cheapest

    def may_imply(small: Indices, large: Indices) -> Mask:
        wider = (degree[large] == degree[small]) & (~sure[large] | (large > small))
        return np.asarray(sure[small] & ((degree[large] > degree[small]) | wider))

    _, implied = contained_pairs(csc_array(rows.T), may_imply)
    keep = np.ones(len(degree), dtype=bool)
    keep[implied] = False
    return residual.keep_rows(keep)


ALL_REDUCTIONS: tuple[Callable[[Residual], Residual], ...] = (
    drop_unprofitable_candidates,
    drop_replaceable_candidates,
    absorb_private_points,
    merge_identical_points,
    drop_dominated_candidates,
    drop_implied_points,
)


def contained_pairs(
    sets: csc_array, wanted: Callable[[Indices, Indices], Mask]
) -> tuple[Indices, Indices]:
    """Find pairs of columns (small, large), small a subset of large, that are `wanted`.

    A set that contains another contains its rarest element, so only sets with this element are
    compared: first by bits to which their elements are hashed, then, if these are fewer than the
    elements, by the elements. Empty columns are in no pair. If there are too many pairs, those of
    the rarest elements are compared.

    Parameters
    ----------
    sets : csc_array of bool
        Each column the set of its rows, indices sorted.
    wanted : callable (small, large) -> ndarray of bool
        Selects pairs before they are compared.
    """
    rows = sets.tocsr()
    frequency = np.diff(rows.indptr)
    words = _bits(sets)
    small = np.flatnonzero(np.diff(sets.indptr))
    rarest = _rarest(sets, frequency)[small]
    around = frequency[rarest]
    if around.sum() > _MOST_PAIRS:
        order = np.argsort(around, kind="stable")
        few = order[: np.searchsorted(np.cumsum(around[order], dtype=np.int64), _MOST_PAIRS)]
        small, rarest, around = small[few], rarest[few], around[few]
    found = [np.empty((2, 0), dtype=np.intp)]
    for block in _blocks(around):
        left = np.repeat(small[block], around[block])
        right = line_members(rows, rarest[block]).astype(np.intp)
        keep = wanted(left, right) & (left != right)
        left, right = left[keep], right[keep]
        for word in words:
            inside = (word[left] & ~word[right]) == 0
            left, right = left[inside], right[inside]
        found.append(np.stack((left, right)))
    pairs = np.concatenate(found, axis=1)
    if sets.shape[0] > 64 * len(words):
        pairs = pairs[:, _are_inside(sets, *pairs)]
    return pairs[0], pairs[1]


def _bits(sets: csc_array) -> NDArray[np.uint64]:
    """Return the hashed elements of each column as bits, shape (n_words, n_columns)."""
    n_words = min(-(-sets.shape[0] // 64), _WORDS)
    words = np.zeros((n_words, sets.shape[1]), dtype=np.uint64)
    element = sets.indices.astype(np.int64)
    columns = np.repeat(np.arange(sets.shape[1]), np.diff(sets.indptr))
    bit = np.left_shift(np.uint64(1), (element % 64).astype(np.uint64))
    np.bitwise_or.at(words, (element // 64 % max(n_words, 1), columns), bit)
    return words


def _are_inside(sets: csc_array, small: Indices, large: Indices) -> Mask:
    """Return for each pair of columns whether the first is in the second."""
    n_rows, sizes = sets.shape[0], np.diff(sets.indptr)
    columns = np.repeat(np.arange(sets.shape[1], dtype=np.int64), sizes)
    keys = columns * n_rows + sets.indices  # rising, as columns and their indices are
    asked = np.repeat(large, sizes[small]) * n_rows + line_members(sets, small)
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    pair = np.repeat(np.arange(len(small)), sizes[small])
    missing = np.bincount(pair[keys[place] != asked], minlength=len(small))
    return np.asarray(missing == 0)


def _rarest(sets: csc_array, frequency: Indices) -> Indices:
    """Return for each column its element that is in the fewest columns; 0 for empty ones."""
    filled = np.flatnonzero(np.diff(sets.indptr))
    n_elements = sets.shape[0]
    key = frequency[sets.indices].astype(np.int64) * n_elements + sets.indices
    rarest = np.zeros(sets.shape[1], dtype=np.intp)
    if len(filled):
        rarest[filled] = np.minimum.reduceat(key, sets.indptr[filled]) % n_elements
    return rarest


def _blocks(sizes: Indices) -> list[slice]:
    """Return slices of consecutive items of about `_PAIRS_AT_ONCE` in total size."""
    number = np.cumsum(sizes, dtype=np.int64) // _PAIRS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(edges) if a < b]


def _identical_rows(rows: csr_array) -> Indices:
    """Return for each row the first with the same columns."""
    sizes = np.diff(rows.indptr)
    held = np.flatnonzero(sizes)
    random = np.random.default_rng(0).integers(0, 2**63, rows.shape[1], dtype=np.uint64)
    key = np.zeros(rows.shape[0], dtype=np.uint64)
    key[held] = np.add.reduceat(random[rows.indices], rows.indptr[held])
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    first = first[group]
    # Equal keys of different rows are practically impossible, but checked.
    twins = np.flatnonzero(first != np.arange(len(first)))
    same = sizes[twins] == sizes[first[twins]]
    equal = line_members(rows, twins[same]) == line_members(rows, first[twins[same]])
    pair = np.repeat(np.arange(same.sum()), sizes[twins[same]])
    wrong = np.bincount(pair[~equal], minlength=int(same.sum())) > 0
    other = np.concatenate((twins[~same], twins[same][wrong]))
    first[other] = other
    return np.asarray(first, dtype=np.intp)
