"""Why single queries were given their class."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..balls import relative_to, within
from ..data.frames import make_frame

__all__ = ["Explanation"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """For each query its nearest prototype and that of the runner-up class.

    Parameters
    ----------
    label : ndarray, shape (n_queries,)
        Class of the nearest prototype, also where `predict` answers `outlier_label`
        because the query is not `inside`.
    prototype : ndarray of int
        Its place in ``prototypes_``.
    row : ndarray of int
        Its row in the training data, -1 where it is no training point.
    distance : ndarray of float
        Its dissimilarity from the query.
    inside : ndarray of bool
        Whether the query lies in its ball. If not, it lies in no ball at all.
    radius, relative_distance : ndarray of float
        Its radius, and the distance as a multiple of it.
    runner_up_label, runner_up_prototype, runner_up_distance : ndarray
        The nearest prototype of any other class. Where only one class has prototypes
        the label is the query's own, the place -1 and the distance inf.
    runner_up_radius, runner_up_relative_distance : ndarray of float
        Its radius, NaN where there is none, and the distance as a multiple of it.
    margin : ndarray of float
        By how much the runner-up is farther away; a small one is a close call.

    Notes
    -----
    Where prototypes have radii of their own, the nearest is the one whose distance is the
    smallest multiple of its radius, and the margin is the difference of these multiples.

    A model without any prototype can only answer `outlier_label`. That is then the label
    and that of the runner-up, both places and the row are -1, both distances inf, both
    radii NaN, and the margin is 0. So it is for a query of which a neighbour graph has no entry
    for any prototype. Where it has entries of one class only, there is no runner-up.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> why = PVMClassifier(eps=1.0).fit(X, y).explain(X[:2])
    >>> why.label, why.inside
    (array([0, 0]), array([ True,  True]))
    >>> X[why.row]  # the points that decided, for both queries the same
    array([[4.7, 3.2, 1.6, 0.2],
           [4.7, 3.2, 1.6, 0.2]])
    """

    label: NDArray[Any]
    prototype: NDArray[np.intp]
    row: NDArray[np.intp]
    distance: NDArray[np.float64]
    inside: NDArray[np.bool_]
    radius: NDArray[np.float64]
    relative_distance: NDArray[np.float64]
    runner_up_label: NDArray[Any]
    runner_up_prototype: NDArray[np.intp]
    runner_up_distance: NDArray[np.float64]
    runner_up_radius: NDArray[np.float64]
    runner_up_relative_distance: NDArray[np.float64]
    margin: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        index: NDArray[np.intp],
        distance: NDArray[np.float64],
        classes: NDArray[Any],
        *,
        score: NDArray[np.float64],
        rows: NDArray[np.intp],
        radii: NDArray[np.float64],
        closed: bool,
        outlier_label: Any = None,
    ) -> Self:
        """Explain from the nearest prototype of each class.

        Parameters
        ----------
        index, distance : ndarray, shape (n_queries, n_classes)
            Place and dissimilarity of the nearest prototype; -1 and inf where there is none.
        classes : ndarray, shape (n_classes,)
            Labels.
        score : ndarray, shape (n_queries, n_classes)
            What the classes are ranked by, the smallest first: `distance`, or multiples of
            radii.
        rows : ndarray of int, shape (n_prototypes,)
            Row of each prototype in the training data, -1 where it is not from there.
        radii : ndarray of float, shape (n_prototypes,)
            Radius of each prototype.
        closed : bool
            Whether balls are closed.
        outlier_label : label or None, default=None
            What is answered to a query that no prototype is known to be near to.
        """
        queries = np.arange(len(distance))
        first = score.argmin(axis=1)
        others = score.copy()
        others[queries, first] = np.inf
        alone = np.count_nonzero(index >= 0, axis=1) < 2
        second = np.where(alone, first, others.argmin(axis=1))
        deciding, beside = index[queries, first], index[queries, second]
        near = distance[queries, first]
        far = np.where(alone, np.inf, distance[queries, second])
        unknown = deciding < 0
        labels = _with_label(classes[first], unknown, outlier_label)
        radius = np.where(unknown, np.nan, radii[deciding])
        multiples = relative_to(np.stack((radii[deciding], radii[beside])), np.stack((near, far)))
        with np.errstate(invalid="ignore"):
            margin = np.where(alone, np.inf, score[queries, second]) - score[queries, first]
        return cls(
            label=labels,
            prototype=deciding,
            row=np.where(unknown, -1, rows[deciding]),
            distance=near,
            radius=radius,
            relative_distance=np.where(unknown, np.inf, multiples[0]),
            inside=within(near, radii[deciding], closed=closed),
            runner_up_label=_with_label(classes[second], unknown, outlier_label),
            runner_up_prototype=np.where(alone, -1, beside),
            runner_up_distance=far,
            runner_up_radius=np.where(alone, np.nan, radii[beside]),
            runner_up_relative_distance=np.where(alone, np.inf, multiples[1]),
            margin=np.where(unknown, 0.0, margin),
        )

    @classmethod
    def of_nothing(cls, n_queries: int, label: Any) -> Self:
        """Explain answers that are `label` because there is no prototype."""
        labels, nowhere = np.full(n_queries, label), np.full(n_queries, -1)
        beyond = np.full(n_queries, np.inf)
        return cls(
            label=labels,
            prototype=nowhere,
            row=nowhere,
            distance=beyond,
            radius=np.full(n_queries, np.nan),
            relative_distance=beyond,
            inside=np.zeros(n_queries, dtype=bool),
            runner_up_label=labels,
            runner_up_prototype=nowhere,
            runner_up_distance=beyond,
            runner_up_radius=np.full(n_queries, np.nan),
            runner_up_relative_distance=beyond,
            margin=np.zeros(n_queries),
        )

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


def _with_label(labels: NDArray[Any], where: NDArray[np.bool_], label: Any) -> NDArray[Any]:
    """Put a label in some places, with room for it among the others."""
    if not where.any():
        return labels
    labels = labels.astype(np.result_type(labels, np.asarray(label)))
    labels[where] = label
    return labels
