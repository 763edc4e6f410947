"""The prototype vector machine on Dask collections."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._estimators import PVMClassifier
from .._estimators.fitting import warn_of_selection
from .._estimators.model import CoverModel
from .._selection.parameters import unchanged_on_error
from .._selection.training import after_candidates
from ._chunks import ChunkedPoints, as_rows, as_values, find_source, read_points
from ._cluster import OnCluster, ask_lazily, describe_cluster
from ._fitting import Job, folder_for_blocks, terms_of


class DaskPVMClassifier(OnCluster, ClassifierMixin, BaseEstimator):
    """The :class:`~protocover.PVMClassifier` on Dask arrays and data frames.

    It chooses the same prototypes in the same order as the plain classifier with
    ``solver="greedy"`` would if it had all data in one memory.

    Parameters
    ----------
    eps : float, "auto" or None, default="auto"
        Radius of the balls, or the largest allowed; "auto" and None as in the plain
        classifier.
    radii : {"shared", "adaptive"}, default="shared"
        As in the plain classifier, but shared by default, because rounds need one radius. With
        "adaptive" each class is selected in one task, which must fit a worker.
    metric, metric_params
        As in the plain classifier, for rows of numbers. Metrics that must learn something
        simple, such as "mahalanobis", learn it from a sample of 20,000 points; those that need
        all training points at once are refused.
    candidates : "train", int, float or array, default="train"
        What may become a prototype: all training points, a number or fraction of them drawn
        by class, or the rows of a NumPy or Dask array.
    cross_class, prototype_cost, max_prototypes, min_per_class, class_weight, closed_ball, \
