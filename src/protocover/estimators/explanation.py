"""Why single queries were given their class."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..frames import make_frame

__all__ = ["Explanation"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """For each query its nearest prototype and that of the runner-up class.

    Parameters
    ----------
    label : ndarray, shape (n_queries,)
        Class of the nearest prototype.
    prototype : ndarray of int
        Its place in ``prototypes_``.
    distance : ndarray of float
        Its dissimilarity from the query.
    inside : ndarray of bool
        Whether the query lies in its ball. If not, it lies in no ball at all.
    runner_up_label, runner_up_prototype, runner_up_distance : ndarray
        The nearest prototype of any other class. Where only one class has prototypes
        the label is the query's own, the place -1 and the distance inf.
    margin : ndarray of float
        By how much the runner-up is farther away; a small one is a close call.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> why = PVMClassifier(eps=1.0).fit(X, y).explain(X[:2])
    >>> why.label, why.inside
    (array([0, 0]), array([ True,  True]))
    """

    label: NDArray[Any]
    prototype: NDArray[np.intp]
    distance: NDArray[np.float64]
    inside: NDArray[np.bool_]
    runner_up_label: NDArray[Any]
    runner_up_prototype: NDArray[np.intp]
    runner_up_distance: NDArray[np.float64]
    margin: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.label)

    def to_frame(self, index: Any = None) -> Any:
        """Return a pandas data frame with a row for each query.

        Parameters
        ----------
        index : index-like or None, default=None
            Names of the queries, such as the index of the frame they came from.
        """
        return make_frame({field.name: getattr(self, field.name) for field in fields(self)}, index)
