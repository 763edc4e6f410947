"""Prototypes as rows of a table, each value compared with those of its class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from .._typing import Floats, Indices, Mask
from ._style import ClassStyle, class_styles, encode, open_axes, shorten, unwrap_to_draw

# Widths of the columns before the features, and of a feature, in inches; height of a row.
_NUMBER, _CLASS, _COUNTS, _FEATURE, _ROW = 0.4, 1.5, 1.1, 1.15, 0.42
_MISSING = (np.nan, np.nan, np.nan, np.nan)


@dataclass(eq=False, repr=False)
class PrototypeTableDisplay:
    """A gallery of prototypes that are rows of a table.

    Each row begins with the class, the number of training samples of the class that the
    prototype newly covers and, in parentheses, the number of miscovered samples. Below each
    number a strip shows the range of the feature, the middle 50 % of the prototype's class as a
    bar and the prototype as a tick. Below any other value a bar shows the fraction of the class
    with the same value.

    Parameters
    ----------
    values : list of ndarray, each of shape (n_prototypes,)
        The shown features of the prototypes, in order of selection.
    feature_names : list of str
        Their names.
    prototype_classes : ndarray of int, shape (n_prototypes,)
        The classes they represent, as indices of `classes`.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    covered, miscovered : ndarray of int, shape (n_prototypes,)
        Newly covered samples of the class, and miscovered samples.
    standings : ndarray of float, shape (n_prototypes, n_features, 4), or None
        For a number, its position and the quartiles of its class between the least (0) and the
        largest value (1) of the feature, then NaN; for any other value three NaN, then the
        fraction of its class with the same value.
    n_features_in : int
        Number of all features.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    PrototypeGalleryDisplay : For prototypes that are images.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import PrototypeTableDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = PVMClassifier(metric="seuclidean").fit(X, y)
    >>> display = PrototypeTableDisplay.from_estimator(clf, X, y, n_features=3)
    >>> display.feature_names
    ['flavanoids', 'proline', 'od280/od315_of_diluted_wines']
    """

    values: list[NDArray[Any]]
    _: KW_ONLY
    feature_names: list[str]
    prototype_classes: Indices
    classes: NDArray[Any]
    covered: Indices
    miscovered: Indices
    standings: Floats | None = None
    n_features_in: int

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        rows: Any = None,
        feature_names: Sequence[Any] | None = None,
        max_prototypes: int | None = 20,
        n_features: int = 8,
        ax: Any = None,
    ) -> Self:
        """Draw the prototypes of a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV, or a pipeline or search that ends in one
            Fitted.
        X, y : samples and their labels, or None, default=None
            Samples to compare the prototypes with, usually the training data; None to show only
            values.
        rows : array-like or data frame or None, default=None
            The prototypes in order of selection as they are shown, such as
            ``X_before[clf.prototype_indices_]`` in units before scaling, with `X` in the same
            units. None for `prototypes_`.
        feature_names : sequence or None, default=None
            Names of the features; None for those of `rows` or of the training data.
        max_prototypes : int or None, default=20
            Number of prototypes to show, in order of selection; None for all.
        n_features : int, default=8
            Number of features to show: those that separate the classes of `y` best, or the first
            ones without `y`.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        PrototypeTableDisplay
            With the plot drawn.
        """
        within = unwrap_to_draw(estimator)
        model = within.classifier
        shown = model.prototypes_ if rows is None else rows
        own_names, values = read_columns(shown, "the prototypes")
        names = _names(feature_names, own_names, model, len(values))
        codes = encode(model.prototype_labels_, model.classes_)[:max_prototypes]
        values = [column[:max_prototypes] for column in values]
        standings, kept = None, np.arange(len(values))[:n_features]
        if X is not None:
            columns = _read_points(within.prepare(X) if rows is None else X, y, len(values))
            point_classes = encode(y, model.classes_)
            standings = _standings(values, columns, codes, point_classes)
            if len(values) > n_features:
                apart = [separation(column, point_classes) for column in columns]
                kept = np.argsort(-np.array(apart), kind="stable")[:n_features]
        display = cls(
            [values[k] for k in kept],
            feature_names=[names[k] for k in kept],
            prototype_classes=codes,
            classes=model.classes_,
            covered=model.newly_covered_count_[:max_prototypes],
            miscovered=model.miscovered_count_[:max_prototypes],
            standings=None if standings is None else standings[:, kept],
            n_features_in=len(values),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the table.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        PrototypeTableDisplay
            This display.
        """
        n_rows, n_features = len(self.prototype_classes), len(self.values)
        starts = np.cumsum([0.0, _NUMBER, _CLASS, _COUNTS, *([_FEATURE] * n_features)])
        ax = open_axes(ax, starts[-1] + 0.2, _ROW * (n_rows + 2.4))
        ax.set(xlim=(0.0, starts[-1]), ylim=(n_rows, -1.8))
        ax.set_axis_off()
        self._write_head(ax, starts)
        styles = class_styles(len(self.classes))
        for row, code in enumerate(self.prototype_classes):
            if row % 2 == 0:
                ax.axhspan(row, row + 1, color="0.96", zorder=0)
            self._write_row(ax, row, starts, styles[code])
            for k in range(n_features):
                text = shorten(show_value(self.values[k][row]), 14)
                middle = starts[3 + k] + _FEATURE / 2
                high = 0.5 if self.standings is None else 0.34
                ax.text(middle, row + high, text, ha="center", va="center", fontsize=8)
                if self.standings is not None:
                    place = starts[3 + k] + 0.1
                    _draw_standing(ax, place, row + 0.76, self.standings[row, k], styles[code])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write_head(self, ax: Any, starts: Floats) -> None:
        """Write the names of the columns, and notes."""
        heads = ["", "class", "newly covered\n(miscovered)"]
        bold: dict[str, Any] = {"va": "bottom", "fontsize": 8, "fontweight": "bold"}
        for start, head in zip(starts, heads, strict=False):
            ax.text(start + 0.06, -0.15, head, **bold)
        for start, name in zip(starts[3:] + _FEATURE / 2, self.feature_names, strict=False):
            ax.text(start, -0.15, _two_lines(name), ha="center", **bold)
        ax.axhline(0.0, color="black", linewidth=0.8)
        notes = []
        if self.standings is not None:
            notes.append("bar: middle 50 % of the class, or its fraction with the same value")
        if self.n_features_in > len(self.values):
            notes.append(f"{len(self.values)} of {self.n_features_in} features")
        look: dict[str, Any] = {"ha": "right", "va": "top", "fontsize": 7, "color": "0.35"}
        ax.text(starts[-1], -1.75, "; ".join(notes), **look)

    def _write_row(self, ax: Any, row: int, starts: Floats, style: ClassStyle) -> None:
        """Write number, class and counts of a prototype."""
        ax.text(starts[0] + 0.3, row + 0.5, f"{row + 1}", ha="right", va="center", fontsize=8)
        ax.plot(starts[1] + 0.13, row + 0.5, marker=style.marker, color=style.color, markersize=6)
        name = shorten(self.classes[self.prototype_classes[row]], 17)
        ax.text(starts[1] + 0.27, row + 0.5, name, va="center", fontsize=8)
        counts = f"{self.covered[row]} ({self.miscovered[row]})"
        ax.text(starts[2] + 0.06, row + 0.5, counts, va="center", fontsize=8)


