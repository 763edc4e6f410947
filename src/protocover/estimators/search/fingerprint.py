"""A short text that stands for models and functions, to find finished folds by.

joblib cannot name lambdas and functions made inside others, and knows all other functions
by name alone: one that was changed since would be answered by the fold of the old one.
"""

from __future__ import annotations

import inspect
from pickle import PicklingError
from types import CodeType, FunctionType
from typing import Any

from joblib.hashing import NumpyHasher

__all__ = ["fingerprint"]


def fingerprint(*parts: Any) -> str:
    """Return a text that differs where a part, or the code of a function in it, does.

    What a function in turn calls is not looked at.
    """
    try:
        return str(_Hasher().hash(parts))
    except (PicklingError, TypeError, AttributeError) as error:
        raise ValueError(
            "memory needs a metric, candidates, solver and scoring that pickle can write, to "
            f"find their folds again; leave memory=None ({type(error).__name__}: {error.args[0]})"
        ) from error


class _Hasher(NumpyHasher):
    """joblib's hasher, which takes functions for what they do."""

    def __init__(self) -> None:
        super().__init__()
        self._inside: list[FunctionType] = []

    def save(self, obj: Any) -> None:
        if not isinstance(obj, FunctionType):
            super().save(obj)
        elif obj in self._inside:  # a function that calls itself
            super().save(obj.__qualname__)
        else:
            self._inside.append(obj)
            try:
                super().save(_describe(obj))
            finally:  # joblib tries what raises a TypeError once more
                self._inside.pop()


def _describe(function: FunctionType) -> tuple[Any, ...]:
    """Return all that a function is made of; of one in a module not what decorates it."""
    name = (function.__module__, function.__qualname__)
    if _is_importable(function):
        return (*name, _code(inspect.unwrap(function).__code__))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    rest = (function.__defaults__, function.__kwdefaults__, cells)
    return (*name, _code(function.__code__), *rest)


def _is_importable(function: FunctionType) -> bool:
    """Whether a function is found under its name in a module that is not the main one."""
    found: Any = None if function.__module__ == "__main__" else inspect.getmodule(function)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _code(code: CodeType) -> tuple[Any, ...]:
    """Return what a function does, in an order that does not change between sessions."""
    constants = [
        _code(one)
        if isinstance(one, CodeType)
        else sorted(map(repr, one))
        if isinstance(one, frozenset)
        else repr(one)
        for one in code.co_consts
    ]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants
