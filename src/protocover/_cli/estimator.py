"""The estimator that the options describe: metric, radius search and solver."""

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

from .._estimators import BallCover, PVMClassifier, PVMClassifierCV
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
from .columns import count_types, typed
from .console import CommandError, Console, UsageError, count_things, list_names
from .model import final_step

_FACTORIES: dict[str, Callable[..., Any]] = {
    "dann": DANN,
    "rank": RankDissimilarity,
    "rbf": lambda gamma=None: KernelDistance("rbf", None if gamma is None else {"gamma": gamma}),
}
_FOLDS = 10
# Solvers that the search itself can use for the final fit.
_SEARCHED = ("auto", "greedy")
OWN_METRICS = ("gower", "tangent", *_FACTORIES)


@dataclass(frozen=True)
class Distance:
    """A metric as the estimators take it, its name in words, and why it was chosen.

    `params` are the `metric_params` of a metric given by name. If `scaled`, columns are
    standardized first.
    """

    metric: Any
    scaled: bool
    words: str
    reason: str
    params: dict[str, Any] | None = None

    @property
    def of_numbers(self) -> bool:
        """Whether it compares rows of numbers rather than of mixed columns."""
        return not isinstance(self.metric, Gower)


def choose_distance(
    cases: Cases,
    *,
    name: str | None,
    scaled: bool | None,
    asymmetric: list[str],
    params: Mapping[str, Any] | None = None,
) -> Distance:
    """Return the distance that the options name, or one that suits the columns.

    In `asymmetric` columns joint absences are ignored; `scaled` is None for the default of the
    metric; `params` are those of the named metric.
    """
    params = dict(params or {})
    if params and name is None:
        raise UsageError(f"--metric-param {next(iter(params))} requires --metric NAME")
    if cases.layout is not None:
        return _between_images(cases, name, scaled, params)
    if cases.pictures is not None:
        reason = "as given" if name else "the default for vectors of images"
        return _named(name or "cosine", bool(scaled), reason, params)
    stores = {typed(cases.X[column]) for column in cases.X.columns}
    missing = bool(cases.X.isna().to_numpy().any())
    if name == "tangent":
        raise UsageError("--metric tangent is only valid for a folder of images")
    if name == "gower" or (name is None and (stores != {"numbers"} or missing or asymmetric)):
        reason = "as given" if name else _why_gower(cases, stores, missing)
        kinds = dict.fromkeys(asymmetric, "asymmetric")
        metric = _made(partial(Gower, feature_types=kinds or None), "gower", params)
        return Distance(metric, False, "Gower's", reason)
    _check_numbers(cases, name or "euclidean", missing)
    reason = "as given" if name else "all columns are numbers"
    return _named(name or "euclidean", scaled is not False, reason, params)


def build_cover(
    options: Namespace, distance: Distance, included: list[int], cases: Cases, console: Console
) -> Any:
    """Return a fitted cover, in a pipeline if columns are scaled first."""
    cover = BallCover(
        eps=options.eps,
        max_representatives=options.max_representatives,
        coverage=options.coverage,
        cost=options.cost,
        must_include=included or None,
        candidate_cost=cases.costs,
        metric=distance.metric,
        solver=options.solver,
        solver_options=None if options.time_limit is None else {"time_limit": options.time_limit},
        closed_ball=options.closed_ball,
        n_jobs=options.n_jobs,
        random_state=0,
        verbose=console.verbose,
    )
    model = Pipeline(
        [*([("scale", StandardScaler())] if distance.scaled else []), ("cover", cover)]
    )
    model.fit(cases.X, cover__sample_weight=cases.weights)
    cover.set_params(verbose=0)
    return model if distance.scaled else cover


def build_model(options: Namespace, distance: Distance, y: NDArray[Any], console: Console) -> Any:
    """Return the unfitted classifier with a given radius, or a search for the radius."""
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
        "decision": "fitted" if options.probabilities else "nearest",
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
    """Fit a classifier or a search, and refit with the given solver at the best radius.

    A search compares radii with the greedy solver. Slower solvers are used only for the final
    fit.
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
    """Return the distance between images, whose pixels have a common scale."""
    layout = cases.layout
    assert layout is not None
    reason = "as given" if name else "the default for pixels"
    if name == "gower":
        raise UsageError(
            "--metric gower is only valid for tables; for images use euclidean or tangent"
        )
    if name == "tangent":
        if layout.color:
            raise UsageError("--metric tangent is only valid for gray images; add --color gray")
        shape = (layout.height, layout.width)
        metric = _made(partial(TangentDistance, image_shape=shape), "tangent", params)
        return Distance(metric, False, "tangent distance", reason)
    return _named(name or "euclidean", bool(scaled), reason, params)


def _why_gower(cases: Cases, stores: set[str], missing: bool) -> str:
    """Return why Gower's distance was chosen for a table."""
    if stores != {"numbers"}:
        return f"columns are mixed: {count_types(cases.X)}"
    return "values are missing" if missing else "because of --feature-type"


def _check_numbers(cases: Cases, name: str, missing: bool) -> None:
    """Raise an error if a metric of numbers cannot use a column."""
    wrong = [
        str(column)
        for column in cases.X.columns
        if typed(cases.X[column]) not in ("numbers", "booleans")
    ]
    if wrong:
        raise UsageError(
            f"--metric {name} requires numbers, and column {wrong[0]!r} is not numeric; use "
            f"--metric gower, or leave out the column with --drop"
        )
    if missing and name != "nan_euclidean":
        raise UsageError(
            f"--metric {name} does not support missing values; use --metric gower, or fill them in"
        )


