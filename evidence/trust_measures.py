"""How well doubts and confidences are placed: lists of labels, risk and coverage, calibration.

Equal values are not put in an order that chance would give: what is measured is the mean over
all orders of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

N_BINS = 15


@dataclass(frozen=True, eq=False)
class Doubt:
    """How doubtful each label is, and which are listed as wrong."""

    score: Floats
    flagged: Booleans


def precision_at(score: Floats, truth: Booleans) -> float:
    """Return the share that is true of the first so many as are true, highest score first."""
    n_true = int(truth.sum())
    return float(_spread_ties(score, truth)[:n_true].mean())


def risk_curve(confidence: Floats, wrong: Booleans) -> Floats:
    """Return the share that is wrong of the k most confident answers, for k = 1, ..., n."""
    return np.cumsum(_spread_ties(confidence, wrong)) / np.arange(1, len(wrong) + 1)


def aurc(confidence: Floats, wrong: Booleans) -> float:
    """Return the area under risk against coverage: the mean risk over all coverages."""
    return float(risk_curve(confidence, wrong).mean())


def excess_aurc(confidence: Floats, wrong: Booleans) -> float:
    """Return the area above that of the order that has all wrong answers last."""
    return aurc(confidence, wrong) - aurc(-wrong.astype(float), wrong)


def brier(probabilities: Floats, y: NDArray[np.intp]) -> float:
    """Return the mean squared distance of probabilities from the truth, from 0 to 2."""
    return float(((probabilities - np.eye(probabilities.shape[1])[y]) ** 2).sum(axis=1).mean())


def bin_confidence(confidence: Floats, right: Booleans) -> Floats:
    """Return for bins of equal width how many answers, their confidence and how many right.

    The sums of several test sets can be added, shape (3, N_BINS). A bin holds its upper end.
    """
    place = np.clip(np.ceil(confidence * N_BINS).astype(int) - 1, 0, N_BINS - 1)
    weights = (None, confidence, right.astype(float))
    return np.array([np.bincount(place, w, minlength=N_BINS) for w in weights], dtype=float)


def calibration_error(bins: Floats) -> float:
    """Return the mean gap between confidence and share of right answers, bin by bin."""
    count, confidence, right = bins
    return float(np.abs(confidence - right).sum() / count.sum())


def _spread_ties(score: Floats, truth: Booleans) -> Floats:
    """Return the truth by falling score; of equal scores each gets the mean of all."""
    order = np.argsort(-score, kind="stable")
    _, block = np.unique(-score[order], return_inverse=True)
    means = np.bincount(block, truth[order]) / np.bincount(block)
    return means[block]
