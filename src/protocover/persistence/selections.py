"""A selection and the solutions of its classes as JSON and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cover import CoverSolution, Leaves, SharedBudget
from ..cover.leaves import LEAF, MOST_NUMBERS, MOST_STEPS, VECTOR
from ..data.fields import (
    check_array,
    check_indices,
    check_list,
    check_number,
    check_record,
    check_text,
    check_whole,
    refuse,
)
from ..exceptions import ModelFileError
from ..selection.selected import Selection
from .encoding import decode, decode_record, encode, encode_attributes
from .values import Arrays, Loaded

__all__ = ["decode_selection", "decode_solution", "encode_selection", "encode_solution"]

_BY_PROTOTYPE = ("candidates", "classes", "newly_covered", "covered", "miscovered", "score")
_OF_SOLUTION = (
    "selected",
    "score",
    "newly_covered",
    "objective",
    "lower_bound",
    "certificate",
    "dual",
    "status",
)
# Only of a solution whose bound is one on so few prototypes, or on those that cover so much.
_OF_BUDGET = ("budget", "priced_at")
_OF_LEAVES = ("steps", "vectors")
_OF_SHARED_BUDGET = ("n_prototypes", "objective", "lower_bound", "certificate")
_CERTIFICATES = ("verified", "solver", "none")


def encode_selection(selection: Selection, arrays: Arrays) -> Any:
    """Return the JSON of a selection, with the vectors that prove its bounds."""
    names = _BY_PROTOTYPE if selection.radii is None else (*_BY_PROTOTYPE, "radii")
    record = encode_attributes(selection, names, arrays)
    solutions = [encode_solution(solution, arrays) for solution in selection.solutions]
    shared = {}
    if selection.budget is not None:
        shared["budget"] = encode_attributes(selection.budget, _OF_SHARED_BUDGET, arrays)
    return {**record, **shared, "solutions": solutions}


def decode_selection(content: Any, arrays: Loaded, *, n_classes: int) -> Selection:
    """Return the selection that a JSON of `encode_selection` stands for."""
    if isinstance(content, dict) and "newly_covered" not in content:
        content = _with_words_of_today(content)
    own, shared = _present(content, ("radii",)), _present(content, ("budget",))
    record = check_record(content, "the selection", (*_BY_PROTOTYPE, *own, *shared, "solutions"))
    values = {name: decode(record[name], arrays) for name in (*_BY_PROTOTYPE, *own)}
    candidates = check_indices(values["candidates"], "candidates", below=2**62)
    n = len(candidates)
    found = check_list(record["solutions"], "solutions", n_classes)
    selection = Selection(
        candidates=candidates,
        classes=check_indices(values["classes"], "classes", length=n, below=n_classes),
        newly_covered=_check_count(values, "newly_covered", n),
        covered=None if values["covered"] is None else _check_count(values, "covered", n),
        miscovered=_check_count(values, "miscovered", n),
        score=check_array(values["score"], "score", kinds="f", shape=(n,)),
        radii=check_array(values["radii"], "radii", kinds="f", shape=(n,)) if own else None,
        solutions=tuple(decode_solution(solution, arrays) for solution in found),
        budget=_decode_budget(record["budget"], arrays) if shared else None,
    )
    sizes = [len(solution.selected) for solution in selection.solutions]
    if not np.array_equal(np.bincount(selection.classes, minlength=n_classes), sizes):
        refuse("the solutions of the classes have other prototypes than the selection")
    return selection


def _present(content: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some names that a record has."""
    return tuple(name for name in names if isinstance(content, dict) and name in content)


def _decode_budget(content: Any, arrays: Loaded) -> SharedBudget:
    """Decode what is known of all classes that share a budget."""
    record = decode_record(content, "the budget", _OF_SHARED_BUDGET, arrays)
    return SharedBudget(
        n_prototypes=check_whole(record["n_prototypes"], "n_prototypes"),
        objective=check_number(record["objective"], "objective"),
        lower_bound=check_number(record["lower_bound"], "lower_bound"),
        certificate=check_text(record["certificate"], "certificate", _CERTIFICATES),
    )


