"""What a search tries: a classifier on labelled samples over a grid of radii and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..classifier import PVMClassifier

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Labeled:
    """Points as a metric takes them with their labels and weights, all checked.

    The `unlabeled` ones are further candidates, in all folds the same.
    """

    points: Any
    y: NDArray[Any]
    weights: Floats
    unlabeled: Any


@dataclass(frozen=True, eq=False)
class Grid:
    """Radii and costs, both rising."""

    radii: Floats
    costs: Floats


@dataclass(frozen=True, eq=False)
class Trial:
    """The classifier that is scored in the folds, the samples, and the grid of settings."""

    model: PVMClassifier
    data: Labeled
    grid: Grid
