"""What a cover is chosen from: rows of a table or images without labels, weights and costs."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data._checks.remedies import COMMAND_LINE
from ..data._checks.table import inspect_table
from .cases import (
    Cases,
    check_marks,
    find_column,
    parse_kinds,
    parse_marks,
    reading_options,
    row_names,
    settle,
)
from .columns import blank_out, count_kinds, type_columns
from .console import CommandError, Console, UsageError, count_things, list_names
from .dialect import Dialect
from .fit import refuse_options
from .images import find_images, read_folder
from .tables import read_table

_OF_TABLES = (
    *("id", "drop", "feature_type", "weights", "candidate_cost", "missing", "decimal"),
    *("ignore_warnings", "separator", "encoding", "sheet"),
)


@dataclass(frozen=True, eq=False)
class Choice:
    """Cases to choose from.

    Parameters
    ----------
    cases : Cases
        Without labels.
    weights, costs : ndarray of float, shape (n_cases,), or None
        What covering each is worth, and what each costs as a representative.
    included : list of int
        Places of those that are in anyway.
    """

    cases: Cases
    weights: NDArray[np.float64] | None
    costs: NDArray[np.float64] | None
    included: list[int]


def read_choice(options: Namespace, console: Console) -> Choice:
    """Read a table or a folder of images, and say what there is."""
    path = options.data
    if options.features is not None:
        raise UsageError(
            "--features goes with `protocover fit`; put the vectors into a table, and give that"
        )
    if path.is_dir():
        refuse_options(options, _OF_TABLES, "a table")
        cases, weights, costs = _read_images(options, console), None, None
        what = f"{len(cases)} images at {cases.layout}"
    else:
        refuse_options(options, ("image_size", "skip_broken"), "a folder of images")
        cases, weights, costs = _read_rows(options, console)
        columns = count_things(cases.X.shape[1], "column", "columns")
        what = f"{len(cases)} rows, {columns} ({count_kinds(cases.X)})"
    console.note(f"Read {path}: {what}.")
    return Choice(cases, weights, costs, _places(options.must_include, cases))


def _read_images(options: Namespace, console: Console) -> Cases:
    """Read the images of a folder and of the folders in it."""
    cases = read_folder(
        options.data,
        find_images(options.data, console),
        size=options.image_size,
        color={"auto": None, "color": True, "gray": False}[options.color],
        skip=options.skip_broken,
        console=console,
    )
    return replace(cases, y=None)


def _read_rows(options: Namespace, console: Console) -> tuple[Cases, Any, Any]:
    """Read a table, take names, weights and costs out, and give the others their types."""
    path = options.data
    frame = read_table(path, console=console, **reading_options(options))
    features = _features(list(frame.columns), options)
    check_marks(options, frame, path)
    kinds = parse_kinds(options.feature_type, features, path)
    marks = parse_marks(options, list(frame.columns))
    checked = inspect_table(
        frame[features],
        remedies=COMMAND_LINE,
        feature_types={name: kind.stores for name, kind in kinds.items()},
        missing=marks,
        decimal=options.decimal,
        row_numbers=frame.index.to_numpy() + 1,
    )
    settle(checked, path, go_on=options.ignore_warnings, console=console)
    X = type_columns(blank_out(frame[features], marks), kinds, checked, console)
    names = None if options.id is None else row_names(frame[options.id])
    dialect = Dialect(frame.attrs.get("separator", ","), checked.decimal or ".")
    rows = frame.index.to_numpy() + 1
    cases = Cases(X, None, rows, path.name, names, shown=frame, dialect=dialect)
    weights = _read_numbers(frame, options.weights, "--weights")
    return cases, weights, _read_numbers(frame, options.candidate_cost, "--candidate-cost")


def _features(columns: list[str], options: Namespace) -> list[str]:
    """Return the columns that distances are measured by."""
    path = options.data
    asked = {
        "--id": options.id,
        "--weights": options.weights,
        "--candidate-cost": options.candidate_cost,
    }
    asked = {option: name for option, name in asked.items() if name is not None}
    taken = {find_column(columns, name, option, path) for option, name in asked.items()}
    taken |= {find_column(columns, name, "--drop", path) for name in options.drop}
    return [name for name in columns if name not in taken]


def _read_numbers(frame: Any, name: str | None, option: str) -> NDArray[np.float64] | None:
    """Return a column of numbers that are not negative, None where there is none."""
    import pandas as pd

    if name is None:
        return None
    numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~((numbers >= 0.0) & (numbers < np.inf)))
    if len(bad):
        cell = frame[name].iloc[bad[0]]
        raise CommandError(
            f"{option} {name!r} must hold a number not below 0 in every row, got {str(cell)!r} in "
            f"row {bad[0] + 1}; mend it"
        )
    return np.asarray(numbers)


def _places(asked: list[str], cases: Cases) -> list[int]:
    """Return the places of cases that are named, or given by their rows."""
    known = [str(row) for row in cases.rows] if cases.names is None else cases.titles
    places: list[int] = []
    for name in (part.strip() for text in asked for part in text.split(",")):
        found = [place for place, one in enumerate(known) if one == name]
        if not found:
            what = "row" if cases.names is None else "case of that name"
            example = list_names(known[:2] + known[-1:])
            raise CommandError(f"--must-include {name!r}: there is no such {what}; try {example}")
        if len(found) > 1:
            raise CommandError(
                f"--must-include {name!r} is the name of {len(found)} cases; leave --id out and "
                f"give the row, one of {', '.join(str(cases.rows[k]) for k in found[:5])}"
            )
        places += [place for place in found if place not in places]
    return places
