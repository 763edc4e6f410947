"""The layout of all cases on a page: their columns and pictures."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._balls import traits_of
from .._estimators import PVMClassifier
from .._resources import row_count
from .._typing import Floats, Indices
from ..data._png import encode_png
from ._queries import Queries
from ._summary import Cases, ColumnSummary, PictureSheets
from ._table import (
    ShownColumn,
    append_rows,
    append_table,
    class_ranges,
    class_shares,
    is_plain,
    read_row_names,
    read_rows,
    weigh_evidence,
)

_MOST_COLUMNS, _FEWEST_COLUMNS, _MOST_CELLS = 40, 8, 600_000
_MOST_CHARACTERS, _LONGEST_TEXT, _SHORTEST_TEXT = 3_000_000, 4000, 40
_LONGEST_LABEL = 400
_PICTURES_PER_SHEET = 256
_PICTURE_BYTES = 6_000_000  # of all pictures on a page, before compression


@dataclass(frozen=True, eq=False)
class Display:
    """How cases are shown; see :func:`protocover.report.summarize`."""

    shown: Any  # X itself by default
    is_own: bool  # whether the model was fitted on it, so prototypes are rows of the same kind
    row_names: Sequence[Any] | None = None
    feature_names: Sequence[Any] | None = None
    image_shape: tuple[int, ...] | None = None
    images: Any = None
    replaced: bool = False  # whether something else is shown in place of X
    further: tuple[Queries, ...] = ()  # cases outside the training data
    spread: bool = True  # whether the rows are a training set, which has class distributions


@dataclass(frozen=True, eq=False)
class Layout:
    """The cases of a page, and the indices of rows, prototypes and columns among them."""

    cases: Cases
    of_row: Indices  # per row, -1 for rows that are not on the page
    of_prototype: Indices
    of_further: Indices  # per case outside the training data
    top_columns: Indices  # (n_prototypes, n_shown), the most characteristic first
    columns: Indices  # the shown columns in the table


def lay_out(
    display: Display,
    model: PVMClassifier,
    *,
    codes: Indices,
    rows: Indices,
    mentioned: Indices,
    weights: Floats | None = None,
    groups: tuple[Indices, Indices] | None = None,
) -> Layout:
    """Lay out the rows `mentioned`, the cases outside the training data, and all prototypes.

    `codes` are the classes of all rows, `rows` the row of each prototype (-1 for prototypes that
    are not rows), and `weights` the contribution of each column to the comparisons. The columns
    that set a prototype's class apart come first; `groups` of the rows and of the prototypes
    replace the classes in this.
    """
    classes = np.searchsorted(model.classes_, model.prototype_labels_)
    row_groups, own_groups = (codes, classes) if groups is None else groups
    n_rows = len(codes)
    if row_count(display.shown) != n_rows:
        raise ValueError(
            f"shown must have a row for each of the {n_rows} rows of X, got "
            f"{row_count(display.shown)}; pass what to show of each row, in the same order"
        )
    n_further = sum(row_count(queries.X) for queries in display.further)
    synthetic = np.flatnonzero(rows < 0)
    rows = rows.copy()
    rows[synthetic] = n_rows + n_further + np.arange(len(synthetic))
    further = n_rows + np.arange(n_further)
    kept = np.unique(np.concatenate((mentioned, rows, further)))
    index = np.full(n_rows + n_further + len(synthetic), -1)
    index[kept] = np.arange(len(kept))
    pictures = _draw(display, model, synthetic, kept)
    columns, n_columns = _read_table(
        display, model, synthetic, row_groups, has_pictures=pictures is not None
    )
    evidence = weigh_evidence(columns, row_groups, rows, own_groups)
    chosen = _choose_columns(evidence, [c.index for c in columns], weights, len(kept))
    columns, evidence = [columns[j] for j in chosen], evidence[:, chosen]
    names = read_row_names(display.row_names, display.shown)
    names += [str(name) for queries in display.further for name in queries.names or ()]
    names += [
        f"{model.prototype_sources_[k]} {int(model.candidate_indices_[k])}" for k in synthetic
    ]
    others = np.full(n_further + len(synthetic), -1)
    longest = _longest_text(columns, len(kept))
    n_classes = len(model.classes_) if display.spread else 0
    cases = Cases(
        rows=np.where(kept < n_rows, kept, -1).tolist(),
        names=[_cut(names[i], _LONGEST_LABEL) for i in kept],
        classes=np.concatenate((codes, others))[kept].tolist(),
        columns=[_summarize_column(c, codes, n_classes, kept, longest) for c in columns],
        n_columns=n_columns,
        pictures=pictures,
    )
    return Layout(
        cases=cases,
        of_row=index[:n_rows],
        of_prototype=index[rows],
        of_further=index[further],
        top_columns=np.argsort(-evidence, axis=1, kind="stable"),
        columns=np.array([column.index for column in columns], dtype=np.intp),
    )


def _read_table(
    display: Display,
    model: PVMClassifier,
    synthetic: Indices,
    codes: Indices,
    *,
    has_pictures: bool,
) -> tuple[list[ShownColumn], int]:
    """Read the columns of the rows, further cases and synthetic prototypes, in this order.

    Pixels and precomputed distances are not shown as numbers.
    """
    pairwise = display.is_own and traits_of(model.dissimilarity_).precomputed
    # Bare numbers next to pictures are their pixels.
    pixels = display.image_shape is not None or (has_pictures and is_plain(display.shown))
    if pairwise or pixels:
        return [], 0
    names = display.feature_names
    if names is None and display.is_own and not hasattr(display.shown, "iloc"):
        names = getattr(model, "feature_names_in_", None)
    columns, n_columns = read_rows(display.shown, names, codes)
    for queries in display.further:
        if display.replaced and queries.shown is None:
            columns = [append_rows(column, None, row_count(queries.X)) for column in columns]
        else:
            columns = append_table(columns, queries.displayed, n_columns)
    if len(synthetic) and display.is_own:
        columns = append_table(columns, _safe_indexing(model.prototypes_, synthetic), n_columns)
    elif len(synthetic):
        columns = [append_rows(column, None, len(synthetic)) for column in columns]
    return columns, n_columns


def _choose_columns(
    evidence: Floats, indices: list[int], weights: Floats | None, n_cases: int
) -> Indices:
    """Return the columns to show, in order: all, or those with most evidence or weight."""
    most = max(_FEWEST_COLUMNS, min(_MOST_COLUMNS, _MOST_CELLS // max(1, n_cases)))
    strength = np.maximum(evidence, 0.0).mean(axis=0)
    rank = np.argsort(np.argsort(-strength, kind="stable"))
    if weights is not None and len(indices):
        # The better of both ranks, so that comparisons keep their main columns.
        rank = np.minimum(rank, np.argsort(np.argsort(-weights[indices], kind="stable")))
    return np.sort(np.argsort(rank, kind="stable")[:most])


def _longest_text(columns: list[ShownColumn], n_cases: int) -> int:
    """Return the length to which texts are cut, so that all of them fit on a page."""
    n_texts = n_cases * sum(column.kind == "text" for column in columns)
    return max(_SHORTEST_TEXT, min(_LONGEST_TEXT, _MOST_CHARACTERS // max(1, n_texts)))


def _summarize_column(
    column: ShownColumn, codes: Indices, n_classes: int, kept: Indices, longest: int
) -> ColumnSummary:
    """Return the kept values of a column, and their distribution per class."""
    name = _cut(column.name, _LONGEST_LABEL)
    values = column.values[kept]
    if column.kind == "text":
        texts = [None if value is None else _cut(value, longest) for value in values]
        return ColumnSummary(name, "text", texts)
    if column.kind == "label":
        return ColumnSummary(
            name,
            "label",
            [None if code < 0 else code for code in column.codes[kept].tolist()],
            categories=[_cut(category, _LONGEST_LABEL) for category in column.categories],
            shares=np.round(class_shares(column, codes, n_classes), 4).tolist(),
        )
    known = column.values[~np.isnan(column.values)]
    low, high = (_short(known.min()), _short(known.max())) if len(known) else (None, None)
    ranges = [[_short(v) or 0.0 for v in part] for part in class_ranges(column, codes, n_classes)]
    numbers = [_short(value) for value in values]
    return ColumnSummary(name, column.kind, numbers, low=low, high=high, ranges=ranges)


def _cut(text: str, longest: int) -> str:
    """Cut a text that is too long, and mark the cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _short(value: float) -> float | None:
    """Return integers in full, other numbers to five digits, None for NaN."""
    if np.isnan(value):
        return None
    if value == np.rint(value) and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.5g}")


