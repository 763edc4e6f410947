"""A trial on every fold, several folds at once, with their common distances computed once."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ..._resources import process_count, progress_bar
from ..._selection.path import Known
from .folds import FoldScores, Scoring, score_fold, share_folds
from .trials import Trial

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def cross_validate(
    trial: Trial,
    splits: list[Split],
    *,
    scoring: Scoring,
    n_jobs: int | None,
    verbose: int,
) -> list[FoldScores]:
    """Return the scores of a trial on each of the `splits`; see :func:`score_fold`."""
    common, seconds = _share(
        trial, [train for train, _ in splits], scoring, n_jobs=n_jobs, verbose=verbose
    )
    tasks = (
        delayed(score_fold)(
            trial.model,
            trial.data,
            trial.grid,
            train=train,
            test=test,
            scoring=scoring,
            common=found,
            verbose=verbose - 1,
        )
        for (train, test), found in zip(splits, common, strict=True)
    )
    done = Parallel(n_jobs=process_count(n_jobs), return_as="generator")(tasks)
    with progress_bar(done, len(splits), "folds", verbose) as bar:
        folds = list(bar)
    # The common distances count as a part of every fold, each an equal part.
    part = seconds / len(splits)
    return [replace(fold, fit_time=fold.fit_time + part) for fold in folds]


def _share(
    trial: Trial,
    trains: list[NDArray[np.intp]],
    scoring: Scoring,
    *,
    n_jobs: int | None,
    verbose: int,
) -> tuple[list[Known], float]:
    """Return each fold's part of the common distances, and the seconds they took."""
    start = perf_counter()
    try:
        found = share_folds(trial, trains, n_jobs=n_jobs, verbose=verbose)
    except Exception:
        if scoring.error_score == "raise":
            raise
        found = [None] * len(trains)  # each fold finds out for itself, and is recorded as failed
    return found, perf_counter() - start
