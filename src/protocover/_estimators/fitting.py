"""The steps of a fit, and the parameters that they follow, each checked once.

What can be refused without the data is refused before they are looked at, and what needs
them before any dissimilarity is computed.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.validation import _get_feature_names

from .._exceptions import warn_caller
from .._selection.balls import ClassProblem
from .._selection.batches import Growth, grow, start_growth
from .._selection.covering import CoverTarget
from .._selection.parameters import (
    check_adaptive_radii,
    check_candidate_cost,
    check_charged,
    check_eps,
    check_max_prototypes,
    check_min_per_class,
    check_must_include,
    check_outlier_label,
    check_parameter,
    check_prototype_cost,
)
from .._selection.radii import propose_eps, proposed_quantile
from .._selection.selection import Selection, formulate_classes, select
from .._selection.training import (
    Training,
    after_candidates,
    check_cutoff,
    pool_balls,
    prepare_training,
)
from ..candidates._gather import check_candidate_names
from ..candidates._pool import numbers
from ..data._points import check_estimator_points
from ..dissimilarity import resolve_metric
from ..solvers._registry import check_options, find_solver
from .fitted_decision import check_decision, with_rule
from .model import CoverModel, forget_features

# A fit on more samples than this warns if it keeps more than this share of them.
_FEW_SAMPLES, _LARGE_SHARE = 100, 0.25

# What every ball of a cover that grows depends on; eps is decided with the first batch.
_SETTLED = ("radii", "closed_ball", "metric", "metric_params")


@dataclass(frozen=True, eq=False)
class Settings:
    """Parameters of a classifier that mean the same whatever the data are.

    Parameters
    ----------
    eps : float or None
        Radius, or the largest allowed, None for one that is proposed.
    adaptive_radii : bool
        Whether each prototype takes a radius of its own.
    closed : bool
        Whether balls are closed.
    solver : Solver
        What chooses the prototypes, with `options` of its own.
    n_jobs, verbose
        As in :class:`protocover.PVMClassifier`.
    """

    eps: float | None
    adaptive_radii: bool
    closed: bool
    solver: Any
    options: dict[str, Any]
    n_jobs: int | None
    verbose: int

    @classmethod
    def of(cls, classifier: Any) -> Self:
        """Check the parameters of a classifier, or of a cover, whose radius is shared."""
        own = check_adaptive_radii(getattr(classifier, "radii", "shared"))
        eps, closed = (
            check_eps(classifier.eps, own=own),
            check_parameter("closed_ball", classifier.closed_ball),
        )
        check_parameter("verbose", classifier.verbose)
        if hasattr(classifier, "decision"):
            check_decision(classifier)
        solver = find_solver(classifier.solver, verbose=classifier.verbose)
        options = check_options(solver, classifier.solver_options)
        return cls(
            eps,
            own,
            closed,
            solver,
            options,
            classifier.n_jobs,
            classifier.verbose,
        )

    def radius(self, training: Training, rng: np.random.Generator) -> float:
        """Return the radius, or the largest allowed, given or proposed."""
        eps = self.eps
        if eps is None:
            share = proposed_quantile(own=self.adaptive_radii)
            own = self.adaptive_radii
            eps = propose_eps(training, rng=rng, n_jobs=self.n_jobs, quantile=share, own=own)
        check_cutoff(training, eps)
        return eps

    def build(self, training: Training, eps: float, rng: np.random.Generator) -> list[csr_array]:
        """Build the balls of each pool of candidates."""
        return pool_balls(
            training,
            eps=eps,
            closed=self.closed,
            rng=rng,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def formulate(
        self,
        training: Training,
        terms: Terms,
        eps: float,
        rng: np.random.Generator,
        *,
        covers: list[csr_array] | None = None,
    ) -> list[ClassProblem]:
        """Write down each class's problem, from `covers` of one radius if they are there.

        These are used up: no ball is held twice for long.
        """
        return formulate_classes(
            training,
            eps=eps,
            adaptive_radii=self.adaptive_radii,
            closed=self.closed,
            prototype_cost=terms.prototype_cost,
            rng=rng,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            balls=covers,
        )

    def select(
        self, classes: list[ClassProblem], terms: Terms, rng: np.random.Generator
    ) -> Selection:
        """Solve the problems of all classes within the budget."""
        if terms.min_per_class:
            _check_has_candidates(classes, terms)
        return select(
            classes,
            self.solver,
            max_prototypes=terms.max_prototypes,
            min_per_class=terms.min_per_class,
            rng=rng,
            options=self.options,
            verbose=self.verbose,
        )


@dataclass(frozen=True, eq=False)
class Terms:
    """Parameters of a classifier whose meaning depends on the training data.

    Parameters
    ----------
    prototype_cost : float
        What a prototype costs.
    max_prototypes : int, dict by class number, or None
        At most so many prototypes.
    outlier_label : label or None
        What to answer for queries in no ball.
    min_per_class : int
        1 if every class must have a prototype.
    classes : ndarray, shape (n_classes,)
        Labels, sorted.
    """

    prototype_cost: float
    max_prototypes: int | dict[int, int] | None
    outlier_label: Any
    min_per_class: int
    classes: NDArray[Any]

    @classmethod
    def of(cls, classifier: Any, training: Training) -> Self:
        """Check the parameters of a classifier against its training data."""
        classes = training.classes
        cost = check_prototype_cost(
            classifier.prototype_cost,
            training.cost_weights,
            own=check_adaptive_radii(classifier.radii),
        )
        budget = check_max_prototypes(classifier.max_prototypes, classes)
        n_present = int(np.count_nonzero(training.class_count))
        return cls(
            cost,
            budget,
            check_outlier_label(classifier.outlier_label, classes, training.class_count),
            check_min_per_class(classifier.min_per_class, budget, n_present),
            classes,
        )

    def keep(self, selection: Selection, training: Training, eps: float) -> CoverModel:
        """Return what a model of these terms keeps of a selection."""
        return CoverModel.of_training(
            selection,
            training,
            eps=eps,
            prototype_cost=self.prototype_cost,
            outlier_label=self.outlier_label,
        )


@dataclass(frozen=True, eq=False)
class CoverTerms:
    """Parameters of a cover whose meaning depends on its data.

    Parameters
    ----------
    target : CoverTarget
        The number, coverage or cost that was asked for.
    price : ndarray of float, shape (n_candidates,), or None
        Factor of the cost of each candidate; None for 1.
    forced : ndarray of int
        Columns of the candidates that are chosen in any case.
    """

    target: CoverTarget
    price: NDArray[np.float64] | None
    forced: NDArray[np.intp]

    @classmethod
    def of(cls, cover: Any, training: Training) -> Self:
        """Check the parameters of a cover against its data."""
        places = numbers(training.pools)
        n_given = sum(pool.extent for pool in training.pools)
        forced = check_must_include(cover.must_include, places, cover.max_representatives)
        price = check_candidate_cost(cover.candidate_cost, places, n_given)
        if price is not None:
            check_charged(price[forced] if cover.coverage is None else price)
        asked = "auto" if cover.cost is None else cover.cost
        cost = check_prototype_cost(asked, training.weights, name="cost")
        if cover.cost is None:
            # All together cost less than the lightest sample, even if there is only one.
            highest = 0.0 if price is None else float(price.max(initial=0.0))
            cost /= 2.0 * max(1.0, highest)
        number = cover.max_representatives
        target = CoverTarget(cost, None if number is None else int(number), cover.coverage)
        return cls(target, price, forced)


def _check_has_candidates(classes: list[ClassProblem], terms: Terms) -> None:
    """Refuse a class that must have a prototype and has nothing to choose from."""
    budgets = terms.max_prototypes if isinstance(terms.max_prototypes, dict) else {}
    without = [
        label
        for k, (label, one) in enumerate(zip(terms.classes.tolist(), classes, strict=True))
        if one.problem.n_points and not one.problem.covers_any and budgets.get(k) != 0
    ]
    if without:
        raise no_candidates(without)


def no_candidates(classes: list[Any]) -> ValueError:
    """Return the error for classes that must have a prototype and can have none."""
    return ValueError(
        f"every class needs a candidate within eps of one of its samples, got none for {classes}; "
        "add candidates, raise eps, or pass min_per_class=0 to allow classes without prototypes"
    )


def warn_of_selection(model: Any, n_samples: int) -> None:
    """Warn if a class has a prototype only because it must, or if there are very many."""
    forced = model.classes_[model.solution_.forced].tolist()
    if forced:
        balance = "class_weight='balanced' gives all classes the same weight; "
        warn_caller(
            f"no prototype of the classes {forced} is worth its cost, so each got the best single "
            "one (min_per_class=1); their samples are rare or lie among those of other classes. "
            f"{'' if model.class_weight == 'balanced' else balance}a lower prototype_cost or a "
            "smaller eps also helps"
        )
    if n_samples > _FEW_SAMPLES and len(model.candidate_indices_) > _LARGE_SHARE * n_samples:
        # The same text at every fit, which Python shows once.
        warn_caller(
            "more than a quarter of the samples became prototypes; for fewer raise "
            "prototype_cost, set max_prototypes, or let PVMClassifierCV choose"
        )


def check_training_points(classifier: Any, X: Any, unlabeled: Any = None) -> Any:
    """Return the training points of a classifier as its metric takes them, checked."""
    check_candidate_names(X, classifier.candidates, unlabeled)
    dissimilarity = resolve_metric(classifier.metric, classifier.metric_params)
    forget_features(classifier)
    return check_estimator_points(classifier, X, dissimilarity, reset=True)


def prepare(
    classifier: Any,
    points: Any,
    y: Any,
    sample_weight: Any,
    *,
    unlabeled: Any = None,
    rng: np.random.Generator,
) -> Training:
    """Make the training data of a classifier ready, with points that are checked already."""
    return prepare_training(
        points,
        y,
        sample_weight,
        metric=classifier.metric,
        metric_params=classifier.metric_params,
        candidates=classifier.candidates,
        rng=rng,
        unlabeled=unlabeled,
        # A cover has one class, which needs no weight.
        cross_class=getattr(classifier, "cross_class", True),
        class_weight=getattr(classifier, "class_weight", None),
        verbose=classifier.verbose,
    )


def with_selection(
    classifier: Any, selection: Selection, training: Training, *, eps: float, cost: float
) -> Any:
    """Return a fitted copy of a classifier whose prototypes are already chosen."""
    fitted = clone(classifier).set_params(eps=eps, prototype_cost=cost)
    outlier = check_outlier_label(fitted.outlier_label, training.classes, training.class_count)
    model = CoverModel.of_training(
        selection, training, eps=eps, prototype_cost=cost, outlier_label=outlier
    )
    fitted._set_model(with_rule(model, training, fitted))
    if len(getattr(training.points, "shape", ())) == 2:
        fitted.n_features_in_ = training.points.shape[1]
    # Checking may have made an array of the frame that the points came in.
    names = getattr(classifier, "feature_names_in_", _get_feature_names(training.points))
    if names is not None:
        fitted.feature_names_in_ = names
    return fitted


def take_in(
    classifier: Any,
    settings: Settings,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    classes: Any,
    rng: np.random.Generator,
) -> Growth:
    """Return the cover that a classifier keeps between batches with a further one in it.

    Points are copied: a caller may use the same array for the next batch.
    """
    settled = _settled(classifier)
    if hasattr(classifier, "_growth"):
        growth = classifier._growth
        growth.check_settled(settled)
        return grow(
            growth,
            deepcopy(check_estimator_points(classifier, X, growth.dissimilarity, reset=False)),
            y,
            sample_weight,
            classes=classes,
            closed=settings.closed,
            n_jobs=settings.n_jobs,
            verbose=settings.verbose,
        )
    points = deepcopy(check_training_points(classifier, X))
    training = prepare(classifier, points, y, sample_weight, rng=rng)
    rng = after_candidates(classifier.random_state, rng)
    eps = settings.radius(training, rng)
    return start_growth(
        training,
        None if settings.adaptive_radii else settings.build(training, eps, rng),
        y,
        sample_weight,
        eps=eps,
        candidates=classifier.candidates,
        classes=classes,
        settled=settled,
    )


def _settled(classifier: Any) -> dict[str, Any]:
    """Return the parameters that later batches may not change, also those of a metric object."""
    parameters = classifier.get_params()
    names = sorted(name for name in parameters if name.partition("__")[0] in _SETTLED)
    return {name: _comparable(parameters[name]) for name in names}


def _comparable(value: Any) -> Any:
    """Return a parameter as something that does not change with it."""
    if isinstance(value, dict):
        return [list(pair) for pair in value.items()]
    # The parameters of an object are compared under names of their own.
    return type(value) if hasattr(value, "get_params") else value