def _draw(
    display: Display, model: PVMClassifier, synthetic: Indices, kept: Indices
) -> PictureSheets | None:
    """Put the images of the kept cases on sheets.

    Synthetic prototypes come last and have an image only if they are pixels themselves.
    """
    if display.images is not None and display.image_shape is not None:
        raise ValueError("pass images or image_shape, not both")
    n_rows = row_count(display.shown)
    if display.images is not None:
        images = _check_images(display.images, n_rows)
        parts = [as_bytes(images[kept[kept < n_rows]], ink=False)]
        parts += [_further_images(queries, images.shape[1:]) for queries in display.further]
        return make_sheets(np.concatenate(parts))
    if display.image_shape is None:
        return None
    pixels = np.asarray(display.shown)
    shape = tuple(display.image_shape)
    if pixels.ndim != 2 or pixels.shape[1] != np.prod(shape) or len(shape) not in (2, 3):
        raise ValueError(
            f"image_shape must be (height, width[, 3]) of the {np.shape(pixels)[-1]} columns that "
            f"are shown, got {shape}"
        )
    for queries in display.further:
        unknown = display.replaced and queries.shown is None
        blank = np.zeros((row_count(queries.X), pixels.shape[1]))
        pixels = np.concatenate((pixels, blank if unknown else np.asarray(queries.displayed)))
    if len(synthetic) and display.is_own:
        own = np.asarray(_safe_indexing(model.prototypes_, synthetic))
        pixels = np.concatenate((pixels, own))
    drawn = pixels[kept[kept < len(pixels)]]
    return make_sheets(as_bytes(drawn.reshape(-1, *shape), ink=len(shape) == 2))


