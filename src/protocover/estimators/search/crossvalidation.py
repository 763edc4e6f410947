"""Every trial on every fold, several at once, with what they have in common made once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_memory

from ...resources import progress_bar
from .fingerprint import fingerprint
from .folds import FoldScores, score_fold, shared_levels
from .trials import Trial

__all__ = ["Split", "cross_validate"]

Floats = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class _Common:
    """The levels that all folds of a metric share, if any, and a fold's part of their time."""

    levels: csr_array | None
    seconds: float


def cross_validate(
    trials: list[Trial],
    splits: list[Split],
    y: NDArray[Any],
    sample_weight: Floats,
    *,
    costs: Floats,
    scorer: Any,
    score_params: dict[str, Any],
    error_score: Any,
    unlabeled: Any,
    memory: Any,
    n_jobs: int | None,
    verbose: int,
) -> list[list[FoldScores]]:
    """Return the scores of each trial on each of the `splits`; see :func:`score_fold`."""
    # A fold is found again by the fingerprint of what joblib cannot tell apart.
    ignored = ["model", "scorer", "levels", "verbose"]
    cached = check_memory(memory).cache(score_fold, ignore=ignored)
    common = _share(
        trials,
        splits,
        y,
        unlabeled=unlabeled,
        error_score=error_score,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    tasks = (
        delayed(cached)(
            trial.model,
            trial.X,
            y,
            sample_weight,
            train=train,
            test=test,
            radii=trial.radii,
            costs=costs,
            scorer=scorer,
            score_params=score_params,
            error_score=error_score,
            unlabeled=unlabeled,
            levels=common[trial.metric].levels,
            verbose=verbose - 1,
            fingerprint="" if memory is None else fingerprint(trial.model, scorer),
        )
        for trial in trials
        for train, test in splits
    )
    done = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    with progress_bar(done, len(trials) * len(splits), "folds", verbose) as bar:
        folds = iter(list(bar))
    return [[_add_time(next(folds), common[trial.metric]) for _ in splits] for trial in trials]


def _share(
    trials: list[Trial],
    splits: list[Split],
    y: NDArray[Any],
    *,
    unlabeled: Any,
    error_score: Any,
    n_jobs: int | None,
    verbose: int,
) -> dict[str, _Common]:
    """Return what the folds of each metric have in common."""
    by_metric = {trial.metric: trial for trial in trials}
    n_uses = len(splits) * len(trials) // len(by_metric)
    common = {}
    for metric, trial in by_metric.items():
        start = perf_counter()
        try:
            levels = shared_levels(
                trial.model,
                trial.X,
                y,
                trial.radii,
                unlabeled=unlabeled,
                n_jobs=n_jobs,
                verbose=verbose,
            )
        except Exception:
            if error_score == "raise":
                raise
            levels = None  # each fold finds out for itself, and is recorded as failed
        common[metric] = _Common(levels, (perf_counter() - start) / n_uses)
    return common


def _add_time(fold: FoldScores, common: _Common) -> FoldScores:
    """Count a fold's part of what was made for all of them as its own."""
    return replace(fold, fit_time=fold.fit_time + common.seconds)
