"""Checks of what users pass to the estimators, each with a way out in its message."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import column_or_1d

from .._cover import snap_weights
from .._exceptions import warn_caller
from ..data._frames import in_memory

# Sums, squares and quotients of weights between these stay well within the range of floats.
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-250, 1e280
# Beyond this weights are floats of few digits, whole or not, and nothing is repeated so often.
_MOST_REPETITIONS = 2.0**53


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Put an estimator back as it was if fitting it fails, whatever the reason."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class _Rule(NamedTuple):
    """What a parameter must be, how an error says it, and the remedy that the error names."""

    holds: Callable[[Any], bool]
    text: str
    remedy: str = ""


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_radius(eps: Any) -> bool:
    return _is_number(eps) and 0.0 < float(eps) < np.inf


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


_RULES = {
    "closed_ball": _Rule(
        _is_flag, "True or False", "True puts points at distance eps exactly into the ball"
    ),
    "coverage": _Rule(
        lambda share: share is None or (_is_number(share) and 0.0 < float(share) <= 1.0),
        "a share above 0 and up to 1, such as 0.95, or None",
    ),
    "cross_class": _Rule(_is_flag, "True or False"),
    "eps": _Rule(
        lambda eps: _is_auto(eps) or _is_radius(eps),
        "a positive number or 'auto'",
        "suggest_eps(X, y) proposes a grid",
    ),
    "eps of a cover": _Rule(
        lambda eps: _is_auto(eps) or _is_radius(eps),
        "a positive number or 'auto'",
        "it is how far apart two points that stand for each other may be",
    ),
    "max_prototypes": _Rule(
        lambda k: is_count(k) and int(k) >= 0,
        "a whole number not below 0, or a dict of them by class",
    ),
    "max_representatives": _Rule(
        lambda k: k is None or (is_count(k) and k > 0),
        "a positive integer, or None for as many as needed",
    ),
    "min_per_class": _Rule(
        lambda least: is_count(least) and least in (0, 1),
        "1, or 0 to allow classes without prototypes",
    ),
    "n_eps": _Rule(
        lambda n: n is None or (is_count(n) and n >= 1),
        "a positive whole number, of radii to propose",
        "radii themselves go under eps",
    ),
    "outlier_label": _Rule(
        lambda label: label is None or np.isscalar(label), "one label, 'most_frequent' or None"
    ),
    "radii": _Rule(
        lambda radii: isinstance(radii, str) and radii in ("shared", "adaptive"),
        "'shared', one radius for all, or 'adaptive', one for each prototype",
    ),
    "verbose": _Rule(
        lambda value: isinstance(value, Integral | np.bool_), "a whole number, 0 for silence"
    ),
}


def check_parameter(name: str, value: Any) -> Any:
    """Return a parameter that follows the rule of its name, flags as a plain bool."""
    rule = _RULES[name]
    if not rule.holds(value):
        remedy = f"; {rule.remedy}" if rule.remedy else ""
        raise ValueError(f"{name.split()[0]} must be {rule.text}, got {value!r}{remedy}")
    return bool(value) if rule.holds is _is_flag else value


def check_adaptive_radii(radii: Any) -> bool:
    """Return whether each prototype takes its own radius."""
    return bool(check_parameter("radii", radii) == "adaptive")


def check_eps(eps: Any, *, own: bool = False) -> float | None:
    """Return the radius as a float, or None for ``"auto"``.

    With adaptive radii it is the maximum radius, infinity if there is none.
    """
    if own and (eps is None or (_is_number(eps) and float(eps) == np.inf)):
        return np.inf
    if eps is None:
        raise ValueError(
            "eps must be a positive number or 'auto', got None; None, for no limit to the radii, "
            "needs radii='adaptive'"
        )
    return None if _is_auto(check_parameter("eps", eps)) else float(eps)


def check_min_per_class(
    least: Any, max_prototypes: int | dict[int, int] | None, n_classes: int
) -> int:
    """Return how many prototypes each class must have, 0 or 1, after a look at the budget."""
    check_parameter("min_per_class", least)
    if least and isinstance(max_prototypes, int) and max_prototypes < n_classes:
        raise ValueError(
            f"max_prototypes must be at least the number of classes, {n_classes}, got "
            f"{max_prototypes}; min_per_class=0 allows classes without prototypes"
        )
    return int(least)


def apply_class_weight(
    class_weight: Any,
    weights: NDArray[np.float64],
    codes: NDArray[np.intp],
    classes: NDArray[Any],
) -> NDArray[np.float64]:
    """Multiply the weights of samples by those of their classes, as scikit-learn does.

    "balanced" gives all classes the same total weight and leaves the sum of all weights as
    it is.
    """
    if class_weight is None:
        return weights
    # On the grid sums are exact, and so the same in any order.
    snapped = snap_weights(weights)
    totals = np.bincount(codes, snapped, minlength=len(classes)).astype(np.float64)
    factors = class_factors(class_weight, totals, classes)
    weighted: NDArray[np.float64] = weights * factors[codes]
    check_largest_weight(float(weighted.max(initial=0.0)))
    return weighted


def class_factors(
    class_weight: Any, totals: NDArray[np.float64], classes: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the weight of each class, given the total weight of its samples."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = np.where(totals > 0.0, totals, 1.0)
        return np.asarray(totals.sum() / (np.count_nonzero(totals) * present))
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict from label to weight, got "
            f"{class_weight!r}"
        )
    number = _class_numbers(class_weight, classes, "class_weight")
    factors = np.ones(len(classes))
    for label, weight in class_weight.items():
        if not (_is_number(weight) and 0.0 < float(weight) < np.inf):
            raise ValueError(
                f"class_weight must hold positive finite numbers, got {weight!r} for {label!r}; "
                "drop the samples of a class from X and y to leave it out"
            )
        factors[number[label]] = float(weight)
    return factors


def check_prototype_cost(
    cost: Any,
    weights: NDArray[np.float64],
    *,
    own: bool = False,
    name: str = "prototype_cost",
) -> float:
    """Return the cost of a prototype; "auto" is that of :func:`default_prototype_cost`.

    With per-prototype radii "auto" is that of :func:`default_adaptive_cost`.
    """
    if isinstance(cost, str) and cost == "auto":
        some = weights[weights > 0.0]
        whole = is_whole(some)
        if own:
            return default_adaptive_cost(float(some.sum()), len(some), whole=whole)
        return default_prototype_cost(float(some.sum()), float(some.min()), whole=whole)
    if _is_cost(cost):
        return float(cost)
    default = f"'auto' for {'the weight of one sample' if own else 'one that only breaks ties'}"
    if name == "cost":  # of a cover
        default = "None for one that only breaks ties"
    raise ValueError(
        f"{name} must be a number from 0 to {_MOST_WEIGHT:g}, or {default}, got {cost!r}"
    )


def check_target(max_representatives: Any, coverage: Any, cost: Any) -> None:
    """Check what is asked of a cover: a number, a share or a cost, and no two of them."""
    asked = {"max_representatives": max_representatives, "coverage": coverage, "cost": cost}
    given = [name for name, value in asked.items() if value is not None]
    if len(given) > 1:
        raise ValueError(
            f"only one of max_representatives, coverage and cost can be asked for, got "
            f"{' and '.join(given)}; leave the others None"
        )
    check_parameter("max_representatives", max_representatives)
    check_parameter("coverage", coverage)


def check_must_include(
    rows: Any, numbers: NDArray[np.intp], max_representatives: int | None
) -> NDArray[np.intp]:
    """Return the columns of candidates that must be chosen, given the number of each column."""
    try:
        given = np.asarray([] if rows is None else rows)
    except ValueError:  # a list of lists that are no table
        given = np.empty((0, 0))
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(
            f"must_include must be a list of row numbers of X, got {reprlib.repr(rows)}; "
            "np.flatnonzero(mask) turns a mask into row numbers"
        )
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    place = {number: column for column, number in enumerate(numbers.tolist())}
    unknown = [row for row in given.tolist() if row not in place]
    if unknown:
        raise ValueError(
            f"must_include holds {unknown[0]}, which is no candidate; these are numbered from "
            f"{int(numbers.min(initial=0))} to {int(numbers.max(initial=0))}, points of weight "
            "zero left out"
        )
    if len(set(given.tolist())) < len(given):
        raise ValueError(f"must_include must not name a row twice, got {reprlib.repr(rows)}")
    if max_representatives is not None and len(given) > max_representatives:
        raise ValueError(
            f"must_include names {len(given)} rows, more than max_representatives, "
            f"{max_representatives}, which counts them; raise that"
        )
    return np.array([place[row] for row in given.tolist()], dtype=np.intp)


def check_candidate_cost(
    cost: Any, numbers: NDArray[np.intp], n_given: int
) -> NDArray[np.float64] | None:
    """Return the price of each column's candidate, given all `n_given` by their numbers."""
    if cost is None:
        return None
    try:
        prices = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"candidate_cost must hold numbers, got {reprlib.repr(cost)}") from error
    if prices.shape != (n_given,):
        raise ValueError(
            f"candidate_cost must hold one price for each of the {n_given} candidates, got shape "
            f"{prices.shape}"
        )
    faulty = prices[~((prices >= 0.0) & (prices < np.inf))]
    if faulty.size:
        raise ValueError(f"candidate_cost must hold finite numbers not below 0, got {faulty[0]:g}")
    return prices[numbers]