def _draw_standing(
    ax: Any, left: float, height: float, standing: Floats, style: ClassStyle
) -> None:
    """Draw the strip under one value."""
    width = _FEATURE - 0.2
    place, lower, upper, share = standing
    if np.isnan(place) and np.isnan(share):
        return
    ax.plot([left, left + width], [height] * 2, color="0.75", linewidth=1.0, zorder=1)
    bar = {"color": style.color, "linewidth": 3.5, "solid_capstyle": "butt", "zorder": 2}
    start, end, alpha = (0.0, share, 1.0) if np.isnan(place) else (lower, upper, 0.75)
    ax.plot([left + width * start, left + width * end], [height] * 2, alpha=alpha, **bar)
    if not np.isnan(place):
        tick = {"color": "black", "linewidth": 1.6, "zorder": 3}
        ax.plot([left + width * place] * 2, [height - 0.13, height + 0.13], **tick)


def _read_points(X: Any, y: Any, n_features: int) -> list[NDArray[Any]]:
    """Return the columns of labelled samples with the features of the prototypes."""
    _, columns = read_columns(X, "X")
    if len(columns) != n_features:
        raise ValueError(
            f"X must have the {n_features} features of the prototypes, got {len(columns)}; "
            "pass the same columns"
        )
    if y is None:
        raise ValueError("y must be the labels of X, got None; pass both or neither")
    check_consistent_length(columns[0], y)
    return columns


