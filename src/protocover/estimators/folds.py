"""One fold of a cross-validation: a path on its training part, scored on the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from ..dissimilarity import resolve_metric
from ..examples import check_examples
from ..formulation import Selection
from ..path import solve_path
from ..solvers import find_solver, greedy
from ..training import Training, prepare_training, training_levels
from .classifier import PVMClassifier

__all__ = ["FoldScores", "score_fold", "shared_levels"]


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
    sample_weight: NDArray[np.float64],
    *,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    radii: NDArray[np.float64],
    costs: NDArray[np.float64],
    scorer: Any,
    levels: csr_array | None = None,
    verbose: int = 0,
) -> FoldScores:
    """Fit `model` for all radii and costs on the rows `train` and score it on `test`.

    Candidates are made, and the dissimilarity is fitted, from the training rows alone.
    `levels` are those between all points, where they are the same in every fold.
    """
    train = train[sample_weight[train] > 0.0]
    rng = np.random.default_rng(check_random_state(model.random_state).randint(2**31))
    X_train, X_test = _split(model, X, train, test)
    training = prepare_training(
        X_train,
        _safe_indexing(y, train),
        sample_weight[train],
        metric=model.metric,
        metric_params=model.metric_params,
        candidates=model.candidates,
        check=check_examples,
        rng=rng,
        verbose=verbose,
    )
    if levels is None:
        own = fold_levels(training, model, radii, rng=rng, verbose=verbose)
    else:
        own = levels[train][:, train]
    solver = find_solver(model.solver)
    selections = solve_path(
        training,
        own,
        n_radii=len(radii),
        costs=costs,
        solver=solver,
        # How far from the best a fold's selection is does not matter for its score.
        options={"bound": False} if solver is greedy else {},
        rng=rng,
        verbose=verbose,
    )
    y_test = _safe_indexing(y, test)
    score = np.empty((len(radii), len(costs)))
    for i, eps in enumerate(radii):
        for j, selection in enumerate(selections[i]):
            if j > 0 and _same(selection, selections[i][j - 1]):
                score[i, j] = score[i, j - 1]
                continue
            fitted = model.with_selection(selection, training, eps=eps, cost=costs[j])
            # A model with no prototypes has no answer, so that setting cannot be chosen.
            answers = len(fitted.prototype_labels_) > 0 or fitted.outlier_label_ is not None
            score[i, j] = scorer(fitted, X_test, y_test) if answers else np.nan
    sizes = [[len(selection.candidates) for selection in row] for row in selections]
    return FoldScores(score, np.array(sizes))


def _same(one: Selection, other: Selection) -> bool:
    """Whether two selections have the same prototypes."""
    return np.array_equal(one.candidates, other.candidates) and np.array_equal(
        one.classes, other.classes
    )


def fold_levels(
    training: Training,
    model: PVMClassifier,
    radii: NDArray[np.float64],
    *,
    rng: np.random.Generator,
    verbose: int,
) -> csr_array:
    """Build the levels that `model` needs for a path over `radii`."""
    return training_levels(
        training,
        radii=radii,
        closed=model.closed_ball,
        rng=rng,
        n_jobs=model.n_jobs,
        verbose=verbose,
    )


def shared_levels(
    model: PVMClassifier,
    X: Any,
    y: Any,
    radii: NDArray[np.float64],
    *,
    n_jobs: int | None,
    verbose: int,
) -> csr_array | None:
    """Build the levels between all points once for all folds, where that leaks nothing.

    That is so where the candidates are the points themselves and the dissimilarity learns
    nothing: a pair then has the same level in every fold that holds both.
    """
    dissimilarity = resolve_metric(model.metric, model.metric_params)
    plain = isinstance(model.candidates, str) and model.candidates == "train"
    if not (plain and getattr(dissimilarity, "learns_nothing", False)):
        return None
    rng = np.random.default_rng(0)
    training = prepare_training(
        X,
        y,
        None,
        metric=model.metric,
        metric_params=model.metric_params,
        candidates="train",
        check=check_examples,
        rng=rng,
    )
    whole = clone(model).set_params(n_jobs=n_jobs)
    return fold_levels(training, whole, radii, rng=rng, verbose=verbose)


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
