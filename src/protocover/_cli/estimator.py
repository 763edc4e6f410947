"""The estimator that the options ask for: its distance, and how its radius is found."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from .._estimators import PVMClassifier, PVMClassifierCV
from .._inspection.fitted import unwrap
from ..dissimilarity import (
    DANN,
    Gower,
    KernelDistance,
    RankDissimilarity,
    TangentDistance,
    resolve_metric,
)
from ..solvers._registry import SOLVERS, check_options
from .cases import Cases
from .columns import count_kinds, type_of
from .console import CommandError, Console, UsageError, list_names
from .model import final_step
from .sampling import announce_search_sample

_FACTORIES: dict[str, Callable[..., Any]] = {
    "dann": DANN,
    "rank": RankDissimilarity,
    "rbf": lambda gamma=None: KernelDistance("rbf", None if gamma is None else {"gamma": gamma}),
}
_FOLDS = 10
# Solvers that a search can fit with while the greedy scores.
_SEARCHED = ("auto", "greedy")
OWN_METRICS = ("gower", "tangent", *_FACTORIES)


@dataclass(frozen=True)
class Distance:
    """A metric as the estimators take it, and, in words, what it is and why it was taken.

    `params` are its `metric_params`, where it is a name. If `scaled`, columns are first brought
    to mean 0 and standard deviation 1.
    """

    metric: Any
    scaled: bool
    words: str
    reason: str
    params: dict[str, Any] | None = None

    @property
    def of_numbers(self) -> bool:
        """Whether it is between rows of numbers rather than of mixed columns."""
        return not isinstance(self.metric, Gower)


def choose_distance(
    cases: Cases,
    *,
    name: str | None,
    scaled: bool | None,
    asymmetric: list[str],
    params: Mapping[str, Any] | None = None,
) -> Distance:
    """Choose the distance between cases by their columns, where the options do not.

    In `asymmetric` columns two absences tell nothing; `scaled` is None for as it suits;
    `params` are those of the metric that is named.
    """
    params = dict(params or {})
    if params and name is None:
        raise UsageError(
            f"--metric-param {next(iter(params))} goes with --metric NAME; name the metric, too"
        )
    if cases.layout is not None:
        return _between_images(cases, name, scaled, params)
    if cases.pictures is not None:
        reason = "as asked for" if name else "the usual one for vectors of an encoder"
        return _named(name or "cosine", bool(scaled), reason, params)
    stores = {type_of(cases.X[column]).stores for column in cases.X.columns}
    missing = bool(cases.X.isna().to_numpy().any())
    if name == "tangent":
        raise UsageError("--metric tangent is for images; give a folder of them")
    if name == "gower" or (name is None and (stores != {"numbers"} or missing or asymmetric)):
        reason = "as asked for" if name else _why_gower(cases, stores, missing)
        kinds = dict.fromkeys(asymmetric, "asymmetric")
        metric = _made(partial(Gower, feature_types=kinds or None), "gower", params)
        return Distance(metric, False, "Gower's", reason)
    _check_numbers(cases, name or "euclidean", missing)
    reason = "as asked for" if name else "all columns are numbers"
    return _named(name or "euclidean", scaled is not False, reason, params)


def build_model(options: Namespace, distance: Distance, y: NDArray[Any], console: Console) -> Any:
    """Return the unfitted estimator: with a given radius, or one that searches for it."""
    shared = {
        "metric": distance.metric,
        "metric_params": distance.params,
        "max_prototypes": _budgets(options.max_prototypes, y),
        "candidates": options.candidates,
        "cross_class": options.cross_class,
        "min_per_class": options.min_per_class,
        "class_weight": "balanced" if options.balance else None,
        "closed_ball": options.closed_ball,
        "outlier_label": options.outlier_label,
        "n_jobs": options.n_jobs,
        "random_state": options.seed,
        "verbose": console.verbose,
    }
    if _searches(options):
        classifier = _with_search(options, shared, y, console)
    else:
        classifier = _with_radius(options, shared)
    if distance.scaled:
        return Pipeline([("scale", StandardScaler()), ("pvm", classifier)])
    return classifier


def fit_model(model: Any, options: Namespace, X: Any, y: Any, weights: Any = None) -> Any:
    """Fit an estimator, and select with the solver asked for at the radius that was found.

    A search tries its radii with the greedy solver, and fits with it or with auto: the slower
    ones, once for each radius and fold, would take too long to wait for.
    """
    step = "pvm__" if isinstance(model, Pipeline) else ""
    model.fit(X, y, **({} if weights is None else {f"{step}sample_weight": weights}))
    search = final_step(model)
    if isinstance(search, PVMClassifierCV):
        if options.solver not in _SEARCHED:
            chosen = clone(search.best_estimator_).set_params(
                solver=options.solver, solver_options=_solver_options(options)
            )
            search.best_estimator_ = chosen.fit(unwrap(model).prepare(X), y, weights)
        search.best_estimator_.set_params(verbose=0)
    search.set_params(verbose=0)
    return model


def _between_images(
    cases: Cases, name: str | None, scaled: bool | None, params: dict[str, Any]
) -> Distance:
    """Choose the distance between images, whose pixels have a common scale."""
    layout = cases.layout
    assert layout is not None
    reason = "as asked for" if name else "the usual one for pixels"
    if name == "gower":
        raise UsageError("--metric gower is for tables; for images take euclidean or tangent")
    if name == "tangent":
        if layout.color:
            raise UsageError("--metric tangent is for grey images; add --color gray")
        shape = (layout.height, layout.width)
        metric = _made(partial(TangentDistance, image_shape=shape), "tangent", params)
        return Distance(metric, False, "tangent distance", reason)
    return _named(name or "euclidean", bool(scaled), reason, params)


def _why_gower(cases: Cases, stores: set[str], missing: bool) -> str:
    """Say why Gower's distance suits a table."""
    if stores != {"numbers"}:
        return f"columns are mixed: {count_kinds(cases.X)}"
    return "values are missing" if missing else "as --feature-type asks for"


