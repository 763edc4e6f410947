"""What came out of fitting: the model, its cases, and all that a report says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..estimators import PVMClassifier
from ..inspection.suspects import suspect_labels
from ..report import Summary, summarize
from .cases import Cases
from .models import classifier_of, final_step, measured

__all__ = ["Outcome", "describe_cases", "gather_outcome", "summarize_cases"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model and what is to be told of it.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV or Pipeline
        Its prototypes' rows are those of the source, from 0.
    cases, training : Cases
        All cases, or a sample of those that it was fitted on, and those.
    held_out : Cases or None
        Those that were kept back.
    summary : Summary
        What the report says.
    suspects : SuspectLabels
        Of `cases`.
    distance : str
        The distance in words.
    target, identifier : str or None
        Columns of a table.
    settings : dict
        What was asked for.
    seconds : float
        How long it took.
    n_sampled : int or None, default=None
        How many cases were drawn to search for the radius; None for all.
    """

    model: Any
    cases: Cases
    training: Cases
    held_out: Cases | None
    summary: Summary
    suspects: Any
    distance: str
    target: str | None
    identifier: str | None
    settings: dict[str, Any]
    seconds: float
    n_sampled: int | None = None

    @property
    def is_sample(self) -> bool:
        """Whether `cases` are only some of those that there are."""
        n_held_out = 0 if self.held_out is None else len(self.held_out)
        return len(self.cases) < len(self.training) + n_held_out

    @property
    def classifier(self) -> PVMClassifier:
        """The classifier with the prototypes."""
        return classifier_of(self.model)


def gather_outcome(
    model: Any,
    *,
    cases: Cases,
    training: Cases,
    held_out: Cases | None,
    distance: str,
    title: str,
    target: str | None,
    identifier: str | None,
    settings: dict[str, Any],
    seconds: float,
    how: dict[str, str] | None = None,
    high_is_dark: bool = False,
) -> Outcome:
    """Summarize a model, then let it name its prototypes by their rows in the source.

    A model file alone can then tell which they are.
    """
    summary = summarize_cases(
        model, training, held_out, title=title, how=how, high_is_dark=high_is_dark
    )
    classifier = classifier_of(model)
    rows = classifier.prototype_rows_
    numbers = np.where(rows >= 0, training.rows[np.maximum(rows, 0)], 0)
    classifier.prototype_rows_ = np.where(rows >= 0, np.searchsorted(cases.rows, numbers), -1)
    suspects = suspect_labels(classifier, measured(model, cases.X), cases.y)
    classifier.prototype_rows_ = numbers - 1
    return Outcome(
        model,
        cases,
        training,
        held_out,
        summary,
        suspects,
        distance,
        target,
        identifier,
        settings,
        seconds,
    )


def summarize_cases(
    model: Any,
    training: Cases,
    held_out: Cases | None,
    *,
    title: str,
    how: dict[str, str] | None = None,
    high_is_dark: bool = False,
) -> Summary:
    """Return what the report says of a model and the cases it was fitted on.

    `how` says where they come from, if there is more to it than their number.
    """
    how = describe_cases(training, held_out) if how is None else dict(how)
    if isinstance(model, Pipeline):
        how["Columns"] = "brought to mean 0 and standard deviation 1 before distances"
    pictures: dict[str, Any] = {}
    if training.layout is not None:
        shape = training.layout.shape
        if high_is_dark:
            pictures["image_shape"] = shape
        else:
            pictures["images"] = np.asarray(training.X).reshape(len(training), *shape)
    return summarize(
        final_step(model),
        measured(model, training.X),
        training.y,
        held_out=None if held_out is None else (measured(model, held_out.X), held_out.y),
        shown=None if training.layout is not None else training.X,
        row_names=training.titles,
        title=title,
        how=how,
        **pictures,
    )


def describe_cases(training: Cases, held_out: Cases | None) -> dict[str, str]:
    """Say where cases come from, and how many were kept back."""
    n_held_out = 0 if held_out is None else len(held_out)
    how = {"Data": f"{training.source}, {len(training) + n_held_out} cases"}
    if n_held_out:
        how["Test"] = f"{n_held_out} of them kept back, drawn by chance from each class"
    return how
