"""Check that no radius exceeds what a neighbour graph contains.

A radius graph has no entry for pairs beyond its cutoff. A k-nearest-neighbour graph may lack
pairs that are nearer: for each sample those beyond its last neighbour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._balls.graph import same_graphs
from .._exceptions import warn_caller
from .training import Training


def check_cutoff(training: Training, radii: Any) -> None:
    """Raise an error if a radius, or a maximum radius, is larger than the graph's cutoff.

    An infinite maximum is allowed: neighbourhoods then end at the farthest neighbour.
    """
    if not training.is_graph:
        return
    given = np.atleast_1d(np.asarray(radii, dtype=np.float64))
    largest = float(given[np.isfinite(given)].max(initial=0.0))
    cutoff = training.dissimilarity.cutoff_of(training.points)
    given_cutoff = training.dissimilarity.cutoff is not None
    if largest > cutoff:
        raise ValueError(_beyond(largest, cutoff, given=given_cutoff))
    if not given_cutoff:
        _warn_of_ones(training.points)
        _warn_of_lost_neighbors(training.points, float(given.max()))


def _beyond(eps: float, cutoff: float, *, given: bool) -> str:
    """Return the error about a radius that is too large, with its remedies."""
    limit = "cutoff" if given else "the largest entry of X"
    larger = f"radius_neighbors_graph(points, {1.1 * eps:.4g}, mode='distance')"
    text = (
        f"eps must not be above {limit}, {cutoff:g}, got {eps:g}: X has no entries for pairs "
        f"farther apart; use a larger graph, such as {larger}, or lower eps"
    )
    if given:
        return text
    return (
        text + f", or pass metric=Precomputed(cutoff={eps:g}) if X holds all pairs up to {eps:g}"
    )


def _warn_of_ones(graph: csr_array) -> None:
    """Warn if the graph holds connectivity instead of distances."""
    positive = graph.data[graph.data > 0.0]
    if len(positive) and (positive == 1.0).all():
        warn_caller(
            "all entries of X are 1, as in scikit-learn's graphs without mode='distance'; if they "
            "are distances, pass metric=Precomputed(cutoff=1.0)"
        )


def _warn_of_lost_neighbors(graph: csr_array, eps: float) -> None:
    """Warn if neighbourhoods may be incomplete because X is a k-nearest-neighbour graph."""
    sizes = np.diff(graph.indptr)
    if sizes.min() != sizes.max() or sizes[0] in (0, graph.shape[1]):
        return
    farthest: NDArray[np.float64] = np.maximum.reduceat(graph.data, graph.indptr[:-1])
    n_cut, complete = int((farthest < eps).sum()), float(farthest.min())
    # Radius neighbourhoods are symmetric; k-nearest-neighbour relations are not.
    if n_cut and not same_graphs(graph, graph.T.tocsr()):
        radius = "the radii are not limited" if np.isinf(eps) else f"eps is {eps:g}"
        warn_caller(
            f"X looks like a k-nearest-neighbour graph (k={sizes[0]}) and {radius}: the "
            f"neighbourhoods of {n_cut} of {len(sizes)} samples may be incomplete; use "
            f"eps <= {complete:.4g}, or a graph with more neighbours"
        )
