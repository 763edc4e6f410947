"""A fitted model in words: its lower bound, and its prototypes in a notebook."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._resources import row_count
from ..data._frames import frame_package
from ..data._png import encode_png

# As much as can be taken in at a glance; attributes have the rest.
_ROWS = 10
_COLUMNS = 8
_CHARACTERS = 40

# Colours are those of the page, light or dark; a narrow one scrolls the table, not itself.
_STYLE = """
.protocover {margin: .6em 0; font-size: .9em; color: inherit; max-width: 100%}
.protocover p {margin: .3em 0; text-align: left}
.protocover div {overflow-x: auto}
.protocover table {border-collapse: collapse; margin: 0; color: inherit; background: none}
.protocover tr {background: none}
.protocover th, .protocover td {padding: .2em .7em; text-align: right; white-space: nowrap;
 color: inherit; background: none; border: 0; border-bottom: 1px solid rgba(128, 128, 128, .35)}
.protocover th {font-weight: 600; vertical-align: bottom}
.protocover .text {text-align: left}
.protocover img {display: block; height: 40px; image-rendering: pixelated}
"""

Column = tuple[str, Sequence[str], str]  # heading, cells of HTML, class


class ShowsChosen:
    """Adds to scikit-learn's HTML what `_describe` returns of a fitted model."""

    _describe: Callable[[], str]

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._described()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._described()
        return bundle

    def _described(self) -> str:
        """Return the description, or nothing before the fit."""
        return self._describe() if hasattr(self, "dissimilarity_") else ""


def describe_prototypes(model: Any) -> str:
    """Return HTML about the prototypes of a fitted classifier: how many, how good, the first."""
    n, n_classes = len(model.prototype_labels_), len(model.classes_)
    radius = "radii of their own" if model._adaptive_radii else f"eps {model.eps_:.4g}"
    line = (
        f"{_count(n, 'prototype')} of {_count(n_classes, 'class', 'classes')}, {radius}; "
        f"objective {model.objective_:.6g}, {escape(describe_bound(model))}."
    )
    columns: list[Column] = [
        ("row", _cells(model.prototype_indices_, _row), ""),
        ("class", _cells(model.prototype_labels_, _text), "text"),
    ]
    if model._adaptive_radii:
        columns.append(("radius", _cells(model.prototype_radii_, _number), ""))
    columns.append(("covers", _cells(model.covered_count_, _number), ""))
    columns.append(("by mistake", _cells(model.miscovered_count_, _number), ""))
    return _block(line, columns + _features(model, model.prototypes_), n)


def describe_cover(model: Any) -> str:
    """Return HTML about the representatives of a fitted cover."""
    n = len(model.candidate_indices_)
    line = (
        f"{_count(n, 'representative')} that cover {model.coverage_:.1%} of the points, "
        f"eps {model.eps_:.4g}; {escape(describe_bound(model))}."
    )
    columns: list[Column] = [
        ("candidate", _cells(model.candidate_indices_, _number), ""),
        ("stands for", _cells(model.counts_, _number), ""),
    ]
    return _block(line, columns + _features(model, model.representatives_), n)


def _features(model: Any, points: Any) -> list[Column]:
    """Return columns that show what the first of the chosen points are."""
    shape = getattr(model.dissimilarity_, "image_shape", None)
    if isinstance(points, np.ndarray) and points.ndim == 1:
        return []  # columns of a table of dissimilarities
    if shape is not None:
        return [("", [_picture(image) for image in np.reshape(points[:_ROWS], (-1, *shape))], "")]
    names = getattr(model, "feature_names_in_", None)
    if frame_package(points) is not None:
        return _frame_columns(points)
    if issparse(points):
        first = points[:_ROWS].tocsr()
        rows = [_entries(first[[i]], names) for i in range(first.shape[0])]
        return [("largest entries", rows, "text")]
    if isinstance(points, np.ndarray) and points.ndim == 2:
        titles = [f"[{k}]" for k in range(points.shape[1])] if names is None else names
        return _limited(titles, lambda k: _cells(points[:, k], _number), points.shape[1])
    return [("point", _cells(points, _text), "text")]


