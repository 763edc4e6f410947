"""What a fitted classifier keeps, whoever chose its prototypes: fit, search, Dask or a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import _get_feature_names

from .._prototypes import PrototypeSet, column_order
from .._selection.parameters import check_outlier_label
from .._selection.selection import Selection
from .._selection.training import Training
from ..candidates._pool import Pool, numbers, source_names, take, training_rows

_FEATURES = ("n_features_in_", "feature_names_in_")


@dataclass(frozen=True, eq=False)
class Fitted:
    """A selection with all that a classifier needs to answer from it.

    Parameters
    ----------
    selection : Selection
        Candidates by their numbers among all that were given.
    prototypes : rows, or column numbers of a table
        In order of selection.
    rows, sources : ndarray, shape (n_prototypes,)
        Row of `X` that each is, -1 if none, and the name of its source.
    classes : ndarray, shape (n_classes,)
        Labels, sorted.
    class_count : ndarray of int, shape (n_classes,)
        Training points of each.
    eps, prototype_cost : float
        The radius, or the largest that is allowed, and the cost of a prototype.
    outlier_label : label or None
        What to answer for a query in no ball.
    dissimilarity : dissimilarity
        Fitted, with no more of the training data than these prototypes need.
    """

    selection: Selection
    prototypes: Any
    rows: NDArray[np.intp]
    sources: NDArray[np.str_]
    classes: NDArray[Any]
    class_count: NDArray[np.intp]
    eps: float
    prototype_cost: float
    outlier_label: Any
    dissimilarity: Any

    @property
    def radii(self) -> NDArray[np.float64]:
        """The radius of each prototype, its own or the one that all share."""
        own = self.selection.radii
        return np.full(len(self.rows), self.eps) if own is None else own

    @classmethod
    def of_training(
        cls,
        selection: Selection,
        training: Training,
        *,
        eps: float,
        prototype_cost: float,
        outlier_label: Any,
    ) -> Self:
        """Keep a selection from a training set, candidates by their columns in its balls."""
        selection = by_column(selection, training)
        return cls.of_pools(
            selection,
            training.pools,
            selection.candidates,
            classes=training.classes,
            class_count=training.class_count,
            eps=eps,
            prototype_cost=prototype_cost,
            outlier_label=outlier_label,
            dissimilarity=training.dissimilarity,
        )

    @classmethod
    def of_pools(
        cls, selection: Selection, pools: list[Pool], chosen: NDArray[np.intp], **kept: Any
    ) -> Self:
        """Keep the candidates `chosen` from pools, and what the dissimilarity needs for them."""
        fitted = cls(
            selection=selection.renumbered(numbers(pools)[chosen]),
            prototypes=take(pools, chosen),
            rows=training_rows(pools)[chosen],
            sources=source_names(pools)[chosen],
            **kept,
        )
        if not hasattr(fitted.dissimilarity, "for_prototypes"):
            return fitted
        by_class = fitted.prototype_set().points
        return replace(fitted, dissimilarity=fitted.dissimilarity.for_prototypes(by_class))

    def prototype_set(self) -> PrototypeSet:
        """Return the prototypes, ready to be asked which of them is nearest."""
        return PrototypeSet.of(
            self.prototypes,
            self.selection.classes,
            n_classes=len(self.classes),
            dissimilarity=self.dissimilarity,
            radii=self.selection.radii,
        )


def by_column(selection: Selection, training: Training) -> Selection:
    """Put prototypes that are all columns of a table in the order of the columns."""
    if not training.is_table:
        return selection
    order = column_order(take(training.pools, selection.candidates), training.points.shape[1])
    return selection if order is None else selection._rearranged(order)


def copy_features(source: Any, target: Any) -> None:
    """Let an estimator say of its features what another one does, which has checked them."""
    forget_features(target)
    vars(target).update({name: vars(source)[name] for name in _FEATURES if name in vars(source)})


def forget_features(estimator: Any) -> None:
    """Let an estimator say nothing of its features: the next points may have none."""
    for name in _FEATURES:
        vars(estimator).pop(name, None)


def with_selection(
    classifier: Any, selection: Selection, training: Training, *, eps: float, cost: float
) -> Any:
    """Return a fitted copy of a classifier whose prototypes are already chosen."""
    model = clone(classifier).set_params(eps=eps, prototype_cost=cost)
    outlier = check_outlier_label(model.outlier_label, training.classes, training.class_count)
    model._keep(
        Fitted.of_training(
            selection, training, eps=eps, prototype_cost=cost, outlier_label=outlier
        )
    )
    if len(getattr(training.points, "shape", ())) == 2:
        model.n_features_in_ = training.points.shape[1]
    # Checking may have made an array of the frame that the points came in.
    names = getattr(classifier, "feature_names_in_", _get_feature_names(training.points))
    if names is not None:
        model.feature_names_in_ = names
    return model
