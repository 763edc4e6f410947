"""The same selection as a resampler, after imbalanced-learn's protocol."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from .classifier import PVMClassifier

__all__ = ["PVMSelector"]


class PVMSelector(BaseEstimator):
    """Reduce a training set to its prototypes.

    A sampler in the sense of imbalanced-learn: it can stand in that package's pipelines
    in front of any classifier.

    Parameters
    ----------
    eps, metric, metric_params, solver, solver_options, prototype_cost, n_prototypes, \
closed_ball, n_jobs, random_state, verbose
        As in :class:`PVMClassifier`, the default cost of a prototype included. Candidates
        are always the training points.

    Attributes
    ----------
    sample_indices_ : ndarray of int, shape (n_prototypes,)
        Rows of the prototypes, in order of selection.
    classifier_ : PVMClassifier
        The fitted model behind the selection.

    See Also
    --------
    PVMClassifier : Classifies by the nearest prototype.

    Notes
    -----
    The labels returned are those the prototypes stand for. They differ from
    ``y[sample_indices_]`` only where a point was chosen for another class than its own,
    which happens where its neighbourhood speaks against its label. So a nearest
    neighbour classifier on what comes back is the PVMClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> X_few, y_few = PVMSelector(eps=1.0).fit_resample(X, y)
    >>> X_few.shape, y_few
    ((8, 4), array([0, 1, 2, 2, 1, 0, 0, 1]))
    """

    _sampling_type = "bypass"

    def __init__(
        self,
        eps: float | str = "auto",
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        solver: Any = "greedy",
        solver_options: dict[str, Any] | None = None,
        prototype_cost: float | None = None,
        n_prototypes: int | dict[Any, int] | None = None,
        closed_ball: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.eps = eps
        self.metric = metric
        self.metric_params = metric_params
        self.solver = solver
        self.solver_options = solver_options
        self.prototype_cost = prototype_cost
        self.n_prototypes = n_prototypes
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
        classifier = PVMClassifier(**self.get_params(deep=False))
        self.classifier_ = classifier.fit(X, y, sample_weight)
        self.sample_indices_ = self.classifier_.prototype_indices_
        self.n_features_in_ = getattr(self.classifier_, "n_features_in_", None)
        return self

    def fit_resample(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, NDArray[Any]]:
        """Choose the prototypes and return them with their labels.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`PVMClassifier.fit`.

        Returns
        -------
        X_resampled : same kind as X
            The rows of the prototypes, in order of selection.
        y_resampled : same kind as y
            The classes they stand for.
        """
        self.fit(X, y, sample_weight)
        labels = self.classifier_.prototype_labels_
        if hasattr(y, "iloc"):
            chosen = y.iloc[self.sample_indices_]
            return _safe_indexing(X, self.sample_indices_), type(y)(
                labels, index=chosen.index, name=getattr(y, "name", None)
            )
        return _safe_indexing(X, self.sample_indices_), np.asarray(labels)
