"""The prototype vector machine with its radius chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_memory

from ..candidates import check_candidate_names
from ..coverage import Coverage
from ..dissimilarity import resolve_metric
from ..examples import check_estimator_examples
from ..formulation import snap_weights
from ..grid import check_n_radii, suggest_eps
from ..model_selection import RULES, choose
from ..resources import check_n_jobs, progress_bar
from ..training import check_labels
from ..validation import (
    check_closed_ball,
    check_costs,
    check_radii,
    check_verbose,
    check_weights,
    is_count,
    unchanged_on_error,
)
from .classifier import PVMClassifier
from .explanation import Explanation
from .folds import FoldScores, score_fold, shared_levels

__all__ = ["PVMClassifierCV"]


class PVMClassifierCV(ClassifierMixin, BaseEstimator):
    """Prototype vector machine that chooses its radius by cross-validation.

    Each fold is one path over all radii and costs, so that a whole grid costs little
    more than a few fits a fold.

    Parameters
    ----------
    eps : int or array-like, default=20
        Radii to try, or how many :func:`suggest_eps` is to propose for the candidates.
    prototype_costs : array-like or None, default=None
        Costs of a prototype to try; None for the default of :class:`PVMClassifier` on all
        points alone, 1/n or what `sample_weight` makes of it.
    cv : int, splitter or iterable, default=10
        As in scikit-learn; an int gives stratified folds.
    rule : {"1se", "best"}, default="1se"
        "1se" takes the fewest prototypes whose score is within one standard error of
        the best, as in the paper; "best" takes the best score.
    max_prototypes : int or None, default=None
        Only settings with at most so many prototypes, on average over the folds, are
        considered, and the final model keeps at most so many.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn; None for accuracy.
    metric : metric, or a list or dict of them, default="euclidean"
        As in :class:`PVMClassifier`. Several are compared; a dict gives them names.
    solver : str, callable or list of these, default="greedy"
        As in :class:`PVMClassifier`. Several are compared.
    memory : str, joblib.Memory or None, default=None
        Folder in which finished folds are kept, so that a fit that was interrupted goes
        on where it stopped.
    n_jobs : int or None, default=None
        Folds computed at once, by joblib.
    metric_params, candidates, closed_ball, outlier_label, random_state
        As in :class:`PVMClassifier`. Candidates are made anew in each fold.
    verbose : int, default=0
        Above 0, a progress bar over the folds; above 1, also over the radii in each.

    Attributes
    ----------
    best_estimator_ : PVMClassifier
        Fitted on all points with the chosen setting.
    eps_, prototype_cost_ : float
        The chosen radius and cost.
    best_params_ : dict
        The chosen setting.
    best_index_ : int
        Its place in `cv_results_`.
    best_score_ : float
        Its mean score.
    cv_results_ : dict of ndarray
        In scikit-learn's shape: ``param_eps``, ``mean_test_score`` and so on, with
        ``mean_n_prototypes`` and ``std_n_prototypes`` beside them.
    n_splits_ : int
        Number of folds.
    classes_ : ndarray
        Labels, sorted.

    See Also
    --------
    PVMClassifier : With a given radius.
    pvm_path : The selections themselves.

    Notes
    -----
    Memory is that of the memberships of the largest radius, once for all folds and once
    more for each of the `n_jobs` folds that are computed at once.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifierCV(cv=5, random_state=0).fit(X, y)
    >>> len(clf.best_estimator_.prototype_indices_)
    10
    >>> clf.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        eps: int | ArrayLike = 20,
        *,
        prototype_costs: ArrayLike | None = None,
        cv: Any = 10,
        rule: str = "1se",
        max_prototypes: int | None = None,
        scoring: Any = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        candidates: Any = "train",
        solver: Any = "greedy",
        closed_ball: bool = False,
        outlier_label: Any = None,
        memory: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.eps = eps
        self.prototype_costs = prototype_costs
        self.cv = cv
        self.rule = rule
        self.max_prototypes = max_prototypes
        self.scoring = scoring
        self.metric = metric
        self.metric_params = metric_params
        self.candidates = candidates
        self.solver = solver
        self.closed_ball = closed_ball
        self.outlier_label = outlier_label
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Try all settings on all folds, choose one, and fit it on all points.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`PVMClassifier.fit`. Weights count in fitting, not in scoring.

        Returns
        -------
        self
            The fitted classifier.
        """
        if self.rule not in RULES:
            raise ValueError(
                f"rule must be one of {', '.join(map(repr, RULES))}, got {self.rule!r}"
            )
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

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

    def coverage(self, X: Any, y: Any) -> Coverage:
        """Tell which points lie in which ball; see `PVMClassifier.coverage`."""
        check_is_fitted(self)
        return self.best_estimator_.coverage(X, y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        first = next(iter(_named(self.metric).values()), "euclidean")
        tags.input_tags = PVMClassifier(metric=first).__sklearn_tags__().input_tags
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Score every setting on every fold, choose, refit, and set the attributes."""
        check_closed_ball(self.closed_ball)
        metrics = list(_named(self.metric).values())
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)
        check_candidate_names(X, self.candidates)
        given = X
        X = check_estimator_examples(
            self, X, resolve_metric(metrics[0], self.metric_params), reset=True
        )
        classes, codes = check_labels(y, X)
        weights = check_weights(sample_weight, codes, classes)
        costs = check_costs(self.prototype_costs, snap_weights(weights))
        labels = classes[codes]
        splits = list(check_cv(self.cv, labels, classifier=True).split(X, labels))
        models, radii = self._models(X, labels)
        scores = self._score_folds(models, radii, costs, X, labels, weights, splits)
        results = _tabulate(models, radii, costs, scores, len(splits))
        by_split = np.column_stack([results[f"split{k}_test_score"] for k in range(len(splits))])
        best = choose(
            by_split,
            results["mean_n_prototypes"],
            rule=self.rule,
            max_prototypes=self.max_prototypes,
        )
        params = results["params"][best]
        chosen = clone(models[params["metric"], params["solver"]]).set_params(
            eps=params["eps"],
            prototype_cost=params["prototype_cost"],
            n_prototypes=self.max_prototypes,
            n_jobs=self.n_jobs,
        )
        self.best_estimator_: PVMClassifier = chosen.fit(given, labels, sample_weight)
        self.classes_ = classes
        self.best_index_ = best
        self.best_params_ = params
        self.best_score_ = float(results["mean_test_score"][best])
        self.eps_, self.prototype_cost_ = params["eps"], params["prototype_cost"]
        self.cv_results_ = results
        self.n_splits_ = len(splits)

    def _models(
        self, X: Any, y: NDArray[Any]
    ) -> tuple[dict[tuple[str, str], PVMClassifier], dict[str, NDArray[np.float64]]]:
        """Return an unfitted model for each metric and solver, and each metric's radii."""
        models, radii = {}, {}
        for name, metric in _named(self.metric).items():
            radii[name] = self._radii(X, y, metric)
            for label, solver in _named(self.solver).items():
                models[name, label] = PVMClassifier(
                    metric=metric,
                    metric_params=self.metric_params,
                    candidates=self.candidates,
                    solver=solver,
                    closed_ball=self.closed_ball,
                    outlier_label=self.outlier_label,
                    random_state=self.random_state,
                )
        return models, radii

    def _radii(self, X: Any, y: NDArray[Any], metric: Any) -> NDArray[np.float64]:
        """Return the radii to try with a metric."""
        if not is_count(self.eps):
            return check_radii(self.eps)
        check_n_radii(self.eps)
        return suggest_eps(
            X,
            y,
            int(self.eps),
            metric=metric,
            metric_params=self.metric_params,
            candidates=self.candidates,
            random_state=self.random_state,
        )

    def _score_folds(
        self,
        models: dict[tuple[str, str], PVMClassifier],
        radii: dict[str, NDArray[np.float64]],
        costs: NDArray[np.float64],
        X: Any,
        y: NDArray[Any],
        weights: NDArray[np.float64],
        splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    ) -> dict[tuple[str, str], list[FoldScores]]:
        """Score every model on every fold, several at once."""
        cached = check_memory(self.memory).cache(score_fold, ignore=["verbose"])
        scorer = get_scorer("accuracy" if self.scoring is None else self.scoring)
        work = [(key, split) for key in models for split in splits]
        levels = {
            metric: shared_levels(
                model, X, y, radii[metric], n_jobs=self.n_jobs, verbose=self.verbose
            )
            for metric, model in {metric: model for (metric, _), model in models.items()}.items()
        }
        tasks = (
            delayed(cached)(
                models[key],
                X,
                y,
                weights,
                train=train,
                test=test,
                radii=radii[key[0]],
                costs=costs,
                scorer=scorer,
                levels=levels[key[0]],
                verbose=self.verbose - 1,
            )
            for key, (train, test) in work
        )
        done = Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks)
        scores: dict[tuple[str, str], list[FoldScores]] = {key: [] for key in models}
        with progress_bar(done, len(work), "folds", self.verbose) as bar:
            for (key, _), fold in zip(work, bar, strict=True):
                scores[key].append(fold)
        return scores


