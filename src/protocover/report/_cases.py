"""The cases that a report mentions, laid out as columns and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._balls import traits_of
from .._estimators import PVMClassifier
from .._resources import row_count
from ._evidence import class_ranges, class_shares, weigh_evidence
from ._pictures import as_bytes, check_images, make_sheets
from ._queries import Queries
from ._summary import Cases, ColumnSummary, PictureSheets
from ._table import ShownColumn, append_rows, append_table, is_plain, read_row_names, read_rows

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_MOST_COLUMNS, _FEWEST_COLUMNS, _MOST_CELLS = 40, 8, 600_000
_MOST_CHARACTERS, _LONGEST_TEXT, _SHORTEST_TEXT = 3_000_000, 4000, 40
_LONGEST_LABEL = 400


@dataclass(frozen=True, eq=False)
class Display:
    """How cases are to be shown; see :func:`protocover.report.summarize`."""

    shown: Any  # X itself where nothing else is given
    is_own: bool  # what the model was fitted on, so that prototypes are rows of the same kind
    row_names: Sequence[Any] | None
    feature_names: Sequence[Any] | None
    image_shape: tuple[int, ...] | None
    images: Any
    replaced: bool = False  # whether something is shown in place of X
    further: tuple[Queries, ...] = ()  # cases beside the training data, all to be laid out
    spread: bool = True  # whether the rows tell how values are spread within the classes


@dataclass(frozen=True, eq=False)
class LaidOut:
    """The cases, and where to find them."""

    cases: Cases
    place: Indices  # of each training case among the cases, -1 where it is not mentioned
    prototypes: Indices  # the place of each prototype
    telling: Indices  # prototypes x columns: for each its columns, the most telling first
    further: Indices  # the places of the cases beside the training data, one after the other
    columns: Indices  # numbers of the columns in the table that is shown


def lay_out(
    display: Display,
    model: PVMClassifier,
    *,
    codes: Indices,
    rows: Indices,
    mentioned: Indices,
    weights: Floats | None = None,
    groups: tuple[Indices, Indices] | None = None,
) -> LaidOut:
    """Lay out the cases that are mentioned: training cases, others, and foreign prototypes.

    `codes` are the classes of all rows that are shown, `rows` the row of each prototype, -1 for
    one that is none of them; `weights` tell how much each column matters to the distances.
    Features tell of a prototype what sets its class apart, or its group, where the `groups` of
    the cases and of the prototypes are given.
    """
    classes = np.searchsorted(model.classes_, model.prototype_labels_)
    apart, own = (codes, classes) if groups is None else groups
    n_points = len(codes)
    if row_count(display.shown) != n_points:
        raise ValueError(
            f"shown must have a row for each of the {n_points} rows of X, got "
            f"{row_count(display.shown)}"
        )
    n_further = sum(row_count(queries.X) for queries in display.further)
    foreign = np.flatnonzero(rows < 0)
    rows = rows.copy()
    rows[foreign] = n_points + n_further + np.arange(len(foreign))
    further = n_points + np.arange(n_further)
    kept = np.unique(np.concatenate((mentioned, rows, further)))
    place = np.full(n_points + n_further + len(foreign), -1)
    place[kept] = np.arange(len(kept))
    pictures = _draw(display, model, foreign, kept)
    columns, n_columns = _read_table(display, model, foreign, apart, pictures is not None)
    evidence = weigh_evidence(columns, apart, rows, own)
    chosen = _choose_columns(evidence, [c.place for c in columns], weights, len(kept))
    columns, evidence = [columns[j] for j in chosen], evidence[:, chosen]
    names = read_row_names(display.row_names, display.shown)
    names += [str(name) for queries in display.further for name in queries.names or ()]
    names += [_foreign_name(model, k) for k in foreign.tolist()]
    beside = np.full(n_further + len(foreign), -1)
    longest = _longest_text(columns, len(kept))
    cases = Cases(
        rows=np.where(kept < n_points, kept, -1).tolist(),
        names=[_cut(names[i], _LONGEST_LABEL) for i in kept],
        classes=np.concatenate((codes, beside))[kept].tolist(),
        columns=[
            _summarize_column(
                c, codes, len(model.classes_) if display.spread else 0, kept, longest
            )
            for c in columns
        ],
        n_columns=n_columns,
        pictures=pictures,
    )
    telling = np.argsort(-evidence, axis=1, kind="stable")
    places = np.array([column.place for column in columns], dtype=np.intp)
    return LaidOut(cases, place[:n_points], place[rows], telling, place[further], places)


def _read_table(
    display: Display, model: PVMClassifier, foreign: Indices, codes: Indices, has_pictures: bool
) -> tuple[list[ShownColumn], int]:
    """Read the columns, further cases and the prototypes that are none of them below.

    Pixels and dissimilarities are not shown as numbers.
    """
    pairwise = display.is_own and traits_of(model.dissimilarity_).precomputed
    # Bare numbers beside pictures are taken for their pixels.
    pixels = display.image_shape is not None or (has_pictures and is_plain(display.shown))
    if pairwise or pixels:
        return [], 0
    columns, n_columns = read_rows(display.shown, _feature_names(display, model), codes)
    for queries in display.further:
        if display.replaced and queries.shown is None:
            columns = [append_rows(column, None, row_count(queries.X)) for column in columns]
        else:
            columns = append_table(columns, _shown_of(queries), n_columns)
    if len(foreign) and display.is_own:
        own = _safe_indexing(model.prototypes_, foreign)
        columns = append_table(columns, own, n_columns)
    elif len(foreign):
        columns = [append_rows(column, None, len(foreign)) for column in columns]
    return columns, n_columns


def _shown_of(queries: Queries) -> Any:
    """Return what is shown of further cases."""
    return queries.X if queries.shown is None else queries.shown


def _feature_names(display: Display, model: PVMClassifier) -> Sequence[Any] | None:
    """Return the names given, or those that the model has seen for an array shown."""
    if display.feature_names is not None or not display.is_own or hasattr(display.shown, "iloc"):
        return display.feature_names
    return getattr(model, "feature_names_in_", None)


def _choose_columns(
    evidence: Floats, places: list[int], weights: Floats | None, n_cases: int
) -> Indices:
    """Return the columns to show, in order: all, or those that tell or weigh most on average."""
    most = max(_FEWEST_COLUMNS, min(_MOST_COLUMNS, _MOST_CELLS // max(1, n_cases)))
    strength = np.maximum(evidence, 0.0).mean(axis=0)
    rank = np.argsort(np.argsort(-strength, kind="stable"))
    if weights is not None and len(places):
        # The first by either, so that comparisons are not left without their columns.
        rank = np.minimum(rank, np.argsort(np.argsort(-weights[places], kind="stable")))
    return np.sort(np.argsort(rank, kind="stable")[:most])


def _longest_text(columns: list[ShownColumn], n_cases: int) -> int:
    """Return the length to which texts are cut, so that all of them fit on a page."""
    n_texts = n_cases * sum(column.kind == "text" for column in columns)
    return max(_SHORTEST_TEXT, min(_LONGEST_TEXT, _MOST_CHARACTERS // max(1, n_texts)))


def _summarize_column(
    column: ShownColumn, codes: Indices, n_classes: int, kept: Indices, longest: int
) -> ColumnSummary:
    """Return the kept values of a column, and how it is spread within the classes."""
    name = _cut(column.name, _LONGEST_LABEL)
    values = column.values[kept]
    if column.kind == "text":
        texts = [None if value is None else _cut(value, longest) for value in values]
        return ColumnSummary(name, "text", texts)
    if column.kind == "label":
        return ColumnSummary(
            name,
            "label",
            [None if place < 0 else place for place in column.places[kept].tolist()],
            categories=[_cut(category, _LONGEST_LABEL) for category in column.categories],
            shares=np.round(class_shares(column, codes, n_classes), 4).tolist(),
        )
    known = column.values[~np.isnan(column.values)]
    low, high = (_short(known.min()), _short(known.max())) if len(known) else (None, None)
    ranges = [[_short(v) or 0.0 for v in part] for part in class_ranges(column, codes, n_classes)]
    numbers = [_short(value) for value in values]
    return ColumnSummary(name, column.kind, numbers, low=low, high=high, ranges=ranges)


def _draw(
    display: Display, model: PVMClassifier, foreign: Indices, kept: Indices
) -> PictureSheets | None:
    """Put the images of the kept cases on sheets.

    Prototypes that are no training cases have an image only if they are pixels
    themselves; they are the last cases, after those beside the training data.
    """
    if display.images is not None and display.image_shape is not None:
        raise ValueError("pass images or image_shape, not both")
    n_points = row_count(display.shown)
    if display.images is not None:
        images = check_images(display.images, n_points)
        parts = [as_bytes(images[kept[kept < n_points]], ink=False)]
        parts += [_further_images(queries, images.shape[1:]) for queries in display.further]
        return make_sheets(np.concatenate(parts))
    if display.image_shape is None:
        return None
    pixels = np.asarray(display.shown)
    shape = tuple(display.image_shape)
    if pixels.ndim != 2 or pixels.shape[1] != np.prod(shape) or len(shape) not in (2, 3):
        raise ValueError(
            f"image_shape {shape} does not multiply out to the {np.shape(pixels)[-1]} columns "
            "that are shown"
        )
    for queries in display.further:
        pixels = np.concatenate((pixels, _further_pixels(queries, display, pixels.shape[1])))
    if len(foreign) and display.is_own:
        pixels = np.concatenate((pixels, np.asarray(_safe_indexing(model.prototypes_, foreign))))
    drawn = pixels[kept[kept < len(pixels)]]
    return make_sheets(as_bytes(drawn.reshape(-1, *shape), ink=len(shape) == 2))


def _further_pixels(queries: Queries, display: Display, n_pixels: int) -> NDArray[Any]:
    """Return the pixels of further cases, 0 where they are not known."""
    if display.replaced and queries.shown is None:
        return np.zeros((row_count(queries.X), n_pixels))
    return np.asarray(_shown_of(queries))


def _further_images(queries: Queries, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the images of further cases, which are blank where there are none."""
    if queries.images is None:
        return np.full((row_count(queries.X), *shape), 255, dtype=np.uint8)
    images = check_images(queries.images, row_count(queries.X))
    if images.shape[1:] != shape:
        raise ValueError(
            f"images of queries must be of the size of the others, {shape}, got "
            f"{images.shape[1:]}; bring them to one size first"
        )
    return as_bytes(images[:], ink=False)


def _foreign_name(model: PVMClassifier, k: int) -> str:
    """Name a prototype that is no training case by its source."""
    return f"{model.prototype_sources_[k]} {int(model.candidate_indices_[k])}"


def _cut(text: str, longest: int) -> str:
    """Cut a text that is too long, and show that it is cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _short(value: float) -> float | None:
    """Return whole numbers as they are, others to five digits, None for NaN."""
    if np.isnan(value):
        return None
    if value == np.rint(value) and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.5g}")