def _further_images(queries: Queries, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the images of cases outside the training data, blank if there are none."""
    if queries.images is None:
        return np.full((row_count(queries.X), *shape), 255, dtype=np.uint8)
    images = _check_images(queries.images, row_count(queries.X))
    if images.shape[1:] != shape:
        raise ValueError(
            f"images of queries must have the size of the others, {shape}, got "
            f"{images.shape[1:]}; bring them to one size first"
        )
    return as_bytes(images[:], ink=False)


def _check_images(images: Any, n_rows: int) -> Any:
    """Return images as an array, (n_rows, height, width) or (..., 3); lazy arrays stay lazy."""
    array = images if hasattr(images, "shape") and hasattr(images, "dtype") else np.asarray(images)
    good = len(array.shape) == 3 or (len(array.shape) == 4 and array.shape[3] == 3)
    if not good or len(array) != n_rows or array.dtype.kind not in "biuf":
        raise ValueError(
            f"images must be an array of shape ({n_rows}, height, width) or "
            f"({n_rows}, height, width, 3), got {array.dtype} of shape {array.shape}; bring "
            "them to one size first"
        )
    return array


def as_bytes(images: NDArray[Any], *, ink: bool) -> NDArray[np.uint8]:
    """Return images with values from 0 (black) to 255.

    Integers from 0 to 255 and floats from 0 to 1 keep their brightness; other values are scaled
    to the whole range. With `ink`, high values are dark.
    """
    if images.dtype != np.uint8:
        values = np.nan_to_num(images.astype(np.float64))
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        if low >= 0.0 and high <= 1.0:
            low, high = 0.0, 1.0
        elif images.dtype.kind in "iu" and low >= 0.0 and 16.0 < high <= 255.0:
            low, high = 0.0, 255.0
        images = np.rint(255.0 * (values - low) / max(high - low, 1e-300)).astype(np.uint8)
    return 255 - images if ink else images


def make_sheets(images: NDArray[np.uint8], *, budget: int = _PICTURE_BYTES) -> PictureSheets:
    """Put images on sheets, reduced until all of them take at most `budget` bytes."""
    factor = math.ceil(math.sqrt(max(1.0, images.size / budget)))
    images = _reduce(images, factor)
    n, height, width = images.shape[:3]
    per_sheet = min(_PICTURES_PER_SHEET, n)
    across = math.ceil(math.sqrt(per_sheet))
    sheets = [_sheet(images[i : i + per_sheet], across) for i in range(0, n, per_sheet)]
    return PictureSheets(width, height, across, per_sheet, n, sheets, is_reduced=factor > 1)


def _reduce(images: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """Average squares of `factor` by `factor` pixels; a remainder at the edges is cut off."""
    height, width = (max(1, side // factor) for side in images.shape[1:3])
    tall, wide = min(factor, images.shape[1]), min(factor, images.shape[2])
    if tall == wide == 1:
        return images
    reduced = [
        image[: height * tall, : width * wide]
        .reshape(height, tall, width, wide, *image.shape[2:])
        .mean(axis=(1, 3))
        for image in images
    ]
    return np.asarray(np.rint(np.stack(reduced)), dtype=np.uint8)


def _sheet(images: NDArray[np.uint8], across: int) -> str:
    """Arrange images in rows of `across` and return the PNG in base64."""
    n, height, width, *channels = images.shape
    down = math.ceil(n / across)
    grid = np.zeros((down * across, height, width, *channels), dtype=np.uint8)
    grid[:n] = images
    cells = grid.reshape(down, across, height, width, *channels)
    sheet = np.swapaxes(cells, 1, 2).reshape(down * height, across * width, *channels)
    return base64.b64encode(encode_png(sheet)).decode("ascii")
