"""The bytes of a model file: a prelude, a JSON document, and arrays one after the other.

Nothing is compressed and every size is compared with that of the file, so that no file can
ask for more memory than a small multiple of its own length. The prelude is the same in every
version of the format, so that a file of another version is not mistaken for a damaged one.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exceptions import ModelFileError
from ..data._fields import check_list, refuse

VERSION = 1  # of the format

# The first byte is no text, and the line ends tell a file that was copied as text.
_MAGIC = b"\x89PROTOCOVER\r\n\x1a\n\0"
# Magic, version, length of the document, length of the file.
_PRELUDE = struct.Struct("<16sIQQ")
_DIGEST_SIZE = 32
_BODY = _PRELUDE.size + _DIGEST_SIZE

# No model nests values deeper; far below where a parser would run out of stack.
_DEEPEST = 64
_PLAIN = bytes(set(range(256)) - set(b'[]{}"'))
_DTYPE = re.compile(
    r"\|b1|\|i1|\|u1|<[iu][248]|<f[248]|<U[1-9]\d{0,6}|\|S[1-9]\d{0,6}"
    r"|<[mM]8\[(?:Y|M|W|D|h|m|s|ms|us|ns)\]"
)
_MOST_DIMENSIONS = 4
_LONGEST = 2**40


@dataclass(frozen=True, eq=False)
class Contents:
    """What a model file holds."""

    document: dict[str, Any]  # the JSON document, without its table of arrays
    arrays: tuple[NDArray[Any], ...]  # numbers, booleans, strings and times; never objects


def pack(document: dict[str, Any], arrays: list[NDArray[Any]]) -> list[bytes]:
    """Return the parts of a file that holds a JSON document and arrays."""
    table = [_describe(array) for array in arrays]
    text = json.dumps({**document, "arrays": table}, allow_nan=False, separators=(",", ":"))
    body = [text.encode("ascii"), *map(_bytes, arrays)]
    length = _BODY + sum(map(len, body))
    prelude = _PRELUDE.pack(_MAGIC, VERSION, len(body[0]), length)
    return [prelude, _digest(prelude, body), *body]


def unpack(data: bytes) -> Contents:
    """Return what a file holds if all of its bytes are as `pack` has left them."""
    if len(data) < _BODY or not data.startswith(_MAGIC):
        refuse("not a protocover model file: its beginning is not that of one")
    prelude, body = data[: _PRELUDE.size], memoryview(data)[_BODY:]
    _, version, text_length, length = _PRELUDE.unpack(prelude)
    if length != len(data):
        refuse(f"the file is damaged: it should have {length} bytes and has {len(data)}")
    if _digest(prelude, [body]) != data[_PRELUDE.size : _BODY]:
        refuse("the file is damaged: its checksum does not fit its contents")
    if version != VERSION:
        remedy = "upgrade protocover" if version > VERSION else "fit the model again and save it"
        refuse(
            f"the file has version {version} of the format and this protocover reads version "
            f"{VERSION}; {remedy}"
        )
    if text_length > len(body):
        refuse("its document is longer than the file")
    document = _parse(bytes(body[:text_length]))
    table = check_list(document.pop("arrays", None), "its table of arrays")
    return Contents(document, tuple(_cut(table, body[text_length:])))


def _digest(prelude: bytes, body: list[Any]) -> bytes:
    """Return the checksum of a file's bytes apart from the checksum itself."""
    digest = hashlib.sha256(prelude)
    for part in body:
        digest.update(part)
    return digest.digest()


def _describe(array: NDArray[Any]) -> list[Any]:
    """Return the entry of an array in the table: type, shape, order of its elements."""
    dtype = array.dtype.newbyteorder("<").str
    if not _DTYPE.fullmatch(dtype) or array.ndim > _MOST_DIMENSIONS:
        refuse(
            f"an array of type {array.dtype} and {array.ndim} dimensions cannot be kept in a "
            "model file, only numbers, booleans, strings and times"
        )
    return [dtype, list(array.shape), _order(array)]


def _order(array: NDArray[Any]) -> str:
    """Return "F" for columns one after the other, "C" for rows.

    It is kept because products of matrices may round differently in the other order.
    """
    flags = array.flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def _bytes(array: NDArray[Any]) -> bytes:
    """Return the elements of an array in little-endian order."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes(_order(array))  # type: ignore[arg-type]


def _parse(text: bytes) -> dict[str, Any]:
    """Parse the JSON document, which must not be nested so deep that a parser would fail."""
    if _depth(text) > _DEEPEST:
        refuse(f"its document is nested more than {_DEEPEST} deep")
    try:
        document = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise ModelFileError(f"its document is not JSON: {error}") from error
    if not isinstance(document, dict):
        refuse("its document is not a JSON object")
    return document


def _depth(text: bytes) -> int:
    """Return how deep a JSON text is nested, without parsing it."""
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, delete=_PLAIN)
    marks = np.frombuffer(plain, dtype=np.uint8)
    outside = np.cumsum(marks == ord('"'), dtype=np.int32) % 2 == 0
    brackets = marks[outside & (marks != ord('"'))]
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    return int(np.cumsum(steps, dtype=np.int32).max(initial=0))


def _cut(table: list[Any], body: memoryview) -> Iterator[NDArray[Any]]:
    """Cut the arrays out of the bytes behind the document, which they must fill exactly."""
    start = 0
    for entry in table:
        dtype, shape, order = _check_entry(entry)
        count = math.prod(shape)
        stop = start + count * dtype.itemsize
        if stop > len(body):
            refuse(f"an array of shape {shape} and type {dtype} does not fit in the file")
        flat = np.frombuffer(body[start:stop], dtype=dtype).astype(dtype.newbyteorder("="))
        if dtype.kind == "U" and (flat.view(np.uint32) > 0x10FFFF).any():
            refuse("an array of strings holds what is no character")
        yield flat.reshape(shape, order=order)
        start = stop
    if start != len(body):
        refuse(f"its arrays take {start} bytes of {len(body)}")


def _check_entry(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
    """Check an entry of the table of arrays."""
    dtype, shape, order = check_list(entry, "an entry of its table of arrays", 3)
    if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
        refuse(f"an array has the type {dtype!r}, which model files do not hold")
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS or order not in ("C", "F"):
        refuse("an array has a shape or an order that model files do not have")
    for size in shape:
        if type(size) is not int or not 0 <= size <= _LONGEST:
            refuse(f"an array has the shape {shape!r}")
    return np.dtype(dtype), tuple(shape), order
