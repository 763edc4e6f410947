"""The options that are passed to a solver, checked before any long work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from ._table import is_ours, name_of
from ._values import check_values, is_number

# What every solver is told by those who ask it.
_TOLD = {
    "problem": "it is made of X, y and eps",
    "rng": "give the estimator random_state instead",
    "max_prototypes": "give the estimator max_prototypes instead",
}


def check_options(solver: Callable[..., Any], options: Any) -> dict[str, Any]:
    """Return the options of a solver as a dict, after checking that it knows them.

    A user's function is asked for the names of its arguments; the values are its own
    affair, but for a time limit, which is shared out among the classes.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(
            "solver_options must be a dict such as {'time_limit': 30}, or None, got "
            f"{type(options).__name__} {options!r}"
        )
    names = parameter_names(solver)
    for name in options:
        if name in _TOLD:
            raise TypeError(f"solver_options must not hold {name!r}: {_TOLD[name]}")
        if names is not None and name not in names:
            known = sorted(names - {*_TOLD, next(iter(signature(solver).parameters))})
            raise TypeError(
                f"solver_options holds {name!r}, which solver {name_of(solver)} does not have; "
                f"its options are {', '.join(known) or 'none'}"
            )
    ours = is_ours(solver)
    check_values(**{k: value for k, value in options.items() if ours or k == "time_limit"})
    return dict(options)


def default_time_limit(solver: Callable[..., Any]) -> float | None:
    """Return the seconds that a solver takes unless told otherwise, None for any number."""
    default = _parameters(solver).get("time_limit")
    return default.default if default is not None and is_number(default.default) else None


def parameter_names(solver: Callable[..., Any]) -> set[str] | None:
    """Return the names of what a function takes by keyword, None if that is anything."""
    parameters = _parameters(solver)
    if not parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values()):
        return None
    by_name = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return {name for name, p in parameters.items() if p.kind in by_name}


def _parameters(solver: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return a function's parameters; none where Python cannot tell them."""
    try:
        return signature(solver).parameters
    except (TypeError, ValueError):
        return {}
