"""Plain values as JSON: scalars, lists, dicts, arrays, sparse tables.

What JSON has no word for is an object with one key that says what it is, such as
``{"tuple": [...]}`` or ``{"array": 3}``, the number of an array in the file. What is not
plain is left to the tables in :mod:`.frames` and :mod:`.encoding`.
"""

from __future__ import annotations

import array as arrays_of_python
import math
from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, issparse

from ..data.fields import check_array, check_list, check_shape, check_text, check_whole, refuse

__all__ = ["Arrays", "Loaded", "decode_plain", "encode_plain", "numbers_of"]

Arrays = list[NDArray[Any]]

_SPARSE: dict[str, Any] = {"csr_array": csr_array, "csr_matrix": csr_matrix}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


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


def encode_plain(value: Any, arrays: Arrays, encode: Any) -> Any:
    """Return the JSON of a plain value, NotImplemented for any other.

    Arrays are added to `arrays`; `encode` is applied to the items of lists and dicts.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return {"scalar": _add(np.asarray(value), arrays)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, encode)
    if issparse(value):
        return _encode_sparse(value, arrays)
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [encode(item) for item in value]}
    if type(value) is dict:
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    return NotImplemented


def numbers_of(value: Any) -> Any:
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


def decode_plain(value: Any, arrays: Loaded, decode: Any) -> Any:
    """Return the value that a JSON of `encode_plain` stands for, NotImplemented for any other."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        refuse(f"a value has {len(value)} descriptions")
    ((word, content),) = value.items()
    if word in ("array", "scalar"):
        return _find(word, content, arrays)
    if word in ("tuple", "dict", "objects"):
        return _decode_items(word, content, decode)
    if word == "float":
        return _NOT_FINITE[content] if content in _NOT_FINITE else refuse("a number is none")
    if word == "bytes" and isinstance(content, str):
        return bytes.fromhex(content)
    if word == "sparse":
        return _decode_sparse(content, arrays)
    return NotImplemented


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
