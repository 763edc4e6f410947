"""Error figures as lines of text of at most 80 characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .proportions import percent

if TYPE_CHECKING:
    from .evaluation import Evaluation

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
