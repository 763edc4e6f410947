"""``protocover report``: regenerate the report of a model from its training data."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._inspection.fitted import unwrap
from .._persistence import load_model
from ..report import render
from ..report._training_data import ForeignRowsError
from .cases import Cases
from .check import read_amounts
from .console import CommandError, Console, UsageError, count_things
from .model import MODEL, SUMMARY, classifier_of, read_cases, with_rows
from .outcome import find_suspects, summarize_cases
from .writing import REPORT, WRITER, check_file, write_file


def run_report(options: Namespace, console: Console) -> None:
    """Read a model and its data, and write the page."""
    figures = _read_figures(options.model)
    ours = options.output is None and options.model.is_dir() and figures is not None
    path = options.model / REPORT if ours else options.output or Path(REPORT)
    inputs = [options.data, options.model, options.model / MODEL, options.features]
    check_file(path, force=options.force or ours, inputs=inputs)
    model = load_model(options.model)
    known = figures["data"] if figures else {}
    if unwrap(model, covers=True).cover is not None:
        options.id = options.id or known.get("id")
        _report_cover(model, options, path, console)
        return
    options.target = options.target or known.get("target")
    options.id = options.id or known.get("id")
    cases = _weighted(read_cases(model, options, console), figures)
    cases = _labeled(cases, model, options, console)
    training, held_out = _split(cases, figures)
    model = _point_to_rows(model, training, options.data)
    title = options.title or f"Prototypes of {cases.source}"
    with _naming(options.data):
        summary = summarize_cases(
            model,
            training,
            held_out,
            title=title,
            suspects=find_suspects(model, cases),
            target_name=options.target,
        )
    write_file(path, render(summary).encode())
    console.say(f"Wrote {path}.")


def _report_cover(model: Any, options: Namespace, path: Path, console: Console) -> None:
    """Write the page of a cover."""
    if options.target is not None:
        raise UsageError(
            "--target is only valid for a classifier, and the model is a cover; omit it"
        )
    cases = replace(read_cases(model, options, console), y=None)
    title = options.title or f"Representatives of {cases.source}"
    with _naming(options.data):
        summary = summarize_cases(model, cases, None, title=title)
    write_file(path, render(summary).encode())
    console.say(f"Wrote {path}.")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file whose rows are not those of the fit."""
    try:
        yield
    except ForeignRowsError as error:
        raise CommandError(
            f"{path} does not contain the rows that the model was fitted on: {error.fault}; give "
            "the unchanged table of the fit and its output folder, which lists the held-out rows"
        ) from error


def _read_figures(path: Path) -> dict[str, Any] | None:
    """Return the summary that `fit` wrote next to a model, if any."""
    folder = path if path.is_dir() else path.parent
    if path.name != MODEL and not path.is_dir():
        return None
    try:
        figures: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        known = figures["written_by"] == WRITER and isinstance(figures["data"], dict)
        held_out = np.asarray(figures["held_out_rows"], dtype=np.intp)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return {**figures, "held_out_rows": held_out} if known else None


def _weighted(cases: Cases, figures: dict[str, Any] | None) -> Cases:
    """Return the cases with the weights of the fit."""
    settings = (figures or {}).get("settings")
    column = settings.get("weights") if isinstance(settings, dict) else None
    if cases.shown is None or column not in list(cases.shown):
        return cases
    weights = read_amounts(cases.shown[column], "--weights", cases.dialect.decimal)
    return replace(cases, weights=weights)


def _labeled(cases: Cases, model: Any, options: Namespace, console: Console) -> Cases:
    """Return the cases that have a label, with labels of the type of the model's."""
    if cases.y is None:
        raise UsageError("--target is missing; name the column of the class")
    labeled = np.flatnonzero([label is not None for label in cases.y])
    if len(labeled) < len(cases):
        left_out = count_things(len(cases) - len(labeled), "case", "cases")
        console.warn(f"left out {left_out} without a class")
    cases = cases.take(labeled)
    classes = {str(label): label for label in classifier_of(model).classes_}
    unknown = next((label for label in np.asarray(cases.y) if str(label) not in classes), None)
    if unknown is not None:
        raise CommandError(
            f"{options.data} has the class {str(unknown)!r}, which the model does not have; give "
            "the data that it was fitted on"
        )
    return replace(cases, y=np.array([classes[str(label)] for label in np.asarray(cases.y)]))


def _split(cases: Cases, figures: dict[str, Any] | None) -> tuple[Cases, Cases | None]:
    """Return the training cases, and those that were held out."""
    if figures is None or not len(figures["held_out_rows"]):
        return cases, None
    held_out = np.isin(cases.rows, figures["held_out_rows"])
    return cases.take(np.flatnonzero(~held_out)), cases.take(np.flatnonzero(held_out))


def _point_to_rows(model: Any, training: Cases, path: Path) -> Any:
    """Return a model whose prototypes' rows are those of the training cases."""
    rows = classifier_of(model).prototype_indices_
    places = np.minimum(np.searchsorted(training.rows, rows + 1), len(training) - 1)
    real = rows >= 0
    if (training.rows[places] != rows + 1)[real].any():
        raise CommandError(
            f"{path} lacks rows that are prototypes of the model; give the data that it was "
            "fitted "
            "on"
        )
    return with_rows(model, np.where(real, places, -1))
