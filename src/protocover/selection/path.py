"""Selections for many radii and costs from one pass over the dissimilarities.

The balls of the largest radius are built once, each membership marked with the first
radius it belongs to; those of a smaller radius are a filter away. For the paper's greedy
the selection for any cost is a prefix of that for the lowest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..resources import progress_bar
from ..solvers import Solver
from .by_class import Selection
from .sweep import solve_radius, split_by_class
from .training import Training

__all__ = ["solve_path"]


def solve_path(
    training: Training,
    levels: csr_array,
    *,
    n_radii: int,
    costs: NDArray[np.float64],
    solver: Solver,
    options: Mapping[str, Any],
    rng: np.random.Generator,
    verbose: int,
) -> tuple[tuple[Selection, ...], ...]:
    """Solve every class's problem for all radii, of which `levels` tell, and rising `costs`.

    Every setting is solved with the randomness that a fit of its own would have.
    """
    n_classes = len(training.classes)
    shares = split_by_class(levels, training.codes, training.weights, n_classes, n_radii)
    children = rng.spawn(n_classes)
    with progress_bar(range(n_radii), n_radii, "radii", verbose) as bar:
        return tuple(solve_radius(shares, k, costs, solver, children, options) for k in bar)
