"""Where prototypes lie on a map, and their boxes, pushed apart until none hides another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._balls import traits_of
from .._maps.sammon import sammon_map, sammon_stress
from .._maps.scaling import classical_scaling

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Limits = tuple[float, float, float, float]

_ROUNDS = 300
_HAIR = 0.05


def between_prototypes(
    model: Any, given: Any, n_prototypes: int, *, needed: bool
) -> Floats | None:
    """Return the dissimilarities between the first prototypes, means of both directions."""
    if given is None:
        if traits_of(model.dissimilarity_).precomputed:
            if not needed:
                return None
            raise ValueError(
                "dissimilarities between the prototypes must be passed for a model of "
                "precomputed ones, D[np.ix_(clf.prototype_indices_, clf.candidate_indices_)]; "
                "D is the training table and the prototypes are training points"
            )
        given = model._distances(model.prototypes_[:n_prototypes])
    D = np.asarray(given, dtype=np.float64)
    if D.ndim != 2 or min(D.shape) < n_prototypes:
        raise ValueError(
            f"dissimilarities must be a table between the {n_prototypes} prototypes, got shape "
            f"{D.shape}"
        )
    D = D[:n_prototypes, :n_prototypes]
    D = (D + D.T) / 2
    # Rounding, and rank dissimilarities, do not leave a prototype at zero from itself.
    np.fill_diagonal(D, 0.0)
    return D


def place(method: Any, D: Floats | None, n_prototypes: int) -> tuple[Floats, float | None]:
    """Return the places on the map and, where it can be told, their stress."""
    if isinstance(method, str):
        if method not in ("sammon", "mds"):
            raise ValueError(f"method must be 'sammon', 'mds' or coordinates, got {method!r}")
        if method == "sammon":
            result = sammon_map(D)
            return result.coordinates, result.stress
        coordinates = classical_scaling(D)
    else:
        coordinates = np.asarray(method, dtype=np.float64)
        if coordinates.ndim != 2 or coordinates.shape[1] != 2 or len(coordinates) < n_prototypes:
            raise ValueError(
                f"method must give two coordinates for each of {n_prototypes} prototypes, got "
                f"shape {coordinates.shape}"
            )
        coordinates = coordinates[:n_prototypes]
    return coordinates, None if D is None else sammon_stress(D, coordinates)


def arrange(
    centers: Floats, sizes: Floats, limits: Limits, *, furthest: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Move boxes so that those shown do not overlap, the first ones having precedence.

    Boxes of given middles and sizes (width and height) stay between the limits (left,
    right, bottom and top) and move at most so far. Returned are their new middles, and
    which are shown: those that could be freed of all earlier ones.
    """
    places = _push_apart(centers, sizes, limits, furthest)
    shown = np.zeros(len(places), dtype=bool)
    for k in range(len(places)):
        gap = np.abs(places[shown] - places[k]) - (sizes[shown] + sizes[k]) / 2
        # What pushing has left of an overlap may be a hair's breadth.
        shown[k] = not (gap < -_HAIR * sizes[k]).all(axis=1).any()
    return places, shown


def _push_apart(centers: Floats, sizes: Floats, limits: Limits, furthest: float) -> Floats:
    """Push each overlapping pair apart along the axis on which it takes less, many times."""
    low = np.array([limits[0], limits[2]]) + sizes / 2
    high = np.array([limits[1], limits[3]]) - sizes / 2
    low, high = np.maximum(low, centers - furthest), np.minimum(high, centers + furthest)
    high = np.maximum(high, low)
    places = np.clip(centers, low, high)
    for _ in range(_ROUNDS):
        first, second = _touching(places, sizes)
        if not len(first):
            break
        apart = places[second] - places[first]
        room = (sizes[first] + sizes[second]) / 2
        overlap = room - np.abs(apart)
        along = np.argmin(overlap / room, axis=1)[:, None] == np.arange(2)
        # Of two boxes in one place the later goes right or up.
        push = np.where(along, np.where(apart < 0.0, -overlap, overlap), 0.0)
        moves = np.zeros_like(places)
        np.add.at(moves, second, push)
        np.add.at(moves, first, -push)
        # A share only, because a box may be pushed by several at once.
        places = np.clip(places + 0.3 * moves, low, high)
    return places


def _touching(places: Floats, sizes: Floats) -> tuple[Indices, Indices]:
    """Return the numbers of the boxes of each overlapping pair, the lower one first."""
    overlapping = np.triu(np.ones((len(places), len(places)), dtype=bool), k=1)
    for middle, size in zip(places.T, sizes.T, strict=True):
        low, high = middle - 0.4999995 * size, middle + 0.4999995 * size
        overlapping &= (low[:, None] < high) & (low < high[:, None])
    first, second = np.nonzero(overlapping)
    return first, second