def _check_numbers(cases: Cases, name: str, missing: bool) -> None:
    """Refuse columns that a metric between rows of numbers has no use for."""
    wrong = [
        str(column)
        for column in cases.X.columns
        if type_of(cases.X[column]).stores not in ("numbers", "booleans")
    ]
    if wrong:
        raise UsageError(
            f"--metric {name} needs numbers, but column {wrong[0]!r} holds none; use --metric "
            f"gower, or leave it out with --drop"
        )
    if missing and name != "nan_euclidean":
        raise UsageError(
            f"--metric {name} needs a value in every cell, and some are missing; use --metric "
            "gower, or fill them in"
        )


def _named(name: str, scaled: bool, reason: str, params: dict[str, Any]) -> Distance:
    """Return a distance by the name of its metric."""
    title = {"euclidean": "Euclidean", "dann": "DANN"}.get(name, name)
    words = f"{'standardized ' if scaled else ''}{title}"
    if params:
        words += f" with {', '.join(f'{key}={value}' for key, value in params.items())}"
    if name in _FACTORIES:
        metric = _made(_FACTORIES[name], name, params)
        return Distance(metric, scaled, words, reason)
    _try_params(name, params)
    return Distance(name, scaled, words, reason, params or None)


def _made(factory: Callable[..., Any], name: str, params: dict[str, Any]) -> Any:
    """Return a metric of our own with its parameters, which must be some that it has."""
    given = factory.keywords if isinstance(factory, partial) else {}
    known = [word for word in signature(factory).parameters if word not in given]
    for word in params:
        if word not in known:
            raise UsageError(
                f"--metric-param {word} is not one of metric {name}; it has {', '.join(known)}"
            )
    return factory(**params)


def _try_params(name: str, params: dict[str, Any]) -> None:
    """Refuse names of parameters that a metric of SciPy or scikit-learn does not know."""
    if not params:
        return
    pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    try:
        resolve_metric(name, params).fit(pair).pairwise(pair, pair)
    except TypeError as error:
        words = ", ".join(f"{key}={value}" for key, value in params.items())
        raise UsageError(
            f"--metric-param {words} is not what metric {name} takes; see SciPy's or "
            "scikit-learn's page of the metric for its parameters"
        ) from error
    except ValueError as error:
        # Of another size than these two points, say, which is for the fit to judge.
        if "metric_params" in str(error):
            raise UsageError(str(error).replace("metric_params", "--metric-param")) from error


