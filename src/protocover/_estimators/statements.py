"""What a fitted model says twice, compared: attributes, selection, solutions, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._balls import traits_of
from .._prototypes import column_order
from .._resources import row_count
from .._selection.parameters import (
    check_adaptive_radii,
    check_eps,
    check_max_prototypes,
    check_outlier_label,
    check_prototype_cost,
)
from .._selection.selection import ClassSelection, Selection
from .._selection.training import Training

_BY_PROTOTYPE = (
    "candidate_indices_",
    "prototype_indices_",
    "prototype_sources_",
    "prototype_labels_",
    "newly_covered_count_",
    "miscovered_count_",
    "prototype_radii_",
)


def length_faults(model: Any) -> tuple[str, ...]:
    """Say which parts of a model do not fit together, so that no further look can be had."""
    selection = model.solution_
    n = len(selection.candidates)
    if len(selection.solutions) != len(model.classes_):
        return (f"solution_ has {len(selection.solutions)} solutions, not {len(model.classes_)}",)
    sizes = {name: len(getattr(model, name)) for name in _BY_PROTOTYPE}
    sizes["prototypes_"] = row_count(model.prototypes_)
    sizes["solution_.classes"] = len(selection.classes)
    chosen = [len(one.selected) for one in selection.solutions]
    faults = [f"{name} holds {size}, not {n}" for name, size in sizes.items() if size != n]
    faults += [
        f"solution_ has a score and count for {len(one.score)} and {len(one.newly_covered)} "
        f"choices, not {len(one.selected)}"
        for one in selection.solutions
        if not len(one.score) == len(one.newly_covered) == len(one.selected)
    ]
    if not faults and _by_class(selection) != chosen:
        faults.append(f"solution_ has {_by_class(selection)} prototypes by class, not {chosen}")
    return tuple(faults)


def statement_faults(model: Any, training: Training) -> list[str]:
    """Say where a model says one thing in one place and another in another."""
    return [
        *differences(model, {"classes_": np.unique(model.classes_)}),
        *differences(model, _attributes(model.solution_, model)),
        *_joint_faults(model),
        *_parameter_faults(model, training),
    ]


def differences(model: Any, true: Mapping[str, Any]) -> list[str]:
    """Say which attributes are not what they should be."""
    return [
        f"{name} is {_plain(value)!r}, not {_plain(getattr(model, name))!r}"
        for name, value in true.items()
        if not _same(value, getattr(model, name))
    ]


def chosen_places(model: Any) -> list[NDArray[np.intp]]:
    """Return the places of each class's prototypes in the order in which they were chosen."""
    joined = _joined(model.solution_)
    order = _order_of_columns(model)
    place = np.arange(len(joined.classes)) if order is None else np.argsort(order)
    return [place[joined.classes == label] for label in range(len(model.classes_))]


def _by_class(selection: Selection) -> list[int]:
    """Count the prototypes of each class."""
    n_classes = len(selection.solutions)
    return [int((selection.classes == label).sum()) for label in range(n_classes)]


def _attributes(selection: Selection, model: Any) -> dict[str, Any]:
    """Return the attributes that follow from a selection."""
    n = len(selection.candidates)
    shared = np.full(n, model.eps_)
    return {
        "candidate_indices_": selection.candidates,
        "prototype_labels_": model.classes_[selection.classes],
        "covered_count_": selection.covered,
        "newly_covered_count_": selection.newly_covered,
        "miscovered_count_": selection.miscovered,
        "prototype_radii_": shared if selection.radii is None else selection.radii,
        "objective_": selection.objective,
        "lower_bound_": selection.lower_bound,
        "gap_": selection.gap,
        "certificate_": selection.certificate,
    }


def _joint_faults(model: Any) -> list[str]:
    """Say where the selection is not the solutions of the classes, joined in their order."""
    selection, joined = model.solution_, _joined(model.solution_)
    order = _order_of_columns(model)
    if order is not None:
        joined = joined._rearranged(order)
    return [
        f"solution_.{name} is not that of the solutions of the classes, in order of score"
        for name in ("candidates", "classes", "newly_covered", "score")
        if not np.array_equal(getattr(joined, name), getattr(selection, name))
    ]


def _joined(selection: Selection) -> Selection:
    """Join the solutions of the classes again; who else lies in the balls is no part of it."""
    counts = [one.newly_covered for one in selection.solutions]
    classes = zip(selection.solutions, counts, strict=True)
    return Selection.joined([ClassSelection(one, count, count, None) for one, count in classes])


def _order_of_columns(model: Any) -> NDArray[np.intp] | None:
    """Return the order of prototypes that are all columns of a table, from that of choosing."""
    if not traits_of(model.dissimilarity_).precomputed:
        return None
    return column_order(_joined(model.solution_).candidates, model.n_features_in_)


def _parameter_faults(model: Any, training: Training) -> list[str]:
    """Say where the model is not what its own parameters ask for."""
    own, classes = check_adaptive_radii(model.radii), model.classes_
    eps = check_eps(model.eps, own=own)
    asked = {
        "prototype_cost_": check_prototype_cost(
            model.prototype_cost, training.cost_weights, own=own
        ),
        "outlier_label_": check_outlier_label(model.outlier_label, classes, training.class_count),
    }
    # A radius that was proposed may rest on a sample, or on a first batch alone.
    faults = differences(model, asked if eps is None else {"eps_": eps, **asked})
    if own != (model.solution_.radii is not None):
        faults.append(f"radii is {model.radii!r}, but solution_.radii says otherwise")
    budget, counts = (
        check_max_prototypes(model.max_prototypes, classes),
        _by_class(model.solution_),
    )
    limits = budget if isinstance(budget, dict) else {}
    over = any(counts[label] > limit for label, limit in limits.items())
    if over or (isinstance(budget, int) and sum(counts) > budget):
        faults.append(
            f"max_prototypes is {model.max_prototypes!r}, but there are {counts} by class"
        )
    needed = [label not in limits or limits[label] > 0 for label in range(len(counts))]
    lost = [
        label
        for label, need, n, size in zip(
            classes.tolist(), needed, counts, training.class_count.tolist(), strict=True
        )
        if need and n == 0 and size > 0
    ]
    if model.min_per_class and lost:
        faults.append(f"min_per_class is 1, but there are no prototypes of {lost}")
    return faults


def _same(one: Any, other: Any) -> bool:
    """Whether two values, or arrays of them, are equal."""
    return np.shape(one) == np.shape(other) and bool(np.all(np.asarray(one) == np.asarray(other)))


def _plain(value: Any) -> Any:
    """Return a value as it is written in a message."""
    return value.tolist() if isinstance(value, np.ndarray) else value
