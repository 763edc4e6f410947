"""The estimator that the options ask for, and one that was fitted: loaded, and its parts."""

from __future__ import annotations

from argparse import Namespace
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..estimators import PVMClassifier, PVMClassifierCV
from ..persistence import load_model
from .cases import Cases
from .console import Console
from .errors import CommandError, UsageError
from .metrics import Distance

__all__ = [
    "MODEL",
    "build_model",
    "classifier_of",
    "feature_names",
    "final_step",
    "fit_model",
    "measured",
    "needs_every_value",
    "open_model",
    "with_last_step",
    "with_rows",
]

MODEL = "model.protocover"
_FOLDS = 10


def open_model(path: Path) -> Any:
    """Load a model from its file, or from the folder that `fit` has written."""
    file = path / MODEL if path.is_dir() else path
    if not file.exists():
        hint = f"{path} holds no {MODEL}" if path.is_dir() else f"there is no {path}"
        raise CommandError(f"{hint}; give a model file, or the folder that `fit` has written")
    return load_model(file)


def build_model(options: Namespace, distance: Distance, cases: Cases, console: Console) -> Any:
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
    if options.eps == "auto" or (options.eps is not None and len(options.eps) == 1):
        classifier = _with_radius(options, shared)
    else:
        classifier = _with_search(options, shared, cases, console)
    if distance.scaled:
        return Pipeline([("scale", StandardScaler()), ("pvm", classifier)])
    return classifier


def fit_model(model: Any, options: Namespace, X: Any, y: Any) -> Any:
    """Fit an estimator, and select with the solver asked for at the radius that was found.

    A search tries its radii with the greedy solver: the slower ones, once for each radius
    and fold, would take too long to wait for.
    """
    model.fit(X, y)
    search = final_step(model)
    if isinstance(search, PVMClassifierCV):
        if options.solver != "greedy" or options.time_limit is not None:
            chosen = clone(search.best_estimator_).set_params(
                solver=options.solver, solver_options=_solver_options(options)
            )
            search.best_estimator_ = chosen.fit(measured(model, X), y)
        search.best_estimator_.set_params(verbose=0)
    search.set_params(verbose=0)
    return model


def final_step(model: Any) -> Any:
    """Return the classifier, or search for one, that a model ends in."""
    return model[-1] if isinstance(model, Pipeline) else model


def classifier_of(model: Any) -> PVMClassifier:
    """Return the classifier with the prototypes."""
    last = final_step(model)
    classifier: PVMClassifier = getattr(last, "best_estimator_", last)
    return classifier


def measured(model: Any, X: Any) -> Any:
    """Return cases as the classifier in a model takes them."""
    if isinstance(model, Pipeline):
        return model[:-1].transform(X)
    classifier = classifier_of(model)
    frames = getattr(classifier.dissimilarity_, "accepts_anything", False)
    return X if frames or hasattr(classifier, "feature_names_in_") else np.asarray(X)


def with_last_step(model: Any, last: Any) -> Any:
    """Return a fitted model that ends in another step, itself untouched."""
    if isinstance(model, Pipeline):
        return Pipeline([*model.steps[:-1], (model.steps[-1][0], last)])
    return last


def with_rows(model: Any, rows: Any) -> Any:
    """Return a fitted model whose prototypes have other row numbers, itself untouched."""
    last = copy(final_step(model))
    if hasattr(last, "best_estimator_"):
        last.best_estimator_ = with_rows(last.best_estimator_, rows)
    else:
        last.prototype_rows_ = np.asarray(rows)
    return with_last_step(model, last)


def feature_names(model: Any) -> list[str]:
    """Return the names of the columns that a model was fitted on."""
    for part in (model, final_step(model), getattr(final_step(model), "best_estimator_", None)):
        names = getattr(part, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
    dissimilarity = classifier_of(model).dissimilarity_
    if getattr(dissimilarity, "named_", False):
        return [str(name) for name in dissimilarity.names_]
    raise CommandError(
        "the model does not name its columns; fit it on a table with column names, or predict "
        "in Python"
    )


def needs_every_value(model: Any) -> bool:
    """Whether a model has no answer for a case with a missing value."""
    dissimilarity = classifier_of(model).dissimilarity_
    return not getattr(dissimilarity, "allows_nan", False)


def _with_radius(options: Namespace, shared: dict[str, Any]) -> PVMClassifier:
    """Return a classifier with a radius that is given or proposed."""
    costs = options.prototype_cost
    if costs is not None and len(costs) > 1:
        raise UsageError(
            "several values of --prototype-cost are tried by cross-validation; leave out --eps, "
            "or give several values of it, too"
        )
    return PVMClassifier(
        "auto" if options.eps == "auto" else options.eps[0],
        prototype_cost=None if costs is None else costs[0],
        n_prototypes=options.n_prototypes,
        solver=options.solver,
        solver_options=_solver_options(options),
        **shared,
    )


def _with_search(
    options: Namespace, shared: dict[str, Any], cases: Cases, console: Console
) -> PVMClassifierCV:
    """Return a search for the radius by cross-validation."""
    return PVMClassifierCV(
        options.grid if options.eps is None else options.eps,
        prototype_costs=options.prototype_cost,
        cv=StratifiedKFold(
            _count_folds(options.cv, cases, console), shuffle=True, random_state=options.seed
        ),
        rule=options.rule,
        max_prototypes=options.n_prototypes,
        **shared,
    )


def _count_folds(asked: int | None, cases: Cases, console: Console) -> int:
    """Return the number of folds, at most the size of the largest class."""
    labels, counts = np.unique(np.asarray(cases.y), return_counts=True)
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
    """Return what the solver is told beyond its name."""
    return None if options.time_limit is None else {"time_limit": options.time_limit}