def _budgets(asked: int | dict[str, int] | None, y: NDArray[Any]) -> Any:
    """Return a number of prototypes for all, or numbers by the labels that the texts mean."""
    if not isinstance(asked, dict):
        return asked
    labels = {str(label): label for label in np.unique(y)}
    for text in asked:
        if text not in labels:
            raise UsageError(
                f"--max-prototypes {text}={asked[text]} names no class; the classes are "
                f"{list_names(labels)}"
            )
    return {labels[text].item(): number for text, number in asked.items()}


def _searches(options: Namespace) -> bool:
    """Whether the radius, or limit and cost, are to be searched for."""
    own, eps, costs = options.radii == "adaptive", options.eps, options.prototype_cost
    if eps == "none" and not own:
        raise UsageError(
            "--eps none sets no limit to radii of their own, but --radii shared needs one radius; "
            "leave out --radii shared, or give a number"
        )
    if eps is None or (isinstance(eps, list) and len(eps) > 1):
        return True
    if costs is None or len(costs) == 1:
        return False
    if own and eps != "auto":
        return True
    raise UsageError(
        "several values of --prototype-cost are tried by cross-validation; leave out --eps, or "
        f"give {'a number or none' if own else 'several values of it, too'}"
    )


def _with_radius(options: Namespace, shared: dict[str, Any]) -> PVMClassifier:
    """Return a classifier with a radius, or a limit to radii, that is given or proposed."""
    costs = options.prototype_cost
    return PVMClassifier(
        eps=_read_radius(options.eps),
        radii=options.radii,
        prototype_cost="auto" if costs is None else costs[0],
        solver=options.solver,
        solver_options=_solver_options(options),
        **shared,
    )


def _read_radius(given: list[float] | str) -> float | str | None:
    """Return a radius, or the limit to radii, as the classifier takes it."""
    if isinstance(given, list):
        return given[0]
    return None if given == "none" else given


def _with_search(
    options: Namespace, shared: dict[str, Any], y: NDArray[Any], console: Console
) -> PVMClassifierCV:
    """Return a search for the radius, or for limit and cost, by cross-validation."""
    announce_search_sample(options, len(y), console)
    limits: Any = [None] if options.eps == "none" else options.eps
    solver, most = options.solver, options.max_search_samples
    return PVMClassifierCV(
        eps=limits,
        n_eps=options.grid,
        radii=options.radii,
        prototype_costs=options.prototype_cost,
        cv=StratifiedKFold(
            _count_folds(options.cv, y, console), shuffle=True, random_state=options.seed
        ),
        max_search_samples=most,
        solver=solver if solver in _SEARCHED else "greedy",
        solver_options=_solver_options(options) if solver in _SEARCHED else None,
        **shared,
    )


def _count_folds(asked: int | None, y: NDArray[Any], console: Console) -> int:
    """Return the number of folds, at most the size of the largest class."""
    labels, counts = np.unique(y, return_counts=True)
    n_folds = min(asked or _FOLDS, int(counts.max()))
    if n_folds < (asked or 2):
        raise CommandError(
            f"cross-validation in {asked or 2} parts needs a class of as many cases, the largest "
            f"has {counts.max()}; lower --cv, or give the radius with --eps"
        )
    small = counts.argmin()
    if counts[small] < n_folds:
        console.warn(
            f"class {str(labels[small])!r} has {counts[small]} cases to choose from, fewer than "
            f"the {n_folds} parts of the cross-validation; its error is not well known"
        )
    return n_folds


def _solver_options(options: Namespace) -> dict[str, Any] | None:
    """Return what the solver is told beyond its name, checked before any long work."""
    given = dict(options.solver_option)
    if options.time_limit is not None:
        if "time_limit" in given:
            raise UsageError("--solver-option time_limit is --time-limit; give it once")
        given["time_limit"] = options.time_limit
    try:
        check_options(SOLVERS[options.solver], given)
    except (TypeError, ValueError) as error:
        text = str(error).replace("solver_options", "it")
        raise UsageError(f"--solver-option: {text}") from error
    return given or None
