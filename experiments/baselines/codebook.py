"""What every prototype method ends with: labelled points, the nearest of which decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

# Below so many pairs a plain table of distances is quicker than scikit-learn's machinery.
_SMALL = 200_000


@dataclass(frozen=True, eq=False)
class Codebook:
    """Prototypes that are rows of numbers, and their labels."""

    points: NDArray[np.float64]
    labels: NDArray[Any]

    def predict(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """Return the label of each query's nearest prototype (the first of equals)."""
        if len(X) * len(self.points) > _SMALL:
            return KNeighborsClassifier(1).fit(self.points, self.labels).predict(X)
        half = 0.5 * (self.points**2).sum(axis=1)
        return self.labels[(half - X @ self.points.T).argmin(axis=1)]

    def error(self, X: NDArray[np.float64], y: NDArray[Any]) -> float:
        """Return the share of queries that it gets wrong."""
        return float(np.mean(self.predict(X) != y))

    def __len__(self) -> int:
        return len(self.labels)
