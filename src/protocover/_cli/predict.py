"""``protocover predict``: the class of new cases, and the prototype that decided it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from .._balls import traits_of
from .._inspection.fitted import unwrap
from .._persistence import load_model
from ..report import Queries, render, summarize_queries
from .cases import Cases
from .columns import in_own_words
from .console import CommandError, Console, UsageError, count_things, put_out
from .images import enlarge, resize
from .model import MODEL, classifier_of, explain_cases, read_cases
from .outcome import as_queries, evaluate_answers, print_evaluation
from .tables import csv_bytes, csv_text
from .writing import check_file, prototype_names, read_pictures, write_file


def run_predict(options: Namespace, console: Console) -> None:
    """Read a model and new cases, and write a prediction for each."""
    _check_outputs(options)
    model = load_model(options.model)
    if unwrap(model, covers=True).cover is not None:
        _refuse_for_covers(options)
    cases = read_cases(model, options, console)
    _check_values(model, cases)
    answers = explain_cases(model, cases)
    text = csv_text(answers, dialect=cases.dialect)
    if options.output is None:
        put_out(text)
    else:
        write_file(options.output, csv_bytes(answers, dialect=cases.dialect))
        console.note(f"Wrote {options.output}: {count_things(len(cases), 'case', 'cases')}.")
    if options.report is not None:
        _write_report(model, cases, options)
        console.note(f"Wrote {options.report}: the prototypes that decided each case.")
    evaluation = evaluate_answers(model, cases, answers)
    if evaluation is not None:
        print_evaluation(evaluation, answers, console)


def _check_outputs(options: Namespace) -> None:
    """Raise an error if an output exists, is an input, or is the other output."""
    inputs = [options.data, options.model, options.model / MODEL, options.features]
    for name in ("output", "report"):
        path = getattr(options, name)
        if path is not None:
            check_file(path, force=options.force, option=f"--{name}", inputs=inputs)
    written = [path.resolve() for path in (options.output, options.report) if path is not None]
    if len(set(written)) < len(written):
        raise UsageError(
            f"--output and --report are the same file, {options.output}; choose two files"
        )


def _refuse_for_covers(options: Namespace) -> None:
    """Raise an error if an option is only valid for classifiers."""
    for name in ("target", "report"):
        if getattr(options, name) is not None:
            raise UsageError(
                f"--{name} is only valid for a classifier, and the model is a cover; omit it"
            )


def _write_report(model: Any, cases: Cases, options: Namespace) -> None:
    """Write a page that compares each case with the deciding prototype and the runner-up."""
    summary = summarize_queries(
        model,
        as_queries(cases),
        prototypes=_show_prototypes(model, cases, options.model),
        title=f"Predictions for {cases.source}",
        how={"Data": f"{cases.source}, {count_things(len(cases), 'case', 'cases')}"},
    )
    write_file(options.report, render(summary).encode("utf-8", errors="replace"))


def _show_prototypes(model: Any, cases: Cases, folder: Path) -> Queries:
    """Return the prototypes as the page shows them, in the units of the cases, with names."""
    import pandas as pd

    classifier = classifier_of(model)
    table = classifier.prototypes_
    for steps in reversed(unwrap(model).transformers):
        table = steps.inverse_transform(table)
    if not hasattr(table, "columns"):
        table = pd.DataFrame(np.asarray(table), columns=list(cases.X.columns))
    names = prototype_names(classifier, folder)
    if cases.pictures is None:
        return Queries(in_own_words(table, cases.shown), names=names)
    pixels = np.asarray(table, dtype=np.float64)
    return Queries(pixels, names=names, images=_picture_prototypes(cases, pixels, folder))


def _picture_prototypes(cases: Cases, pixels: Any, path: Path) -> Any:
    """Return pictures of the prototypes: those saved by `fit`, or made from their pixels."""
    size = cases.pictures.size
    kept = read_pictures(path, len(pixels))
    if kept is not None:
        return np.stack([resize(picture, size) for picture in kept])
    if cases.layout is None:
        return np.full((len(pixels), size[1], size[0], 3), 255, dtype=np.uint8)
    return np.stack([enlarge(row.reshape(cases.layout.shape), size) for row in pixels])


def _check_values(model: Any, cases: Cases) -> None:
    """Raise an error about missing values if the distance does not support them."""
    allows_nan = traits_of(classifier_of(model).dissimilarity_).allows_nan
    if allows_nan or cases.layout is not None:
        return
    absent = cases.X.isna().to_numpy()
    if absent.any():
        row, column = np.argwhere(absent)[0]
        raise CommandError(
            f"row {cases.rows[row]} has no value of {str(cases.X.columns[column])!r}, and the "
            "distance of the model does not support missing values; fill it in, or fit a model "
            "with --metric gower"
        )
