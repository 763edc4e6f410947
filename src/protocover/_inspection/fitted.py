"""The classifier in a pipeline or a search, and the distances from its prototypes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .._balls import bind, relative_to, traits_of
from .._balls.graph import with_own_distances
from .._estimators import BallCover, PVMClassifier, PVMClassifierCV, PVMSelector
from .._estimators.model import copy_features
from .._exceptions import NoPrototypesError, no_prototypes
from .._resources import row_count
from .._typing import Floats
from ..data._points import check_estimator_points


@dataclass(frozen=True, eq=False)
class Unwrapped:
    """The classifier within a fitted model."""

    classifier: PVMClassifier
    search: PVMClassifierCV | None = None  # that chose it
    transformers: tuple[Pipeline, ...] = ()  # before it, those of the outermost pipeline first
    cover: BallCover | None = None  # that it is the view of, all cases being of one class

    def prepare(self, X: Any) -> Any:
        """Return points as the classifier takes them: as the steps before it change them."""
        for steps in self.transformers:
            X = steps.transform(X)
        return X

    def prepare_training(self, X: Any) -> Any:
        """Return the points of the fit so; those of a graph are their own neighbours, as there."""
        X, dissimilarity = self.prepare(X), self.classifier.dissimilarity_
        if not (issparse(X) and traits_of(dissimilarity).precomputed and X.shape[0] == X.shape[1]):
            return X
        graph = check_estimator_points(self.classifier, X, dissimilarity, reset=False)
        return with_own_distances(graph)

    def labels(self, y: Any, n_points: int) -> Any:
        """Return the labels of points; those of a cover are of one class."""
        return y if self.cover is None else np.full(n_points, self.classifier.classes_[0])

    def require_prototypes(self, otherwise: str) -> Self:
        """Refuse a classifier without prototypes, and say what follows from having none."""
        if len(self.classifier.prototype_labels_) == 0 and self.cover is not None:
            raise NoPrototypesError(
                f"no representative was worth its cost at eps={self.cover.eps_:g}, so "
                f"{otherwise}; lower cost or candidate_cost, or change eps"
            )
        if len(self.classifier.prototype_labels_) == 0:
            raise no_prototypes(self.classifier, otherwise)
        return self


def unwrap(model: Any, *, name: str = "model", covers: bool = False) -> Unwrapped:
    """Find the classifier that a fitted model is or holds.

    It is one of ours, a pipeline that ends in one, or a search such as GridSearchCV that
    chose one; `name` is what the caller calls it, for the error. With `covers` it may also be
    a cover, which is seen as a classifier of one class.
    """
    if isinstance(model, Pipeline):
        within = unwrap(model[-1], name=name, covers=covers)
        before = (model[:-1],) if len(model) > 1 else ()
        return replace(within, transformers=before + within.transformers)
    if hasattr(model, "fit"):
        check_is_fitted(model)
    if isinstance(model, PVMClassifier):
        return Unwrapped(model)
    if isinstance(model, PVMClassifierCV):
        return Unwrapped(model.best_estimator_, search=model)
    if isinstance(model, PVMSelector):
        return Unwrapped(model.classifier_)
    if hasattr(model, "to_local"):
        return Unwrapped(model.to_local())
    if hasattr(model, "best_estimator_"):
        return unwrap(model.best_estimator_, name=name, covers=covers)
    if covers and isinstance(model, BallCover):
        return Unwrapped(_as_classifier(model), cover=model)
    if isinstance(model, BallCover):
        raise TypeError(f"{name} must be a classifier: a BallCover knows no classes")
    raise TypeError(
        f"{name} must be, or be a pipeline or search that ends in, a PVMSelector, "
        f"PVMClassifier or PVMClassifierCV, got {type(model).__name__}"
    )


def _as_classifier(cover: BallCover) -> PVMClassifier:
    """Return the fitted classifier of one class that a cover is."""
    shared = PVMClassifier().get_params(deep=False).keys() & cover.get_params(deep=False).keys()
    params = {name: getattr(cover, name) for name in shared}
    classifier = PVMClassifier(radii="shared", **params)
    copy_features(cover, classifier)
    classifier._set_model(cover._model)
    return classifier


# Entries of a table of distances held at once.
_ENTRIES = 1 << 21


def distance_blocks(
    classifier: PVMClassifier, X: Any
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Yield the rows of each block, and a table of their distances that the caller may change."""
    if issparse(X):
        X = X.tocsr()  # of which blocks of rows can be had
    n_points, n_prototypes = row_count(X), len(classifier.prototype_labels_)
    step = max(1, _ENTRIES // max(1, n_prototypes))
    dissimilarity, tile = classifier.dissimilarity_, None
    readable = hasattr(dissimilarity, "bind") and not traits_of(dissimilarity).precomputed
    if readable and n_points > step:
        # Points and prototypes are read once, not once for each block.
        points = check_estimator_points(classifier, X, dissimilarity, reset=False)
        tile = bind(dissimilarity, points, classifier.prototypes_).table
    for start in range(0, n_points, step):
        rows = np.arange(start, min(start + step, n_points))
        if tile is None:
            yield rows, classifier._distances(_safe_indexing(X, rows))
        else:
            some = slice(start, start + len(rows))
            yield rows, np.array(tile(some, slice(0, n_prototypes)), dtype=np.float64)


def nearness(classifier: PVMClassifier, table: Floats) -> Floats:
    """Return what the prototypes are compared by, given a table of distances from them.

    That is the table itself, or multiples of the radii where each prototype has its own.
    """
    radii = classifier.solution_.radii
    if radii is None:
        return table
    return np.where(np.isinf(table), np.inf, relative_to(radii, table))
