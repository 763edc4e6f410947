"""``protocover predict``: new cases for a model, their class, and the prototype that decided."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from ..balls import traits_of
from .cases import Cases, find_column, label_texts, row_names
from .columns import ColumnType, convert, is_missing
from .console import CommandError, Console, list_names
from .images import layout_of, read_images
from .model import classifier_of, explain_cases, feature_names, open_model
from .tables import read_table
from .writing import check_file, csv_text, write_file

__all__ = ["read_cases", "run_predict"]


def run_predict(options: Namespace, console: Console) -> None:
    """Read a model and new cases, and write an answer for each."""
    if options.output is not None:
        check_file(options.output, force=options.force)
    model = open_model(options.model)
    cases = read_cases(model, options, console)
    _check_values(model, cases)
    answers = explain_cases(model, cases)
    text = csv_text(answers)
    if options.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_file(options.output, text.encode())
        console.note(f"Wrote {options.output}: {len(cases)} cases.")
    _count_errors(model, cases, answers, console)


def read_cases(model: Any, options: Namespace, console: Console) -> Cases:
    """Read a table or images with the columns that a model was fitted on.

    `options` has ``data``, ``target``, ``id`` and how to read; labels are text or None.
    """
    path = options.data
    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    types = _column_types(model)
    layout = layout_of(list(types))
    if layout is not None and not _is_table(path):
        return read_images(path, layout, skip=options.skip_broken, console=console)
    return _read_rows(path, types, options, console)


def _check_values(model: Any, cases: Cases) -> None:
    """Refuse missing values where distances need them."""
    allows_nan = traits_of(classifier_of(model).dissimilarity_).allows_nan
    if allows_nan or cases.layout is not None:
        return
    absent = cases.X.isna().to_numpy()
    if absent.any():
        row, column = np.argwhere(absent)[0]
        raise CommandError(
            f"row {cases.rows[row]} has no value of {str(cases.X.columns[column])!r}, and the "
            "model's distance needs all; fill it in, or fit a model with --metric gower"
        )


def _count_errors(model: Any, cases: Cases, answers: Any, console: Console) -> None:
    """Say how many cases of known class are answered wrongly."""
    if cases.y is None:
        return
    known = np.isin(cases.y.astype(str), classifier_of(model).classes_.astype(str))
    if known.any():
        wrong = answers["predicted"].to_numpy()[known].astype(str) != cases.y[known].astype(str)
        console.note(
            f"{wrong.sum()} of {known.sum()} cases of known class are answered wrongly "
            f"({100 * wrong.mean():.1f} %)."
        )


def _read_rows(
    path: Path, types: dict[str, ColumnType], options: Namespace, console: Console
) -> Cases:
    """Read the rows of a table."""
    import pandas as pd

    frame = read_table(
        path, separator=options.separator, encoding=options.encoding, console=console
    )
    columns = list(frame.columns)
    absent = [name for name in types if name not in columns]
    if absent:
        raise CommandError(
            f"{path} lacks {len(absent)} of the model's columns: {list_names(absent)}; add them, "
            "empty where a value is missing"
        )
    known = {*types, options.target, options.id}
    others = [name for name in columns if name not in known]
    if others:
        console.note(f"Ignored: {list_names(others)}, unknown to the model.")
    X = pd.DataFrame({name: convert(frame[name], kind) for name, kind in types.items()})
    y: Any = None
    names: Any = None
    if options.target is not None:
        target = frame[find_column(columns, options.target, "--target", path)]
        y, present = np.full(len(target), None), ~is_missing(target)
        y[present] = label_texts(target[present])
    if options.id is not None:
        names = row_names(frame[find_column(columns, options.id, "--id", path)])
    return Cases(X, y, frame.index.to_numpy() + 1, path.name, names, frame)


def _column_types(model: Any) -> dict[str, ColumnType]:
    """Return what each column of a model must hold, in order."""
    names = feature_names(model)
    dissimilarity = classifier_of(model).dissimilarity_
    if not hasattr(dissimilarity, "stores_"):
        return dict.fromkeys(names, ColumnType("numbers"))
    return {
        name: ColumnType(stores, tuple(categories) if stores == "ranks" else None)
        for name, stores, categories in zip(
            names, dissimilarity.stores_, dissimilarity.categories_, strict=True
        )
    }


def _is_table(path: Path) -> bool:
    """Whether a file is a table by its name."""
    name = path.name.lower().removesuffix(".gz")
    return path.is_file() and name.endswith((".csv", ".tsv", ".tab", ".txt", ".parquet"))
