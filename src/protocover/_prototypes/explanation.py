"""Explanations of single predictions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._balls import relative_to, within
from ..data._frames import make_frame

# The columns that a data frame has by default.
_MAIN = ("label", "prototype", "row", "distance", "runner_up_label", "margin")


# Prototypes that are named as the main contributors to a class.
N_NAMED = 3


@dataclass(frozen=True, eq=False)
class PrototypeContributions:
    """What the prototypes contribute to the two most probable classes of each sample.

    The probability of a class is the sum of the contributions of its prototypes. The three
    largest are named.

    Parameters
    ----------
    label, runner_up_label : ndarray, shape (n_samples,)
        The most probable class and the next. They are equal if only one class has prototypes.
    probability, runner_up_probability : ndarray of float, shape (n_samples,)
        Their probabilities.
    prototype, runner_up_prototype : ndarray of int, shape (n_samples, 3)
        Positions in ``prototypes_`` of the prototypes that contribute most, the largest first;
        -1 if the class has fewer than three.
    contribution, runner_up_contribution : ndarray of float, shape (n_samples, 3)
        What each of them adds to the probability.
    """

    label: NDArray[Any]
    probability: NDArray[np.float64]
    prototype: NDArray[np.intp]
    contribution: NDArray[np.float64]
    runner_up_label: NDArray[Any]
    runner_up_probability: NDArray[np.float64]
    runner_up_prototype: NDArray[np.intp]
    runner_up_contribution: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """The nearest prototype of each query, and that of the runner-up class.

    Parameters
    ----------
    label : ndarray, shape (n_queries,)
        Class of the nearest prototype, even if `predict` returns `outlier_label` because the
        query is not `inside`.
    prototype : ndarray of int
        Its index in ``prototypes_``.
    row : ndarray of int
        Its row in the training data, -1 if it is not from there.
    distance : ndarray of float
        Its distance from the query.
    inside : ndarray of bool
        Whether it covers the query. If it does not, no prototype does.
    radius, relative_distance : ndarray of float
        Its radius, and the distance as a multiple of it.
    runner_up_label, runner_up_prototype, runner_up_distance : ndarray
        The nearest prototype of any other class. If only one class has prototypes, the
        label is that class, the index -1 and the distance inf.
    runner_up_radius, runner_up_relative_distance : ndarray of float
        Its radius, NaN if there is none, and the distance as a multiple of it.
    margin : ndarray of float
        By how much the runner-up is farther away.
    contributions : PrototypeContributions or None
        With ``decision="fitted"`` the contributions of prototypes to the most probable classes.
        Then `label` is the most probable class, which can differ from the class of `prototype`.

    Notes
    -----
    With per-prototype radii the nearest prototype is the one whose distance is the
    smallest multiple of its radius, and the margin is the difference of these multiples.

    A model without prototypes can only return `outlier_label`. That is then the label
    and that of the runner-up, both indices and the row are -1, both distances inf, both
    radii NaN, and the margin is 0. The same values are returned for a query that has no
    prototype in the neighbour graph. If its entries are of one class only, there is no runner-up.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> why = PVMClassifier(eps=1.0).fit(X, y).explain(X[:2])
    >>> why.label, why.inside
    (array([0, 0]), array([ True,  True]))
    >>> X[why.row]  # the nearest prototype, the same for both new samples
    array([[4.6, 3.1, 1.5, 0.2],
           [4.6, 3.1, 1.5, 0.2]])
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
    contributions: PrototypeContributions | None = None

    @classmethod
    def _of(
        cls,
        index: NDArray[np.intp],
        distance: NDArray[np.float64],
        labels: NDArray[Any],
        *,
        rows: NDArray[np.intp],
        radii: NDArray[np.float64],
        by_multiples: bool,
        closed: bool,
        outlier_label: Any = None,
    ) -> Self:
        """Explain from the nearest prototype and the nearest of any other class.

        Parameters
        ----------
        index, distance : ndarray, shape (2, n_queries)
            Their places and dissimilarities; -1 and inf where there is none.
        labels : ndarray, shape (n_prototypes,)
            Class of each prototype.
        rows : ndarray of int, shape (n_prototypes,)
            Row of each prototype in the training data, -1 where it is not from there.
        radii : ndarray of float, shape (n_prototypes,)
            Radius of each prototype.
        by_multiples : bool
            Whether prototypes are compared by multiples of their radii.
        closed : bool
            Whether balls are closed.
        outlier_label : label or None, default=None
            What is answered to a query that no prototype is known to be near to.
        """
        missing = index < 0
        unknown, alone = missing
        radius, row, label = radii[index], rows[index[0]], labels[index]
        multiple = relative_to(radius, distance)
        if alone.any():  # the place -1 was taken for the last one
            radius[missing], multiple[missing], row[unknown] = np.nan, np.inf, -1
            label[1, alone] = label[0, alone]
            label = _with_label(label, unknown, outlier_label)
        near, far = multiple if by_multiples else distance
        with np.errstate(invalid="ignore"):
            margin = far - near
        return cls(
            label=label[0],
            prototype=index[0],
            row=row,
            distance=distance[0],
            radius=radius[0],
            relative_distance=multiple[0],
            inside=within(distance[0], radius[0], closed=closed),
            runner_up_label=label[1],
            runner_up_prototype=index[1],
            runner_up_distance=distance[1],
            runner_up_radius=radius[1],
            runner_up_relative_distance=multiple[1],
            margin=np.where(unknown, 0.0, margin),
        )

    @classmethod
    def _of_nothing(cls, n_queries: int, label: Any) -> Self:
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

    def to_frame(self, index: Any = None, *, all: bool = False) -> Any:
        """Return a pandas data frame with one row per sample.

        Parameters
        ----------
        index : index-like or None, default=None
            Names of the samples, such as the index of the frame they came from.
        all : bool, default=False
            Whether to return all columns instead of the six main ones: `label`, `prototype`,
            `row`, `distance`, `runner_up_label` and `margin`. With ``decision="fitted"``
            `probability` is added to these.
        """
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        parts = found.pop("contributions")
        shown = {name: found[name] for name in (found if all else _MAIN)}
        if parts is not None:
            shown["probability"] = parts.probability
            if all:
                shown["runner_up_probability"] = parts.runner_up_probability
                for name in ("prototype", "contribution"):
                    for k in range(N_NAMED):
                        shown[f"{name}_{k + 1}"] = getattr(parts, name)[:, k]
        return make_frame(shown, index)


def _with_label(labels: NDArray[Any], where: NDArray[np.bool_], label: Any) -> NDArray[Any]:
    """Put a label in some columns, with room for it among the others."""
    if not where.any():
        return labels
    labels = labels.astype(np.result_type(labels, np.asarray(label)))
    labels[:, where] = label
    return labels
