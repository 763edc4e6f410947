"""One fold of a cross-validation: a path on its training part, scored on the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from ..path import solve_path
from ..radius import check_points
from ..solvers import find_solver
from ..training import prepare_training
from .classifier import PVMClassifier

__all__ = ["FoldScores", "score_fold"]


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores and sizes over the grid of one fold.

    Parameters
    ----------
    score : ndarray of float, shape (n_eps, n_costs)
        Score on the points held out.
    n_prototypes : ndarray of int, shape (n_eps, n_costs)
        Number of prototypes of the model that was scored.
    """

    score: NDArray[np.float64]
    n_prototypes: NDArray[np.intp]


def score_fold(
    model: PVMClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    radii: NDArray[np.float64],
    costs: NDArray[np.float64],
    scorer: Any,
    verbose: int = 0,
) -> FoldScores:
    """Fit `model` for all radii and costs on the rows `train` and score it on `test`.

    Candidates are made, and the dissimilarity is fitted, from the training rows alone.
    """
    rng = np.random.default_rng(check_random_state(model.random_state).randint(2**31))
    X_train, X_test = _split(model, X, train, test)
    training = prepare_training(
        X_train,
        _safe_indexing(y, train),
        None if sample_weight is None else _safe_indexing(sample_weight, train),
        metric=model.metric,
        metric_params=model.metric_params,
        candidates=model.candidates,
        check=check_points,
        rng=rng,
    )
    path = solve_path(
        training,
        radii=radii,
        costs=costs,
        solver=find_solver(model.solver),
        closed=model.closed_ball,
        rng=rng,
        n_jobs=model.n_jobs,
        verbose=verbose,
    )
    y_test = _safe_indexing(y, test)
    score = np.empty((len(radii), len(costs)))
    for i, eps in enumerate(radii):
        for j, cost in enumerate(costs):
            fitted = model.with_selection(path.selections[i][j], training, eps=eps, cost=cost)
            # A model with no prototypes has no answer, so that setting cannot be chosen.
            answers = len(fitted.prototype_labels_) > 0 or fitted.outlier_label_ is not None
            score[i, j] = scorer(fitted, X_test, y_test) if answers else np.nan
    return FoldScores(score, path.n_prototypes)


def _split(
    model: PVMClassifier, X: Any, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[Any, Any]:
    """Split the examples; of a square table of values between them, both sides."""
    if not model.__sklearn_tags__().input_tags.pairwise:
        return _safe_indexing(X, train), _safe_indexing(X, test)
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            "cross-validation of a table of dissimilarities needs a square one, whose columns "
            f"are the points, got shape {X.shape}"
        )
    return X[np.ix_(train, train)], X[np.ix_(test, train)]
