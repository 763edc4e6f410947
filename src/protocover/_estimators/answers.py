"""Predictions of a fitted classifier, or of the one that a search has chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import VALID_METRICS, KNeighborsClassifier
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._balls.graph import names_itself
from .._exceptions import no_prototypes, warn_caller
from .._prototypes.coverage import Coverage
from .._prototypes.decision import (
    contributions_of,
    explain_nearest,
    log_proba_of,
    predict_nearest,
    refuse_unknown,
    score_classes,
    score_log_proba,
)
from .._prototypes.explanation import Explanation
from .._prototypes.fitted_rule import FittedRule
from .._selection.parameters import check_column
from .._selection.selection import Selection
from ..data._points import check_estimator_points
from ..dissimilarity import Cosine, Euclidean, Metric, SquaredEuclidean
from ..dissimilarity._metric import METRIC_ALIASES
from ..dissimilarity._resolve import input_tags
from .display import ShowsChosen, describe_prototypes
from .model import CoverModel, copy_features

# The nearest by the squared distance is the nearest.
_KNN_METRICS = {Euclidean: "euclidean", SquaredEuclidean: "euclidean", Cosine: "cosine"}
# Parameters of metrics that mean the same in scikit-learn's search for neighbours.
_KNN_PARAMS = {"minkowski": {"p", "w"}, "seuclidean": {"V"}, "mahalanobis": {"VI"}}


def _has_probabilities(estimator: Any) -> bool:
    """Whether the decision is fitted, without which there are no probabilities."""
    chosen = getattr(estimator, "best_estimator_", estimator)
    if chosen.decision != "fitted":
        raise AttributeError(
            "predict_proba needs decision='fitted', got decision="
            f"{chosen.decision!r}: fit {type(estimator).__name__}(decision='fitted')"
        )
    return True


class PrototypeAnswers(
    ShowsChosen, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin
):
    """Fitted attributes and predictions of a classifier by nearest prototypes."""

    metric: Any
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    closed_ball: bool
    outlier_label: Any
    eps_: float
    prototype_cost_: float
    outlier_label_: Any
    classes_: NDArray[Any]
    class_count_: NDArray[np.intp]
    prototypes_: Any
    n_prototypes_: int
    candidate_indices_: NDArray[np.intp]
    prototype_indices_: NDArray[np.intp]
    prototype_sources_: NDArray[np.str_]
    prototype_labels_: NDArray[Any]
    prototype_radii_: NDArray[np.float64]
    covered_count_: NDArray[np.intp]
    newly_covered_count_: NDArray[np.intp]
    miscovered_count_: NDArray[np.intp]
    objective_: float
    lower_bound_: float
    gap_: float
    certificate_: str
    solution_: Selection
    dissimilarity_: Any
    decision_rule_: FittedRule | None
    n_features_in_: int
    _model: CoverModel

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each query's nearest prototype, or the most probable class.

        The latter with ``decision="fitted"``.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries; for precomputed dissimilarities their table or graph, with a column for
            each candidate or just for each prototype in order of selection.

        Returns
        -------
        ndarray, shape (n_queries,)
            Labels; `outlier_label` for queries in no ball, if that is set.
        """
        X = self._check_queries(X)
        if self.decision_rule_ is None:
            return predict_nearest(
                self._model.prototype_set,
                X,
                self.prototype_labels_,
                radii=self.prototype_radii_,
                closed=self.closed_ball,
                outlier_label=self.outlier_label_,
                n_jobs=self.n_jobs,
            )
        log_proba, known = self._log_proba(X)
        return self._most_probable(X, log_proba, known)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, with ``decision="fitted"``.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Samples, as for `predict`.

        Returns
        -------
        ndarray, shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`. They do not depend on `outlier_label`. A
            class without prototypes has probability 0.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of `predict_proba`.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Samples, as for `predict`.

        Returns
        -------
        ndarray, shape (n_samples, n_classes)
            Logarithms, -inf for classes without prototypes.
        """
        X = self._check_queries(X)
        if self.decision_rule_ is None:
            raise no_prototypes(self, "there are no probabilities")
        return self._log_proba(X)[0]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return minus the dissimilarity from each class's nearest prototype.

        With ``radii="adaptive"`` dissimilarities are multiples of the prototypes' radii. With
        ``decision="fitted"`` the values are the logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries, as for `predict`.

        Returns
        -------
        ndarray, shape (n_queries, n_classes), or (n_queries,) for two classes
            The larger, the nearer. For two classes the second's value minus the first's:
            positive means ``classes_[1]``.

        Notes
        -----
        All values are finite, except for queries of a neighbour graph: a class with no prototype
        among the entries is infinitely far, and with neither of two classes there the value is
        0. A class without prototypes counts as if it had one that lies
        `eps_` beyond the farthest of the other classes' nearest; with no prototype at all
        every value is 0. The largest value is that of the class that `predict` returns,
        the first of them in a tie; `outlier_label` is not considered. The values are
        not probabilities; scikit-learn's CalibratedClassifierCV calibrates them.
        """
        X = self._check_queries(X)
        if self.decision_rule_ is not None:
            return score_log_proba(self._log_proba(X)[0])
        prototypes = self._model.prototype_set
        return score_classes(
            prototypes.scores_by_class(X, n_jobs=self.n_jobs),
            1.0 if self._adaptive_radii else self.eps_,
            present=np.diff(prototypes.bounds) > 0,
        )

    def explain(self, X: Any) -> Explanation:
        """Return for each query which prototype decided, and by what margin.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries, as for `predict`.

        Returns
        -------
        Explanation
            Arrays with an entry for each query; ``.to_frame()`` returns a data frame. Its
            `label` is the class of the nearest prototype, or with ``decision="fitted"`` the
            most probable class, even if `predict` returns
            `outlier_label`, which it does for the queries that are not `inside`.
        """
        X = self._check_queries(X)
        found = explain_nearest(
            self._model.prototype_set,
            X,
            self.prototype_labels_,
            rows=np.where(self.prototype_sources_ == "train", self.prototype_indices_, -1),
            radii=self.prototype_radii_,
            closed=self.closed_ball,
            outlier_label=self.outlier_label_,
            n_jobs=self.n_jobs,
        )
        rule, prototypes = self.decision_rule_, self._model.prototype_set
        if rule is None:
            return found
        parts = contributions_of(prototypes, X, rule, self.classes_, n_jobs=self.n_jobs)
        return replace(found, label=parts.label, contributions=parts)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the distance of each sample from each prototype.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Samples, as for `predict`.

        Returns
        -------
        ndarray, shape (n_samples, n_prototypes)
            Distances, with the prototypes in the order of `prototypes_`; inf if a neighbour
            graph has no entry for the pair.
        """
        return self._distances(X)

    def _distances(self, X: Any) -> NDArray[np.float64]:
        """Return the array of `transform`, whatever its output is set to."""
        X = self._check_queries(X)
        return self._model.prototype_set.distances(X, n_jobs=self.n_jobs)

    def coverage(self, X: Any, y: Any) -> Coverage:
        """Return which labelled samples each prototype's neighbourhood contains.

        Parameters
        ----------
        X : array-like, shape (n_points, n_features)
            Samples, as for `predict`; usually those of the training.
        y : array-like, shape (n_points,)
            Their labels.

        Returns
        -------
        Coverage
            The samples in each neighbourhood, and counts by sample and by class.
        """
        X = self._check_queries(X)
        y = check_column(y)
        check_consistent_length(X, y)
        balls = self._model.prototype_set.balls(
            X, eps=self.eps_, closed=self.closed_ball, n_jobs=self.n_jobs
        )
        return Coverage._of(balls, y, self.prototype_labels_, self.classes_)

    def to_knn(self) -> KNeighborsClassifier:
        """Return scikit-learn's nearest-neighbour classifier with the same predictions.

        It does not need this package, for instance to convert it to ONNX.

        Returns
        -------
        KNeighborsClassifier
            Fitted on the prototypes, with ``n_neighbors=1``: class by class, those of a class
            in order of selection. Its `classes_` are those that have prototypes.

        Raises
        ------
        ValueError
            For ``radii="adaptive"``, for an `outlier_label`, and for dissimilarities that
            scikit-learn's neighbours do not have: these models do not predict by the nearest
            prototype of such a classifier.

        Notes
        -----
        A query that is as near to several prototypes gets the same class, and one whose two
        nearest differ in the last bit of their distances may get another. For sparse rows,
        ``"cosine"``, ``"correlation"`` and ``"nan_euclidean"`` scikit-learn uses brute
        force, in which distances that agree in some eight digits count as equal and any of the
        prototypes may be taken.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from protocover import PVMClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = PVMClassifier(eps=1.0, radii="shared").fit(X, y)
        >>> knn = clf.to_knn()
        >>> bool((knn.predict(X) == clf.predict(X)).all())
        True
        """
        check_is_fitted(self)
        self._check_has_knn()
        metric, params = _knn_metric(self.dissimilarity_)
        prototypes = self._model.prototype_set
        rows = prototypes.points
        # Rows are in the order of the classes: of several nearest the first is of the class
        # that comes first, as in `predict`. A tree of a single leaf compares one row after the
        # other and sums up features in our order; brute force takes matrix products, after
        # which rounding decides between near neighbours.
        one_leaf = metric in VALID_METRICS["ball_tree"] and params.get("p", 2) >= 1
        knn = KNeighborsClassifier(
            n_neighbors=1,
            algorithm="ball_tree" if one_leaf and not issparse(rows) else "brute",
            leaf_size=len(prototypes.order),
            metric=metric,
            p=params.pop("p", 2),
            metric_params=params or None,
            n_jobs=self.n_jobs,
        )
        is_float = rows.dtype in (np.float32, np.float64)
        knn.fit(
            rows if is_float else rows.astype(np.float64), self.prototype_labels_[prototypes.order]
        )
        copy_features(self, knn)
        return knn

    def _check_has_knn(self) -> None:
        """Refuse models whose predictions do not depend on the nearest prototype alone."""
        if len(self.prototype_labels_) == 0:
            raise no_prototypes(self, "there is no neighbour to be the nearest")
        if self._adaptive_radii:
            raise ValueError(
                "to_knn() needs prototypes of one radius, got radii='adaptive', where distances "
                "count in multiples of each one's radius; fit with radii='shared', or keep the "
                "model with protocover.save_model"
            )
        if self.decision_rule_ is not None:
            raise ValueError(
                "to_knn() needs decision='nearest', got decision='fitted', whose predictions are "
                "not those of the nearest prototype; keep the model with protocover.save_model"
            )
        if self.outlier_label_ is not None:
            raise ValueError(
                f"to_knn() needs outlier_label=None, got {self.outlier_label!r}: a nearest "
                "neighbour has no answer for queries in no ball; fit without outlier_label, or "
                "keep the model with protocover.save_model"
            )

    def _check_queries(self, X: Any) -> Any:
        """Check queries, and that predictions are possible."""
        check_is_fitted(self)
        if len(self.prototype_labels_) == 0 and self.outlier_label_ is None:
            raise no_prototypes(
                self, "there is nothing to predict with", instead="set outlier_label"
            )
        return check_queries(self, X)

    def _log_proba(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the logarithms of the probabilities, and which samples have a known distance."""
        assert self.decision_rule_ is not None, "the rule was not fitted"
        prototypes, n_classes = self._model.prototype_set, len(self.classes_)
        return log_proba_of(prototypes, X, self.decision_rule_, n_classes, n_jobs=self.n_jobs)

    def _most_probable(
        self, X: Any, log_proba: NDArray[np.float64], known: NDArray[np.bool_]
    ) -> NDArray[Any]:
        """Return the most probable class, or `outlier_label` for samples that none covers."""
        labels: NDArray[Any] = self.classes_[log_proba.argmax(axis=1)]
        if self.outlier_label_ is None:
            refuse_unknown(~known)
            return labels
        place = self._model.prototype_set.covering(
            X, radii=self.prototype_radii_, closed=self.closed_ball, n_jobs=self.n_jobs
        )
        labels = labels.astype(np.result_type(labels, np.asarray(self.outlier_label_)))
        labels[place < 0] = self.outlier_label_
        return labels

    def _set_model(self, model: CoverModel) -> None:
        """Set the fitted attributes."""
        self._model = model
        self.__dict__.update(model.attributes())

    def _describe(self) -> str:
        return describe_prototypes(self)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        for name, value in input_tags(self.metric, self.metric_params).items():
            setattr(tags.input_tags, name, value)
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        """The number of columns of `transform`."""
        return self.n_prototypes_

    @property
    def _adaptive_radii(self) -> bool:
        """Whether prototypes have their own radii, and distances count in multiples of them."""
        return self._model.selection.radii is not None


def check_queries(estimator: Any, X: Any) -> Any:
    """Check queries, and warn if they look like the graph of the fit."""
    points = check_estimator_points(estimator, X, estimator.dissimilarity_, reset=False)
    square = issparse(points) and points.shape == (estimator.n_features_in_,) * 2
    if (
        square
        and estimator._model.prototype_set.is_graph(points)
        and estimator.dissimilarity_.bare_
        and not names_itself(points)
    ):
        warn_caller(
            "X has the shape of the graph of fit and nothing on its diagonal: fit takes "
            "points for their own neighbours, queries are taken for what X stores; if these "
            "are the training points, call X.setdiag(0) first"
        )
    return points


def _knn_metric(dissimilarity: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and parameters of a fitted dissimilarity for scikit-learn's neighbours."""
    name, params = _KNN_METRICS.get(type(dissimilarity)), {}
    if type(dissimilarity) is Metric:
        name = METRIC_ALIASES.get(dissimilarity.name, dissimilarity.name)
        params = dict(dissimilarity.params_)
    if name is None or name not in VALID_METRICS["brute"]:
        raise ValueError(
            "to_knn() needs a metric of scikit-learn's neighbours, such as 'euclidean', "
            f"'cityblock' or 'cosine', got {name or type(dissimilarity).__name__!r}; "
            "protocover.save_model keeps any model"
        )
    others = params.keys() - _KNN_PARAMS.get(name, set())
    if others or ("w" in params and np.isinf(params.get("p", 2))):
        raise ValueError(
            f"to_knn() has no place for {', '.join(sorted(others or {'w'}))} among metric_params "
            f"of {name!r}; put the weights into the columns of X instead, or keep the model with "
            "protocover.save_model"
        )
    return name, params
