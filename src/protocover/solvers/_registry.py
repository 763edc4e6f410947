"""The registry of solvers: names, options and their checks, and calls of custom functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, Protocol, cast

import numpy as np

from .._cover import CoverProblem, CoverSolution, ProofTree

_REMEDY = "CoverSolution.of(problem, selected) makes a solution of a list of candidates' numbers"
# A custom solver's bound may exceed the objective by this fraction, the rounding of its sums.
_ROUNDING = 1e-9
# Arguments that a solver gets from its caller.
_FROM_CALLER = {
    "problem": "it is made of X, y and eps",
    "rng": "give the estimator random_state instead",
    "max_prototypes": "give the estimator max_prototypes instead",
}


class Solver(Protocol):
    """A function from a problem to a solution.

    `options` are the solver's own, by keyword; all built-in solvers have ``time_limit`` in
    seconds.
    """

    def __call__(
        self,
        problem: CoverProblem,
        *,
        rng: np.random.Generator | None = None,
        max_prototypes: int | None = None,
        **options: Any,
    ) -> CoverSolution: ...


# Filled by the package, which knows all solvers.
SOLVERS: dict[str, Solver] = {}


def find_solver(solver: str | Callable[..., CoverSolution], *, verbose: int = 0) -> Solver:
    """Return the solver of this name; a function is returned itself.

    With `verbose` above 0 a solver that has this option shows its progress.
    """
    found: Any = SOLVERS.get(solver) if isinstance(solver, str) else solver
    names = parameter_names(found) if callable(found) else set()
    if names is not None and not {"rng", "max_prototypes"} <= names:
        known = ", ".join(repr(key) for key in SOLVERS)
        raise ValueError(
            f"solver must be one of {known} or a function (problem, *, rng, max_prototypes) -> "
            f"CoverSolution, got {solver!r}"
        )
    if verbose > 0 and names is not None and "verbose" in names:
        return cast(Solver, partial(found, verbose=verbose))
    return cast(Solver, found)


def name_of(solver: Any) -> str:
    """Return the name of a solver for messages."""
    function = unwrapped(solver)
    for name, builtin in SOLVERS.items():
        if function is builtin:
            return repr(name)
    return str(getattr(function, "__name__", repr(function)))


def is_ours(solver: Any) -> bool:
    """Whether a solver is in the registry, with or without preset options."""
    return any(unwrapped(solver) is builtin for builtin in SOLVERS.values())


def unwrapped(solver: Any) -> Any:
    """Return a solver's function without its preset options."""
    return unwrapped(solver.func) if isinstance(solver, partial) else solver


def preset(solver: Any) -> dict[str, Any]:
    """Return the preset options of a solver."""
    return {**preset(solver.func), **solver.keywords} if isinstance(solver, partial) else {}


# Options.


def check_options(solver: Callable[..., Any], options: Any) -> dict[str, Any]:
    """Return the options of a solver as a dict, after checking that it has them.

    Only the names of a custom function's options are checked, and its time limit, which is
    divided among the classes.
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
        if name in _FROM_CALLER:
            raise TypeError(f"solver_options must not hold {name!r}: {_FROM_CALLER[name]}")
        if names is not None and name not in names:
            known = sorted(names - {*_FROM_CALLER, next(iter(signature(solver).parameters))})
            raise TypeError(
                f"solver_options holds {name!r}, which solver {name_of(solver)} does not have; "
                f"its options are {', '.join(known) or 'none'}"
            )
    ours = is_ours(solver)
    check_values(**{k: value for k, value in options.items() if ours or k == "time_limit"})
    return dict(options)


def check_values(**values: Any) -> None:
    """Check the values of options of the built-in solvers, given by name."""
    for name, value in values.items():
        accepts, rule = _RULES[name]
        if not accepts(value):
            raise ValueError(f"{name} must be {rule}, got {value!r}")


def default_time_limit(solver: Callable[..., Any]) -> float | None:
    """Return the default time limit of a solver in seconds, None for no limit."""
    default = _parameters(solver).get("time_limit")
    return default.default if default is not None and _is_number(default.default) else None


def parameter_names(solver: Callable[..., Any]) -> set[str] | None:
    """Return the names of a function's keyword arguments, None if it takes any."""
    parameters = _parameters(solver)
    if not parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values()):
        return None
    by_name = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return {name for name, p in parameters.items() if p.kind in by_name}