def _named(name: str, scaled: bool, reason: str, params: dict[str, Any]) -> Distance:
    """Return the distance of a named metric."""
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
    """Return a metric of this package; raise an error if it lacks one of the parameters."""
    given = factory.keywords if isinstance(factory, partial) else {}
    known = [word for word in signature(factory).parameters if word not in given]
    for word in params:
        if word not in known:
            raise UsageError(
                f"--metric-param {word}: metric {name} has the parameters {', '.join(known)}"
            )
    return factory(**params)


def _try_params(name: str, params: dict[str, Any]) -> None:
    """Raise an error if a metric of SciPy or scikit-learn lacks one of the parameters."""
    if not params:
        return
    pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    try:
        resolve_metric(name, params).fit(pair).pairwise(pair, pair)
    except TypeError as error:
        words = ", ".join(f"{key}={value}" for key, value in params.items())
        raise UsageError(
            f"--metric-param {words} is not a parameter of metric {name}; see the documentation "
            "of the metric in SciPy or scikit-learn"
        ) from error
    except ValueError as error:
        # The size may not fit these two points; the fit checks it.
        if "metric_params" in str(error):
            raise UsageError(str(error).replace("metric_params", "--metric-param")) from error


def _budgets(asked: int | dict[str, int] | None, y: NDArray[Any]) -> Any:
    """Return a number of prototypes in total, or per label."""
    if not isinstance(asked, dict):
        return asked
    labels = {str(label): label for label in np.unique(y)}
    for text in asked:
        if text not in labels:
            raise UsageError(
                f"--max-prototypes {text}={asked[text]}: there is no class {text!r}; the classes "
                f"are {list_names(labels)}"
            )
    return {labels[text].item(): number for text, number in asked.items()}


def _searches(options: Namespace) -> bool:
    """Whether the radius and cost are chosen by cross-validation."""
    own, eps, costs = options.radii == "adaptive", options.eps, options.prototype_cost
    if eps == "none" and not own:
        raise UsageError(
            "--eps none is only valid with --radii adaptive; omit --radii shared, or give a radius"
        )
    if eps is None or (isinstance(eps, list) and len(eps) > 1):
        return True
    if costs is None or len(costs) == 1:
        return False
    if own and eps != "auto":
        return True
    raise UsageError(
        "several values of --prototype-cost are compared by cross-validation; omit --eps, or give "
        f"{'a number or none' if own else 'several values of it, too'}"
    )


def _with_radius(options: Namespace, shared: dict[str, Any]) -> PVMClassifier:
    """Return a classifier whose (maximum) radius is given or estimated."""
    costs, eps = options.prototype_cost, options.eps
    return PVMClassifier(
        eps=eps[0] if isinstance(eps, list) else None if eps == "none" else eps,
        radii=options.radii,
        prototype_cost="auto" if costs is None else costs[0],
        solver=options.solver,
        solver_options=_solver_options(options),
        **shared,
    )


def _with_search(
    options: Namespace, shared: dict[str, Any], y: NDArray[Any], console: Console
) -> PVMClassifierCV:
    """Return a search for the radius and cost by cross-validation."""
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
            f"cross-validation with {asked or 2} folds requires a class of at least {asked or 2} "
            f"cases, and the largest has {counts.max()}; lower --cv, or set the radius with --eps"
        )
    small = counts.argmin()
    if counts[small] < n_folds:
        console.warn(
            f"class {str(labels[small])!r} has "
            f"{count_things(counts[small], 'training case', 'training cases')}, fewer than the "
            f"{n_folds} folds of the cross-validation; its error estimate is unreliable"
        )
    return n_folds


def _solver_options(options: Namespace) -> dict[str, Any] | None:
    """Return the options of the solver, checked before the fit."""
    given = dict(options.solver_option)
    if options.time_limit is not None:
        if "time_limit" in given:
            raise UsageError(
                "--solver-option time_limit and --time-limit are the same; give one of them"
            )
        given["time_limit"] = options.time_limit
    try:
        check_options(SOLVERS[options.solver], given)
    except (TypeError, ValueError) as error:
        text = str(error).replace("solver_options", "it")
        raise UsageError(f"--solver-option: {text}") from error
    return given or None


# Pairs of samples and candidates: 100,000 samples that are all candidates.
_MOST_PAIRS = 10**10


def choose_candidates(options: Namespace, n_samples: int, console: Console) -> Any:
    """Return the candidates: as given, all cases, or a number of cases to draw."""
    if options.candidates is not None:
        return options.candidates
    n_drawn = _MOST_PAIRS // max(1, n_samples)
    if n_samples <= n_drawn:
        return "train"
    console.note(
        f"Drawing {n_drawn:,} of the {n_samples:,} cases as candidates for prototypes; "
        "--candidates train uses all."
    )
    return n_drawn


def announce_search_sample(options: Namespace, n_samples: int, console: Console) -> None:
    """Print that the search uses a sample, unless the search prints it itself."""
    most = options.max_search_samples
    if most is not None and n_samples > most and not console.verbose:
        console.note(
            f"Searching on a stratified sample of {most:,} of the {n_samples:,} cases and fitting "
            "on all; --max-search-samples all searches on all."
        )
