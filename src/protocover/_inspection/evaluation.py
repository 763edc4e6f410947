"""Error figures of a classifier on labelled samples that it was not fitted on, and their text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._resources import row_count
from .._selection.parameters import check_weights
from .._typing import Floats
from ..data._frames import make_frame
from .fitted import unwrap


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Error figures of a classifier, counted on labelled samples.

    All figures follow from the confusion matrix. ``print(evaluation)`` shows them.

    Parameters
    ----------
    labels : ndarray, shape (n_labels,)
        The classes of the model, then the labels in `y` that are not among them.
    predicted_labels : ndarray, shape (n_predicted,)
        `labels`, followed by the `outlier_label` of the model if it has one.
    confusion : ndarray, shape (n_labels, n_predicted)
        Number of samples by true label (rows) and predicted label (columns). With sample
        weights, their total weight.
    majority_label : label
        The most frequent class in the training data.
    n_samples : int
        Number of samples.
    squared_weights : ndarray or None, default=None
        Sums of the squared sample weights, of the shape of `confusion`. None if all are 1.

    Attributes
    ----------
    accuracy : float
        Fraction of the samples classified correctly. An abstention is not correct.
    accuracy_interval : ndarray, shape (2,)
        Its 95 % interval.
    baseline_accuracy : float
        Accuracy of always predicting `majority_label`, on the same samples.
    beats_baseline : bool
        Whether the 95 % interval of the accuracy lies above `baseline_accuracy`.
    balanced_accuracy : float
        Mean recall of the labels that occur among the samples.
    support : ndarray, shape (n_labels,)
        Number, or total weight, of the samples of each label.
    recall, precision : ndarray, shape (n_labels,)
        Fraction of the samples of a label that are predicted as such, and fraction of the
        samples predicted as a label that have it. NaN if there are no such samples.
    recall_interval, precision_interval : ndarray, shape (n_labels, 2)
        Their 95 % intervals.

    See Also
    --------
    evaluate : Compute the figures for a fitted model.

    Notes
    -----
    Intervals are Wilson's (1927). With sample weights, the number of samples in them is
    Kish's effective sample size, ``sum(w)**2 / sum(w**2)``.

    Examples
    --------
    >>> from protocover import PVMClassifier, evaluate
    >>> X, y = [[36.4], [36.6], [36.8], [39.1], [39.3]], ["well", "well", "well", "ill", "ill"]
    >>> model = PVMClassifier(eps=1.0, radii="shared").fit(X, y)
    >>> figures = evaluate(model, [[36.5], [36.7], [36.9], [39.0]], ["well", "well", "ill", "ill"])
    >>> figures
    Evaluation(n_samples=4, accuracy=0.750, baseline_accuracy=0.500, balanced_accuracy=0.750)
    >>> figures.confusion
    array([[1, 1],
           [0, 2]])
    >>> figures.recall
    array([0.5, 1. ])
    """

    labels: NDArray[Any]
    predicted_labels: NDArray[Any]
    confusion: NDArray[Any]
    majority_label: Any
    n_samples: int
    squared_weights: Floats | None = None

    @property
    def support(self) -> NDArray[Any]:
        """Number, or total weight, of the samples of each label."""
        return np.asarray(self.confusion.sum(axis=1))

    @property
    def accuracy(self) -> float:
        """Fraction of the samples classified correctly."""
        return float(self._correct.sum() / self.confusion.sum())

    @property
    def accuracy_interval(self) -> Floats:
        """95 % interval of the accuracy, shape (2,)."""
        return _interval(self._correct.sum(), self.confusion.sum(), self._squares.sum())

    @property
    def baseline_accuracy(self) -> float:
        """Accuracy of always predicting the most frequent class of the training data."""
        return float(self.support[self.labels == self.majority_label].sum() / self.confusion.sum())

    @property
    def beats_baseline(self) -> bool:
        """Whether the 95 % interval of the accuracy lies above the baseline."""
        return bool(self.accuracy_interval[0] > self.baseline_accuracy)

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the labels that occur among the samples."""
        return float(np.nanmean(self.recall))

    @property
    def recall(self) -> Floats:
        """Fraction of the samples of each label that are predicted as such."""
        return _ratio(self._correct, self.support)

    @property
    def recall_interval(self) -> Floats:
        """95 % intervals of the recall, shape (n_labels, 2)."""
        return _interval(self._correct, self.support, self._squares.sum(axis=1))

    @property
    def precision(self) -> Floats:
        """Fraction of the samples predicted as each label that have it."""
        return _ratio(self._correct, self._n_predicted)

    @property
    def precision_interval(self) -> Floats:
        """95 % intervals of the precision, shape (n_labels, 2)."""
        squares = self._squares.sum(axis=0)[: len(self.labels)]
        return _interval(self._correct, self._n_predicted, squares)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each label: support, recall, precision."""
        columns = {"support": self.support}
        for name in ("recall", "precision"):
            low, high = getattr(self, f"{name}_interval").T
            columns |= {name: getattr(self, name), f"{name}_low": low, f"{name}_high": high}
        return make_frame(columns, self.labels).rename_axis("label")

    def confusion_frame(self) -> Any:
        """Return the confusion matrix as a pandas data frame, true labels in the index."""
        columns = dict(zip(self.predicted_labels.tolist(), self.confusion.T, strict=True))
        return (
            make_frame(columns, self.labels).rename_axis("true").rename_axis("predicted", axis=1)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as numbers, strings, lists and dicts for JSON, None for NaN."""
        low_high = self.recall_interval, self.precision_interval
        return {
            "n_samples": self.n_samples,
            "accuracy": self.accuracy,
            "accuracy_interval": self.accuracy_interval.tolist(),
            "majority_label": np.asarray(self.majority_label).tolist(),
            "baseline_accuracy": self.baseline_accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "classes": [
                {
                    "label": label,
                    "support": self.support[k].item(),
                    "recall": _known(self.recall[k]),
                    "recall_interval": [_known(end) for end in low_high[0][k]],
                    "precision": _known(self.precision[k]),
                    "precision_interval": [_known(end) for end in low_high[1][k]],
                }
                for k, label in enumerate(self.labels.tolist())
            ],
            "predicted_labels": self.predicted_labels.tolist(),
            "confusion": self.confusion.tolist(),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.to_dict() == other.to_dict()

    def __str__(self) -> str:
        return describe_evaluation(self)

    def __repr__(self) -> str:
        return (
            f"Evaluation(n_samples={self.n_samples}, accuracy={self.accuracy:.3f}, "
            f"baseline_accuracy={self.baseline_accuracy:.3f}, "
            f"balanced_accuracy={self.balanced_accuracy:.3f})"
        )

    @property
    def _correct(self) -> NDArray[Any]:
        """Number, or total weight, of the correctly predicted samples of each label."""
        return np.diagonal(self.confusion)

    @property
    def _n_predicted(self) -> NDArray[Any]:
        """Number, or total weight, of the samples predicted as each label."""
        return np.asarray(self.confusion.sum(axis=0)[: len(self.labels)])

    @property
    def _squares(self) -> NDArray[Any]:
        """Sums of the squared weights, of the shape of the confusion matrix."""
        return self.confusion if self.squared_weights is None else self.squared_weights


def evaluate(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
    """Compute the error figures of a fitted model on labelled samples.

    Confusion matrix, accuracy next to that of always predicting the most frequent class,
    balanced accuracy, and recall and precision of each class, with 95 % intervals. Pass
    samples that the model was not fitted on, or the figures are too optimistic.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, or a pipeline or search that ends in one
        Fitted.
    X : array-like or data frame, shape (n_samples, n_features)
        Held-out samples, as for `predict`.
    y : array-like, shape (n_samples,)
        Their labels. One that the model was not fitted on is never predicted, and has a
        recall of 0.
    sample_weight : array-like, shape (n_samples,), or None, default=None
        Weights of the samples in all figures; they must be non-negative.

    Returns
    -------
    Evaluation
        ``print`` shows it; ``.to_frame()``, ``.confusion_frame()`` and ``.to_dict()``
        return the figures.

    See Also
    --------
    find_label_issues : Find labels that disagree with nearby prototypes.

    Examples
    --------
    >>> from protocover import PVMClassifier, evaluate
    >>> X, y = [[36.4], [36.6], [36.8], [39.1], [39.3]], ["well", "well", "well", "ill", "ill"]
    >>> model = PVMClassifier(eps=1.0, radii="shared").fit(X, y)
    >>> X_test, y_test = [[36.5], [36.7], [36.9], [39.0]], ["well", "well", "ill", "ill"]
    >>> print(evaluate(model, X_test, y_test))
    accuracy   75.0 % of 4 samples (95 % interval: 30.1 to 95.4 %)
    baseline   50.0 % by always predicting well, the largest class
    balanced   75.0 %, the mean recall of the classes
    <BLANKLINE>
          predicted
    true  ill  well
    ill     1     1
    well    0     2
    <BLANKLINE>
    class  samples   recall  95 % interval  precision  95 % interval
    ill          2   50.0 %    9.5 to 90.5    100.0 %  20.7 to 100.0
    well         2  100.0 %  34.2 to 100.0     66.7 %   20.8 to 93.9
    """
    within = unwrap(model)
    if not hasattr(model, "predict"):
        raise TypeError(
            f"model must have a predict method, and {type(model).__name__} has none; pass the "
            "classifier"
        )
    y = column_or_1d(y, warn=True)
    n_samples = row_count(X)
    check_consistent_length(X, y)
    if n_samples == 0:
        raise ValueError("X must hold at least one sample, got none; pass the held-out samples")
    classifier = within.classifier
    _check_labels(y, classifier.classes_.tolist())
    if sample_weight is not None:
        one_class = np.zeros(n_samples, dtype=np.intp), np.zeros(1)
        sample_weight = check_weights(sample_weight, *one_class)
    return tally(
        y,
        model.predict(X),
        classes=classifier.classes_,
        class_count=classifier.class_count_,
        outlier_label=classifier.outlier_label_,
        sample_weight=sample_weight,
    )


def tally(
    y: Any,
    predicted: Any,
    *,
    classes: NDArray[Any],
    class_count: NDArray[Any],
    outlier_label: Any = None,
    sample_weight: Floats | None = None,
) -> Evaluation:
    """Count labels and predictions of at least one sample of a model with these classes.

    The `class_count` are those of the training data.
    """
    y, predicted = np.asarray(y), np.asarray(predicted)
    place = {label: k for k, label in enumerate(classes.tolist())}
    for label in sorted(set(y.tolist()).difference(place), key=str):
        place[label] = len(place)
    n_labels = len(place)
    if outlier_label is not None:
        place.setdefault(np.asarray(outlier_label).tolist(), n_labels)
    cells = np.ravel_multi_index(
        ([place[label] for label in y.tolist()], [place[label] for label in predicted.tolist()]),
        (n_labels, len(place)),
    )
    squares = (
        None if sample_weight is None else _count_cells(cells, n_labels, place, sample_weight**2)
    )
    columns = np.array(list(place), dtype=None if classes.dtype.kind != "O" else object)
    return Evaluation(
        labels=columns[:n_labels],
        predicted_labels=columns,
        confusion=_count_cells(cells, n_labels, place, sample_weight),
        majority_label=classes[class_count.argmax()],
        n_samples=len(y),
        squared_weights=squares,
    )


def match_labels(labels: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels as the classes are written, matched by their text: "1" for the class 1."""
    known = {str(label): label for label in classes.tolist()}
    found = np.empty(len(labels), dtype=object)
    found[:] = [known.get(str(label), label) for label in np.asarray(labels).tolist()]
    return found


def _count_cells(
    cells: NDArray[np.intp], n_labels: int, place: dict[Any, int], weights: Floats | None
) -> NDArray[Any]:
    """Return the number, or total weight, of the samples in each cell of the matrix."""
    found = np.bincount(cells, weights, minlength=n_labels * len(place))
    return np.asarray(found.reshape(n_labels, len(place)))


def _check_labels(y: NDArray[Any], classes: list[Any]) -> None:
    """Refuse missing labels, and labels none of which is a class of the model."""
    for row, label in enumerate(y.tolist()):
        if is_missing_label(label):
            raise ValueError(
                f"y must hold a label for every sample, got {label!r} in row {row}; leave out "
                "the samples whose label is not known"
            )
    if set(classes).isdisjoint(y.tolist()):
        raise ValueError(
            f"y must hold classes of the model, {_some(classes)}, got {_some(set(y.tolist()))}; "
            "pass labels of the kind that the model was fitted on"
        )


def is_missing_label(label: Any) -> bool:
    """Whether there is no label: NaN is not itself, and of pandas' NA not even that is known."""
    if label is None:
        return True
    same = label == label
    return not isinstance(same, bool | np.bool_) or not same


def _some(labels: Any) -> str:
    """Return the first few of some labels as text."""
    shown = [repr(label) for label in labels]
    return ", ".join(shown if len(shown) <= 5 else [*shown[:5], "..."])


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Return quotients, NaN where the denominator is 0."""
    share: Floats = np.full(len(whole), np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def _interval(correct: Any, total: Any, squares: Any) -> Floats:
    """Return Wilson's intervals for weighted counts, by the effective number of samples."""
    total, squares = np.asarray(total, float), np.asarray(squares, float)
    with np.errstate(invalid="ignore"):
        effective = total**2 / np.where(squares > 0.0, squares, 1.0)
        share = np.asarray(correct, float) / np.where(total > 0.0, total, 1.0)
    return wilson_interval(share * effective, effective)


def _known(value: float) -> float | None:
    """Return a float, None for NaN."""
    return None if math.isnan(value) else float(value)


_WIDTH = 80
_WIDEST_LABEL = 20
_MOST_IN_MATRIX = 12
_MOST_PAIRS = 10
_MOST_CLASSES = 30


def describe_evaluation(evaluation: Evaluation) -> str:
    """Return all figures as text: accuracy and baseline, confusion matrix, classes."""
    samples = "sample" if evaluation.n_samples == 1 else "samples"
    lines = [*head_lines(evaluation, f"{evaluation.n_samples:,} {samples}"), ""]
    return "\n".join(lines + table_lines(evaluation, "samples"))


def head_lines(evaluation: Evaluation, of: str) -> list[str]:
    """Return accuracy, baseline and balanced accuracy; `of` says of which samples."""
    low, high = evaluation.accuracy_interval
    majority = _shorten(evaluation.majority_label)
    return [
        f"accuracy   {percent(evaluation.accuracy)} of {of} "
        f"(95 % interval: {_range(low, high)} %)",
        f"baseline   {percent(evaluation.baseline_accuracy)} by always predicting {majority}, "
        "the largest class",
        f"balanced   {percent(evaluation.balanced_accuracy)}, the mean recall of the classes",
    ]


def table_lines(evaluation: Evaluation, samples: str) -> list[str]:
    """Return the confusion matrix, or the most confused pairs of many classes, and a class table.

    What is counted is called `samples` in the latter.
    """
    matrix = _draw_matrix(evaluation) if len(evaluation.labels) <= _MOST_IN_MATRIX else []
    if max(map(len, matrix), default=_WIDTH + 1) > _WIDTH:
        matrix = _list_pairs(evaluation)
    return [*matrix, "", *_list_classes(evaluation, samples)]


def _draw_matrix(evaluation: Evaluation) -> list[str]:
    """Return the confusion matrix, columns by their numbers if their labels do not fit."""
    rows = [_shorten(label) for label in evaluation.labels]
    heads = [_shorten(label) for label in evaluation.predicted_labels]
    cells = [[_count(value) for value in row] for row in evaluation.confusion]
    lines = _align(rows, heads, cells)
    if len(lines[1]) <= _WIDTH:
        return lines
    heads = [f"#{k}" for k in range(1, len(rows) + 1)] + heads[len(rows) :]
    numbers, room = heads[: len(rows)], _WIDTH - len(_align([""], heads, cells)[1])
    rows = [
        f"{number:<3} {_shorten(label, max(4, room))}"
        for number, label in zip(numbers, rows, strict=True)
    ]
    return _align(rows, heads, cells)


def _align(rows: list[str], heads: list[str], cells: list[list[str]]) -> list[str]:
    """Return the lines of a matrix, every column as wide as it must be."""
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    first = max(4, *map(len, rows))
    lines = [f"{'':<{first}}  predicted"]
    for name, values in [("true", heads), *zip(rows, cells, strict=False)]:
        shown = (f"{value:>{width}}" for value, width in zip(values, widths, strict=True))
        lines.append(f"{name:<{first}}  {'  '.join(shown)}")
    return lines


def _list_pairs(evaluation: Evaluation) -> list[str]:
    """Return the most frequent errors, true and predicted label, of many classes."""
    confusion = evaluation.confusion.copy()
    np.fill_diagonal(confusion, 0)
    order = np.argsort(-confusion, axis=None, kind="stable")[:_MOST_PAIRS]
    pairs = np.transpose(np.unravel_index(order, confusion.shape))
    wrong = [(row, column) for row, column in pairs if confusion[row, column] > 0]
    if not wrong:
        return ["no errors"]
    true = [_shorten(evaluation.labels[row]) for row, _ in wrong]
    width = max(4, *map(len, true))
    lines = ["most frequent errors", f"{'true':<{width}}  count  predicted"]
    for label, (row, column) in zip(true, wrong, strict=True):
        predicted = _shorten(evaluation.predicted_labels[column])
        lines.append(f"{label:<{width}}  {_count(confusion[row, column]):>5}  {predicted}")
    return lines


def _list_classes(evaluation: Evaluation, samples: str) -> list[str]:
    """Return recall and precision of each class, or of those with the lowest recall."""
    order = np.arange(len(evaluation.labels))
    if len(order) > _MOST_CLASSES:
        order = np.argsort(evaluation.recall, kind="stable")[:_MOST_CLASSES]
    labels = [_shorten(evaluation.labels[k]) for k in order]
    counts = [_count(evaluation.support[k]) for k in order]
    width, digits = max(5, *map(len, labels)), max(len(samples), *map(len, counts))
    lines = [
        f"{'class':<{width}}  {samples:>{digits}}   recall  95 % interval  precision  "
        "95 % interval"
    ]
    recalls, precisions = evaluation.recall_interval, evaluation.precision_interval
    for k, label, count in zip(order, labels, counts, strict=True):
        lines.append(
            f"{label:<{width}}  {count:>{digits}}  {_share(evaluation.recall[k]):>7}  "
            f"{_range(*recalls[k]):>13}  {_share(evaluation.precision[k]):>9}  "
            f"{_range(*precisions[k]):>13}"
        )
    if len(order) < len(evaluation.labels):
        lines.append(f"the {len(order)} of {len(evaluation.labels)} classes of lowest recall")
    return lines


def _share(value: float) -> str:
    """Return a share in percent, a dash for NaN."""
    return "-" if math.isnan(value) else percent(value)


def _range(low: float, high: float) -> str:
    """Return an interval in percent, without the sign, a dash for NaN."""
    return "-" if math.isnan(low) else f"{100 * low:.1f} to {100 * high:.1f}"


def _count(value: Any) -> str:
    """Return a number of samples, or their weight."""
    return f"{value:,}" if isinstance(value, np.integer) else f"{value:,.1f}"


def _shorten(label: Any, width: int = _WIDEST_LABEL) -> str:
    """Return a label in one line of at most `width` characters."""
    text = " ".join(str(label).split())
    if len(text) <= width:
        return text
    # Long labels often differ at their end only.
    tail = (width - 3) // 2
    return f"{text[: width - 3 - tail]}...{text[len(text) - tail :]}"


_Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution


def wilson_interval(n_successes: Any, n_trials: Any) -> NDArray[np.float64]:
    """Return Wilson's 95 % interval of proportions, shape (..., 2); NaN without any trial."""
    k, n = np.broadcast_arrays(np.asarray(n_successes, float), np.asarray(n_trials, float))
    with np.errstate(invalid="ignore", divide="ignore"):
        center = (k + _Z**2 / 2) / (n + _Z**2)
        half = _Z / (n + _Z**2) * np.sqrt(k * (n - k) / n + _Z**2 / 4)
    low = np.where(k <= 0.0, np.where(n > 0.0, 0.0, np.nan), center - half)
    high = np.where(k >= n, np.where(n > 0.0, 1.0, np.nan), center + half)
    return np.stack((low, high), axis=-1)


def percent(share: float) -> str:
    """Return a share in percent, 0.0 and 100.0 only where it is none or all."""
    if 0.0 < share < 0.001:
        return "0.1 %" if share >= 0.0005 else "< 0.1 %"
    shown = min(100.0 * share, 99.9) if share < 1.0 else 100.0 * share
    return f"{shown:.1f} %"


def percentages(parts: Sequence[float]) -> list[str]:
    """Return the parts of a total in percent, so that the numbers shown add up to 100.0.

    The largest remainders are rounded up. A part that is not 0 is never shown as 0.0, nor
    one that is not all as 100.0.
    """
    total = float(sum(parts))
    if total <= 0.0:
        return ["-"] * len(parts)
    exact = 1000.0 * np.asarray(parts, dtype=np.float64) / total
    tenths = np.floor(exact)
    # Of equal remainders the first is rounded up.
    order = np.argsort(tenths - exact, kind="stable")
    tenths[order[: round(1000.0 - tenths.sum())]] += 1
    return [_show_tenths(n, part, total) for n, part in zip(tenths, parts, strict=True)]


def _show_tenths(tenths: float, part: float, total: float) -> str:
    """Return tenths of a percent as text."""
    if tenths == 0.0 and part > 0.0:
        return "< 0.1 %"
    if tenths == 1000.0 and part < total:
        return "> 99.9 %"
    return f"{tenths / 10.0:.1f} %"