def _standings(
    values: list[NDArray[Any]], columns: list[NDArray[Any]], codes: Indices, classes: Indices
) -> Floats:
    """Return the position of each value of each prototype, (n_prototypes, n_features, 4)."""
    pairs = list(zip(values, columns, strict=True))
    return np.array(
        [
            [standing(value[row], column, classes == code) for value, column in pairs]
            for row, code in enumerate(codes)
        ]
    )


def _names(
    given: Sequence[Any] | None, own: list[str] | None, model: Any, n_features: int
) -> list[str]:
    """Return a name for each feature."""
    fallback = getattr(model, "feature_names_in_", None)
    names = next((n for n in (given, own, fallback) if n is not None), None)
    if names is None or (given is None and len(names) != n_features):
        return [f"feature {k}" for k in range(n_features)]
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must be {n_features} names, one for each feature, got {len(names)}"
        )
    return [str(name) for name in names]


def _two_lines(name: str) -> str:
    """Break a long name at a space or underscore near its middle."""
    text = shorten(name, 30)
    breaks = [k for k, letter in enumerate(text) if letter in " _-"]
    if len(text) <= 15 or not breaks:
        return shorten(text, 15)
    middle = min(breaks, key=lambda k: abs(k - len(text) / 2))
    return f"{shorten(text[: middle + 1], 15)}\n{shorten(text[middle + 1 :], 15)}"


def read_columns(table: Any, what: str) -> tuple[list[str] | None, list[NDArray[Any]]]:
    """Return the names, if there are any, and the columns of an array or data frame."""
    if hasattr(table, "columns"):
        columns = [np.asarray(table[name]) for name in table.columns]
        return [str(name) for name in table.columns], [_as_numbers(column) for column in columns]
    rows = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
    if rows.ndim != 2:
        raise ValueError(
            f"{what} must be a table with a row per sample, got shape {rows.shape}; pass "
            "rows=X[clf.prototype_indices_] if the prototypes are not rows of features"
        )
    return None, [_as_numbers(column) for column in rows.T]


def standing(value: Any, column: NDArray[Any], own: Mask) -> tuple[float, float, float, float]:
    """Return the position of a value in a column; see `standings` of the display."""
    if column.dtype.kind != "f":
        same = np.array([other == value for other in column[own]], dtype=bool)
        return (*_MISSING[:3], float(same.mean()) if len(same) else np.nan)
    known = column[np.isfinite(column)]
    mine = column[own & np.isfinite(column)]
    if not len(mine) or not np.isfinite(value):
        return _MISSING
    low, high = known.min(), known.max()
    width = high - low if high > low else 1.0
    places = (np.array([value, *np.quantile(mine, [0.25, 0.75])]) - low) / width
    # A synthetic prototype may lie outside this range.
    place, lower, upper = np.clip(places, 0.0, 1.0)
    return float(place), float(lower), float(upper), np.nan


def separation(column: NDArray[Any], codes: Indices) -> float:
    """Return the between-class fraction of a column's variance."""
    if column.dtype.kind == "f":
        known = np.isfinite(column)
        indicators, codes = column[known][:, None], codes[known]
    else:
        text = np.array([str(value) for value in column])
        indicators = (text[:, None] == np.unique(text)).astype(float)
    total = indicators.var(axis=0).sum() * len(indicators) if len(indicators) else 0.0
    if total <= 0.0:
        return 0.0
    mean = indicators.mean(axis=0)
    between = sum(
        (codes == code).sum() * ((indicators[codes == code].mean(axis=0) - mean) ** 2).sum()
        for code in np.unique(codes)
    )
    return float(between / total)


def show_value(value: Any) -> str:
    """Return a value as a short text."""
    if value is None or value != value:
        return "missing"
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e9 else f"{number:.4g}"


def _as_numbers(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as floats if it contains only numbers."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    if column.dtype.kind == "O":
        try:
            if not any(isinstance(value, str | bool) for value in column):
                return column.astype(np.float64)
        except (TypeError, ValueError):
            pass
    return column