outlier_label
        As in the plain classifier.
    random_state : int, RandomState or None, default=None
        As in the plain classifier.
    client : distributed.Client or None, default=None
        The client to use; None for the default one.
    cache_dir : path or None, default=None
        Folder on storage that all workers share, to which blocks of the cover are written
        while fitting. The loss of a worker then costs reading them again, and workers need not
        hold them. None to keep them in the workers' memory, from where a lost one is computed
        again.
    selection : {"auto", "classes", "rounds"}, default="auto"
        How to select: "classes" for one task a class; "rounds" for rounds in which no task
        holds more than a block; "auto" for rounds where a class would fill more than half of
        a worker's memory. All give the same prototypes in the same order; only "classes" also
        gives a lower bound.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    classes_, prototypes_, candidate_indices_, prototype_labels_, ...
        As in the plain classifier.

    See Also
    --------
    protocover.PVMClassifier : The same on one machine.

    Notes
    -----
    Where a class was selected in rounds, nothing is proved of its optimum: `lower_bound_` is
    -inf and `certificate_` "none".

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from protocover.distributed import DaskPVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     dX, dy = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    ...     clf = DaskPVMClassifier(eps=1.0).fit(dX, dy)
    ...     labels = clf.predict(dX[:3]).compute()
    >>> clf.candidate_indices_
    array([  0,  71, 128, 105,  57,   1,   5,  74])
    >>> labels
    array([0, 0, 0])
    >>> clf.to_local().predict(X[:3])
    array([0, 0, 0])
    """

    def __init__(
        self,
        *,
        eps: float | str | None = "auto",
        radii: str = "shared",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        candidates: Any = "train",
        cross_class: bool = False,
        prototype_cost: float | str = "auto",
        max_prototypes: int | dict[Any, int] | None = None,
        min_per_class: int = 1,
        class_weight: Any = None,
        closed_ball: bool = False,
        outlier_label: Any = None,
        random_state: Any = None,
        client: Any = None,
        cache_dir: Any = None,
        selection: str = "auto",
    ) -> None:
        self.eps = eps
        self.radii = radii
        self.metric = metric
        self.metric_params = metric_params
        self.candidates = candidates
        self.cross_class = cross_class
        self.prototype_cost = prototype_cost
        self.max_prototypes = max_prototypes
        self.min_per_class = min_per_class
        self.class_weight = class_weight
        self.closed_ball = closed_ball
        self.outlier_label = outlier_label
        self.random_state = random_state
        self.client = client
        self.cache_dir = cache_dir
        self.selection = selection

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the prototypes.

        Parameters
        ----------
        X : dask array or data frame, shape (n_points, n_features)
            Training points, with all columns in one chunk and chunks of known length.
        y : dask array or series, shape (n_points,)
            Their labels.
        sample_weight : dask array or series, shape (n_points,), or None, default=None
            As in the plain classifier.

        Returns
        -------
        self
            The fitted classifier.
        """
        with unchanged_on_error(self):
            job = Job.of(self)
            points = self._read(job, X, y, sample_weight)
            terms = terms_of(self, points)
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
            # Children of the generator, so that its own draws are those of the plain classifier.
            for_sample, for_forecast = rng.spawn(2)
            candidates = find_source(
                job.client, self.candidates, points, n_features=self.n_features_in_, rng=rng
            )
            sample = job.learn(points, for_sample)
            eps = job.radius(points, sample, after_candidates(self.random_state, rng))
            density = job.density(sample, eps, for_forecast)
            with folder_for_blocks(job.client, self.cache_dir) as folder:
                cover = job.build(
                    points, candidates, terms, eps=eps, density=density, folder=folder
                )
                selection = job.select(points, cover, terms)
            self._set_model(job.keep(selection, points, candidates, terms, eps=eps))
            warn_of_selection(self, len(points))
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of each query's nearest prototype, lazily.

        Parameters
        ----------
        X : dask array or data frame, shape (n_queries, n_features)
            Queries.

        Returns
        -------
        dask array, shape (n_queries,)
            Labels; nothing is computed yet.
        """
        return self._labels(self._queries(X))

    def decision_function(self, X: Any) -> Any:
        """Return minus the dissimilarity from each class's nearest prototype, lazily.

        Parameters
        ----------
        X : dask array or data frame, shape (n_queries, n_features)
            Queries.

        Returns
        -------
        dask array, shape (n_queries, n_classes), or (n_queries,) for two classes
            As in the plain classifier; nothing is computed yet.
        """
        queries = self._queries(X)
        width = None if len(self.classes_) == 2 else len(self.classes_)
        return ask_lazily(
            self._local, "decision_function", queries, dtype=np.dtype(np.float64), width=width
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of queries whose class is predicted right.

        Parameters
        ----------
        X : dask array or data frame, shape (n_queries, n_features)
            Queries, in chunks of known length.
        y : dask array or series, shape (n_queries,)
            Their labels.
        sample_weight : dask array or series, shape (n_queries,), or None, default=None
            Weights of the queries.
        """
        check_is_fitted(self)
        self._check_features(X, reset=False)
        client = self.client_
        describe_cluster(client)
        rows = as_rows(X, client)
        right = self._labels(rows) == as_values(y, client, like=rows, name="y")
        if sample_weight is None:
            return float(client.compute(right.mean()).result())
        weights = as_values(sample_weight, client, like=rows, name="sample_weight")
        return float(client.compute((right * weights).sum() / weights.sum()).result())

    def to_local(self) -> PVMClassifier:
        """Return the plain classifier with these prototypes.

        Returns
        -------
        PVMClassifier
            Fitted, and free of any cluster.
        """
        check_is_fitted(self)
        local: PVMClassifier = copy(self._local)
        return local

    def _read(self, job: Job, X: Any, y: Any, sample_weight: Any) -> ChunkedPoints:
        """Check the collections and have the workers hold their points."""
        rows = as_rows(X, job.client)
        self._check_features(X, reset=True)
        labels = as_values(y, job.client, like=rows, name="y")
        if sample_weight is not None:
            sample_weight = as_values(sample_weight, job.client, like=rows, name="sample_weight")
        return read_points(
            job.client,
            rows,
            labels,
            sample_weight,
            job.dissimilarity,
            class_weight=self.class_weight,
        )

    def _set_model(self, fitted: CoverModel) -> None:
        """Make the plain classifier and set the fitted attributes, which are its."""
        own = ("client", "cache_dir", "selection")
        params = self.get_params(deep=False)
        model = PVMClassifier(**{name: params[name] for name in params if name not in own})
        model._set_model(fitted)
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        for name, value in vars(model).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self._local = model

    def _labels(self, queries: Any) -> Any:
        """Predict the classes of a dask array of queries, lazily."""
        dtype = self.classes_.dtype
        if self.outlier_label_ is not None:
            dtype = np.result_type(self.classes_, np.asarray(self.outlier_label_))
        return ask_lazily(self._local, "predict", queries, dtype=dtype, width=None)
