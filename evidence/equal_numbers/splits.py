"""Training and test parts of the sets: as many rows as can be measured often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from experiments.tuning import make_folds
from scipy.spatial.distance import cdist
from sklearn.preprocessing import StandardScaler

from ..budgets import Chosen
from ..sets import DataSet, load_set

# So many rows of a set, or of each class of one with many classes, but not above the last.
MOST_ROWS, ROWS_A_CLASS, LAST = 300, 40, 800


def draw(name: str) -> DataSet:
    """Load a set, at most so many rows of it."""
    n_classes = int(load_set(name).y.max()) + 1
    return load_set(name, min(LAST, max(MOST_ROWS, ROWS_A_CLASS * n_classes)))


@dataclass(frozen=True, eq=False)
class Split:
    """Standardised training and test part, and distances between training points, and to them."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    within: np.ndarray
    across: np.ndarray

    @classmethod
    def of(cls, data: DataSet, train: np.ndarray, test: np.ndarray) -> Split:
        A, B = data.X[train], data.X[test]
        if data.kind == "features":
            scaler = StandardScaler().fit(A)
            A, B = scaler.transform(A), scaler.transform(B)
        return cls(A, data.y[train], B, data.y[test], cdist(A, A), cdist(B, A))

    def outcome(self, chosen: Chosen) -> tuple[float, int]:
        """Return error and number of prototypes."""
        return chosen.error(self.across, self.y_test), len(chosen.rows)

    def of_rows(self, rows: np.ndarray) -> float:
        """Return the error of training points as prototypes."""
        return Chosen(rows, self.y[rows], np.ones(len(rows))).error(self.across, self.y_test)


def splits_of(name: str, seed: int, n_folds: int) -> list[Split]:
    """Cut a set into folds, of which so many are measured."""
    data = draw(name)
    return [Split.of(data, *fold) for fold in make_folds(data.X, data.y, seed=seed)[:n_folds]]
