"""Instance hardness: how improbable its own label is to a forest that has not seen a point.

What imbalanced-learn's InstanceHardnessThreshold goes by, with a smaller forest.

M. R. Smith, T. Martinez and C. Giraud-Carrier, An instance level analysis of data complexity,
*Machine Learning* 95 (2014), 225-256.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.tuning import make_folds
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

N_FOLDS, N_TREES = 3, 25


def instance_hardness(
    X: NDArray[np.float64], y: NDArray[Any], *, seed: int
) -> NDArray[np.float64]:
    """Return one less the probability of each point's label, cross-validated."""
    hardness = np.ones(len(y))
    for train, test in make_folds(X, y, seed=seed, n_folds=N_FOLDS):
        forest = RandomForestClassifier(N_TREES, random_state=seed).fit(X[train], y[train])
        probability = forest.predict_proba(X[test])
        for column, label in enumerate(forest.classes_):
            own = test[y[test] == label]
            hardness[own] = 1.0 - probability[y[test] == label, column]
    return hardness
