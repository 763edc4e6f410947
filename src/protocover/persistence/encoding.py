"""Values of all kinds as JSON: plain ones, data frames, and objects from a closed table.

An object is its name in the table and the arguments of its constructor. A name that is
not in the table is an error; nothing is imported or looked up by a name from a file.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any, NoReturn

from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from .. import dissimilarity
from ..candidates import HullCandidates, KMeansCandidates
from ..data.fields import check_list, check_record, check_text, refuse
from ..dissimilarity.local_metric import LocalMetric
from ..dissimilarity.rank import KeptColumns
from ..dissimilarity.tangent.vectors import ImageMaps
from ..solvers.table import SOLVERS
from .frames import decode_frame, encode_frame, is_frame, missing_value, missing_word
from .values import Arrays, Loaded, decode_plain, encode_plain, numbers_of

__all__ = [
    "DISSIMILARITIES",
    "argument_names",
    "construct",
    "decode",
    "decode_record",
    "encode",
    "encode_attributes",
]


def _by_name(*kinds: Any) -> dict[str, Any]:
    """Return a table of classes by their names."""
    return {kind.__name__: kind for kind in kinds}


# Our own dissimilarities that say what a file is to keep of them: all but functions.
DISSIMILARITIES = {
    name: kind
    for name, kind in ((name, getattr(dissimilarity, name)) for name in dissimilarity.__all__)
    if hasattr(kind, "saved_state")
}
_CANDIDATES = _by_name(HullCandidates, KMeansCandidates)
_SPLITTERS = _by_name(KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit)
# Frozen dataclasses that are part of a dissimilarity's state.
_RECORDS = _by_name(ImageMaps, KeptColumns, LocalMetric)
_OBJECTS = DISSIMILARITIES | _CANDIDATES | _SPLITTERS | _RECORDS

_WAYS_OUT = {
    "metric": "compute the dissimilarities first and fit with metric='precomputed'",
    "solver": "name one of protocover's solvers",
    "candidates": "pass the candidates as an array",
    "random_state": "pass a whole number or None",
    "scoring": "name one of scikit-learn's scorers, or save best_estimator_ alone",
    "cv": "pass a number of folds or a list of splits, or save best_estimator_ alone",
    "prototypes_": "convert the training data to numbers, strings or categories",
    "classes_": "convert the labels to numbers, booleans or strings",
}


def encode(value: Any, arrays: Arrays, where: str) -> Any:
    """Return the JSON of a value; `where` names it in errors."""

    def again(item: Any) -> Any:
        return encode(item, arrays, where)

    plain = encode_plain(value, arrays, again)
    if plain is not NotImplemented:
        return plain
    if missing_word(value) is not None:
        return {"missing": missing_word(value)}
    if is_frame(value):
        return {"frame": encode_frame(value, again)}
    if _OBJECTS.get(type(value).__name__) is type(value):
        given = encode_attributes(value, argument_names(type(value)), arrays, where)
        return {"object": [type(value).__name__, given]}
    for name, solver in SOLVERS.items():
        if value is solver:
            return {"solver": name}
    numbers = numbers_of(value)
    if numbers is not None:
        return again(numbers)
    _refuse_value(value, where)


def decode(value: Any, arrays: Loaded) -> Any:
    """Return the value that a JSON of `encode` stands for."""

    def again(item: Any) -> Any:
        return decode(item, arrays)

    plain = decode_plain(value, arrays, again)
    if plain is not NotImplemented:
        return plain
    ((word, content),) = value.items()
    if word == "missing":
        return missing_value(content)
    if word == "frame":
        return decode_frame(content, again)
    if word == "object":
        name, given = check_list(content, "an object", 2)
        return construct(_OBJECTS[check_text(name, "an object's name", _OBJECTS)], given, arrays)
    if word == "solver":
        return SOLVERS[check_text(content, "a solver", SOLVERS)]
    refuse(f"a value is described as {word!r:.80}, which this version does not know")


def encode_attributes(
    value: Any, names: Collection[str], arrays: Arrays, where: str | None = None
) -> dict[str, Any]:
    """Return the JSON of some attributes by name, in errors each under its own or as `where`."""
    return {name: encode(getattr(value, name), arrays, where or name) for name in names}


def decode_record(
    content: Any, name: str, keys: Collection[str], arrays: Loaded
) -> dict[str, Any]:
    """Return the values of a JSON of `encode_attributes`, which must have exactly these keys."""
    return {key: decode(item, arrays) for key, item in check_record(content, name, keys).items()}


def construct(kind: Any, given: Any, arrays: Loaded) -> Any:
    """Call a constructor from the table with decoded arguments."""
    if not isinstance(given, dict) or not set(given) <= set(argument_names(kind)):
        refuse(f"the arguments of {kind.__name__} are not those it takes")
    return kind(**{name: decode(item, arrays) for name, item in given.items()})


def argument_names(kind: Any) -> list[str]:
    """Return the constructor's arguments, which scikit-learn's objects keep as they got them."""
    return [name for name in inspect.signature(kind).parameters if name != "cvargs"]


def _refuse_value(value: Any, where: str) -> NoReturn:
    """Say why a value cannot be kept, and what to do."""
    what = "a function" if callable(value) else f"of type {type(value).__name__}"
    way = _WAYS_OUT.get(where, "leave it out")
    refuse(
        f"{where} is or holds {value!r:.80}, {what}: a model file holds data and never code; "
        f"{way}, or keep the model with joblib.dump or skops.io.dump"
    )
