"""A fitted model in a notebook: below scikit-learn's diagram the first of what was chosen."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._resources import row_count
from ..data._frames import frame_package
from ..data._png import encode_png
from .bounds import describe_bound

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
