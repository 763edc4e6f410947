"""Reductions: smaller problems with the same optimum, each with its proof.

Beware of the classical row dominance of set cover, which drops every point that is in
all the balls of another: here it is false, since the other point may be left uncovered.
With candidates {i, k} at cost 5 and {i} at 0.5 and prizes 1 the optimum is 1.5; without
i it would be 1. See :func:`drop_implied_points` for what is true of it.
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

from .containment import contained_pairs
from .residual import Residual


def reduce_cover(residual: Residual, *, deadline: float = math.inf) -> Residual:
    """Apply all reductions until none makes the problem smaller, or time is up.

    None of them depends on another, so that any number of them is right.
    """
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

    Proof. Leaving one out of a selection saves its cost and uncovers no more than that.
    """
    return residual.keep_columns(residual.cost < residual.cover.T @ residual.prize)


def drop_replaceable_candidates(residual: Residual) -> Residual:
    """Drop candidates that a set of cheaper ones, and prizes paid, replace at no more cost.

    Each point of the ball goes to the cheapest candidate that holds it (ties to the lower
    index), unless that is the candidate in question; for the points so given to another
    candidate its cost or, if that is less, their prizes are paid; for the rest, their
    prizes. If that sum is not above the candidate's cost, it goes.

    Proof. Exchange the candidate for those in the sum: every point of its ball is covered
    or paid for, at no more cost in all. Each exchange replaces a candidate by earlier ones
    in the order by cost and index, so that exchanging ends, with none of the dropped left.
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
    """Charge points that one candidate alone covers to it, and take it once it is free.

    Proof. Such a point is uncovered exactly when its candidate is not chosen: pay its
    prize now and give it back with the candidate. A point in no ball is paid for always.
    A candidate that costs nothing, or less, can be added to any selection.

    In the dual the points pay their prizes, or as much of them as the candidate still costs.
    """
    rows = residual.cover.tocsr()
    degree = np.diff(rows.indptr)
    private = degree == 1
    if not (degree < 2).any() and not (residual.cost <= 0).any():
        return residual
    holder = rows.indices[rows.indptr[:-1][private]]
    refund = np.bincount(holder, residual.prize[private], minlength=len(residual.cost))
    room = np.maximum(residual.cost, 0.0)
    share = np.ones(len(degree))
    share[private] = np.divide(room, refund, out=np.ones_like(room), where=refund > room)[holder]
    absorbed = replace(
        residual,
        cost=residual.cost - refund,
        constant=residual.constant + float(residual.prize[degree < 2].sum()),
    ).keep_rows(degree >= 2, share)
    return absorbed.take(absorbed.cost <= 0)


def merge_identical_points(residual: Residual) -> Residual:
    """Join points that lie in the same balls into one with all their prizes.

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
    """Drop candidates whose ball lies in that of another that costs no more.

    Proof. Exchange one for the other. Of two with equal balls and costs the first stays;
    being in another's ball at no less cost is transitive, so some dominating one stays.
    """
    cost, size = residual.cost, np.diff(residual.cover.indptr)

    def may_dominate(small: NDArray[np.intp], large: NDArray[np.intp]) -> NDArray[np.bool_]:
        cheaper, equal = cost[large] < cost[small], cost[large] == cost[small]
        grown = (size[large] > size[small]) | ((size[large] == size[small]) & (large < small))
        return np.asarray((cheaper & (size[large] >= size[small])) | (equal & grown))

    small, _ = contained_pairs(residual.cover, may_dominate)
    keep = np.ones(len(cost), dtype=bool)
    keep[small] = False
    return residual.keep_columns(keep)


def drop_implied_points(residual: Residual) -> Residual:
    """Drop points that lie in every ball of another point which is sure to be covered.

    Sure is a point whose prize exceeds the cost of the cheapest candidate that holds it.

    Proof. A selection that leaves a sure point uncovered gets cheaper by adding that
    candidate. So an optimum covers all sure points, and with each of them every point
    that lies in all of its balls: those prizes are never paid. The same holds for any
    selection that no addition improves, which is why a selection found for the smaller
    problem is to be completed before it is taken back to the larger.
    """
    rows = residual.cover.tocsr()
    degree = np.diff(rows.indptr)
    held = np.flatnonzero(degree)
    cheapest = np.full(len(degree), np.inf)
    cheapest[held] = np.minimum.reduceat(residual.cost[rows.indices], rows.indptr[held])
    sure = residual.prize > cheapest

    def may_imply(small: NDArray[np.intp], large: NDArray[np.intp]) -> NDArray[np.bool_]:
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


def _identical_rows(rows: csr_array) -> NDArray[np.intp]:
    """For each row the first that has the same columns."""
    stops = rows.indptr.tolist()
    content = rows.indices.tobytes()
    width = rows.indices.itemsize
    seen: dict[bytes, int] = {}
    return np.array(
        [
            seen.setdefault(content[start * width : stop * width], i)
            for i, (start, stop) in enumerate(pairwise(stops))
        ],
        dtype=np.intp,
    )
