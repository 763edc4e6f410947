"""What a search tries: every metric with every solver, each over a grid of radii and costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..classifier import PVMClassifier

__all__ = ["Grid", "Labelled", "Trial", "name_choices"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Labelled:
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

    @property
    def size(self) -> int:
        """Number of settings."""
        return len(self.radii) * len(self.costs)


@dataclass(frozen=True, eq=False)
class Trial:
    """One metric with one solver, by their names in the table of results.

    The `model` is what is scored in the folds, by `fold_solver`, and `final` what is fitted
    where one of these settings is chosen. Both have everything but the radius and the cost.
    """

    metric: str
    solver: str
    fold_solver: str
    model: PVMClassifier
    final: PVMClassifier
    data: Labelled
    grid: Grid


def name_choices(choices: Any) -> dict[str, Any]:
    """Give each of several choices a name of its own; one choice alone is a list of one.

    A function goes by its name, an object by its `repr`. Of several with one name the
    second is numbered 2 and so on: every choice is tried, and can be told from the others.
    """
    if isinstance(choices, Mapping):
        listed = [(str(name), choice) for name, choice in choices.items()]
    else:
        several = choices if isinstance(choices, list | tuple) else [choices]
        names = [
            one if isinstance(one, str) else getattr(one, "__name__", repr(one)) for one in several
        ]
        listed = list(zip(names, several, strict=True))
    # A number never makes the name that another choice has from the start.
    taken = {name for name, _ in listed}
    named: dict[str, Any] = {}
    for name, choice in listed:
        number, unique = 1, name
        while unique in named or (number > 1 and unique in taken):
            number += 1
            unique = f"{name}-{number}"
        named[unique] = choice
    return named
