"""What both sections on the digits say of radii of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from .statistics import sign_test
from .words import percent

OWN = "PVM with own radii"
SHARED = "PVM chosen in folds"
# Up to here fewer prototypes than images are worth having.
FEW = 2000
CLEAR = 0.05

Curve = dict[str, list[Any]]


def how() -> str:
    """Say what was done."""
    return (
        f"*{OWN}* is not in the paper: each prototype takes the radius that serves it best "
        '(`radii="adaptive"`, [the page](adaptive-radii.md)). No test image is used for tuning. '
        "For each budget, the maximum radius, the cost of a prototype and the greedy variant are "
        "those with the lowest error in folds of the training images. If the model exceeds the "
        f"budget, only the first prototypes are kept. *{SHARED}* is the paper's machine "
        "with radius and cost chosen in the same folds in the same way.\n"
    )


def curves(results: dict[str, Any]) -> dict[str, Curve]:
    """Return test errors against the largest number of prototypes allowed."""
    found = results["adaptive_radii"]
    return {
        name: {"size": found[machine]["at_most"], "error": found[machine]["error"]}
        for name, machine in ((SHARED, "shared"), (OWN, "adaptive"))
    }


def judge(results: dict[str, Any]) -> list[str]:
    """Hold radii of their own against a shared one, both chosen in the folds."""
    own, shared = (results["adaptive_radii"][machine] for machine in ("adaptive", "shared"))
    rows = [
        (at_most, 100.0 * (mine - theirs), _is_clear(won, lost))
        for at_most, mine, theirs, lost, won in zip(
            own["at_most"], own["error"], shared["error"], own["only"], shared["only"], strict=True
        )
    ]
    lines = []
    for words, some in (
        (f"up to {FEW} prototypes", [row for row in rows if row[0] <= FEW]),
        (f"with more than {FEW}", [row for row in rows if row[0] > FEW]),
    ):
        if some:
            lines.append(_compare(words, some))
    return [*lines, _against_curve(results)]


def tell_at(results: dict[str, Any], at_most: int) -> str:
    """Return the errors of both machines with at most so many prototypes."""
    own, shared = (results["adaptive_radii"][machine] for machine in ("adaptive", "shared"))
    place = min(range(len(own["at_most"])), key=lambda k: abs(own["at_most"][k] - at_most))
    return (
        f"with at most {own['at_most'][place]} prototypes, all chosen in folds, own radii err on "
        f"{percent(own['error'][place], 2)} %, a shared radius on "
        f"{percent(shared['error'][place], 2)} %"
    )


def _against_curve(results: dict[str, Any]) -> str:
    """Hold radii of their own, chosen in folds, against every radius of the paper's machine."""
    own, pvm = results["adaptive_radii"]["adaptive"], results["PVM"]
    sizes, errors = zip(*sorted(zip(pvm["size"], pvm["error"], strict=True)), strict=True)
    rows = [
        (at_most, 100.0 * (error - np.interp(np.log(at_most), np.log(sizes), errors)), False)
        for at_most, error in zip(own["at_most"], own["error"], strict=True)
        if sizes[0] <= at_most <= sizes[-1]
    ]
    less = [row for row in rows if row[1] < 0]
    more = [row for row in rows if row[1] > 0]
    return (
        f"Own radii against PVM's curve, which has a whole model of the paper's machine at each "
        f"radius: the test error is lower at {_listed(less)}, higher at {_listed(more)}. Models "
        "chosen in folds are cut off at the number, which costs most where a model of the folds, "
        "made of four fifths of the images, just fits and that of all images does not."
    )


def _compare(words: str, rows: list[tuple[int, float, bool]]) -> str:
    """Say at which numbers of prototypes the error is lower, higher, and clearly so."""
    less = [row for row in rows if row[1] < 0]
    more = [row for row in rows if row[1] > 0]
    clear = [[row for row in some if row[2]] for some in (less, more)]
    return (
        f"Own radii against a shared radius, both chosen in the folds, {words}: the test error "
        f"is lower at {_listed(less)}, higher at {_listed(more)}. Of the images that only one "
        f"of the two gets wrong it has clearly fewer (McNemar's test, p < {CLEAR} each) at "
        f"{_numbers(clear[0])}, clearly more at {_numbers(clear[1])}."
    )


def _listed(rows: list[tuple[int, float, bool]]) -> str:
    """List numbers of prototypes with the difference in points."""
    told = ", ".join(f"{at_most} ({points:+.1f})" for at_most, points, _ in rows)
    return f"{len(rows)} numbers, in points: {told}" if len(rows) > 1 else told or "none"


def _numbers(rows: list[tuple[int, float, bool]]) -> str:
    """List numbers of prototypes."""
    return ", ".join(str(at_most) for at_most, *_ in rows) or "none"


def _is_clear(won: int, lost: int) -> bool:
    """Whether chance would seldom divide the images so unevenly."""
    return sign_test(won, lost) < CLEAR
