"""What a fitted classifier is asked about points: their class, how clearly, and by whom."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._balls import within
from .._balls.graph import names_itself
from .._exceptions import no_prototypes, warn_caller
from .._prototypes import PrototypeSet
from .._prototypes.coverage import Coverage
from .._prototypes.decision import score_classes
from .._prototypes.explanation import Explanation
from .._resources import row_count
from .._selection.parameters import check_column
from ..data._points import check_estimator_points


class PrototypeAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The answers of a classifier by nearest prototypes, from what its fit has kept."""

    n_jobs: int | None
    closed_ball: bool
    eps_: float
    classes_: NDArray[Any]
    n_prototypes_: int
    outlier_label_: Any
    prototype_labels_: NDArray[Any]
    prototype_radii_: NDArray[np.float64]
    prototype_indices_: NDArray[np.intp]
    prototype_sources_: NDArray[np.str_]
    dissimilarity_: Any
    n_features_in_: int
    _prototype_set: PrototypeSet

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each query's nearest prototype.

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
        if len(self.prototype_labels_) == 0:
            return np.full(row_count(X), self.outlier_label_)
        if self.outlier_label_ is None:
            place = self._prototype_set.nearest_place(X, n_jobs=self.n_jobs)
            self._refuse_unanswered(place < 0)
            return self.prototype_labels_[place]
        index, distance = self._prototype_set.nearest(X, n_jobs=self.n_jobs)
        labels = self.prototype_labels_[index]
        labels = labels.astype(np.result_type(labels, np.asarray(self.outlier_label_)))
        inside = within(distance, self.prototype_radii_[index], closed=self.closed_ball)
        labels[~inside] = self.outlier_label_
        return labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return minus the dissimilarity from each class's nearest prototype.

        With ``radii="adaptive"`` dissimilarities are multiples of the prototypes' radii.

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
        All values are finite, but for queries of a neighbour graph: a class with no prototype
        among the entries is infinitely far, and with neither of two classes there the value is
        0. A class without prototypes counts as if it had one that lies
        `eps_` beyond the farthest of the other classes' nearest; with no prototype at all
        every value is 0. The largest value is that of the class that `predict` answers,
        the first of them in a tie; of `outlier_label` the values know nothing. They are
        no probabilities: scikit-learn's CalibratedClassifierCV makes them so.
        """
        X = self._check_queries(X)
        return score_classes(
            self._prototype_set.scores_by_class(X, n_jobs=self.n_jobs),
            1.0 if self._adaptive_radii else self.eps_,
            present=np.diff(self._prototype_set.bounds) > 0,
        )

    def explain(self, X: Any) -> Explanation:
        """Tell for each query which prototype decided, and how close the call was.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries, as for `predict`.

        Returns
        -------
        Explanation
            Arrays with an entry for each query; ``.to_frame()`` returns a data frame. Its
            `label` is the class of the nearest prototype, `outlier_label` or not: queries
            that get that label from `predict` are those not `inside`.
        """
        X = self._check_queries(X)
        if len(self.prototype_labels_) == 0:
            return Explanation._of_nothing(row_count(X), self.outlier_label_)
        index, distance = self._prototype_set.nearest_two(X, n_jobs=self.n_jobs)
        if self.outlier_label_ is None:
            self._refuse_unanswered(index[0] < 0)
        return Explanation._of(
            index,
            distance,
            self.prototype_labels_,
            rows=np.where(self.prototype_sources_ == "train", self.prototype_indices_, -1),
            radii=self.prototype_radii_,
            by_multiples=self._adaptive_radii,
            closed=self.closed_ball,
            outlier_label=self.outlier_label_,
        )

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
        return self._prototype_set.distances(X, n_jobs=self.n_jobs)

    def coverage(self, X: Any, y: Any) -> Coverage:
        """Tell which labelled points lie in which prototype's ball.

        Parameters
        ----------
        X : array-like, shape (n_points, n_features)
            Points, as for `predict`; usually those of the training.
        y : array-like, shape (n_points,)
            Their labels.

        Returns
        -------
        Coverage
            The points in each ball, and counts by point and by class.
        """
        X = self._check_queries(X)
        y = check_column(y)
        check_consistent_length(X, y)
        balls = self._prototype_set.balls(
            X, eps=self.eps_, closed=self.closed_ball, n_jobs=self.n_jobs
        )
        return Coverage._of(balls, y, self.prototype_labels_, self.classes_)

    def _check_queries(self, X: Any) -> Any:
        """Check queries, and that there is something to answer them with."""
        check_is_fitted(self)
        if len(self.prototype_labels_) == 0 and self.outlier_label_ is None:
            raise no_prototypes(
                self, "there is nothing to predict with", instead="set outlier_label"
            )
        points = check_estimator_points(self, X, self.dissimilarity_, reset=False)
        if self._prototype_set.is_graph(points):
            warn_without_diagonal(self, points)
        return points

    def _refuse_unanswered(self, unanswered: NDArray[np.bool_]) -> None:
        """Refuse queries of which a graph does not tell how far any prototype is."""
        if unanswered.any():
            rows = np.flatnonzero(unanswered)
            raise ValueError(
                f"X, a neighbour graph, stores no dissimilarity from any prototype for "
                f"{len(rows)} of {len(unanswered)} queries, the first of them row {rows[0]}; set "
                "outlier_label, to 'most_frequent' for one, or make the graph of the queries with "
                "a larger radius, or with the columns of the prototypes alone"
            )

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        """The number of columns of `transform`."""
        return self.n_prototypes_

    @property
    def _adaptive_radii(self) -> bool:
        """Whether each prototype has a radius of its own, and distances count in multiples."""
        return self._prototype_set.radii is not None


def warn_without_diagonal(model: Any, graph: Any) -> None:
    """Warn of what looks like the graph of a model's fit, as which it is not read here."""
    square = graph.shape == (model.n_features_in_, model.n_features_in_)
    if model.dissimilarity_.bare_ and square and not names_itself(graph):
        warn_caller(
            "X has the shape of the graph of fit and nothing on its diagonal: fit takes "
            "points for their own neighbours, queries are taken for what X stores; if these "
            "are the training points, call X.setdiag(0) first"
        )
