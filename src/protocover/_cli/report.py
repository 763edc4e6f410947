"""``protocover report``: the report of a model, made anew from the data it was fitted on."""

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
from .cases import Cases, read_weights
from .console import CommandError, Console, UsageError
from .cover import summarize_covered
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
        raise UsageError("--target goes with a classifier, and the model is a cover; leave it out")
    cases = replace(read_cases(model, options, console), y=None)
    title = options.title or f"Representatives of {cases.source}"
    with _naming(options.data):
        summary = summarize_covered(model, cases, title=title)
    write_file(path, render(summary).encode())
    console.say(f"Wrote {path}.")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file whose rows are not those of the fit."""
    try:
        yield
    except ForeignRowsError as error:
        raise CommandError(
            f"{path} does not hold the rows that the model was fitted on: {error.fault}; give the "
            "table of the fit, unchanged, and the folder that fit wrote, which lists the "
            "held-out rows"
        ) from error


def _read_figures(path: Path) -> dict[str, Any] | None:
    """Return what `fit` has noted beside a model, if that is there."""
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
    """Return the cases with the weights of the fit: it does not count those of weight 0."""
    settings = (figures or {}).get("settings")
    column = settings.get("weights") if isinstance(settings, dict) else None
    if cases.shown is None or column not in list(cases.shown):
        return cases
    weights = read_weights(cases.shown[column], cases.dialect.decimal)
    return replace(cases, weights=weights)


def _labeled(cases: Cases, model: Any, options: Namespace, console: Console) -> Cases:
    """Return the cases that have a label, with labels as the model has them."""
    if cases.y is None:
        raise UsageError("which column holds the class? add --target NAME")
    labeled = np.flatnonzero([label is not None for label in cases.y])
    if len(labeled) < len(cases):
        console.warn(f"left out {len(cases) - len(labeled)} cases without a class")
    cases = cases.take(labeled)
    classes = {str(label): label for label in classifier_of(model).classes_}
    unknown = next((label for label in np.asarray(cases.y) if str(label) not in classes), None)
    if unknown is not None:
        raise CommandError(
            f"{options.data} has the class {str(unknown)!r}, which the model does not know; give "
            "the data that it was fitted on"
        )
    return replace(cases, y=np.array([classes[str(label)] for label in np.asarray(cases.y)]))


def _split(cases: Cases, figures: dict[str, Any] | None) -> tuple[Cases, Cases | None]:
    """Return the cases that the model was fitted on, and those that were kept back."""
    if figures is None or not len(figures["held_out_rows"]):
        return cases, None
    kept_back = np.isin(cases.rows, figures["held_out_rows"])
    return cases.take(np.flatnonzero(~kept_back)), cases.take(np.flatnonzero(kept_back))


def _point_to_rows(model: Any, training: Cases, path: Path) -> Any:
    """Return a model with its prototypes' rows among the training cases."""
    rows = classifier_of(model).prototype_indices_
    places = np.minimum(np.searchsorted(training.rows, rows + 1), len(training) - 1)
    real = rows >= 0
    if (training.rows[places] != rows + 1)[real].any():
        raise CommandError(
            f"{path} lacks rows that the model has as prototypes; give the data that it was "
            "fitted on"
        )
    return with_rows(model, np.where(real, places, -1))