def check_charged(prices: NDArray[np.float64]) -> None:
    """Refuse prices of candidates that may all be chosen where floats cannot add them up."""
    if prices.max(initial=0.0) > _MOST_WEIGHT:
        raise ValueError(
            f"candidate_cost must hold numbers up to {_MOST_WEIGHT:g} with coverage, and for rows "
            f"in must_include, got {prices.max():g}; divide all of them by one factor"
        )


def default_adaptive_cost(total: float, n_points: int, *, whole: bool) -> float:
    """Return what a sample weighs, on average; whole weights are repetitions of points.

    With adaptive radii a pure ball can be had for every point. At this cost a prototype
    has to represent more than one.
    """
    return 1.0 if whole else total / n_points


def default_prototype_cost(total: float, smallest: float, *, whole: bool) -> float:
    """Return a cost so low that all prototypes together cost at most the lightest sample.

    Integer weights are repetitions: the cost is one over the number of samples. Other weights
    have no unit: the cost is the square of the `smallest` over the `total`, and scales as they do.
    """
    if whole and total <= _MOST_REPETITIONS:
        return 1.0 / total
    return smallest * (smallest / total)


def is_whole(weights: NDArray[np.float64]) -> bool:
    """Whether all weights are integers."""
    return bool((weights == np.floor(weights)).all())


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value is a integer; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_radii(eps: Any, *, own: bool = False) -> NDArray[np.float64]:
    """Return a grid of radii, or of limits to `own` ones, rising and without repetition."""
    radii = _rising(eps, of_none=np.inf if own else None)
    # NaN is not above 0 either.
    if radii is None or not ((radii > 0.0) & (own | np.isfinite(radii))).all():
        rule = "positive numbers, or None for no limit" if own else "positive numbers"
        raise ValueError(f"eps must be {rule}, got {eps!r}; suggest_eps(X, y) proposes a grid")
    return radii


