"""Answers for cases: their class, the prototype that decided, and how clearly."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Cases
from .model import classifier_of, measured

__all__ = ["csv_text", "explain_cases", "explain_labelled", "write_table"]


def explain_cases(model: Any, cases: Cases) -> Any:
    """Return a table with an answer for each case.

    Rows are counted from 1, those of prototypes in the data that the model was fitted on.
    """
    import pandas as pd

    classifier = classifier_of(model)
    points = measured(model, cases.X)
    why = classifier.explain(points)
    columns: dict[str, Any] = {"row": cases.rows}
    if cases.names is not None:
        columns["name"] = cases.names
    rows = np.append(classifier.prototype_rows_, -1)
    columns |= {
        "predicted": classifier.predict(points),
        "prototype": _row_numbers(why.prototype),
        "prototype_row": _row_numbers(rows[why.prototype]),
        "distance": _finite(why.distance),
        "inside": why.inside,
        "margin": _finite(why.margin),
        "runner_up": why.runner_up_label,
        "runner_up_prototype": _row_numbers(why.runner_up_prototype),
        "runner_up_row": _row_numbers(rows[why.runner_up_prototype]),
        "runner_up_distance": _finite(why.runner_up_distance),
    }
    return pd.DataFrame(columns)


def explain_labelled(model: Any, cases: Cases, held_out: Any) -> Any:
    """Return the answers beside the labels, and whether each case was learned from.

    `held_out` tells of each case whether it was kept back.
    """
    table = explain_cases(model, cases)
    place = table.columns.get_loc("predicted")
    table.insert(place, "used", np.where(held_out, "held out", "training"))
    table.insert(place + 1, "label", cases.y)
    return table


def csv_text(table: Any, *, header: bool = True) -> str:
    """Return a table as CSV, cells as they are in the data."""
    text = io.StringIO()
    table.to_csv(text, index=False, header=header, lineterminator="\n")
    return text.getvalue()


def write_table(path: Path, table: Any) -> None:
    """Write a table as CSV."""
    path.write_bytes(csv_text(table).encode())


def _row_numbers(places: Any) -> Any:
    """Return places from 1; nothing in place of -1, for what is not in the data."""
    import pandas as pd

    numbers = pd.array(np.asarray(places) + 1, dtype="Int64")
    numbers[np.asarray(places) < 0] = pd.NA
    return numbers


def _finite(values: Any) -> Any:
    """Return numbers, NaN in place of infinity, where there is no such prototype."""
    return np.where(np.isinf(values), np.nan, values)
