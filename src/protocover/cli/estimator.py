"""The estimator that the options ask for: its distance, and how its radius is found."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..dissimilarity import DANN, Gower, KernelDistance, RankDissimilarity, TangentDistance
from ..estimators import PVMClassifier, PVMClassifierCV
from ..inspection.fitted import unwrap
from .cases import Cases
from .columns import count_kinds, type_of
from .console import CommandError, Console, UsageError
from .model import final_step

__all__ = ["OWN_METRICS", "Distance", "build_model", "choose_distance", "fit_model"]

_FACTORIES: dict[str, Callable[[], Any]] = {
    "dann": DANN,
    "rank": RankDissimilarity,
    "rbf": lambda: KernelDistance("rbf"),
}
_FOLDS = 10
# Solvers that a search can fit with while the greedy scores.
_SEARCHED = ("auto", "greedy")
OWN_METRICS = ("gower", "tangent", *_FACTORIES)


@dataclass(frozen=True)
class Distance:
    """A metric as the estimators take it, and, in words, what it is and why it was taken.

    If `scaled`, columns are first brought to mean 0 and standard deviation 1.
    """

    metric: Any
    scaled: bool
    words: str
    reason: str

    @property
    def of_numbers(self) -> bool:
        """Whether it is between rows of numbers rather than of mixed columns."""
        return not isinstance(self.metric, Gower)


def choose_distance(
    cases: Cases, *, name: str | None, scaled: bool | None, asymmetric: list[str]
) -> Distance:
    """Choose the distance between cases by their columns, where the options do not.

    In `asymmetric` columns two absences tell nothing; `scaled` is None for as it suits.
    """
    if cases.layout is not None:
        return _between_images(cases, name, scaled)
    stores = {type_of(cases.X[column]).stores for column in cases.X.columns}
    missing = bool(cases.X.isna().to_numpy().any())
    if name == "tangent":
        raise UsageError("--metric tangent is for images; give a folder of them")
    if name == "gower" or (name is None and (stores != {"numbers"} or missing or asymmetric)):
        reason = "as asked for" if name else _why_gower(cases, stores, missing)
        kinds = dict.fromkeys(asymmetric, "asymmetric")
        return Distance(Gower(kinds=kinds or None, gap=0.5), False, "Gower's", reason)
    _check_numbers(cases, name or "euclidean", missing)
    reason = "as asked for" if name else "all columns are numbers"
    return _named(name or "euclidean", scaled is not False, reason)


def build_model(options: Namespace, distance: Distance, y: NDArray[Any], console: Console) -> Any:
    """Return the unfitted estimator: with a given radius, or one that searches for it."""
    shared = {
        "metric": distance.metric,
        "candidates": options.candidates,
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


def fit_model(model: Any, options: Namespace, X: Any, y: Any) -> Any:
    """Fit an estimator, and select with the solver asked for at the radius that was found.

    A search tries its radii with the greedy solver, and fits with it or with auto: the slower
    ones, once for each radius and fold, would take too long to wait for.
    """
    model.fit(X, y)
    search = final_step(model)
    if isinstance(search, PVMClassifierCV):
        if _solver(options) not in _SEARCHED:
            chosen = clone(search.best_estimator_).set_params(
                solver=_solver(options), solver_options=_solver_options(options)
            )
            search.best_estimator_ = chosen.fit(unwrap(model).prepare(X), y)
        search.best_estimator_.set_params(verbose=0)
    search.set_params(verbose=0)
    return model


def _between_images(cases: Cases, name: str | None, scaled: bool | None) -> Distance:
    """Choose the distance between images, whose pixels have a common scale."""
    layout = cases.layout
    assert layout is not None
    reason = "as asked for" if name else "the usual one for pixels"
    if name == "gower":
        raise UsageError("--metric gower is for tables; for images take euclidean or tangent")
    if name == "tangent":
        if layout.colour:
            raise UsageError("--metric tangent is for grey images; add --colour grey")
        metric = TangentDistance((layout.height, layout.width))
        return Distance(metric, False, "tangent distance", reason)
    return _named(name or "euclidean", bool(scaled), reason)


def _why_gower(cases: Cases, stores: set[str], missing: bool) -> str:
    """Say why Gower's distance suits a table."""
    if stores != {"numbers"}:
        return f"columns are mixed: {count_kinds(cases.X)}"
    return "values are missing" if missing else "as --kind asks for"


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


def _named(name: str, scaled: bool, reason: str) -> Distance:
    """Return a distance by the name of its metric."""
    metric = _FACTORIES[name]() if name in _FACTORIES else name
    title = {"euclidean": "Euclidean", "dann": "DANN"}.get(name, name)
    return Distance(metric, scaled, f"{'standardised ' if scaled else ''}{title}", reason)


def _searches(options: Namespace) -> bool:
    """Whether the radius, or limit and cost, are to be searched for, by options that fit."""
    own, eps, costs = options.radii == "own", options.eps, options.prototype_cost
    if eps == "none" and not own:
        raise UsageError(
            "--eps none, for no limit to the radii, goes with --radii own; add it, or give a "
            "radius"
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
        _read_radius(options.eps),
        radii=options.radii,
        prototype_cost=None if costs is None else costs[0],
        n_prototypes=options.n_prototypes,
        solver=_solver(options),
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
    limits: Any = [None] if options.eps == "none" else options.eps
    solver = _solver(options)
    return PVMClassifierCV(
        limits,
        n_eps=options.grid,
        radii=options.radii,
        prototype_costs=options.prototype_cost,
        cv=StratifiedKFold(
            _count_folds(options.cv, y, console), shuffle=True, random_state=options.seed
        ),
        rule=options.rule,
        n_prototypes=options.n_prototypes,
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


def _solver(options: Namespace) -> str:
    """Return the solver asked for, or the one that suits rows in memory or on disk."""
    if options.solver is not None:
        return str(options.solver)
    # A table that is streamed is too large for a linear program of its cover in memory.
    return "greedy" if options.stream else "auto"


def _solver_options(options: Namespace) -> dict[str, Any] | None:
    """Return what the solver is told beyond its name."""
    return None if options.time_limit is None else {"time_limit": options.time_limit}
