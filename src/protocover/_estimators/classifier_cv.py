"""The prototype vector machine with its radius chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter
from sklearn.utils.validation import _check_method_params, check_is_fitted

from .._balls import traits_of
from .._cover import ModelVerification, snap_weights
from .._resources import check_n_jobs, limited_threads
from .._selection.parameters import (
    apply_class_weight,
    check_adaptive_radii,
    check_max_prototypes,
    check_min_per_class,
    check_parameter,
    check_radii,
    check_weights,
    is_count,
    unchanged_on_error,
)
from .._selection.radii import grid_of_costs, grid_of_radii, propose_radii
from .._selection.training import after_candidates, check_labels, completed
from ..candidates._gather import check_candidate_names
from ..data._points import check_estimator_points
from ..dissimilarity import resolve_metric
from ..solvers._registry import check_options, find_solver
from .answers import PrototypeAnswers
from .classifier import PVMClassifier
from .fitted_decision import DECISIONS, check_decision, takes_feature_weights
from .fitting import Settings, prepare
from .model import copy_features, forget_features
from .search_folds import (
    Grid,
    Labeled,
    Rows,
    Scoring,
    Split,
    Trial,
    check_max_search_samples,
    cross_validate,
    draw_search_rows,
    make_splits,
    take_rows,
)
from .search_results import (
    RULES,
    choose,
    choose_decision,
    find_scorer,
    make_router,
    report_failures,
    route,
    split_scores,
    tabulate,
)


class PVMClassifierCV(PrototypeAnswers, BaseEstimator):
    """Prototype selection with its settings chosen by cross-validation.

    Chooses the largest radius and the cost of a prototype, or a shared radius, by the paper's
    rule. Each fold is one path over all settings, so a grid costs little more than a few fits
    per fold.

    Parameters
    ----------
    eps : array-like or None, default=None
        Radii to try. None proposes weighted quantiles of the distances from samples to the
        nearest sample of another class, and a few larger radii from the paper's grid; for
        the paper's grid alone pass ``suggest_eps(X, y)``. With ``radii="adaptive"`` these are
        limits, and those of :func:`pvm_path` are proposed; one of them may be None or inf
        for no limit.
    n_eps : int or None, default=None
        How many to propose where `eps` is None; None for 20, with ``radii="adaptive"`` for 5.
    radii : {"adaptive", "shared"}, default="adaptive"
        As in :class:`PVMClassifier`.
    prototype_costs : array-like or None, default=None
        Costs of a prototype to try; None for the default of :class:`PVMClassifier` on all
        points alone, 1/n or what `sample_weight` makes of it, and with ``radii="adaptive"`` for
        the grid of :func:`pvm_path`.
    cv : int, splitter or iterable, default=10
        As in scikit-learn; an int gives stratified folds.
    rule : {"1se", "best", "few"}, default="1se"
        "1se" takes the fewest prototypes, on average over the folds, whose score is within
        one standard error of the best, as in the paper; "best" takes the best score; "few"
        also gives up 0.01 of the score for fewer prototypes, where a standard error is less.
    max_prototypes : int, dict or None, default=None
        Maximum number of prototypes, in total (int) or per class (dict), as in
        :class:`PVMClassifier`. Each setting is scored as the model within this budget.
        Greedy selections keep the first prototypes in their order, and at least one per
        class if the budget allows it.
    max_search_samples : int or None, default=5000
        If there are more samples, settings are tried on a stratified sample of this size,
        and the chosen one is fitted on all samples; see Notes. None searches on all samples.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn; None for accuracy, and with ``class_weight="balanced"``
        for balanced accuracy.
    error_score : "raise" or float, default=nan
        As in scikit-learn: the score of a setting on a fold where fitting or scoring
        fails, with a :class:`~sklearn.exceptions.FitFailedWarning`; "raise" for the error
        itself. A setting whose mean score is NaN is not chosen; one that leaves no
        prototypes scores NaN without a warning.
    solver : str or callable, default="auto"
        As in :class:`PVMClassifier`. With ``"auto"`` settings are scored by ``"greedy"``,
        which takes a fraction of the time and was measured to choose as well, and the one
        chosen is fitted by ``"auto"``. Any other solver does both.
    solver_options : dict or None, default=None
        As in :class:`PVMClassifier`; with ``solver="auto"`` for the final fit alone. In the
        folds a ``time_limit`` is for each class at each radius and cost.
    n_jobs : int or None, default=None
        Folds computed at once, by joblib in as many processes, among which it shares out
        the threads. None, as everywhere, starts no processes and takes as many threads as
        the linear algebra library does. The result does not depend on it.
    metric, metric_params, candidates, cross_class, min_per_class, class_weight, closed_ball, \
