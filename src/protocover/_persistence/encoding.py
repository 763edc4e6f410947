"""Values of all kinds as JSON and arrays, and back.

What JSON has no word for is an object with one key that says what it is, such as
``{"tuple": [...]}`` or ``{"array": 3}``, the index of an array in the file. An object is its name
in a closed table and the arguments of its constructor. A name that is not in the table is an
error; nothing is imported or looked up by a name from a file.
"""

from __future__ import annotations

import array as arrays_of_python
import inspect
import math
import re
from collections import deque
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from .. import dissimilarity
from .._cover import CoverSolution, Limit, ProofTree, SharedBound
from .._prototypes.fitted_rule import FittedRule
from .._selection.selection import Selection
from ..candidates import HullCandidates, KMeansCandidates
from ..data._fields import (
    check_array,
    check_list,
    check_record,
    check_shape,
    check_text,
    check_whole,
    refuse,
)
from ..dissimilarity._dann import LocalMetric
from ..dissimilarity._rank import KeptColumns
from ..dissimilarity._tangent_vectors import ImageMaps
from ..solvers._registry import SOLVERS
from .frames import decode_frame, encode_frame, is_frame, missing_value, missing_word

Arrays = list[NDArray[Any]]

_SPARSE: dict[str, Any] = {"csr_array": csr_array, "csr_matrix": csr_matrix}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# scikit-learn's splitters name no such attribute; a folder of cached folds is on one machine.
_NOT_KEPT = ("cvargs",)


