"""Every trial on every fold, several at once, with what they have in common made once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_memory

from ...resources import process_count, progress_bar
from ...selection.path import Known
from .fingerprint import fingerprint
from .folds import FoldScores, Scoring, score_fold, share_folds, takes_lists
from .trials import Trial

__all__ = ["Split", "cross_validate"]

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def cross_validate(
    trials: list[Trial],
    splits: list[Split],
    *,
    scoring: Scoring,
    memory: Any,
    n_jobs: int | None,
    verbose: int,
) -> list[list[FoldScores]]:
    """Return the scores of each trial on each of the `splits`; see :func:`score_fold`."""
    # A fold is found again by the fingerprint of what joblib cannot tell apart.
    ignored = ["model", "scoring", "common", "verbose"]
    cached = check_memory(memory).cache(score_fold, ignore=ignored)
    trains = [train for train, _ in splits]
    common = {
        kind: _share(trial, trains, scoring, n_jobs=n_jobs, verbose=verbose)
        for kind, trial in {_kind(trial): trial for trial in trials}.items()
    }
    tasks = (
        delayed(cached)(
            trial.model,
            trial.data,
            trial.grid,
            train=train,
            test=test,
            scoring=scoring,
            common=found,
            verbose=verbose - 1,
            fingerprint="" if memory is None else fingerprint(trial.model, scoring),
        )
        for trial in trials
        for (train, test), found in zip(splits, common[_kind(trial)][0], strict=True)
    )
    done = Parallel(n_jobs=process_count(n_jobs), return_as="generator")(tasks)
    with progress_bar(done, len(trials) * len(splits), "folds", verbose) as bar:
        folds = iter(list(bar))
    # What was made for all folds of a kind is counted as theirs, each an equal part.
    n_uses = Counter(_kind(trial) for trial in trials)
    scores = []
    for trial in trials:
        part = common[_kind(trial)][1] / (len(splits) * n_uses[_kind(trial)])
        own = islice(folds, len(splits))
        scores.append([replace(fold, fit_time=fold.fit_time + part) for fold in own])
    return scores


def _kind(trial: Trial) -> tuple[str, bool]:
    """Return what trials have in common that share what is made for all folds."""
    return trial.metric, takes_lists(trial.model)


def _share(
    trial: Trial,
    trains: list[NDArray[np.intp]],
    scoring: Scoring,
    *,
    n_jobs: int | None,
    verbose: int,
) -> tuple[list[Known], float]:
    """Return what each fold of a kind has of what is made for all, and the seconds it took."""
    start = perf_counter()
    try:
        found = share_folds(trial, trains, n_jobs=n_jobs, verbose=verbose)
    except Exception:
        if scoring.error_score == "raise":
            raise
        found = [None] * len(trains)  # each fold finds out for itself, and is recorded as failed
    return found, perf_counter() - start
