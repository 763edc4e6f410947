"""Cases outside the training data: what the model predicts, and which cases are listed."""

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
from .._typing import Floats, Indices, Mask
from ..data._frames import in_memory
from ._quality import tally_answers
from ._summary import Answer, Answers
from ._table import read_row_names

# Length of a list of cases, with their comparisons.
MOST_LISTED = 1000


@dataclass(frozen=True, eq=False)
class Queries:
    """Cases to predict and explain, and how to show them.

    Parameters
    ----------
    X : array-like, data frame, list of texts
        The cases, as for `predict`.
    y : array-like or None, default=None
        Their classes if known; None for an unknown class.
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

    @property
    def displayed(self) -> Any:
        """The rows that the page shows."""
        return self.X if self.shown is None else self.shown

    def take(self, rows: Indices) -> Queries:
        """Return some of the cases, each with a name."""
        names = read_row_names(self.names, self.displayed)
        return Queries(
            X=_safe_indexing(self.X, rows),
            y=None if self.y is None else self.y[rows],
            names=[names[row] for row in rows],
            shown=None if self.shown is None else _safe_indexing(self.shown, rows),
            images=None if self.images is None else self.images[rows],
        )


@dataclass(frozen=True, eq=False)
class AnsweredQueries:
    """Predictions for all queries; `queries` and `points` are only those that are listed."""

    queries: Queries
    points: Any  # as the classifier takes them
    listed: Indices  # rows of all queries
    why: Explanation  # of all queries
    answers: NDArray[Any]
    labels: NDArray[Any]  # None if not known
    classes: Indices  # of the labels, -1 if the model does not know a label
    known: Mask  # whether there is a label
    wrong: Mask  # whether it differs from the prediction


def read_queries(given: Any, name: str = "queries") -> Queries | None:
    """Return `Queries` from queries, a pair (X, y), or rows alone."""
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
        raise ValueError(f"{name} must hold at least one case, got none; omit it instead")
    if queries.shown is not None and row_count(queries.shown) != row_count(queries.X):
        raise ValueError(
            f"shown must hold a row for each of the {row_count(queries.X)} cases of {name}, got "
            f"{row_count(queries.shown)}; pass what to show of each case, in the same order"
        )
    if queries.y is None:
        return queries
    labels = queries.y
    if isinstance(labels, list | tuple) and any(map(is_missing_label, labels)):
        # Among texts NumPy would turn a missing label into "nan".
        labels = np.fromiter(labels, dtype=object, count=len(labels))
    labels = column_or_1d(labels, warn=True)
    check_consistent_length(queries.X, labels)
    return replace(queries, y=labels)


def read_held_out(given: Any) -> Queries | None:
    """Return held-out cases, whose classes must be known."""
    held_out = read_queries(given, "held_out")
    if held_out is not None and held_out.y is None:
        raise ValueError(
            "held_out must be (X_test, y_test), got no y_test; pass cases of unknown class as "
            "queries"
        )
    return held_out


def answer_queries(
    queries: Queries, within: Unwrapped, first: Indices | None = None
) -> AnsweredQueries:
    """Predict queries, and choose which to list: errors first, then small margins.

    The rows `first` are always listed.
    """
    model, X = within.classifier, within.prepare(queries.X)
    why, answers = model.explain(X), np.asarray(model.predict(X))
    n_cases = len(answers)
    labels = np.full(n_cases, None, dtype=object)
    if queries.y is not None:
        labels[:] = [_as_class(label, model.classes_) for label in queries.y.tolist()]
    known = np.array([label is not None for label in labels])
    wrong = known & (answers.astype(str) != labels.astype(str))
    order = np.lexsort((np.arange(n_cases), _relative_margin(model, why), ~wrong))
    listed = order[:MOST_LISTED]
    if first is not None and not np.isin(first, listed).all():
        some = order[~np.isin(order, first)][: max(0, MOST_LISTED - len(first))]
        listed = order[np.isin(order, np.concatenate((some, first)))]
    code = _class_codes(model)
    return AnsweredQueries(
        queries=queries.take(listed),
        points=_safe_indexing(X, listed),
        listed=listed,
        why=why,
        answers=answers,
        labels=labels,
        classes=np.array([code.get(str(label), -1) for label in labels], dtype=np.intp),
        known=known,
        wrong=wrong,
    )


def summarize_answers(asked: AnsweredQueries, cases: Indices, model: PVMClassifier) -> Answers:
    """Return the predictions as data; `cases` are the listed queries among all cases."""
    code, evaluation = _class_codes(model), None
    if asked.known.any():
        labels = match_labels(asked.labels[asked.known], model.classes_)
        evaluation = tally_answers(model, labels, asked.answers[asked.known])
    listed = [
        Answer(
            case=int(case),
            answer=str(asked.answers[row]),
            class_=code.get(str(asked.answers[row]), -1),
            label=None if asked.labels[row] is None else str(asked.labels[row]),
            wrong=bool(asked.wrong[row]),
        )
        for row, case in zip(asked.listed.tolist(), cases, strict=True)
    ]
    return Answers(
        n_cases=len(asked.answers),
        n_labeled=int(asked.known.sum()),
        n_wrong=int(asked.wrong.sum()),
        n_outside=int((~asked.why.inside).sum()),
        listed=listed,
        evaluation=evaluation,
    )


def _class_codes(model: PVMClassifier) -> dict[str, int]:
    """Return the index of each class by its name."""
    return {str(label): c for c, label in enumerate(model.classes_.tolist())}


def _relative_margin(model: PVMClassifier, why: Explanation) -> Floats:
    """Return the runner-up's distance over the nearest's: 1 for a tie, inf without runner-up."""
    near = np.stack((why.distance, why.runner_up_distance))
    if model.solution_.radii is not None:
        near = np.stack((why.relative_distance, why.runner_up_relative_distance))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = near[1] / near[0]
    return np.where(np.isnan(ratio), 1.0, ratio)


def _as_class(label: Any, classes: NDArray[Any]) -> Any:
    """Return a label in the type of the classes, None if it is missing.

    Integers turn into floats next to missing values.
    """
    if is_missing_label(label):
        return None
    if isinstance(label, float) and label.is_integer() and classes.dtype.kind in "iu":
        return int(label)
    return label
