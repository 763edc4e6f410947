"""Lower bounds in words, in the terms of the question that a model was asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Allows for rounding errors in sums of floats, as a fraction of what is summed.
_TINY = 1e-9


def describe_bound(model: Any) -> str:
    """Return a clause about the best that any other choice could be.

    Parameters
    ----------
    model : BallCover or PVMClassifier
        Fitted.

    Returns
    -------
    str
        Such as "no 50 representatives cover more than 98.2 % of the samples". An upper bound
        is rounded up and a lower bound down, so the rounded statement is true as well.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import BallCover
    >>> from protocover._estimators.bounds import describe_bound
    >>> X, _ = load_iris(return_X_y=True)
    >>> describe_bound(BallCover(eps=0.5, max_representatives=9, solver="greedy").fit(X))
    'no 9 representatives cover more than 75.4 % of the samples'
    >>> describe_bound(BallCover(eps=0.5, solver="greedy").fit(X))
    'no cover has fewer than 27 representatives'
    """
    if model.certificate_ == "none" or model.lower_bound_ <= 0.0 < model.objective_:
        return "it is not known how much better another choice could be"
    if hasattr(model, "prototype_labels_"):
        words = _of_prototypes(model)
    elif model.coverage is not None:
        words = _of_demand(model)
    elif model.max_representatives is not None:
        words = _of_budget(model)
    elif model.cost is None:
        words = _of_whole_cover(model)
    else:
        words = _of_objective(model, "uncovered", f"{model.cost:g} per representative")
    by_solver = model.certificate_ == "solver"
    return f"according to the solver, {words}" if by_solver else words


def _of_budget(cover: Any) -> str:
    """Bound the coverage of `max_representatives` representatives."""
    k, most = cover.max_representatives, _most_covered(cover)
    some = f"{_several(k, 'representative')}{_given(cover)} {'covers' if k == 1 else 'cover'}"
    if most <= cover.coverage_ + _TINY:
        return f"no {some} more"
    if most >= 1.0:
        return f"the bound does not exclude that {some} everything"
    # In tenths of a percent; a fraction that is a multiple of them is not rounded.
    return f"no {some} more than {math.ceil(1000.0 * (most - _TINY)) / 10.0:.1f} %{_share(cover)}"


def _most_covered(cover: Any) -> float:
    """Return a fraction of the weight that no choice within the budget of a cover exceeds.

    The objective is the uncovered weight U plus c for each representative, times its price. The
    tie-breaking c is known for unit weights. In general k representatives cost at most
    ``k w**2 / 2W`` for the smallest weight w and the total W, which is at most ``U k / 2n``
    for n samples and U > 0.
    """
    missing, k = 1.0 - cover.coverage_, cover.max_representatives
    if missing <= 0.0:
        return 1.0
    if _has_unit_weights(cover):
        n = len(cover.labels_)
        least = math.ceil(cover.lower_bound_ - k * _highest_cost(cover) - _TINY * n)
        return 1.0 - float(least) / n
    ties = k / (2.0 * max(1, int(cover.solution_.newly_covered.sum())))
    saved = cover.objective_ - cover.lower_bound_
    if len(cover.counts_) < k or cover.candidate_cost is not None:
        saved += ties * cover.objective_
    return float(cover.coverage_ + saved * missing * (1.0 + ties) / cover.objective_)


def _of_demand(cover: Any) -> str:
    """Bound what a demanded coverage takes: representatives, or the sum of their prices."""
    task = f"covering {100.0 * cover.coverage:.6g} %{_share(cover)}{_given(cover)}"
    least = cover.lower_bound_
    if cover.candidate_cost is not None:
        return f"{task} costs at least {_floor(least)}"
    return f"{task} takes at least {_count(math.ceil(least - _TINY * least))}"


def _of_whole_cover(cover: Any) -> str:
    """Bound what it takes to cover everything that the candidates can cover."""
    if cover.coverage_ == 1.0 and cover.objective_ > 0.0:
        # The objective is a multiple of what is paid.
        least, subject = _paid(cover) * cover.lower_bound_ / cover.objective_, "cover"
    elif _has_unit_weights(cover):
        n_uncovered = int((cover.labels_ < 0).sum())
        least = (cover.lower_bound_ - n_uncovered) / (_highest_cost(cover) / _highest_price(cover))
        subject = "choice that covers as much"
    else:
        return _of_objective(cover, "uncovered", "a cost that breaks ties")
    if cover.candidate_cost is not None:
        return f"no {subject}{_given(cover)} costs less than {_floor(max(0.0, least))}"
    fewest = max(0, math.ceil(least - 1e-6))
    return f"no {subject}{_given(cover)} has fewer than {_count(fewest)}"


def _of_prototypes(model: Any) -> str:
    """Bound the objective of a classifier, within a budget that of its samples alone."""
    k = model.max_prototypes
    what = "uncovered or wrongly covered"
    if not isinstance(k, (int, np.integer)):
        return _of_objective(model, what, f"{model.prototype_cost_:.2g} per prototype")
    some, one = f"{_several(k, 'prototype')}{_floor_of(model)}", k == 1
    if model.gap_ == 0.0:
        return f"no other {some} {'does' if one else 'do'} better"
    least = _floor(max(0.0, model.lower_bound_ - k * model.prototype_cost_))
    few = (
        f"less than {least} of the weight"
        if _is_weighted(model)
        else f"fewer than {least} samples"
    )
    return f"no {some} {'leaves' if one else 'leave'} {few} {what}"


def _of_objective(model: Any, what: str, cost: str) -> str:
    """Bound the objective, and name its terms."""
    choice = "choice"
    if hasattr(model, "prototype_labels_"):
        choice = "choice of prototypes" + (" within the budget" if model.max_prototypes else "")
        choice += _floor_of(model)
    if model.gap_ == 0.0:
        return f"no other {choice}{_given(model)} is better"
    unit = "weight" if _is_weighted(model) else "samples"
    return (
        f"no {choice}{_given(model)} has an objective below {_floor(model.lower_bound_)} "
        f"({unit} {what} plus {cost})"
    )


def _floor_of(model: Any) -> str:
    """Restrict a statement to choices with a prototype for every class where that matters.

    A class whose own budget is 0 has none.
    """
    if len(model.solution_.forced) == 0:
        return ""
    every = len(np.unique(model.solution_.classes)) == len(model.classes_)
    return " with one for every class" if every else " with prototypes for the same classes"


def _has_unit_weights(cover: Any) -> bool:
    """Whether coverage and objective are those of unit weights and the tie-breaking cost.

    Integer weights of the same sum, zeros among them, pass as well and have the same cost.
    """
    n, n_uncovered = len(cover.labels_), int((cover.labels_ < 0).sum())
    cost = _highest_cost(cover) / _highest_price(cover)
    gap = abs(cover.objective_ - n_uncovered - cost * _paid(cover))
    return not _is_weighted(cover) and gap <= _TINY * max(1.0, cost * n)


def _is_weighted(model: Any) -> bool:
    """Whether weights other than 1 show in what a model covers."""
    if hasattr(model, "prototype_labels_"):
        solution = model.solution_
        n_uncovered = model.class_count_.sum() - solution.newly_covered.sum()
        counted = n_uncovered + model.miscovered_count_.sum()
        weighed = model.objective_ - len(model.prototype_labels_) * model.prototype_cost_
        return bool(abs(weighed - counted) > 1e-6 * max(1.0, counted))
    share = float(model.counts_.sum()) / len(model.labels_)
    return bool(abs(model.coverage_ - share) > _TINY)


def _highest_price(cover: Any) -> float:
    """Return the price that the tie-breaking cost is divided by."""
    price = cover.candidate_cost
    return 1.0 if price is None else max(1.0, float(np.max(price)))


def _highest_cost(cover: Any) -> float:
    """Return the tie-breaking cost of the dearest candidate among samples of unit weight."""
    return 1.0 / (2.0 * len(cover.labels_))


def _paid(cover: Any) -> float:
    """Return the number of representatives, or the sum of their prices."""
    if cover.candidate_cost is None:
        return float(len(cover.counts_))
    return math.fsum(np.asarray(cover.candidate_cost, dtype=float)[cover.candidate_indices_])


def _share(cover: Any) -> str:
    """Say what a fraction is of."""
    return " of the weight" if _is_weighted(cover) else " of the samples"


def _given(model: Any) -> str:
    """Restrict a statement to choices with the representatives that were given."""
    given = getattr(model, "must_include", None)
    return "" if given is None or len(given) == 0 else f" with the {len(given):,} given"


def _several(number: Any, noun: str) -> str:
    """Return a number of things after "no"."""
    return f"single {noun}" if number == 1 else f"{number:,} {noun}s"


def _count(number: int) -> str:
    """Return a number of representatives."""
    return f"{number:,} representative{'s'[: number != 1]}"


def _floor(value: float) -> str:
    """Return a number to four digits or more, rounded down."""
    if value == round(value):
        return f"{value:,.0f}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    # One part in 10**9 more: 31.2 as a float is below 31.2.
    return f"{math.floor(value * (1.0 + _TINY) * 10**digits) / 10**digits:,.{digits}f}"
