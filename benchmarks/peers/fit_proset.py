"""Fit proset, in an environment of its own, to splits of a data set.

Run by adaptive_radii_proset.py: python fit_proset.py splits.npz answer.json [seconds]

The number of batches, up to three, is chosen by 5-fold cross-validation on the training part;
all other parameters are proset's own. The answer is written after each split; after a minute
of processor time, or so many seconds, the program ends.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from proset import ClassifierModel
from sklearn.model_selection import StratifiedKFold

MOST_BATCHES = 3
MOST_SECONDS = 60


def fit(X, y, n_batches):
    return ClassifierModel(n_iter=n_batches, random_state=0).fit(X, y)


def errors(model, X, y):
    """Share of wrong answers with one, two and three batches."""
    batches = range(1, MOST_BATCHES + 1)
    return [float(np.mean(model.predict(X, n_iter=k) != y)) for k in batches]


def answer(X, y, X_test, y_test):
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    tried = [
        errors(fit(X[train], y[train], MOST_BATCHES), X[test], y[test]) for train, test in folds
    ]
    n_batches = int(np.mean(tried, axis=0).argmin()) + 1
    start = time.process_time()
    model = fit(X, y, n_batches)
    seconds = time.process_time() - start
    return {
        "error": float(np.mean(model.predict(X_test) != y_test)),
        "size": int(model.set_manager_.get_num_prototypes()),
        "seconds": seconds,
        "batches": n_batches,
    }


def main(splits: str, path: str, seconds: str = str(MOST_SECONDS)) -> None:
    with np.load(splits) as given:
        parts = [[given[f"{name}{k}"] for name in "XyAb"] for k in range(int(given["n"]))]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    answers = []
    for part in parts:
        answers.append(answer(*part))
        Path(path).write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
