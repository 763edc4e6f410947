"""The options of solvers: which there are, and what they may be.

Checked by the estimators before any long work, and by our solvers when they are called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any

from .answers import is_ours, name_of
from .scip_tree import import_scip

__all__ = ["check_options", "check_values", "default_time_limit", "parameter_names"]

# What every solver is told by those who ask it.
_TOLD = {
    "problem": "it is made of X, y and eps",
    "rng": "give the estimator random_state instead",
    "max_prototypes": "give the estimator n_prototypes instead",
}
_BACKENDS = ("highs", "scip")


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
    if ours and options.get("backend") == "scip":
        import_scip()
    return dict(options)


def check_values(**values: Any) -> None:
    """Check the values of options of our solvers, each by its name."""
    for name, value in values.items():
        accepts, rule = _RULES[name]
        if not accepts(value):
            raise ValueError(f"{name} must be {rule}, got {value!r}")


def default_time_limit(solver: Callable[..., Any]) -> float | None:
    """Return the seconds that a solver takes unless told otherwise, None for any number."""
    default = _parameters(solver).get("time_limit")
    return default.default if default is not None and _is_number(default.default) else None


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


def _is_number(value: Any) -> bool:
    """Whether a value is a number, True and False aside."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_count(value: Any, least: int) -> bool:
    """Whether a value is a whole number not below `least`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "time_limit": (
        lambda value: value is None or (_is_number(value) and 0.0 <= float(value) <= math.inf),
        "a number of seconds not below 0, or None for no limit",
    ),
    "gap": (
        lambda value: _is_number(value) and 0.0 <= float(value) <= 1.0,
        "a share of the objective between 0 and 1",
    ),
    "patience": (lambda value: _is_count(value, 0), "a whole number not below 0"),
    "n_draws": (lambda value: _is_count(value, 1), "at least 1"),
    "backend": (
        lambda value: isinstance(value, str) and value in ("auto", *_BACKENDS),
        f"'auto' or one of {list(_BACKENDS)}",
    ),
    "bound": (lambda value: isinstance(value, bool), "True or False"),
    "max_prototypes": (
        lambda value: value is None or _is_count(value, 0),
        "a whole number not below 0, or None for any number",
    ),
    "verbose": (lambda value: isinstance(value, Integral) and int(value) >= 0, "0, 1 or 2"),
}
