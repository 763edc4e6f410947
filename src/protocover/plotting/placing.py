"""Where prototypes lie on a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..balls import traits_of
from ..maps.sammon import sammon_map, sammon_stress
from ..maps.scaling import classical_scaling

__all__ = ["between_prototypes", "place"]


def between_prototypes(
    model: Any, given: Any, n_prototypes: int, *, needed: bool
) -> NDArray[np.float64] | None:
    """Return the dissimilarities between the first prototypes, means of both directions."""
    if given is None:
        if traits_of(model.dissimilarity_).pairwise:
            if not needed:
                return None
            raise ValueError(
                "dissimilarities between the prototypes must be passed for a model of "
                "precomputed ones: D[np.ix_(clf.prototype_rows_, clf.prototype_indices_)] where "
                "D is the training table and the prototypes are training points"
            )
        given = model.distances_to_prototypes(model.prototypes_[:n_prototypes])
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


def place(
    method: Any, D: NDArray[np.float64] | None, n_prototypes: int
) -> tuple[NDArray[np.float64], float | None]:
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