def _parameters(solver: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return a function's parameters; none if Python cannot inspect it."""
    try:
        return signature(solver).parameters
    except (TypeError, ValueError):
        return {}


def _is_number(value: Any) -> bool:
    """Whether a value is a number other than True and False."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_count(value: Any, least: int) -> bool:
    """Whether a value is an integer of at least `least`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _is_count_or_none(value: Any) -> bool:
    """Whether a value is None or a non-negative integer."""
    return value is None or _is_count(value, 0)


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "time_limit": (
        lambda value: value is None or (_is_number(value) and 0.0 <= float(value) <= math.inf),
        "a number of seconds not below 0, or None for no limit",
    ),
    "gap": (
        lambda value: _is_number(value) and 0.0 <= float(value) <= 1.0,
        "a share of the objective between 0 and 1",
    ),
    "max_nodes": (_is_count_or_none, "a whole number not below 0, or None for any number"),
    "patience": (lambda value: _is_count(value, 0), "a whole number not below 0"),
    "n_draws": (lambda value: _is_count(value, 1), "at least 1"),
    "bound": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "max_prototypes": (_is_count_or_none, "a whole number not below 0, or None for any number"),
    "verbose": (lambda value: isinstance(value, Integral) and int(value) >= 0, "0, 1 or 2"),
}


# Calls.


def ask_solver(
    solver: Callable[..., CoverSolution],
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    options: Mapping[str, Any],
) -> CoverSolution:
    """Solve `problem`; the solution of a custom solver is checked and recomputed.

    Its selection must be valid and within the budget, and every number about it is recomputed
    from the problem. The part of its bound that `dual` and `proof` do not prove has the
    certificate "solver". Built-in solvers do all this themselves.
    """
    answer = solver(problem, rng=rng, max_prototypes=max_prototypes, **options)
    if is_ours(solver):
        return answer
    if not isinstance(answer, CoverSolution):
        raise TypeError(
            f"solver {name_of(solver)} must return a CoverSolution, got {_shown(answer)}; "
            f"{_REMEDY}"
        )
    try:
        found = _in_form(answer, problem).recomputed(problem)
        _check_claims(answer, found, max_prototypes)
    except ValueError as error:
        raise ValueError(f"solver {name_of(solver)} returned no solution: {error}") from error
    return found


def _in_form(answer: CoverSolution, problem: CoverProblem) -> CoverSolution:
    """Return a solution whose attributes have the right types and shapes."""
    score, dual = np.asarray(answer.score), answer.dual
    if score.dtype.kind not in "iuf" or score.shape != np.shape(answer.selected):
        raise ValueError(
            "score must hold one number for each of the choices, got "
            f"{_shown(answer.score)} for {np.size(answer.selected)}; {_REMEDY}"
        )
    if not (score[1:] <= score[:-1]).all() or np.isnan(score).any():
        raise ValueError(f"score must not rise along the choices, got {_shown(score)}; {_REMEDY}")
    if dual is not None:
        dual = np.asarray(dual)
        if dual.dtype.kind not in "iuf" or dual.shape != (problem.n_points,):
            raise ValueError(
                f"dual must be None or hold one number for each of the {problem.n_points} points, "
                f"got {_shown(answer.dual)}"
            )
        dual = dual.astype(np.float64, copy=False)
    if not (answer.proof is None or isinstance(answer.proof, ProofTree)):
        raise ValueError(f"proof must be None or ProofTree, got {_shown(answer.proof)}")
    if not isinstance(answer.status, str) or not isinstance(answer.details, Mapping):
        raise ValueError(
            f"status must be a text and details a mapping, got {_shown(answer.status)} and "
            f"{_shown(answer.details)}"
        )
    try:
        bound = float(answer.lower_bound)
    except (TypeError, ValueError):
        bound = math.nan
    if math.isnan(bound):
        raise ValueError(
            f"lower_bound must be a number, -inf for none, got {_shown(answer.lower_bound)}"
        )
    # An array even of a list; a mask is rejected by its type.
    return replace(
        answer,
        selected=np.asarray(answer.selected),
        score=score.astype(np.float64, copy=False),
        dual=dual,
        lower_bound=bound,
    )


def _check_claims(answer: CoverSolution, found: CoverSolution, max_prototypes: int | None) -> None:
    """Check that the selection is within the budget and the bound below its objective."""
    if max_prototypes is not None and len(found.selected) > max_prototypes:
        raise ValueError(
            f"it chose {len(found.selected)} candidates where max_prototypes allows "
            f"{max_prototypes}; end with selected[:max_prototypes], in order of score"
        )
    if answer.lower_bound > found.objective * (1.0 + _ROUNDING):
        raise ValueError(
            f"lower_bound is {answer.lower_bound!r}, but the selection returned has the objective "
            f"{found.objective!r}; return the bound that was proved, or leave it out"
        )


def _shown(value: Any) -> str:
    """Return a value as text for a message, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
