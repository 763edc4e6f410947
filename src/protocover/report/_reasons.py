"""Why a case is answered as it is, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._estimators import PVMClassifier
from ._summary import Side
from ._wording import short_number

# How much farther the runner-up is, and what such a call is called.
_CALLS = ((0.05, "a very close call"), (0.25, "a close call"), (1.0, "a clear call"))
_DIGITS = 3


def give_reason(
    start: str,
    near: Side,
    far: Side | None,
    *,
    model: PVMClassifier,
    names: Sequence[str],
    of: tuple[str, str] = ("The nearest prototype", "The nearest of another class"),
) -> str:
    """Say which prototype is near, how much farther another is, and whether in a ball.

    `start` says what is to be explained, `of` what the two prototypes are; `names` are those
    of all prototypes.
    """
    own = model.solution_.radii is not None
    sentences = [f"{start} {of[0]} is {_place(near, model, names, own)}."]
    if far is None:
        sentences.append("No other class has a prototype.")
    else:
        beside = f"{of[1]} is {_place(far, model, names, own)}"
        sentences.append(f"{beside}: {describe_call(near, far, own=own)}.")
    return " ".join([*sentences, _describe_ball(near, model, names)])


def describe_call(near: Side, far: Side, *, own: bool) -> str:
    """Say how much farther the runner-up is, and how close a call that makes it."""
    first = near.relative if own else near.distance
    second = far.relative if own else far.distance
    if first is None or second is None:
        return "which cannot be compared with a radius of 0"
    if second < first:
        return "which is nearer still"
    if second == first:
        return "just as near, a tie, which goes to the class first in order"
    if first == 0.0:
        return "a clear call, since the case is no different from the first one"
    excess = second / first - 1.0
    call = next((words for limit, words in _CALLS if excess < limit), "a very clear call")
    if excess < 0.001:
        share = "less than 0.1 %"
    else:
        share = f"{100 * excess:.1f} %" if excess < 0.1 else f"{100 * excess:.0f} %"
    if excess >= 1.0:
        share = f"{second / first:.1f} times as far"
    else:
        share += " farther"
    return f"{share}{' in radii' if own else ''}, {call}"


def describe_shares(model: Any, *, has_terms: bool, shown: bool, as_pictures: bool) -> str:
    """Say what the contributions of the columns are, or why there are none."""
    if as_pictures:
        return "What single pixels contribute to a distance is not told."
    if not has_terms:
        return (
            "What each column contributes is not available: this dissimilarity is no sum over "
            "the columns."
        )
    if not shown:
        return (
            "What each column contributes is not told: the columns that are shown are not those "
            "that distances are measured by."
        )
    if model.dissimilarity_.contribution_unit == "square":
        return (
            "Percentages are the columns' shares of the squared distance: the distance is the "
            "root of their sum."
        )
    return "Percentages are the columns' shares of the distance: they add up to it exactly."


def _place(side: Side, model: PVMClassifier, names: Sequence[str], own: bool) -> str:
    """Name a prototype, its class and how far it is."""
    label = model.prototype_labels_[side.prototype]
    text = f"{names[side.prototype]} of “{label}” at {_number(side.distance)}"
    if not own:
        return text
    radius = model.prototype_radii_[side.prototype]
    if side.relative is None:
        return f"{text}, whose radius is 0"
    return f"{text}, {_number(side.relative)} times its radius of {_number(radius)}"


def _describe_ball(near: Side, model: PVMClassifier, names: Sequence[str]) -> str:
    """Say whether the case lies in the ball of the first prototype."""
    radius = _number(float(model.prototype_radii_[near.prototype]))
    where = "within" if near.inside else "outside of"
    return f"It lies {where} the ball of {names[near.prototype]}, of radius {radius}."


def _number(value: float) -> str:
    """Return a number to three digits, as it is read in a sentence."""
    return short_number(float(f"{value:.{_DIGITS}g}"))
