"""A fitted model: the columns it needs, reading new cases, and tables of predictions."""

from __future__ import annotations

import json
from argparse import Namespace
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._estimators import PVMClassifier
from .._inspection.fitted import unwrap
from .._persistence import MODEL_FILE
from ..data._check import find_decimal
from ..data._columns import ColumnType
from .cases import Cases
from .check import find_column, label_texts, parse_marks, reading_options, row_names
from .columns import blank_out, convert, is_missing
from .console import CommandError, Console, list_names
from .images import layout_of, read_images
from .tables import SPREADSHEETS, Dialect, read_table

MODEL = MODEL_FILE
SUMMARY = "summary.json"


def final_step(model: Any) -> Any:
    """Return the last step of a model: the classifier, search or cover."""
    return model[-1] if isinstance(model, Pipeline) else model


def classifier_of(model: Any) -> PVMClassifier:
    """Return the classifier with the prototypes."""
    return unwrap(model, covers=True).classifier


def _with_last_step(model: Any, last: Any) -> Any:
    """Return a copy of a fitted model with another last step."""
    if isinstance(model, Pipeline):
        return Pipeline([*model.steps[:-1], (model.steps[-1][0], last)])
    return last


def with_rows(model: Any, rows: Any) -> Any:
    """Return a copy of a fitted model with other row numbers of its prototypes."""
    last = copy(final_step(model))
    if hasattr(last, "best_estimator_"):
        last.best_estimator_ = with_rows(last.best_estimator_, rows)
    else:
        last.prototype_indices_ = np.asarray(rows)
    return _with_last_step(model, last)


def read_cases(model: Any, options: Namespace, console: Console) -> Cases:
    """Read a table or images with the columns that a model was fitted on.

    Labels are text or None.
    """
    path = options.data
    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    noted = _settings_of_fit(options.model)
    options.missing = options.missing or noted.get("missing")
    options.decimal = options.decimal or noted.get("decimal")
    types = _column_types(model)
    layout = layout_of(list(types))
    if layout is not None and not _is_table(path):
        return read_images(path, layout, features=None, skip=options.skip_broken, console=console)
    if options.features is not None:
        return _read_encoded(path, types, options, console)
    if path.is_dir():
        raise CommandError(
            f"{path} is a folder, and the model was fitted on a table or on vectors of images; "
            "give a table, or the vectors of the images with --features FILE"
        )
    return _read_rows(path, types, options, console)


