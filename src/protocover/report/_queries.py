"""Cases that a model is asked about: what it answers, and which of the answers are listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._estimators import PVMClassifier
from .._inspection.evaluation import is_missing_label, match_labels
from .._inspection.fitted import Unwrapped
from .._prototypes import Explanation
from .._resources import row_count
from ..data._frames import in_memory
from ._quality import tally_answers
from ._summary import Answer, Answers
from ._table import read_row_names

# Answers that are listed, with their comparisons.
MOST_LISTED = 1000


@dataclass(frozen=True, eq=False)
class Queries:
    """Cases to ask a model about, and how they are to be shown.

    Parameters
    ----------
    X : array-like, data frame, list of texts
        The cases, as for `predict`.
    y : array-like or None, default=None
        Their classes, where known; None for one that is not.
    names : sequence or None, default=None
        Names of the cases; None for the index of a frame, or row numbers.
    shown : data frame, array or list of texts, or None, default=None
        What to show in place of `X`, row for row, as `shown` of the training data.
    images : array or None, default=None
        Images of the cases, as `images` of the training data.

    Examples
    --------
    >>> from protocover.report import Queries
    >>> Queries([[5.1, 3.5], [6.2, 2.9]], names=["Ada", "Ben"]).names
    ['Ada', 'Ben']
    """

    X: Any
    y: Any = None
    names: Sequence[Any] | None = None
    shown: Any = None
    images: Any = None

    def take(self, rows: NDArray[np.intp]) -> Queries:
        """Return some of the cases, each with a name."""
        shown = self.X if self.shown is None else self.shown
        names = read_row_names(self.names, shown)
        return Queries(
            X=_safe_indexing(self.X, rows),
            y=None if self.y is None else self.y[rows],
            names=[names[row] for row in rows],
            shown=None if self.shown is None else _safe_indexing(self.shown, rows),
            images=None if self.images is None else self.images[rows],
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """Cases with their answers; those that are listed come as `queries`, in that order."""

    queries: Queries  # the listed ones
    points: Any  # the same as the classifier takes them
    why: Explanation  # of all cases
    listed: NDArray[np.intp]  # rows of all cases
    answers: NDArray[Any]  # of all cases
    labels: NDArray[Any]  # of all cases, None where not known
    classes: NDArray[np.intp]  # numbers of the labels, -1 where the model does not know one

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which of all cases are answered wrongly, as far as that is known."""
        known = np.array([label is not None for label in self.labels])
        return np.asarray(known & (self.answers.astype(str) != self.labels.astype(str)))


def read_queries(given: Any, name: str = "queries") -> Queries | None:
    """Return queries from whatever was given: themselves, a pair (X, y), or rows alone."""
    if given is None:
        return None
    if isinstance(given, Queries):
        queries = given
    elif isinstance(given, tuple) and len(given) == 2:
        queries = Queries(*given)
    else:
        queries = Queries(given)
    queries = replace(queries, X=in_memory(queries.X, name=name), shown=in_memory(queries.shown))
    if row_count(queries.X) == 0:
        raise ValueError(f"{name} must hold at least one case, got none; leave it out instead")
    if queries.shown is not None and row_count(queries.shown) != row_count(queries.X):
        raise ValueError(
            f"shown must hold a row for each of the {row_count(queries.X)} cases of {name}, got "
            f"{row_count(queries.shown)}"
        )
    if queries.y is None:
        return queries
    labels = queries.y
    if isinstance(labels, list | tuple) and any(map(is_missing_label, labels)):
        # Among texts NumPy would write a missing one out as "nan".
        labels = np.fromiter(labels, dtype=object, count=len(labels))
    labels = column_or_1d(labels, warn=True)
    check_consistent_length(queries.X, labels)
    return replace(queries, y=labels)


def read_held_out(given: Any) -> Queries | None:
    """Return cases that were kept back, whose classes must be known."""
    held_out = read_queries(given, "held_out")
    if held_out is not None and held_out.y is None:
        raise ValueError(
            "held_out must be (X_test, y_test), with the classes of the cases; pass cases whose "
            "classes are not known as queries"
        )
    return held_out


def ask(queries: Queries, within: Unwrapped, first: NDArray[np.intp] | None = None) -> Asked:
    """Answer queries, and choose which are listed: the wrong ones first, then close calls.

    Those whose rows come `first` are listed in any case.
    """
    model, X = within.classifier, within.prepare(queries.X)
    why, answers = model.explain(X), np.asarray(model.predict(X))
    n_cases = len(answers)
    labels = np.full(n_cases, None, dtype=object)
    if queries.y is not None:
        labels[:] = [_known(label, model.classes_) for label in queries.y.tolist()]
    place = {str(label): c for c, label in enumerate(model.classes_.tolist())}
    classes = np.array([place.get(str(label), -1) for label in labels], dtype=np.intp)
    asked = Asked(queries, X, why, np.arange(n_cases), answers, labels, classes)
    order = np.lexsort((np.arange(n_cases), _clearness(model, why), ~asked.wrong))
    listed = order[:MOST_LISTED]
    if first is not None and not np.isin(first, listed).all():
        some = order[~np.isin(order, first)][: max(0, MOST_LISTED - len(first))]
        listed = order[np.isin(order, np.concatenate((some, first)))]
    return replace(
        asked, queries=queries.take(listed), points=_safe_indexing(X, listed), listed=listed
    )


def summarize_answers(asked: Asked, places: NDArray[np.intp], model: PVMClassifier) -> Answers:
    """Return the answers as data; `places` are those of the listed cases among all shown."""
    classes = {str(label): c for c, label in enumerate(model.classes_.tolist())}
    wrong = asked.wrong
    known = np.array([label is not None for label in asked.labels])
    evaluation = None
    if known.any():
        labels = match_labels(asked.labels[known], model.classes_)
        evaluation = tally_answers(model, labels, asked.answers[known])
    listed = [
        Answer(
            case=int(place),
            answer=str(asked.answers[row]),
            class_=classes.get(str(asked.answers[row]), -1),
            label=None if asked.labels[row] is None else str(asked.labels[row]),
            wrong=bool(wrong[row]),
        )
        for row, place in zip(asked.listed.tolist(), places, strict=True)
    ]
    return Answers(
        n_cases=len(asked.answers),
        n_labeled=int(known.sum()),
        n_wrong=int(wrong.sum()),
        n_outside=int((~asked.why.inside).sum()),
        listed=listed,
        evaluation=evaluation,
    )


def _clearness(model: PVMClassifier, why: Explanation) -> NDArray[np.float64]:
    """Return how much farther the runner-up is than the nearest: 1 for a tie, inf if alone."""
    near = np.stack((why.distance, why.runner_up_distance))
    if model.solution_.radii is not None:
        near = np.stack((why.relative_distance, why.runner_up_relative_distance))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = near[1] / near[0]
    return np.where(np.isnan(ratio), 1.0, ratio)


def _known(label: Any, classes: NDArray[Any]) -> Any:
    """Return a label as the classes are written, None in place of a missing one.

    Beside missing ones, whole numbers come as floats.
    """
    if is_missing_label(label):
        return None
    if isinstance(label, float) and label.is_integer() and classes.dtype.kind in "iu":
        return int(label)
    return label
