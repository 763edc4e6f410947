"""A solver is asked, and a user's function believed only what can be checked.

The selection must be one, and keep to the budget; every number about it is computed again
from the problem. A bound counts as far as the function's vector proves it; what it says
beyond that is its word, and is called so. Our own solvers compute all that themselves, which
one test holds them to, and need not pay for it twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._cover import CoverProblem, CoverSolution, ProofTree
from ._table import is_ours, name_of

_WAY_OUT = "CoverSolution.of(problem, selected) makes a solution of a list of candidates' numbers"
# What a bound may be above the objective by the rounding of a function's own sums.
_ROUNDING = 1e-9


def ask_solver(
    solver: Callable[..., CoverSolution],
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    options: Mapping[str, Any],
) -> CoverSolution:
    """Have `problem` solved; a user's function's answer is checked and computed again."""
    answer = solver(problem, rng=rng, max_prototypes=max_prototypes, **options)
    if is_ours(solver):
        return answer
    if not isinstance(answer, CoverSolution):
        raise TypeError(
            f"solver {name_of(solver)} must return a CoverSolution, got {_shown(answer)}; "
            f"{_WAY_OUT}"
        )
    try:
        found = _in_form(answer, problem).recomputed(problem)
        _check_claims(answer, found, max_prototypes)
    except ValueError as error:
        raise ValueError(f"solver {name_of(solver)} returned no solution: {error}") from error
    return found


def _in_form(answer: CoverSolution, problem: CoverProblem) -> CoverSolution:
    """Return an answer whose parts are arrays and words of the right kind and size."""
    score, dual = np.asarray(answer.score), answer.dual
    if score.dtype.kind not in "iuf" or score.shape != np.shape(answer.selected):
        raise ValueError(
            "score must hold one number for each of the choices, got "
            f"{_shown(answer.score)} for {np.size(answer.selected)}; {_WAY_OUT}"
        )
    if not (score[1:] <= score[:-1]).all() or np.isnan(score).any():
        raise ValueError(f"score must not rise along the choices, got {_shown(score)}; {_WAY_OUT}")
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
    # A list cannot be cut short like an array, and a mask is refused where it is taken for one.
    return replace(
        answer,
        selected=np.asarray(answer.selected),
        score=score.astype(np.float64, copy=False),
        dual=dual,
        lower_bound=_bound(answer.lower_bound),
    )


def _bound(stated: Any) -> float:
    """Return the bound that an answer states as a float."""
    try:
        bound = float(stated)
    except (TypeError, ValueError):
        bound = math.nan
    if math.isnan(bound):
        raise ValueError(f"lower_bound must be a number, -inf for none, got {_shown(stated)}")
    return bound


def _check_claims(answer: CoverSolution, found: CoverSolution, max_prototypes: int | None) -> None:
    """Check that the budget was kept and that the bound is below what was reached."""
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
    """Return a value as it is shown in a message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