def _named(choices: Any) -> dict[str, Any]:
    """Give each of several choices a name; one choice alone is a list of one."""
    if isinstance(choices, Mapping):
        return {str(name): choice for name, choice in choices.items()}
    several = choices if isinstance(choices, list | tuple) else [choices]
    return {
        choice if isinstance(choice, str) else getattr(choice, "__name__", repr(choice)): choice
        for choice in several
    }


def _tabulate(
    models: dict[tuple[str, str], PVMClassifier],
    radii: dict[str, NDArray[np.float64]],
    costs: NDArray[np.float64],
    scores: dict[tuple[str, str], list[FoldScores]],
    n_splits: int,
) -> dict[str, Any]:
    """Arrange the folds' scores as scikit-learn's searches do."""
    params = [
        {"metric": metric, "solver": solver, "eps": float(eps), "prototype_cost": float(cost)}
        for metric, solver in models
        for eps in radii[metric]
        for cost in costs
    ]
    results: dict[str, Any] = {"params": params}
    for name in ("metric", "solver", "eps", "prototype_cost"):
        results[f"param_{name}"] = np.array([setting[name] for setting in params])
    by_split = np.array(
        [np.concatenate([scores[key][k].score.ravel() for key in models]) for k in range(n_splits)]
    )
    sizes = np.array(
        [
            np.concatenate([scores[key][k].n_prototypes.ravel() for key in models])
            for k in range(n_splits)
        ]
    )
    results |= {f"split{k}_test_score": by_split[k] for k in range(n_splits)}
    mean = by_split.mean(axis=0)
    results["mean_test_score"], results["std_test_score"] = mean, by_split.std(axis=0)
    results["rank_test_score"] = np.searchsorted(np.sort(-mean), -mean) + 1
    results["mean_n_prototypes"] = sizes.mean(axis=0)
    results["std_n_prototypes"] = sizes.std(axis=0)
    return results
