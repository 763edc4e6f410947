"""``protocover predict``: new cases for a model, their class, and the prototype that decided."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

import numpy as np

from ..balls import traits_of
from ..inspection.fitted import unwrap
from .cases import Cases
from .console import CommandError, Console, UsageError
from .model import classifier_of, explain_cases, open_model, read_cases
from .writing import check_file, csv_text, write_file

__all__ = ["run_predict"]


def run_predict(options: Namespace, console: Console) -> None:
    """Read a model and new cases, and write an answer for each."""
    if options.output is not None:
        check_file(options.output, force=options.force)
    model = open_model(options.model)
    if options.target is not None and unwrap(model, covers=True).cover is not None:
        raise UsageError("--target goes with a classifier, and the model is a cover; leave it out")
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
    if cases.y is None or "predicted" not in answers:
        return
    known = np.isin(cases.y.astype(str), classifier_of(model).classes_.astype(str))
    if known.any():
        wrong = answers["predicted"].to_numpy()[known].astype(str) != cases.y[known].astype(str)
        console.note(
            f"{wrong.sum()} of {known.sum()} cases of known class are answered wrongly "
            f"({100 * wrong.mean():.1f} %)."
        )
