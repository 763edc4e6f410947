"""Class labels: none missing, all of one type, sorted."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_label_values(y: Any, *, name: str = "y") -> None:
    """Refuse missing labels, and text among labels that are not text.

    Parameters
    ----------
    y : array or list
        Labels. A list is to be checked before NumPy makes text of its numbers.
    name : str, default="y"
        The argument that holds them, for the error.
    """
    if getattr(y, "dtype", np.dtype(object)).kind not in "OMm":
        return
    types: dict[type, int] = {}
    for row, label in enumerate(y):
        types.setdefault(type(label), row)
        if label is None or not _is_itself(label):
            raise ValueError(
                f"Input {name} contains NaN or None: {label!r} in row {row}; leave such rows out "
                "of X and y, or give them a label of their own"
            )
    _check_kinds(name, (y[row] for row in types.values()))


def join_labels(parts: Iterable[NDArray[Any]], *, name: str = "y") -> NDArray[Any]:
    """Put labels of several batches together, unless some are text and others are not."""
    arrays = list(parts)
    _check_kinds(name, (part[0] for part in arrays if len(part)))
    return np.concatenate(arrays)


def _check_kinds(name: str, labels: Iterable[Any]) -> None:
    """Refuse labels of types that cannot be sorted together."""
    kinds: dict[Any, Any] = {}
    for label in labels:
        kind = next(
            (one for one in (str, Number, np.bool_) if isinstance(label, one)), type(label)
        )
        kinds.setdefault(Number if kind is np.bool_ else kind, label)
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise ValueError(
            f"{name} must hold labels of one type, got {_plain(one)!r} and {_plain(other)!r}; "
            "convert them all to text or all to numbers"
        )


def _is_itself(label: Any) -> bool:
    """Whether a label equals itself, which NaN, NaT and the missing value of pandas do not."""
    same = label == label
    # Arrays are refused elsewhere, as labels of more than one dimension.
    return bool(same) if isinstance(same, bool | np.bool_) else isinstance(same, np.ndarray)


def _plain(label: Any) -> Any:
    """Return a label as Python writes it."""
    return label.item() if isinstance(label, np.generic) else label
