"""Checks of a selection and of the solutions of its classes that were read from a file."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .._cover import CoverSolution, Limit, ProofTree, SharedBound
from .._cover.proof import LEAF, MOST_NUMBERS, MOST_STEPS, VECTOR
from .._exceptions import ModelFileError
from .._selection.selection import Selection
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
        shared=None if value.shared is None else _check_shared(value.shared),
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
    _check_limit(value.limit)
    if value.price is not None:
        check_number(value.price, "price")
    check_array(value.score, "score", kinds="f", shape=(n,))
    check_number(value.objective, "objective")
    check_number(value.lower_bound, "lower_bound")
    check_text(value.certificate, "certificate", _CERTIFICATES)
    check_text(value.status, "status")
    return replace(
        value,
        selected=selected,
        newly_covered=check_indices(value.newly_covered, "newly_covered", length=n),
        proof=None if value.proof is None else _check_proof(value.proof),
    )


def _check_limit(value: Any) -> None:
    """Check the limit of a solution."""
    if not isinstance(value, Limit):
        refuse("limit must be a Limit")
    if value.at_most is not None:
        check_whole(value.at_most, "at_most")
    check_whole(value.at_least, "at_least", below=2)
    if value.uncovered is not None and not (
        isinstance(value.uncovered, Fraction) and value.uncovered >= 0
    ):
        refuse("uncovered must be a non-negative fraction")


def _check_shared(value: Any) -> SharedBound:
    """Check what is stated about all classes that share a limit."""
    if not isinstance(value, SharedBound):
        refuse("shared must be a SharedBound")
    _check_limit(value.limit)
    check_number(value.objective, "objective")
    check_number(value.lower_bound, "lower_bound")
    check_text(value.certificate, "certificate", _CERTIFICATES)
    return value


def _check_proof(value: Any) -> ProofTree:
    """Check the proof tree of a branch and bound, and that it is not too large."""
    if not isinstance(value, ProofTree):
        refuse("proof must be a ProofTree")
    steps = check_array(value.steps, "steps", kinds="i", shape=(None,))
    vectors = check_array(value.vectors, "vectors", kinds="f", shape=(None, None))
    if len(steps) > MOST_STEPS or vectors.size > MOST_NUMBERS:
        refuse(
            f"a proof tree may have {MOST_STEPS} steps and {MOST_NUMBERS} numbers in its "
            f"vectors, got {len(steps)} and {vectors.size}"
        )
    if steps.min(initial=0) < LEAF or (steps == VECTOR).sum() != len(vectors):
        refuse("a proof tree must have steps from -2 on and a vector for each -1")
    return ProofTree(steps.astype(np.intp, copy=False), vectors)
