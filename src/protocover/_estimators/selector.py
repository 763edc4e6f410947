"""The same selection as a resampler, after imbalanced-learn's protocol."""

from __future__ import annotations

from os import PathLike
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, _safe_indexing, column_or_1d

from .._exceptions import no_prototypes
from ..data._frames import in_memory
from .classifier import PVMClassifier
from .model import copy_features


class PVMSelector(BaseEstimator):
    """Instance selection: reduce a training set to its prototypes.

    A sampler in the sense of imbalanced-learn: it can stand in that package's pipelines
    in front of any classifier.

    Parameters
    ----------
    radii : {"shared", "adaptive"}, default="shared"
        As in :class:`PVMClassifier`, but shared by default: a nearest-neighbour classifier on
        the resampled data does not know radii.
    eps, metric, metric_params, cross_class, solver, solver_options, prototype_cost, \
max_prototypes, min_per_class, class_weight, closed_ball, n_jobs, random_state, verbose
        As in :class:`PVMClassifier`, the default cost of a prototype included. Candidates
        are always the training points, so that a table of precomputed dissimilarities must
        be square.

    Attributes
    ----------
    sample_indices_ : ndarray of int, shape (n_prototypes,)
        Rows of the prototypes, in order of selection.
    classifier_ : PVMClassifier
        The fitted model behind the selection.
    n_features_in_ : int
        Number of features, where points are rows of numbers.
    feature_names_in_ : ndarray of str
        Their names, where `X` had any.

    See Also
    --------
    PVMClassifier : Classifies by the nearest prototype.

    Notes
    -----
    The labels returned are those the prototypes stand for. They differ from
    ``y[sample_indices_]`` only where a sample was chosen for another class than its own,
    which ``cross_class=True`` allows. So a nearest
    neighbour classifier on what comes back is the PVMClassifier. With ``radii="adaptive"`` it is
    not, as the radii decide with the distances: they are in
    ``classifier_.prototype_radii_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> X_few, y_few = PVMSelector(eps=1.0).fit_resample(X, y)
    >>> X_few.shape, y_few
    ((9, 4), array([0, 1, 2, 1, 2, 0, 2, 2, 1]))
    """

    _sampling_type = "bypass"

    def __init__(
        self,
        *,
        eps: float | str | None = "auto",
        radii: str = "shared",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        cross_class: bool = False,
        solver: Any = "auto",
        solver_options: dict[str, Any] | None = None,
        prototype_cost: float | str = "auto",
        max_prototypes: int | dict[Any, int] | None = None,
        min_per_class: int = 1,
        class_weight: Any = None,
        closed_ball: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.eps = eps
        self.radii = radii
        self.metric = metric
        self.metric_params = metric_params
        self.cross_class = cross_class
        self.solver = solver
        self.solver_options = solver_options
        self.prototype_cost = prototype_cost
        self.max_prototypes = max_prototypes
        self.min_per_class = min_per_class
        self.class_weight = class_weight
        self.closed_ball = closed_ball
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the prototypes.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`PVMClassifier.fit`.

        Returns
        -------
        self
            The fitted selector.
        """
        shape: tuple[int, ...] = np.shape(X) if self.__sklearn_tags__().input_tags.pairwise else ()
        if len(shape) == 2 and shape[0] != shape[1]:
            raise ValueError(
                "PVMSelector needs a square table, whose columns are the points, since it "
                f"returns rows of X, got shape {shape}; PVMClassifier chooses among the columns"
            )
        classifier = PVMClassifier(**self.get_params(deep=False))
        return self._set_classifier(classifier.fit(X, y, sample_weight))

    def fit_resample(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        """Choose the prototypes and return them with their labels.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`PVMClassifier.fit`.

        Returns
        -------
        X_resampled : same kind as X
            The rows of the prototypes, in order of selection; of a table of dissimilarities
            with all of its columns.
        y_resampled : same kind as y
            The classes they stand for.
        """
        self.fit(X, y, sample_weight)
        if len(self.sample_indices_) == 0:
            raise no_prototypes(self.classifier_, "nothing would be left of X")
        if isinstance(X, PathLike):  # a file of sequences, which has been read for the fit
            return self.classifier_.prototypes_, self._labels(y)
        rows = X.tocsr() if issparse(X) else in_memory(X)
        return _safe_indexing(rows, self.sample_indices_), self._labels(y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = PVMClassifier(metric=self.metric).__sklearn_tags__().input_tags
        tags.target_tags.required = True
        return tags

    def _set_classifier(self, classifier: PVMClassifier) -> Self:
        """Set the fitted attributes."""
        self.classifier_ = classifier
        self.sample_indices_ = classifier.candidate_indices_
        copy_features(classifier, self)
        return self

    def _labels(self, y: Any) -> Any:
        """Return the labels of the prototypes in the form of `y`, with its type and names."""
        # Rows of y that hold the label keep categories, which the bare labels would lose.
        _, row_of_class = np.unique(column_or_1d(y), return_index=True)
        labels = _safe_indexing(y, row_of_class[self.classifier_.solution_.classes])
        if hasattr(y, "iloc"):
            labels.index = y.index[self.sample_indices_]
        return labels
