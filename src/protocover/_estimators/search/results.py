"""The table of a search in scikit-learn's shape, and what is said of scores it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from ..._exceptions import warn_caller
from .folds import FoldScores
from .trials import Grid

Floats = NDArray[np.float64]
Folds = Sequence[FoldScores]


def tabulate(grid: Grid, folds: Folds) -> dict[str, Any]:
    """Arrange the folds as scikit-learn's searches do, one row per setting."""
    names = ("eps", "prototype_cost")
    settings = [(float(eps), float(cost)) for eps in grid.radii for cost in grid.costs]
    # One pass serves all settings of a fold, so each has an equal share of its time.
    shares = _by_split(folds, lambda f: np.full(f.score.shape, f.fit_time / f.score.size))
    results = _mean_and_spread("fit_time", shares)
    results |= _mean_and_spread("score_time", _by_split(folds, lambda f: f.score_time))
    for name, values in zip(names, zip(*settings, strict=True), strict=True):
        results[f"param_{name}"] = np.array(values)
    results["params"] = [dict(zip(names, setting, strict=True)) for setting in settings]
    scores = _by_split(folds, lambda f: f.score)
    results |= {f"split{k}_test_score": scores[:, k].copy() for k in range(scores.shape[1])}
    results |= _mean_and_spread("test_score", scores)
    results["rank_test_score"] = _ranks(results["mean_test_score"])
    sizes = np.ma.masked_invalid(_by_split(folds, lambda f: f.n_prototypes))
    lost = np.ma.masked_invalid(_by_split(folds, lambda f: f.n_classes_lost))
    results |= _mean_and_spread("n_prototypes", sizes)
    return results | {"mean_n_classes_lost": np.ma.filled(lost.mean(axis=1), np.nan)}


def report_failures(folds: Folds, scores: Floats, error_score: Any) -> None:
    """Warn of scores that could not be had, or raise if no setting has them all."""
    reasons = Counter(reason for fold in folds for reason in fold.failures)
    n_failed = reasons.total()
    if n_failed == scores.size or not np.isfinite(scores.mean(axis=1)).any():
        reasons["no prototypes, none being worth its cost"] = sum(
            int((fold.n_prototypes == 0).sum()) for fold in folds
        )
        raise ValueError(
            f"no setting could be scored on every fold: of {scores.size} scores "
            f"{_tell(reasons)}; change eps or prototype_costs, or see the first error with "
            "error_score='raise'"
        )
    if n_failed:
        warn_caller(
            f"{n_failed} of {scores.size} scores could not be computed and are set to "
            f"{error_score}: {_tell(reasons)}; error_score='raise' raises the error instead",
            FitFailedWarning,
        )


def _tell(reasons: Counter[str]) -> str:
    """Say how often each of the most frequent reasons came up."""
    told = [f"{count} failed with {why}" for why, count in reasons.most_common(3) if count]
    others = reasons.total() - sum(count for _, count in reasons.most_common(3))
    told += [f"{others} failed otherwise"] if others else []
    return "; ".join(told) or "none is finite"


def _by_split(folds: Folds, tell: Callable[[FoldScores], Floats]) -> Floats:
    """Return the values that `tell` gives for each fold, shape (n_settings, n_splits)."""
    return np.stack([tell(fold).ravel() for fold in folds], axis=1)


def _mean_and_spread(name: str, values: Any) -> dict[str, Any]:
    """Return the mean and the standard deviation over the folds, NaN where there is none."""
    return {
        f"mean_{name}": np.ma.filled(values.mean(axis=1), np.nan),
        f"std_{name}": np.ma.filled(values.std(axis=1), np.nan),
    }


def _ranks(mean: Floats) -> NDArray[np.int32]:
    """Rank scores from 1, those that are NaN all last."""
    if np.isnan(mean).all():
        return np.ones(len(mean), dtype=np.int32)
    filled = np.where(np.isnan(mean), np.nanmin(mean) - 1.0, mean)
    return np.asarray(rankdata(-filled, method="min"), dtype=np.int32)