class Loaded:
    """The arrays of a file, each given out once.

    Every value that is saved has arrays of its own. A file that refers to one again is made
    up, and could ask for any multiple of its length.
    """

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.arrays = arrays
        self._taken: set[int] = set()

    def take(self, number: Any) -> NDArray[Any]:
        """Give out an array by its number."""
        place = check_whole(number, "the number of an array", below=len(self.arrays))
        if place in self._taken:
            refuse(f"array {place} is part of more than one value")
        self._taken.add(place)
        return self.arrays[place]


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
# Frozen dataclasses that are part of a fitted model.
_RECORDS = _by_name(
    CoverSolution,
    FittedRule,
    ImageMaps,
    KeptColumns,
    Limit,
    LocalMetric,
    ProofTree,
    Selection,
    SharedBound,
)
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
    """Return the JSON of a value; arrays are added to `arrays`, `where` names it in errors."""

    def again(item: Any) -> Any:
        return encode(item, arrays, where)

    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return {"scalar": _add(np.asarray(value), arrays)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, again)
    if issparse(value):
        return _encode_sparse(value, arrays)
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if type(value) is Fraction and where == "solution_":
        return {"fraction": str(value)}
    if type(value) is list:
        return [again(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [again(item) for item in value]}
    if type(value) is dict:
        return {"dict": [[again(key), again(item)] for key, item in value.items()]}
    return _encode_object(value, arrays, where)


def _encode_object(value: Any, arrays: Arrays, where: str) -> Any:
    """Encode what is neither a plain value nor an array."""
    if missing_word(value) is not None:
        return {"missing": missing_word(value)}
    if is_frame(value):
        return {"frame": encode_frame(value, lambda item: encode(item, arrays, where))}
    name = type(value).__name__
    if _OBJECTS.get(name) is type(value):
        given = encode_attributes(value, argument_names(type(value)), arrays, where)
        return {"object": [name, given]}
    for solver, function in SOLVERS.items():
        if value is function:
            return {"solver": solver}
    numbers = _numbers_of(value)
    if numbers is not None:
        return encode(numbers, arrays, where)
    _refuse_value(value, where)


def decode(value: Any, arrays: Loaded) -> Any:
    """Return the value of a JSON of `encode`."""

    def again(item: Any) -> Any:
        return decode(item, arrays)

    if isinstance(value, list):
        return [again(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        refuse(f"a value has {len(value)} descriptions")
    ((word, content),) = value.items()
    if word in ("array", "scalar"):
        return _find(word, content, arrays)
    if word in ("tuple", "dict", "objects"):
        return _decode_items(word, content, again)
    if word == "float":
        return _NOT_FINITE[content] if content in _NOT_FINITE else refuse("a number is none")
    if word == "bytes" and isinstance(content, str):
        return bytes.fromhex(content)
    if word == "fraction":
        return _decode_fraction(content)
    if word == "sparse":
        return _decode_sparse(content, arrays)
    if word == "missing":
        return missing_value(content)
    if word == "frame":
        return decode_frame(content, again)
    if word == "object":
        name, given = check_list(content, "an object", 2)
        return construct(_OBJECTS[check_text(name, "an object's name", _OBJECTS)], given, arrays)
    if word == "solver":
        return SOLVERS[check_text(content, "a solver", SOLVERS)]
    refuse(f"a value is described as {word!r:.80}, which model files do not have")


def _decode_fraction(content: Any) -> Fraction:
    """Decode a non-negative fraction such as 3/2, of a length that weights can have."""
    text = check_text(content, "a fraction")
    if not re.fullmatch(r"[0-9]{1,700}(/[1-9][0-9]{0,699})?", text):
        refuse("a fraction must be one of two non-negative integers")
    return Fraction(text)


def encode_attributes(
    value: Any, names: Collection[str], arrays: Arrays, where: str | None = None
) -> dict[str, Any]:
    """Return the JSON of some attributes by name, in errors each under its own or as `where`."""
    return {name: encode(getattr(value, name), arrays, where or name) for name in names}


def construct(kind: Any, given: Any, arrays: Loaded) -> Any:
    """Call a constructor from the table with decoded arguments.

    All arguments of our own classes must be there. Those of scikit-learn's depend on its version.
    """
    names = set(argument_names(kind))
    theirs = kind.__module__.startswith("sklearn.")
    if not isinstance(given, dict) or not (
        set(given) == names or (theirs and set(given) <= names)
    ):
        refuse(f"the arguments of {kind.__name__} are not those it takes")
    return kind(**{name: decode(item, arrays) for name, item in given.items()})


def argument_names(kind: Any) -> list[str]:
    """Return the constructor's arguments that a file keeps; they are attributes, too."""
    return [name for name in inspect.signature(kind).parameters if name not in _NOT_KEPT]


def encode_dissimilarity(dissimilarity: Any, arrays: Arrays) -> Any:
    """Return the JSON of a fitted dissimilarity: its arguments and what it has learned."""
    name = type(dissimilarity).__name__
    if DISSIMILARITIES.get(name) is not type(dissimilarity):
        encode(dissimilarity, arrays, "metric")  # raises, with the way out
        refuse(f"metric {name} is not one of protocover's own dissimilarities")
    given = encode_attributes(dissimilarity, argument_names(type(dissimilarity)), arrays, "metric")
    state = {
        key: encode_dissimilarity(getattr(dissimilarity, key), arrays)
        if key == "base_"
        else encode(getattr(dissimilarity, key), arrays, "metric")
        for key in dissimilarity.saved_state
    }
    return {"name": name, "parameters": given, "state": state}


def decode_dissimilarity(content: Any, arrays: Loaded, **sizes: Any) -> Any:
    """Return a fitted dissimilarity after checking its state.

    `sizes` are the numbers of prototypes and features that it must be for.
    """
    record = check_record(content, "a dissimilarity", ("name", "parameters", "state"))
    name = check_text(record["name"], "the name of a dissimilarity", DISSIMILARITIES)
    made = construct(DISSIMILARITIES[name], record["parameters"], arrays)
    state = check_record(record["state"], f"the state of {name}", made.saved_state)
    for key, value in state.items():
        fitted = key == "base_"
        item = decode_dissimilarity(value, arrays, **sizes) if fitted else decode(value, arrays)
        setattr(made, key, item)
    made._check_state(**sizes)
    return made


def _refuse_value(value: Any, where: str) -> NoReturn:
    """Say why a value cannot be kept, and what to do."""
    what = "a function" if callable(value) else f"of type {type(value).__name__}"
    way = _WAYS_OUT.get(where, "leave it out")
    refuse(
        f"{where} is or holds {value!r:.80}, {what}: a model file holds data and never code; "
        f"{way}, or keep the model with joblib.dump or skops.io.dump"
    )


def _numbers_of(value: Any) -> Any:
    """Return the plain number, list or array that a value means; None where it is no such thing.

    A range, an index of a frame, a fraction: parameters that were understood, and are kept as
    what they were understood as.
    """
    if type(value) in (range, arrays_of_python.array, deque):
        return list(value)
    if type(value) is Fraction:
        return float(value)
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "__array__"):
        numbers = np.asarray(value)
        return numbers if numbers.ndim == 1 and numbers.dtype.kind in "biuf" else None
    return None


def _add(array: NDArray[Any], arrays: Arrays) -> int:
    """Put an array into the file and return its number."""
    if array.dtype.kind in "US" and array.dtype.itemsize == 0:
        array = array.astype(f"{array.dtype.kind}1")
    arrays.append(array)
    return len(arrays) - 1


def _encode_array(array: NDArray[Any], arrays: Arrays, encode: Any) -> Any:
    """Encode an array; one of objects as the list of what it holds."""
    if array.dtype.kind != "O":
        return {"array": _add(np.asarray(array), arrays)}
    return {"objects": [list(array.shape), [encode(item) for item in array.ravel()]]}


def _find(word: str, number: Any, arrays: Loaded) -> Any:
    """Return an array, or the scalar that one without dimensions is."""
    array = arrays.take(number)
    return array if word == "array" else check_array(array, "a scalar", shape=())[()]


def _decode_items(word: str, content: Any, decode: Any) -> Any:
    """Decode a tuple, a dict or an array of objects."""
    given = check_list(content, f"a value described as {word}")
    if word == "tuple":
        return tuple(decode(item) for item in given)
    if word == "dict":
        return dict(check_list(decode(pair), "an entry of a dict", 2) for pair in given)
    shape, items = check_list(given, "an array of objects", 2)
    shape, items = check_shape(shape), check_list(items, "the objects of an array")
    if math.prod(shape) != len(items):
        refuse(f"an array of objects of shape {shape} has {len(items)} of them")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = decode(item)
    return array.reshape(shape)


def _encode_sparse(table: Any, arrays: Arrays) -> Any:
    """Encode a sparse table by its rows."""
    name = type(table).__name__
    if name not in _SPARSE:
        refuse(f"a sparse table must be in CSR form to be kept in a model file, got {name}")
    parts = [_add(part, arrays) for part in (table.data, table.indices, table.indptr)]
    return {"sparse": [name, list(table.shape), parts]}


def _decode_sparse(content: Any, arrays: Loaded) -> Any:
    """Put a sparse table together after checking that no index leads outside of it."""
    name, shape, numbers = check_list(content, "a sparse table", 3)
    kind = _SPARSE[check_text(name, "the form of a sparse table", _SPARSE)]
    n_rows, n_columns = shape = check_shape(shape, length=2)
    parts = check_list(numbers, "the arrays of a sparse table", 3)
    data, indices, indptr = (_find("array", number, arrays) for number in parts)
    check_array(data, "the data of a sparse table", kinds="biuf", shape=(None,))
    what = "the indices of a sparse table"
    check_array(indices, what, kinds="i", shape=data.shape, below=n_columns)
    check_array(indptr, "the rows of a sparse table", kinds="i", shape=(n_rows + 1,))
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        refuse("the rows of a sparse table do not follow one another")
    return kind((data, indices, indptr), shape=shape)
