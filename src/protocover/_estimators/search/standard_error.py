"""Which point of a cross-validated grid to take: the best, or the simplest within reach of it.

What the choice, its plot and its report say of the rule all comes from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._selection.parameters import check_adaptive_radii

RULES = ("1se", "best", "few")

# What "few" gives up at most where a standard error is smaller: one case in a hundred.
_ONE_IN_A_HUNDRED = 0.01

# Mean scores that differ by less than this, relative to the largest, are ties: means of the
# same fractions in another order differ in the last bits.
_ROUNDING = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SearchPath:
    """The settings of a search that differ from the chosen one in one `parameter` alone.

    That is ``"eps"`` or, with radii of their own, of which it is but the limit,
    ``"prototype_cost"``. By its rising `values`: the mean `score` over the folds and its
    standard `error`, NaN where a fold has no score, and the mean number of prototypes; the
    place of the `chosen` value, and the `lowest` mean score that the rule accepts over the
    whole search. A fold is fitted on `n_training` samples, about.
    """

    parameter: str
    values: Floats
    score: Floats
    error: Floats
    n_prototypes: Floats
    chosen: int
    lowest: float
    n_training: float

    @property
    def keeps_all(self) -> bool:
        """Whether the smallest radius keeps nearly all samples, which is 1-NN."""
        return self.parameter == "eps" and bool(self.n_prototypes[0] >= 0.99 * self.n_training)


def choose(
    scores: Floats, n_prototypes: Floats, *, rule: str, n_classes_lost: Floats | None = None
) -> int:
    """Return the number of the setting to take, by `scores` of shape (n_settings, n_splits).

    Only settings that lose the fewest classes are considered, usually none. Among them
    ``"best"`` takes the highest mean score. ``"1se"`` takes the fewest prototypes among those
    whose mean score is within one standard error of the best (paper, section 5.4). ``"few"``
    also accepts those within 0.01 of it, because the standard error of a model that is hardly
    ever wrong is no reason to keep every point. Ties go to fewer prototypes, then to the
    higher score. Simpler is what has fewer prototypes on average over the folds, whatever
    radius, limit or cost that comes from.

    Parameters
    ----------
    scores : ndarray of float, shape (n_settings, n_splits)
        The score of each setting on each fold.
    n_prototypes : ndarray of float, shape (n_settings,)
        Mean number of prototypes.
    rule : {"1se", "best", "few"}
        How to choose.
    n_classes_lost : ndarray of float, shape (n_settings,), or None
        Mean number of classes without a prototype; None if every class has one.
    """
    lowest = lowest_accepted(scores, n_prototypes, rule=rule, n_classes_lost=n_classes_lost)
    mean = scores.mean(axis=1)
    settings = _considered(mean, n_classes_lost)
    within = settings[mean[settings] >= lowest]
    fewest = within[n_prototypes[within] == n_prototypes[within].min()]
    return int(fewest[_is_highest(mean[fewest])][0])


def lowest_accepted(
    scores: Floats, n_prototypes: Floats, *, rule: str, n_classes_lost: Floats | None = None
) -> float:
    """Return the lowest mean score that a rule accepts; the arguments are those of `choose`.

    It is the highest of the settings that are considered, by ``"1se"`` less its standard
    error, by ``"few"`` less 0.01 if that is more. If several settings have that score, the one
    with the fewest prototypes counts. A small tolerance absorbs rounding errors of the means.
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {rule!r}")
    mean = scores.mean(axis=1)
    settings = _considered(mean, n_classes_lost)
    highest = settings[_is_highest(mean[settings])]
    best = highest[n_prototypes[highest].argmin()]
    error = 0.0 if rule == "best" else float(standard_errors(scores)[best])
    if rule == "few":
        error = max(error, _ONE_IN_A_HUNDRED)
    return float(mean[best] - error - _tolerance(mean[settings]))


def split_scores(results: dict[str, Any], n_splits: int) -> Floats:
    """Return the scores of a table of results, shape (n_settings, n_splits)."""
    return np.column_stack([results[f"split{k}_test_score"] for k in range(n_splits)])


def standard_errors(scores: Floats) -> Floats:
    """Return the standard error of each setting's mean score; with one fold it is not known: 0."""
    n_splits = scores.shape[1]
    if n_splits == 1:
        return np.zeros(len(scores))
    return np.asarray(scores.std(axis=1, ddof=1) / np.sqrt(n_splits))


def trace_path(search: Any) -> SearchPath:
    """Return how score and prototypes go with radius, or cost, around the choice of a search."""
    results, best = search.cv_results_, search.best_index_
    scores, sizes = split_scores(results, search.n_splits_), results["mean_n_prototypes"]
    varied, fixed = "eps", "prototype_cost"
    if check_adaptive_radii(search.radii):
        varied, fixed = fixed, varied
    rows = np.flatnonzero(results[f"param_{fixed}"] == results[f"param_{fixed}"][best])
    values = results[f"param_{varied}"]
    sample = search.search_rows_
    n_samples = search.class_count_.sum() if sample is None else len(sample)
    rows = rows[np.argsort(values[rows], kind="stable")]
    return SearchPath(
        parameter=varied,
        values=values[rows],
        score=results["mean_test_score"][rows],
        error=standard_errors(scores[rows]),
        n_prototypes=sizes[rows],
        chosen=int(np.flatnonzero(rows == best)[0]),
        n_training=float(n_samples * (1.0 - 1.0 / max(2, search.n_splits_))),
        lowest=lowest_accepted(
            scores,
            sizes,
            rule=search.rule,
            n_classes_lost=results["mean_n_classes_lost"],
        ),
    )


def _considered(mean: Floats, n_classes_lost: Floats | None) -> NDArray[np.intp]:
    """Return the settings that have a score, and among them those that lose the fewest classes."""
    scored = np.flatnonzero(np.isfinite(mean))
    if len(scored) == 0:
        raise ValueError("no setting could be scored: every mean score is NaN or infinite")
    if n_classes_lost is None:
        return scored
    lost = n_classes_lost[scored]
    return np.asarray(scored[lost == lost.min()])


def _is_highest(mean: Floats) -> NDArray[np.bool_]:
    """Tell which mean scores are the highest, up to rounding errors."""
    return np.asarray(mean >= mean.max() - _tolerance(mean))


def _tolerance(mean: Floats) -> float:
    """Return by how much mean scores that are equal may differ through rounding."""
    return _ROUNDING * float(np.abs(mean).max())