def check_costs(costs: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a grid of costs, rising and without repetition."""
    if costs is None:
        return np.array([check_prototype_cost("auto", weights)])
    grid = _rising(costs)
    if grid is None or not ((grid >= 0.0) & (grid <= _MOST_WEIGHT)).all():
        raise ValueError(
            f"prototype_costs must be numbers from 0 to {_MOST_WEIGHT:g}, or None for one that "
            f"only breaks ties, got {costs!r}"
        )
    return grid


def check_max_prototypes(
    max_prototypes: Any, classes: NDArray[Any]
) -> int | dict[int, int] | None:
    """Return the budget, a mapping's labels turned into class numbers."""
    if max_prototypes is None:
        return None
    if isinstance(max_prototypes, Mapping):
        number = _class_numbers(max_prototypes, classes, "max_prototypes")
        limits = max_prototypes.items()
        return {number[label]: int(check_parameter("max_prototypes", k)) for label, k in limits}
    return int(check_parameter("max_prototypes", max_prototypes))


def _class_numbers(given: Mapping[Any, Any], classes: NDArray[Any], name: str) -> dict[Any, int]:
    """Return the number of each class by its label, after a check of the labels `given`."""
    number = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [label for label in given if label not in number]
    if unknown:
        raise ValueError(
            f"{name} names classes that are not in y: {unknown}; the classes are "
            f"{classes.tolist()}"
        )
    return number


def check_outlier_label(label: Any, classes: NDArray[Any], class_count: NDArray[np.intp]) -> Any:
    """Return the label of queries in no ball, or None to answer without looking."""
    if label is None:
        return None
    if isinstance(label, str) and label == "most_frequent":
        return classes[class_count.argmax()]
    check_parameter("outlier_label", label)
    if (np.asarray(label).dtype.kind in "US") != (classes.dtype.kind in "US") and (
        classes.dtype.kind != "O"
    ):
        raise ValueError(
            f"outlier_label must be of the kind of the labels in y, {classes.dtype}, got {label!r}"
        )
    return label


def check_column(y: Any) -> NDArray[Any]:
    """Return labels as one dimension, with scikit-learn's warning for a table of one column."""
    y = in_memory(y, name="y")
    column = np.asarray(column_or_1d(y))
    if len(y.shape if hasattr(y, "shape") else np.asarray(y).shape) == 2:
        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
    return column


def check_weights(
    sample_weight: Any, y: NDArray[np.intp], classes: NDArray[Any]
) -> NDArray[np.float64]:
    """Return one weight per sample, not negative and with something of every class."""
    if sample_weight is None:
        return np.ones(len(y))
    weights = check_weight_numbers(sample_weight, len(y))
    if (weights < 0.0).any():
        raise ValueError(
            f"sample_weight must not be negative, got {weights.min():g}; use 0 to leave a "
            "point out"
        )
    check_largest_weight(float(weights.max(initial=0.0)))
    empty = np.setdiff1d(np.arange(len(classes)), y[weights > 0.0])
    if len(empty):
        raise ValueError(
            f"every class needs a point of positive sample_weight, got none for "
            f"{classes[empty].tolist()}; drop those points from X and y instead"
        )
    return weights


def check_largest_weight(largest: float) -> None:
    """Refuse weights that are all zero, or so large or small that floats cannot add them up."""
    if largest == 0.0:
        raise ValueError("sample_weight must be positive for some point, got all zero")
    if not _LEAST_WEIGHT <= largest <= _MOST_WEIGHT:
        raise ValueError(
            f"sample_weight must have its largest number between {_LEAST_WEIGHT:g} and "
            f"{_MOST_WEIGHT:g}, got {largest:g}; multiply all weights, and prototype_cost if it "
            "is given, by one factor"
        )


def check_weight_numbers(sample_weight: Any, n_points: int) -> NDArray[np.float64]:
    """Return one finite number per sample; a number alone is that of every point."""
    rule = f"sample_weight must hold one number for each of the {n_points} points"
    try:
        given = np.asarray(sample_weight)
        weights = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        weights = None
    if weights is None or not (weights.ndim or _is_number(sample_weight)):
        raise ValueError(f"{rule}, got {reprlib.repr(sample_weight)}")
    if weights.shape not in ((), (n_points,)):
        raise ValueError(f"{rule}, got shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError(f"{rule}, got NaN or infinity; use 0 to leave a point out")
    return np.array(np.broadcast_to(weights, n_points))


def _rising(values: Any, *, of_none: float | None = None) -> NDArray[np.float64] | None:
    """Return the different numbers of a list or of one number, None where it is no such thing.

    None among them represents `of_none`.
    """
    entries = np.atleast_1d(np.asarray(values, dtype=object))
    if entries.ndim > 1 or len(entries) == 0:
        return None
    numbers = [of_none if one is None else one for one in entries]
    return np.unique(np.array(numbers, np.float64)) if all(map(_is_number, numbers)) else None


def _is_cost(value: Any) -> bool:
    """Whether a value is a cost that floats can add up."""
    return _is_number(value) and 0.0 <= float(value) <= _MOST_WEIGHT


def _is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)
