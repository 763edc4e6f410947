"""Checks of a selection and of the solutions of its classes that were read from a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._cover import CoverSolution, Leaves, SharedBudget
from .._cover.leaves import LEAF, MOST_NUMBERS, MOST_STEPS, VECTOR
from .._exceptions import ModelFileError
from .._selection.selected import Selection
from ..data._fields import (
    check_array,
    check_indices,
    check_number,
    check_text,
    check_whole,
    refuse,
)
from .encoding import encode

_CERTIFICATES = ("verified", "solver", "none")
_MOST = 2**62


def without_code(found: Selection | CoverSolution) -> Selection | CoverSolution:
    """Return a selection or solution with those details that are data.

    A solver may put anything there, and no prediction needs it.
    """
    if isinstance(found, Selection):
        return replace(found, solutions=tuple(without_code(one) for one in found.solutions))  # type: ignore[misc]
    details = {}
    for name, value in found.details.items():
        try:
            encode(value, [], "details")
        except ModelFileError:
            continue
        details[str(name)] = value
    return replace(found, details=details)


def check_selection(value: Any, *, n_classes: int) -> Selection:
    """Check the selection of a classifier with this number of classes."""
    if not isinstance(value, Selection):
        refuse("solution_ must be a Selection")
    candidates = check_indices(value.candidates, "candidates", below=_MOST)
    n, radii = len(candidates), value.radii
    if not isinstance(value.solutions, tuple) or len(value.solutions) != n_classes:
        refuse(f"solutions must be a tuple of {n_classes}, one for each class")
    selection = Selection(
        candidates=candidates,
        classes=check_indices(value.classes, "classes", length=n, below=n_classes),
        newly_covered=check_indices(value.newly_covered, "newly_covered", length=n, below=_MOST),
        covered=check_indices(value.covered, "covered", length=n, below=_MOST),
        miscovered=check_indices(value.miscovered, "miscovered", length=n, below=_MOST),
        score=check_array(value.score, "score", kinds="f", shape=(n,)),
        solutions=tuple(check_solution(one) for one in value.solutions),
        radii=radii if radii is None else check_array(radii, "radii", kinds="f", shape=(n,)),
        budget=None if value.budget is None else _check_budget(value.budget),
    )
    sizes = [len(solution.selected) for solution in selection.solutions]
    if not np.array_equal(np.bincount(selection.classes, minlength=n_classes), sizes):
        refuse("the solutions of the classes have other prototypes than the selection")
    return selection


def check_solution(value: Any) -> CoverSolution:
    """Check the solution of a class, or of a cover."""
    if not isinstance(value, CoverSolution):
        refuse("a solution must be a CoverSolution")
    selected = check_indices(value.selected, "selected", below=_MOST)
    n = len(selected)
    if value.dual is not None:
        check_array(value.dual, "dual", kinds="f", shape=(None,))
    if not isinstance(value.details, dict) or not all(type(key) is str for key in value.details):
        refuse("details must have names")
    if value.budget is not None:
        check_whole(value.budget, "budget")
    if value.priced_at is not None:
        check_number(value.priced_at, "priced_at")
    check_array(value.score, "score", kinds="f", shape=(n,))
    check_number(value.objective, "objective")
    check_number(value.lower_bound, "lower_bound")
    check_text(value.certificate, "certificate", _CERTIFICATES)
    check_text(value.status, "status")
    check_whole(value.at_least, "at_least", below=2)
    return replace(
        value,
        selected=selected,
        newly_covered=check_indices(value.newly_covered, "newly_covered", length=n),
        leaves=None if value.leaves is None else _check_leaves(value.leaves),
    )


def _check_budget(value: Any) -> SharedBudget:
    """Check what is known of all classes that share a budget."""
    if not isinstance(value, SharedBudget):
        refuse("the budget must be a SharedBudget")
    check_whole(value.n_prototypes, "n_prototypes")
    check_number(value.objective, "objective")
    check_number(value.lower_bound, "lower_bound")
    check_text(value.certificate, "certificate", _CERTIFICATES)
    return value


def _check_leaves(value: Any) -> Leaves:
    """Check the leaves of a branch and bound, and that there are not too many."""
    if not isinstance(value, Leaves):
        refuse("leaves must be Leaves")
    steps = check_array(value.steps, "steps", kinds="i", shape=(None,))
    vectors = check_array(value.vectors, "vectors", kinds="f", shape=(None, None))
    if len(steps) > MOST_STEPS or vectors.size > MOST_NUMBERS:
        refuse(
            f"leaves may have {MOST_STEPS} steps and {MOST_NUMBERS} numbers in their vectors, "
            f"got {len(steps)} and {vectors.size}"
        )
    if steps.min(initial=0) < LEAF or (steps == VECTOR).sum() != len(vectors):
        refuse("leaves must have steps from -2 on and a vector for each -1")
    return Leaves(steps.astype(np.intp, copy=False), vectors)