def _settings_of_fit(path: Path) -> dict[str, Any]:
    """Return how the table of a fit was read, according to the summary next to the model."""
    folder = path if path.is_dir() else path.parent
    if not path.is_dir() and path.name != MODEL:
        return {}
    try:
        settings = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["settings"]
        missing, decimal = settings.get("missing") or [], settings.get("decimal")
        return {
            "missing": [str(mark) for mark in missing],
            "decimal": decimal if decimal in (".", ",") else None,
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _read_encoded(
    path: Path, types: dict[str, ColumnType], options: Namespace, console: Console
) -> Cases:
    """Read images with their vectors, which must have the length of the model's."""
    cases = read_images(
        path, None, features=options.features, skip=options.skip_broken, console=console
    )
    if list(cases.X.columns) != list(types):
        raise CommandError(
            f"--features {options.features} has vectors of {cases.X.shape[1]} numbers and the "
            f"model requires {len(types)}; encode the images as those of the fit"
        )
    return cases


def explain_cases(model: Any, cases: Cases) -> Any:
    """Return a table with the prediction for each case.

    Rows are counted from 1; those of prototypes refer to the training data.
    """
    import pandas as pd

    within = unwrap(model, covers=True)
    if within.cover is not None:
        return assign_cases(model, cases)
    classifier, points = within.classifier, within.prepare(cases.X)
    why = classifier.explain(points)
    columns: dict[str, Any] = {"row": cases.rows}
    if cases.names is not None:
        columns["name"] = cases.names
    rows = np.append(classifier.prototype_indices_, -1)
    columns |= {
        "predicted": classifier.predict(points),
        "prototype": number_rows(why.prototype),
        "prototype_row": number_rows(rows[why.prototype]),
        "distance": finite(why.distance),
        **_in_radii(classifier, "", why.radius, why.relative_distance),
        "inside": why.inside,
        "margin": finite(why.margin),
        "runner_up": why.runner_up_label,
        "runner_up_prototype": number_rows(why.runner_up_prototype),
        "runner_up_row": number_rows(rows[why.runner_up_prototype]),
        "runner_up_distance": finite(why.runner_up_distance),
        **_in_radii(
            classifier, "runner_up_", why.runner_up_radius, why.runner_up_relative_distance
        ),
    }
    if why.contributions is not None:
        probabilities = classifier.predict_proba(points).T
        names = [f"probability_{label}" for label in classifier.classes_.tolist()]
        columns |= dict(zip(names, probabilities, strict=True))
    return pd.DataFrame(columns)


def _in_radii(classifier: PVMClassifier, of: str, radius: Any, relative: Any) -> dict[str, Any]:
    """Return the radius and the distance relative to it, if radii differ per prototype."""
    if classifier.solution_.radii is None:
        return {}
    return {f"{of}radius": radius, f"{of}relative_distance": finite(relative)}


def explain_labeled(model: Any, cases: Cases, held_out: Any) -> Any:
    """Return the predictions with the labels, and whether each case was held out."""
    table = explain_cases(model, cases)
    place = table.columns.get_loc("predicted")
    table.insert(place, "used", np.where(held_out, "held out", "training"))
    table.insert(place + 1, "label", cases.y)
    return table


def _read_rows(
    path: Path, types: dict[str, ColumnType], options: Namespace, console: Console
) -> Cases:
    """Read the rows of a table."""
    import pandas as pd

    frame = read_table(path, console=console, **reading_options(options))
    columns = list(frame.columns)
    absent = [name for name in types if name not in columns]
    if absent:
        raise CommandError(
            f"{path} lacks {len(absent)} of the columns of the model: {list_names(absent)}; add "
            "them, with empty cells for missing values"
        )
    known = {*types, options.target, options.id}
    others = [name for name in columns if name not in known]
    if others:
        console.note(f"Ignored: {list_names(others)}, not a column of the model.")
    cells = blank_out(frame[list(types)], parse_marks(options, columns))
    decimal = options.decimal or find_decimal(
        cells[name].to_numpy(dtype=object) for name in cells.columns
    )
    X = pd.DataFrame(
        {name: convert(cells[name], kind, decimal=decimal) for name, kind in types.items()}
    )
    y: Any = None
    names: Any = None
    if options.target is not None:
        target = frame[find_column(columns, options.target, "--target", path)]
        y, present = np.full(len(target), None), ~is_missing(target)
        y[present] = label_texts(target[present])
    if options.id is not None:
        names = row_names(frame[find_column(columns, options.id, "--id", path)])
    dialect = Dialect(frame.attrs.get("separator", ","), decimal or ".")
    return Cases(X, y, frame.index.to_numpy() + 1, path.name, names, shown=frame, dialect=dialect)


def _column_types(model: Any) -> dict[str, ColumnType]:
    """Return the type of each column of a model, in order."""
    names = _feature_names(model)
    dissimilarity = classifier_of(model).dissimilarity_
    if not hasattr(dissimilarity, "stores_"):
        return dict.fromkeys(names, ColumnType("numbers"))
    return {
        name: ColumnType(stores, tuple(categories) if stores == "ranks" else None)
        for name, stores, categories in zip(
            names, dissimilarity.stores_, dissimilarity.categories_, strict=True
        )
    }


def _feature_names(model: Any) -> list[str]:
    """Return the names of the columns that a model was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    dissimilarity = classifier_of(model).dissimilarity_
    if names is None and getattr(dissimilarity, "named_", False):
        names = dissimilarity.names_
    if names is not None:
        return [str(name) for name in names]
    raise CommandError(
        "the model has no column names; fit it on a table with column names, or predict in Python"
    )


def _is_table(path: Path) -> bool:
    """Whether a file is a table by its name; a pipe always is."""
    name = path.name.lower().removesuffix(".gz")
    if not path.is_file():
        return not path.is_dir()
    return name.endswith((".csv", ".tsv", ".tab", ".txt", ".parquet", *SPREADSHEETS))


def assign_cases(model: Any, cases: Cases, *, known: bool = False) -> Any:
    """Return a table with the nearest representative of each case, and whether it covers it.

    Rows are counted from 1; those of representatives refer to the training data. If these are
    `cases` (`known`), the names of representatives are added.
    """
    import pandas as pd

    within = unwrap(model, covers=True)
    why = within.classifier.explain(within.prepare(cases.X))
    rows = np.append(within.classifier.prototype_indices_, -1)[why.prototype]
    columns: dict[str, Any] = {"row": cases.rows}
    if cases.names is not None:
        columns["name"] = cases.names
    columns["representative"] = number_rows(why.prototype)
    columns["representative_row"] = number_rows(rows)
    if known and cases.names is not None:
        columns["representative_name"] = np.where(rows < 0, None, cases.names[rows])
    return pd.DataFrame(columns | {"distance": finite(why.distance), "covered": why.inside})


def number_rows(places: Any) -> Any:
    """Return indices counted from 1, and missing values instead of -1."""
    import pandas as pd

    numbers = pd.array(np.asarray(places) + 1, dtype="Int64")
    numbers[np.asarray(places) < 0] = pd.NA
    return numbers


def finite(values: Any) -> Any:
    """Return numbers with NaN instead of infinity, where there is no prototype."""
    return np.where(np.isinf(values), np.nan, values)
