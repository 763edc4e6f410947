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
from .model import classifier_of, with_rows

__all__ = ["Outcome", "describe_cases", "gather_outcome", "in_source", "summarize_cases"]


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


def gather_outcome(model: Any, *, cases: Cases, training: Cases, **known: Any) -> Outcome:
    """Find suspect labels among cases, and put them to what is known.

    `model` has its prototypes' rows among those it was fitted on, `training`; that of the
    outcome has them in the source, so that a model file alone can tell which they are.
    """
    model = in_source(model, training)
    rows = classifier_of(model).prototype_rows_
    places = np.where(rows >= 0, np.searchsorted(cases.rows, rows + 1), -1)
    suspects = suspect_labels(with_rows(model, places), cases.X, cases.y)
    return Outcome(model, cases, training, suspects=suspects, **known)


def in_source(model: Any, training: Cases) -> Any:
    """Return a model with its prototypes' rows in the source of the cases it was fitted on."""
    rows = classifier_of(model).prototype_rows_
    return with_rows(model, np.where(rows >= 0, training.rows[np.maximum(rows, 0)] - 1, -1))


def summarize_cases(
    model: Any,
    training: Cases,
    held_out: Cases | None,
    *,
    title: str,
    how: dict[str, str] | None = None,
    high_is_dark: bool = False,
    **counted: Any,
) -> Summary:
    """Return what the report says of a model and the cases it was fitted on.

    `how` says where they come from, if there is more to it than their number; `counted` is
    what `summarize` need not count.
    """
    how = describe_cases(training, held_out) if how is None else dict(how)
    if isinstance(model, Pipeline):
        how["Columns"] = "brought to mean 0 and standard deviation 1 before distances"
    pictures: dict[str, Any] = {}
    if training.layout is not None:
        pixels, shape = np.asarray(training.X), training.layout.shape
        if high_is_dark:
            pictures["image_shape"] = shape
        else:
            pictures["images"] = pixels.reshape(len(training), *shape)
        if isinstance(model, Pipeline):
            # Bare, they are no columns to show beside the pictures.
            pictures["shown"] = pixels
    return summarize(
        model,
        training.X,
        training.y,
        held_out=None if held_out is None else (held_out.X, held_out.y),
        row_names=training.titles,
        title=title,
        how=how,
        **pictures,
        **counted,
    )


def describe_cases(training: Cases, held_out: Cases | None) -> dict[str, str]:
    """Say where cases come from, and how many were kept back."""
    n_held_out = 0 if held_out is None else len(held_out)
    how = {"Data": f"{training.source}, {len(training) + n_held_out} cases"}
    if n_held_out:
        how["Test"] = f"{n_held_out} of them kept back, drawn by chance from each class"
    return how