outlier_label, feature_weights, random_state
        As in :class:`PVMClassifier`. Candidates are made, and classes balanced, in each fold.
    decision : {"nearest", "fitted", "auto"}, default="nearest"
        "nearest" and "fitted" as in :class:`PVMClassifier`. Without `scoring`, "fitted" chooses
        radius and cost by the accuracy of "nearest", which takes a fraction of the time. "auto"
        does the same with any `scoring`. At the chosen setting it then compares "nearest",
        "fitted" and, for the Euclidean distance of dense rows, "fitted" with feature weights on
        the same folds. It takes "fitted" unless another has a better mean score by more than the
        standard error of the difference.
    verbose : int, default=0
        Above 0, a progress bar over the folds, and a line if the search is on a sample;
        above 1, also a progress bar over the radii in each fold.

    Attributes
    ----------
    best_estimator_ : PVMClassifier
        Fitted on all points with the chosen setting. Its fitted attributes, such as
        `prototypes_` and `objective_`, are this object's, too.
    eps_, prototype_cost_ : float
        The chosen radius, or limit, and cost.
    best_params_ : dict
        The chosen setting, with ``decision="auto"`` including `decision` and `feature_weights`.
    best_index_ : int
        Its place in `cv_results_`.
    best_score_ : float
        Its mean score, with the chosen decision.
    cv_results_ : dict of ndarray
        In scikit-learn's shape: ``param_eps``, ``mean_test_score`` and so on, with
        ``mean_n_prototypes``, ``std_n_prototypes`` and ``mean_n_classes_lost``, the number of
        classes without a prototype worth its cost.
        One pass serves all radii and costs of a fold: ``mean_fit_time`` is its time divided
        by their number. Distances that are computed once for all folds are shared out in the
        same way.
    n_splits_ : int
        Number of folds.
    search_rows_ : ndarray of int or None
        Rows of the sample that the settings were tried on, rising; None for all rows.
    classes_ : ndarray
        Labels, sorted.
    n_features_in_ : int
        Number of features, where points are rows of numbers.
    feature_names_in_ : ndarray of str
        Their names, where `X` had any.

    See Also
    --------
    PVMClassifier : With a given radius.
    pvm_path : The selections themselves.

    Notes
    -----
    The scores are those of :class:`~sklearn.model_selection.GridSearchCV` over
    :class:`PVMClassifier` with the solver that scores, fold by fold. So are the rules for
    weights, which scikit-learn 1.6 ignores in scoring unless they are routed. To compare
    metrics, solvers or other parameters, use ``GridSearchCV``.

    Settings that leave a class of a fold without a prototype that is worth its cost are
    skipped if others lose fewer classes. A rare class hardly changes the accuracy and could
    disappear otherwise.

    The sample of `max_search_samples` rows keeps at least 20 samples of each class if the
    class has them. Its folds are those of all samples. Radii, which are distances, and costs,
    which are numbers of samples, are used for all samples without a change: what pays for
    itself in the sample covers more where there are more samples.

    Memory is that of the memberships of the largest radius, once for all folds; with other
    solvers than the greedy once more for each of the `n_jobs` folds that are computed at
    once. With ``radii="adaptive"`` it is that of the balls that may pay for themselves at the
    lowest cost: four bytes for each membership in each fold and limit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifierCV(cv=5, random_state=0).fit(X, y)
    >>> len(clf.candidate_indices_)
    7
    >>> clf.score(X, y) > 0.9
    True
    >>> few = PVMClassifierCV(max_prototypes=4, cv=5, random_state=0).fit(X, y)
    >>> len(few.candidate_indices_)
    4
    """

    # Only the splitter wants the groups, so nobody need ask for them in the search's name.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    def __init__(
        self,
        *,
        eps: ArrayLike | None = None,
        n_eps: int | None = None,
        radii: str = "adaptive",
        prototype_costs: ArrayLike | None = None,
        cv: Any = 10,
        rule: str = "1se",
        max_prototypes: int | dict[Any, int] | None = None,
        max_search_samples: int | None = 5000,
        scoring: Any = None,
        error_score: float | str = np.nan,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        candidates: Any = "train",
        cross_class: bool = False,
        solver: Any = "auto",
        solver_options: dict[str, Any] | None = None,
        min_per_class: int = 1,
        class_weight: Any = None,
        closed_ball: bool = False,
        outlier_label: Any = None,
        decision: str = "nearest",
        feature_weights: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.eps = eps
        self.n_eps = n_eps
        self.radii = radii
        self.prototype_costs = prototype_costs
        self.cv = cv
        self.rule = rule
        self.max_prototypes = max_prototypes
        self.max_search_samples = max_search_samples
        self.scoring = scoring
        self.error_score = error_score
        self.metric = metric
        self.metric_params = metric_params
        self.candidates = candidates
        self.cross_class = cross_class
        self.solver = solver
        self.solver_options = solver_options
        self.min_per_class = min_per_class
        self.class_weight = class_weight
        self.closed_ball = closed_ball
        self.outlier_label = outlier_label
        self.decision = decision
        self.feature_weights = feature_weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        unlabeled: Any = None,
        **params: Any,
    ) -> Self:
        """Try all settings on all folds, choose one, and fit it on all points.

        Parameters
        ----------
        X, y : training points and labels
            As in :meth:`PVMClassifier.fit`.
        sample_weight : array-like, shape (n_points,), or None, default=None
            As in :meth:`PVMClassifier.fit`; counts in scoring, too, if the scorer takes it.
        groups : array-like, shape (n_points,), or None, default=None
            For a splitter that keeps groups together, such as
            :class:`~sklearn.model_selection.GroupKFold`.
        unlabeled : array-like, shape (n_unlabeled, n_features), or None, default=None
            Further candidates whose class is not known, the same in all folds.
        **params : dict
            Further metadata for the splitter and the scorer, with scikit-learn's
            ``enable_metadata_routing`` only.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_settings()
        with unchanged_on_error(self):
            data = self._check_data(X, y, sample_weight, unlabeled)
            weights = None if sample_weight is None else data.weights
            split_params, score_params = route(self, weights, groups, params)
            rows = draw_search_rows(data, self.max_search_samples, self.random_state, self.verbose)
            splits = make_splits(self.cv, data, split_params, rows=rows)
            trial = self._trial(data, rows)
            if rows is not None:
                score_params = _check_method_params(data.points, score_params, rows)
            folds = cross_validate(
                trial,
                splits,
                scoring=Scoring(find_scorer(self), score_params, self.error_score),
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
            results = tabulate(trial.grid, folds)
            scores = split_scores(results, len(splits))
            report_failures(folds, scores, self.error_score)
            best = choose(
                scores,
                results["mean_n_prototypes"],
                rule=self.rule,
                n_classes_lost=results["mean_n_classes_lost"],
            )
            self.cv_results_, self.n_splits_, self.search_rows_ = results, len(splits), rows
            setting, score = results["params"][best], results["mean_test_score"][best]
            if trial.model.decision != self.decision:
                scoring = Scoring(find_scorer(self), score_params, self.error_score)
                setting, score = self._with_decision(trial, splits, scoring, setting, scores[best])
            self.best_index_, self.best_params_, self.best_score_ = best, setting, float(score)
            self.best_estimator_ = self._refit(data, setting)
            self._set_model(self.best_estimator_._model)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell which metadata goes where: groups to the splitter, weights to the scorer, too.

        Returns
        -------
        MetadataRouter
            As of scikit-learn's own searches.
        """
        return make_router(self)

    def verify(
        self, X: Any, y: Any, sample_weight: Any = None, *, unlabeled: Any = None
    ) -> ModelVerification:
        """Recheck the model against its training data; see `PVMClassifier.verify`."""
        check_is_fitted(self)
        return self.best_estimator_.verify(X, y, sample_weight, unlabeled=unlabeled)

    def _check_settings(self) -> None:
        """Refuse what can be refused before looking at the data."""
        check_parameter("closed_ball", self.closed_ball)
        check_n_jobs(self.n_jobs)
        check_parameter("verbose", self.verbose)
        if self.rule not in RULES:
            raise ValueError(
                f"rule must be one of {', '.join(map(repr, RULES))}, got {self.rule!r}"
            )
        check_adaptive_radii(self.radii)
        check_decision(self, choices=(*DECISIONS, "auto"))
        if self.eps is None:
            check_parameter("n_eps", self.n_eps)
        check_max_search_samples(self.max_search_samples)
        if isinstance(self.cv, bool) or (is_count(self.cv) and self.cv < 2):
            raise ValueError(
                "cv must be a number of folds from 2 up, a splitter or pairs of rows to train "
                f"and to test on, got {self.cv!r}"
            )
        if not (isinstance(self.error_score, Real) or self.error_score == "raise"):
            raise ValueError(f"error_score must be a number or 'raise', got {self.error_score!r}")
        check_options(find_solver(self.solver), self.solver_options)

    def _check_data(self, X: Any, y: Any, sample_weight: Any, unlabeled: Any) -> Labeled:
        """Return the training data, checked."""
        check_candidate_names(X, self.candidates, unlabeled)
        points = self._check_points(X)
        classes, codes = check_labels(y, points)
        weights = check_weights(sample_weight, codes, classes)
        budget = check_max_prototypes(self.max_prototypes, classes)
        check_min_per_class(self.min_per_class, budget, len(classes))
        apply_class_weight(self.class_weight, weights, codes, classes)
        return Labeled(points, classes[codes], weights, unlabeled)

    def _check_points(self, X: Any) -> Any:
        """Return the points checked, in the form that the metric takes."""
        metric = resolve_metric(self.metric, self.metric_params)
        forget_features(self)
        points = check_estimator_points(self, X, metric, reset=True)
        shape = np.shape(points) if traits_of(metric).precomputed else (0, 0)
        if shape[0] != shape[1]:
            raise ValueError(
                "cross-validation of a table of dissimilarities needs a square one, whose "
                f"columns are the points, got shape {shape}"
            )
        return completed(points, metric)

    def _refit(self, data: Labeled, setting: dict[str, Any]) -> PVMClassifier:
        """Return a classifier with the chosen setting, fitted on all points."""
        chosen: PVMClassifier = self._classifier().set_params(
            solver=self.solver, solver_options=self.solver_options, n_jobs=self.n_jobs, **setting
        )
        with limited_threads(self.n_jobs):
            chosen._fit_checked(
                data.points,
                data.y,
                data.weights,
                unlabeled=data.unlabeled,
                settings=Settings.of(chosen),
            )
        copy_features(self, chosen)
        return chosen

    def _with_decision(
        self,
        trial: Trial,
        splits: list[Split],
        scoring: Scoring,
        setting: dict[str, Any],
        nearest: NDArray[np.float64],
    ) -> tuple[dict[str, Any], float]:
        """Return a setting with the decision chosen for it, and the mean score.

        `nearest` has the scores of the setting with the nearest prototype.
        """
        grid = Grid(np.array([setting["eps"]]), np.array([setting["prototype_cost"]]))

        def scores_of(feature_weights: str | None) -> NDArray[np.float64]:
            decision = {"decision": "fitted", "feature_weights": feature_weights}
            fitted = replace(trial, model=clone(trial.model).set_params(**decision), grid=grid)
            folds = cross_validate(
                fitted, splits, scoring=scoring, n_jobs=self.n_jobs, verbose=self.verbose
            )
            return np.array([fold.score[0, 0] for fold in folds])

        if self.decision == "fitted":
            return setting, float(scores_of(self.feature_weights).mean())
        tried = [None, "learned"] if self._can_weight(trial.data.points) else [None]
        choices: list[tuple[dict[str, Any], NDArray[np.float64]]] = [
            ({"decision": "fitted", "feature_weights": weights}, scores_of(weights))
            for weights in tried
        ]
        choices.append(({"decision": "nearest", "feature_weights": None}, nearest))
        decision, scores = choose_decision(choices)
        return {**setting, **decision}, float(scores.mean())

    def _can_weight(self, points: Any) -> bool:
        """Whether the features of these samples can have weights."""
        dense = isinstance(points, np.ndarray) and points.dtype.kind in "fiu"
        return dense and takes_feature_weights(self)

    def _trial(self, data: Labeled, rows: Rows) -> Trial:
        """Return the classifier of the folds with its grid, on some rows or all."""
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        searched = take_rows(data, rows, pairwise=pairwise)
        grid = Grid(self._radii(self._classifier(), searched), self._costs(data, rows))
        greedy = isinstance(self.solver, str) and self.solver == "auto"
        model = self._classifier().set_params(
            solver="greedy" if greedy else self.solver,
            solver_options=None if greedy else self.solver_options,
        )
        if self.decision == "auto" or self.scoring is None:
            model.set_params(decision="nearest", feature_weights=None)
        return Trial(model, searched, grid)

    def _classifier(self) -> PVMClassifier:
        """Return a classifier with all parameters except solver, radius and cost."""
        model: PVMClassifier = clone(
            PVMClassifier(
                radii=self.radii,
                max_prototypes=self.max_prototypes,
                metric=self.metric,
                metric_params=self.metric_params,
                candidates=self.candidates,
                cross_class=self.cross_class,
                min_per_class=self.min_per_class,
                class_weight=self.class_weight,
                closed_ball=self.closed_ball,
                outlier_label=self.outlier_label,
                decision="nearest" if self.decision == "auto" else self.decision,
                feature_weights=self.feature_weights,
                random_state=self.random_state,
            )
        )
        return model

    def _radii(self, model: PVMClassifier, data: Labeled) -> NDArray[np.float64]:
        """Return the radii to try with a metric; points of weight zero do not count."""
        own = check_adaptive_radii(self.radii)
        pairwise = traits_of(resolve_metric(model.metric, model.metric_params)).precomputed
        if self.eps is not None and not (pairwise and issparse(data.points)):
            return check_radii(self.eps, own=own)  # of a graph it depends on the points
        rng, unlabeled = model._generator(), data.unlabeled
        training = prepare(model, data.points, data.y, data.weights, unlabeled=unlabeled, rng=rng)
        rng = after_candidates(model.random_state, rng)
        return grid_of_radii(
            self.eps, self.n_eps, training, own=own, rng=rng, propose=propose_radii
        )

    def _costs(self, data: Labeled, rows: Rows) -> NDArray[np.float64]:
        """Return the costs to try on some `rows`, or all; points of weight zero do not count."""
        own = check_adaptive_radii(self.radii)
        # A shared radius has the default cost alone, which is that of the final fit.
        weights = snap_weights(data.weights[rows] if own and rows is not None else data.weights)
        n_classes = len(np.unique(data.y))
        return grid_of_costs(self.prototype_costs, weights, n_classes, own=own)
