"""What a fitted search is asked is answered by the classifier that it has chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..._cover import ModelVerification
from ..._prototypes.coverage import Coverage
from ..._prototypes.explanation import Explanation
from ..classifier import PVMClassifier
from ..display import ShowsChosen, describe_prototypes


class _OfBestEstimator:
    """A fitted attribute that is read from `best_estimator_`, and is not there before the fit.

    Reading it each time, instead of copying it in `fit`, keeps it true where the chosen
    classifier is fitted again, or read from a file.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        if "best_estimator_" not in vars(search):
            raise AttributeError(
                f"{type(search).__name__} has no {self.name} before it is fitted; call fit first"
            )
        return getattr(search.best_estimator_, self.name)


class AnswersByChosen(ShowsChosen, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Fitted attributes and answers of `best_estimator_`, for a search that has found one."""

    best_estimator_: PVMClassifier
    class_count_ = _OfBestEstimator()
    n_prototypes_ = _OfBestEstimator()
    prototypes_ = _OfBestEstimator()
    candidate_indices_ = _OfBestEstimator()
    prototype_labels_ = _OfBestEstimator()
    covered_count_ = _OfBestEstimator()
    newly_covered_count_ = _OfBestEstimator()
    miscovered_count_ = _OfBestEstimator()
    prototype_radii_ = _OfBestEstimator()
    prototype_sources_ = _OfBestEstimator()
    prototype_indices_ = _OfBestEstimator()
    outlier_label_ = _OfBestEstimator()
    objective_ = _OfBestEstimator()
    lower_bound_ = _OfBestEstimator()
    gap_ = _OfBestEstimator()
    certificate_ = _OfBestEstimator()
    solution_ = _OfBestEstimator()
    dissimilarity_ = _OfBestEstimator()

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each query's nearest prototype; see `PVMClassifier.predict`."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return minus the distances; see `PVMClassifier.decision_function`."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    def explain(self, X: Any) -> Explanation:
        """Tell which prototypes decided; see `PVMClassifier.explain`."""
        check_is_fitted(self)
        return self.best_estimator_.explain(X)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the distances to the prototypes; see `PVMClassifier.transform`."""
        check_is_fitted(self)
        return self.best_estimator_._distances(X)

    def coverage(self, X: Any, y: Any) -> Coverage:
        """Tell which points lie in which ball; see `PVMClassifier.coverage`."""
        check_is_fitted(self)
        return self.best_estimator_.coverage(X, y)

    def to_knn(self) -> KNeighborsClassifier:
        """Return the same answers from scikit-learn alone; see `PVMClassifier.to_knn`."""
        check_is_fitted(self)
        return self.best_estimator_.to_knn()

    def verify(
        self, X: Any, y: Any, sample_weight: Any = None, *, unlabeled: Any = None
    ) -> ModelVerification:
        """Recheck the model against its training data; see `PVMClassifier.verify`."""
        check_is_fitted(self)
        return self.best_estimator_.verify(X, y, sample_weight, unlabeled=unlabeled)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        """The number of columns of `transform`."""
        return int(self.n_prototypes_)

    def _describe(self) -> str:
        return describe_prototypes(self.best_estimator_)