def _frame_columns(frame: Any) -> list[Column]:
    """Return the first columns of a data frame."""
    names = list(frame.columns)
    return _limited(names, lambda k: _cells(frame[names[k]].to_numpy(), _value), len(names))


def _limited(
    names: Iterable[Any], cells: Callable[[int], Sequence[str]], n_columns: int
) -> list[Column]:
    """Return as many columns as can be read, and a last one that counts the others."""
    shown: list[Column] = [
        (str(name), cells(k), "") for k, name in zip(range(_COLUMNS), names, strict=False)
    ]
    if n_columns > _COLUMNS:
        shown.append((f"and {n_columns - _COLUMNS} more", [], ""))
    return shown


def _entries(row: Any, names: Any) -> str:
    """Tell the largest entries of a sparse row."""
    values = row.data.astype(np.float64)  # bits have no sign to turn
    largest = np.argsort(-abs(values), kind="stable")[:4]
    told = [f"{_name(names, row.indices[place])} {_number(values[place])}" for place in largest]
    return ", ".join(told) + (", …" if row.nnz > len(told) else "")


def _name(names: Any, feature: int) -> str:
    return f"[{feature}]" if names is None else _text(names[feature])


def _picture(image: NDArray[Any]) -> str:
    """Return an image of grey values, dark where they are high."""
    values = np.nan_to_num(image.astype(np.float64))
    low, high = float(values.min()), float(values.max())
    gray = np.rint(255.0 * (high - values) / max(high - low, 1e-300)).astype(np.uint8)
    data = base64.b64encode(encode_png(gray)).decode("ascii")
    return f'<img alt="the prototype as an image" src="data:image/png;base64,{data}">'


def _cells(values: Any, show: Callable[[Any], str]) -> list[str]:
    """Show the first of some values."""
    return [show(values[i]) for i in range(min(_ROWS, row_count(values)))]


def _row(row: int) -> str:
    """Show a row's number; what is no row of the data was made."""
    return "made" if row < 0 else str(row)


def _value(value: Any) -> str:
    """Show a number as such and anything else as text."""
    return _number(value) if isinstance(value, (int, float, np.number)) else _text(value)


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else escape(str(value))


def _text(value: Any) -> str:
    """Return the beginning of a text, harmless in a page."""
    text = str(value)
    return escape(text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _block(line: str, columns: list[Column], n_chosen: int) -> str:
    """Put a sentence and a table together, with the style they need."""
    note = f"<p>The first {_ROWS} of {n_chosen}.</p>" if n_chosen > _ROWS else ""
    table = _table(columns, min(n_chosen, _ROWS)) if n_chosen else ""
    style = f"<style>{_STYLE}</style>"
    return f'{style}<div class="protocover"><p>{line}</p>{table}{note}</div>'


def _table(columns: list[Column], n_rows: int) -> str:
    """Return an HTML table; a column without cells is left blank."""
    head = "".join(f'<th class="{kind}">{_text(title)}</th>' for title, _, kind in columns)
    rows = [
        "".join(
            f'<td class="{kind}">{cells[i] if cells else ""}</td>' for _, cells, kind in columns
        )
        for i in range(n_rows)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


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
    >>> from protocover._estimators.display import describe_bound
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
    return f"{task} takes at least {_representatives(math.ceil(least - _TINY * least))}"


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
    return f"no {subject}{_given(cover)} has fewer than {_representatives(fewest)}"


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


def _representatives(number: int) -> str:
    """Return a number of representatives."""
    return f"{number:,} representative{'s'[: number != 1]}"


def _floor(value: float) -> str:
    """Return a number to four digits or more, rounded down."""
    if value == round(value):
        return f"{value:,.0f}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    # One part in 10**9 more: 31.2 as a float is below 31.2.
    return f"{math.floor(value * (1.0 + _TINY) * 10**digits) / 10**digits:,.{digits}f}"
