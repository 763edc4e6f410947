"""How far a neighbour graph tells who lies in a ball, and that no radius goes beyond.

A graph that was cut at a radius knows nothing of pairs beyond it. One of nearest neighbours
may lack pairs that are nearer: of a point those beyond the last of its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._balls.graph import same_graphs
from .._exceptions import warn_caller
from .training import Training


def check_reach(training: Training, radii: Any) -> None:
    """Refuse radii, or limits to them, that are larger than a graph can tell.

    An infinite limit is none: balls then end with the farthest neighbour at the latest.
    """
    if not training.is_graph:
        return
    given = np.atleast_1d(np.asarray(radii, dtype=np.float64))
    largest = float(given[np.isfinite(given)].max(initial=0.0))
    reach = training.dissimilarity.cutoff_of(training.points)
    told = training.dissimilarity.reach is not None
    if largest > reach:
        raise ValueError(_beyond(largest, reach, told=told))
    if not told:
        _warn_of_ones(training.points)
        _warn_of_lost_neighbors(training.points, float(given.max()))


def _beyond(eps: float, reach: float, *, told: bool) -> str:
    """Say which radius is too large, and how to make a larger graph."""
    limit = "reach" if told else "the largest entry of X"
    rule = f"eps must not be above {limit}, {reach:g}, got {eps:g}: who else lies in such a ball "
    larger = f"radius_neighbors_graph(points, {1.1 * eps:.4g}, mode='distance')"
    ways = f"a neighbour graph does not tell; make a larger one, such as {larger}, or lower eps"
    if told:
        return rule + ways
    return (
        rule
        + ways
        + (f", or say with metric=Precomputed(cutoff={eps:g}) that it holds all pairs up to there")
    )


def _warn_of_ones(graph: csr_array) -> None:
    """Warn of a graph that tells who are neighbours, but not how far apart they are."""
    positive = graph.data[graph.data > 0.0]
    if len(positive) and (positive == 1.0).all():
        warn_caller(
            "X stores nothing but ones, as scikit-learn's graphs do without mode='distance'; if "
            "they are distances, metric=Precomputed(cutoff=1.0) says so"
        )


def _warn_of_lost_neighbors(graph: csr_array, eps: float) -> None:
    """Warn where balls may lack members because each point has but so many neighbours."""
    sizes = np.diff(graph.indptr)
    if sizes.min() != sizes.max() or sizes[0] in (0, graph.shape[1]):
        return
    farthest: NDArray[np.float64] = np.maximum.reduceat(graph.data, graph.indptr[:-1])
    n_cut, complete = int((farthest < eps).sum()), float(farthest.min())
    # Who is near is near to one another, but not so who is among the nearest.
    if n_cut and not same_graphs(graph, graph.T.tocsr()):
        radius = "the radii are not limited" if np.isinf(eps) else f"eps is {eps:g}"
        warn_caller(
            f"X has {sizes[0]} entries in every row, as a graph of nearest neighbours has, and "
            f"{radius}: for {n_cut} of {len(sizes)} points further neighbours within that "
            f"may be missing; up to eps={complete:.4g} none is, and more neighbours reach farther"
        )