def _with_words_of_today(content: dict[str, Any]) -> dict[str, Any]:
    """Return a selection of the first files, whose `covered` were the newly covered points.

    How many points of its class a ball holds in all follows from nothing in such a file.
    """
    newly = {"newly_covered": content["covered"]} if "covered" in content else {}
    return {**content, **newly, "covered": None}


def _check_count(values: dict[str, Any], name: str, n_prototypes: int) -> NDArray[np.intp]:
    """Check numbers of points in the prototypes' balls."""
    return check_indices(values[name], name, length=n_prototypes, below=2**62)


def encode_solution(solution: CoverSolution, arrays: Arrays) -> Any:
    """Encode a solution, and of its details what is data."""
    plain = solution.budget is None and solution.priced_at is None
    names = _OF_SOLUTION if plain else (*_OF_SOLUTION, *_OF_BUDGET)
    record = encode_attributes(solution, names, arrays)
    details = {}
    for name, value in solution.details.items():
        try:
            details[str(name)] = encode(value, arrays, "details")
        except ModelFileError:
            continue  # a solver may tell whatever it likes, and no prediction needs it
    if solution.at_least:
        record["at_least"] = encode(solution.at_least, arrays, "at_least")
    if solution.leaves is not None:
        record["leaves"] = encode_attributes(solution.leaves, _OF_LEAVES, arrays)
    return {**record, "details": details}


def decode_solution(content: Any, arrays: Loaded) -> CoverSolution:
    """Decode a solution."""
    names = (*_OF_SOLUTION, *(_OF_BUDGET if _present(content, _OF_BUDGET) else ()))
    leaves, least = _present(content, ("leaves",)), _present(content, ("at_least",))
    record = check_record(content, "a solution", (*names, *least, *leaves, "details"))
    values = {name: decode(record[name], arrays) for name in names}
    selected = check_indices(values["selected"], "selected", below=2**62)
    n = len(selected)
    if values["dual"] is not None:
        check_array(values["dual"], "dual", kinds="f", shape=(None,))
    if not isinstance(record["details"], dict):
        refuse("details must have names")
    return CoverSolution(
        selected=selected,
        score=check_array(values["score"], "score", kinds="f", shape=(n,)),
        newly_covered=check_indices(values["newly_covered"], "newly_covered", length=n),
        objective=check_number(values["objective"], "objective"),
        lower_bound=check_number(values["lower_bound"], "lower_bound"),
        certificate=check_text(values["certificate"], "certificate", _CERTIFICATES),
        dual=values["dual"],
        status=check_text(values["status"], "status"),
        details={name: decode(value, arrays) for name, value in record["details"].items()},
        budget=_if_told(values, "budget", check_whole),
        priced_at=_if_told(values, "priced_at", check_number),
        leaves=_decode_leaves(record["leaves"], arrays) if leaves else None,
        at_least=check_whole(decode(record["at_least"], arrays), "at_least", below=2)
        if least
        else 0,
    )


def _decode_leaves(content: Any, arrays: Loaded) -> Leaves:
    """Decode the leaves of a branch and bound, no more than there may be."""
    record = decode_record(content, "the leaves", _OF_LEAVES, arrays)
    steps = check_array(record["steps"], "steps", kinds="i", shape=(None,))
    vectors = check_array(record["vectors"], "vectors", kinds="f", shape=(None, None))
    if len(steps) > MOST_STEPS or vectors.size > MOST_NUMBERS:
        refuse(
            f"leaves may have {MOST_STEPS} steps and {MOST_NUMBERS} numbers in their vectors, "
            f"got {len(steps)} and {vectors.size}"
        )
    if steps.min(initial=0) < LEAF or (steps == VECTOR).sum() != len(vectors):
        refuse("leaves must have steps from -2 on and a vector for each -1")
    return Leaves(steps.astype(np.intp, copy=False), vectors)


def _if_told(values: dict[str, Any], name: str, check: Callable[[Any, str], Any]) -> Any:
    """Return a checked number, None where it is not told."""
    return None if values.get(name) is None else check(values[name], name)
