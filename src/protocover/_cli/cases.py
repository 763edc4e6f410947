"""What is learned from or asked about: rows of a table or images, their labels and names."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ..data._checks import TableCheck
from ..data._checks.remedies import COMMAND_LINE
from ..data._checks.table import inspect_table
from .columns import ColumnType, blank_out, convert, find_type, is_missing, type_columns
from .console import CommandError, Console, UsageError, count_things, list_names
from .dialect import Dialect
from .tables import read_table

_MOST_FINDINGS = 20
_MOST_ALIKE = 3
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_WORDS = {"numeric": "numbers", "categorical": "labels", "date": "dates", "asymmetric": "booleans"}


@dataclass(frozen=True)
class ImageLayout:
    """How a row of numbers is an image: row after row, pixel after pixel, from 0 to 1.

    With `color` a pixel is three numbers, red, green and blue, else one, black to white.
    """

    height: int
    width: int
    color: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one image as an array."""
        return (self.height, self.width, 3) if self.color else (self.height, self.width)

    def __str__(self) -> str:
        return f"{self.width} x {self.height} pixels, {'color' if self.color else 'gray'}"


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases, row for row.

    Parameters
    ----------
    X : DataFrame or ndarray, shape (n_cases, n_features)
        What distances are measured between.
    y : ndarray, shape (n_cases,), or None
        Their labels, where known.
    rows : ndarray of int, shape (n_cases,)
        Number of each in its source, from 1.
    source : str
        Name of the file or folder they come from.
    names : ndarray of str, shape (n_cases,), or None
        What the source calls them: an identifier, or the name of the image's file.
    shown : DataFrame or None
        All cells as they are in the source.
    layout : ImageLayout or None
        For images.
    weights : ndarray of float, shape (n_cases,), or None
        How much each counts, where that differs.
    pictures : Thumbnails or None
        Images to look at, larger than those that distances are measured between.
    dialect : Dialect
        How the source, if it is a table of text, is written.
    """

    X: Any
    y: NDArray[Any] | None
    rows: NDArray[np.intp]
    source: str
    names: NDArray[Any] | None = None
    shown: Any = None
    layout: ImageLayout | None = None
    weights: NDArray[np.float64] | None = None
    pictures: Any = None
    dialect: Dialect = field(default_factory=Dialect)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def titles(self) -> list[str]:
        """A name for each case: its own, or the number of its row."""
        if self.names is not None:
            return [str(name) for name in self.names]
        return [f"row {row}" for row in self.rows]

    def take(self, index: NDArray[Any] | slice) -> Self:
        """Return some of the cases."""
        return replace(
            self,
            X=_safe_indexing(self.X, index),
            y=None if self.y is None else self.y[index],
            rows=self.rows[index],
            names=None if self.names is None else self.names[index],
            shown=None if self.shown is None else self.shown.iloc[index],
            weights=None if self.weights is None else self.weights[index],
            pictures=None if self.pictures is None else self.pictures.take(index),
        )


def split_cases(cases: Cases, share: float, seed: int) -> tuple[Cases, Cases | None]:
    """Keep back a share of each class, drawn by chance; a class always keeps one case.

    Both parts are in the order of the source; None in place of the latter if it is empty.
    """
    labels = np.asarray(cases.y)
    rng = np.random.default_rng(seed)
    kept_back = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        size = min(round(share * len(own)), len(own) - 1)
        kept_back[rng.permutation(own)[:size]] = True
    if not kept_back.any():
        return cases, None
    return cases.take(np.flatnonzero(~kept_back)), cases.take(np.flatnonzero(kept_back))


def announce_split(training: Cases, held_out: Cases | None, console: Console) -> None:
    """Say how many cases there are to choose from, and how many were kept back."""
    kept = "none" if held_out is None else f"{len(held_out)}"
    console.note(
        f"Choosing prototypes from {len(training)} cases, {kept} kept back for a test ..."
    )


def read_labeled(path: Path, options: Namespace, console: Console) -> Cases:
    """Read a table, take target and identifier out, and give the other columns their types."""
    frame, checked = check_table(path, options, console)
    y = make_labels(frame[options.target], text=options.outlier_label is not None)
    settle(checked, path, go_on=getattr(options, "ignore_warnings", False), console=console)
    features = [facts.name for facts in checked.columns]
    kinds = parse_kinds(options.feature_type, features, path)
    marks = parse_marks(options, list(frame.columns))
    X = type_columns(blank_out(frame[features], marks), kinds, checked, console)
    names = None if options.id is None else row_names(frame[options.id])
    weights = (
        None if options.weights is None else read_weights(frame[options.weights], checked.decimal)
    )
    return Cases(
        X,
        y,
        frame.index.to_numpy() + 1,
        path.name,
        names,
        shown=frame,
        weights=weights,
        dialect=Dialect(frame.attrs.get("separator", ","), checked.decimal or "."),
    )


def check_table(path: Path, options: Namespace, console: Console) -> tuple[Any, TableCheck]:
    """Read a table, leave out the rows without a class, and check its features."""
    frame = read_table(path, console=console, **reading_options(options))
    features = _find_features(list(frame.columns), options, path)
    check_marks(options, frame, path)
    marks = parse_marks(options, list(frame.columns))
    # A mark for all columns may well be a class; one for the target is meant.
    own = {options.target: marks.get(options.target, ())}
    absent = is_missing(blank_out(frame[[options.target]], own)[options.target])
    if absent.any():
        console.warn(f"left out {absent.sum()} rows without a value of {options.target!r}")
        frame = frame.loc[~absent]
    kinds = parse_kinds(options.feature_type, features, path)
    checked = inspect_table(
        frame[features].assign(**{options.target: label_texts(frame[options.target])}),
        options.target,
        remedies=COMMAND_LINE,
        feature_types={name: kind.stores for name, kind in kinds.items()},
        missing=marks,
        decimal=getattr(options, "decimal", None),
        row_numbers=frame.index.to_numpy() + 1,
    )
    return frame, checked


def settle(checked: TableCheck, path: Path, *, go_on: bool, console: Console) -> None:
    """Say what was found in a table, and refuse to go on before what is dangerous is settled."""
    refused = [f for f in checked.dangers if f.level == "unclear" or not go_on]
    told: Counter[str] = Counter()
    for finding in checked.findings:
        if finding not in refused:
            told[finding.what] += 1
            if told[finding.what] <= _MOST_ALIKE:
                console.warn(str(finding))
    for what, n in told.items():
        if n > _MOST_ALIKE:
            more = f"{n - _MOST_ALIKE} more of this ({what})"
            console.warn(f"{more}; `protocover check` names the columns")
    if not refused:
        return
    for finding in refused[:_MOST_FINDINGS]:
        console.fail(str(finding))
    n = len(refused)
    further = f", of which {_MOST_FINDINGS} are shown" if n > _MOST_FINDINGS else ""
    # Nothing can be ignored if two readings of a number are possible.
    unclear = all(finding.level == "unclear" for finding in refused)
    ignore = "" if unclear else ", or pass --ignore-warnings"
    raise CommandError(
        f"{path} has {count_things(n, 'problem', 'problems')} that would change the "
        f"answer{further}; fix {'it' if n == 1 else 'them'} as described above{ignore} "
        "(`protocover check` shows all columns)"
    )


def reading_options(options: Namespace) -> dict[str, Any]:
    """Return how a table is to be read."""
    names = ("separator", "encoding", "sheet")
    return {name: getattr(options, name, None) for name in names}


def parse_marks(options: Namespace, columns: list[str]) -> dict[str | None, list[str]]:
    """Return what ``--missing [NAME=]VALUE`` says stands for missing, by column or for all."""
    marks: dict[str | None, list[str]] = {}
    for text in getattr(options, "missing", None) or []:
        fitting = [name for name in columns if text.startswith(f"{name}=")]
        name = max(fitting, key=len) if fitting else None
        marks.setdefault(name, []).append(text if name is None else text[len(name) + 1 :])
    return marks


def check_marks(options: Namespace, frame: Any, path: Path) -> None:
    """Refuse a mark that names no column and stands in no cell: a name was misspelt."""
    columns = list(frame.columns)
    for text in getattr(options, "missing", None) or []:
        named = "=" not in text or any(text.startswith(f"{name}=") for name in columns)
        if not named and not (frame.astype(str) == text).to_numpy().any():
            raise UsageError(
                f"--missing {text} is for no column of {path} and stands in no cell of it; the "
                f"columns are {list_names(columns)}"
            )


def read_weights(cells: Any, decimal: str | None = None) -> NDArray[np.float64]:
    """Return how much each row counts: numbers that are not below 0, nor all of them 0.

    `decimal` is the decimal mark of the file, where that is known.
    """
    import pandas as pd

    read = cells
    if find_type(cells).stores == "numbers" and not is_missing(cells).any():
        read = convert(cells, ColumnType("numbers"), decimal=decimal)
    numbers = pd.to_numeric(read, errors="coerce")
    weights: NDArray[np.float64] = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        raise CommandError(
            f"--weights {str(cells.name)!r} must hold a number not below 0 in every row, got "
            f"{cells.iloc[wrong[0]]!r} in row {cells.index[wrong[0]] + 1}; mend that cell"
        )
    if not weights.any():
        raise CommandError(
            f"--weights {str(cells.name)!r} is 0 in every row; some rows must count"
        )
    return weights


def _find_features(columns: list[str], options: Namespace, path: Path) -> list[str]:
    """Return the columns that are neither the target nor the identifier nor to be dropped."""
    if options.target is None:
        raise UsageError(
            f"which column holds the class? add --target NAME, one of {list_names(columns)}"
        )
    taken = {find_column(columns, options.target, "--target", path)}
    if options.id is not None:
        taken.add(find_column(columns, options.id, "--id", path))
    if options.weights is not None:
        taken.add(find_column(columns, options.weights, "--weights", path))
    taken |= {find_column(columns, name, "--drop", path) for name in options.drop}
    return [name for name in columns if name not in taken]


def find_column(columns: list[str], name: str, option: str, path: Path) -> str:
    """Return the name of a column, or say which there are."""
    if name in columns:
        return name
    near = get_close_matches(name, columns, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {list_names(columns)}"
    if any(column.replace(".", "", 1).isdecimal() for column in columns):
        hint += ". The first line must hold the names of the columns, not values"
    raise CommandError(f"{option} {name!r} is not a column of {path}; {hint}")


def row_names(cells: Any) -> NDArray[Any]:
    """Return the cells of an identifier as the names of rows."""
    return np.asarray(cells.astype(str).to_numpy(dtype=object))


def make_labels(target: Any, *, text: bool = False) -> NDArray[Any]:
    """Return labels, none missing: whole numbers if all are (unless `text`), else text."""
    cells = label_texts(target)
    counts = Counter(cells)
    _check_classes(target.name, counts)
    return np.asarray(cells, dtype=_label_type(counts, text=text))


def label_texts(target: Any) -> NDArray[Any]:
    """Return the cells of a target, none missing, as text: 1.0 is 1."""
    cells = target.astype(str).str.strip().to_numpy(dtype=object)
    if getattr(target.dtype, "kind", "O") == "f":
        cells = np.array([cell.removesuffix(".0") for cell in cells], dtype=object)
    return np.asarray(cells)


def _check_classes(name: Any, counts: Mapping[str, int]) -> None:
    """Refuse a target whose labels, each with the number of its rows, are no classes."""
    n_rows = sum(counts.values())
    if len(counts) == 1:
        raise CommandError(
            f"the target {name!r} has one class only, {next(iter(counts))!r}; there must be "
            "something to tell apart"
        )
    if not counts:
        raise CommandError(f"the target {name!r} has no values; choose another column")
    if len(counts) > max(20, n_rows // 2):
        raise CommandError(
            f"the target {name!r} has {len(counts)} different values in {n_rows} rows; "
            "it must name classes that many rows share: group its values, or choose another"
        )


def _label_type(labels: Iterable[str], *, text: bool) -> type:
    """Return the type of labels: int if all are whole numbers, unless `text` is asked for.

    Numbers of more than 18 digits are names.
    """
    whole = all(_WHOLE.fullmatch(cell) for cell in labels)
    return np.int64 if whole and not text else str


def parse_kinds(
    specifications: list[str], columns: list[str], path: Path
) -> dict[str, ColumnType]:
    """Return the types that ``--feature-type NAME=TYPE`` gives columns."""
    kinds: dict[str, ColumnType] = {}
    for text in specifications:
        fitting = [name for name in columns if text.startswith(f"{name}=")]
        if not fitting:
            find_column(columns, text.partition("=")[0], "--feature-type", path)
            raise UsageError(f"--feature-type must be NAME=TYPE, got {text!r}")
        name = max(fitting, key=len)
        kind = text[len(name) + 1 :]
        values = tuple(value.strip() for value in kind.split(","))
        if kind not in _WORDS and len(values) < 2:
            raise UsageError(
                f"--feature-type {name}= must be numeric, categorical, date, asymmetric or "
                f"ordered values such as low,medium,high, got {kind!r}"
            )
        known = _WORDS.get(kind)
        kinds[name] = ColumnType("ranks", values) if known is None else ColumnType(known)
    return kinds
