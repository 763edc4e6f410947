"""The folds of a search: a path on the training part of each, scored on the rest.

The settings are tried on all samples or on a stratified sample of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_method_params

from .._balls import traits_of
from .._balls.graph import pick_entries
from .._exceptions import NoPrototypesError
from .._resources import process_count, progress_bar, say
from .._selection.adaptive_radii import find_adaptive_balls
from .._selection.parameters import (
    apply_class_weight,
    check_adaptive_radii,
    check_max_prototypes,
    check_min_per_class,
    check_weights,
    is_count,
)
from .._selection.path import (
    GreedyLevels,
    Known,
    formulate_path,
    has_prefixes,
    solve_path,
    wants_lists,
)
from .._selection.selection import Selection
from .._selection.training import Training, TrainingSubset, after_candidates, training_levels
from .._typing import Floats
from ..candidates._gather import draw_stratified, is_train
from ..dissimilarity import resolve_metric
from ..solvers._registry import find_solver
from .classifier import PVMClassifier
from .fitting import prepare, with_selection

Selections = tuple[tuple[Selection, ...], ...]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]
# Rising rows of a sample, None for all rows.
Rows: TypeAlias = NDArray[np.intp] | None

_PREDICTIVE = ("candidates", "classes", "radii")
# Samples that every class keeps if it has them, so that all folds have some of each class.
_FEW = 20


@dataclass(frozen=True, eq=False)
class Labeled:
    """Points as a metric takes them with their labels and weights, all checked.

    The `unlabeled` ones are further candidates, in all folds the same.
    """

    points: Any
    y: NDArray[Any]
    weights: Floats
    unlabeled: Any


@dataclass(frozen=True, eq=False)
class Grid:
    """Radii and costs, both rising."""

    radii: Floats
    costs: Floats


@dataclass(frozen=True, eq=False)
class Trial:
    """The classifier that is scored in the folds, the samples, and the grid of settings."""

    model: PVMClassifier
    data: Labeled
    grid: Grid


def cross_validate(
    trial: Trial,
    splits: list[Split],
    *,
    scoring: Scoring,
    n_jobs: int | None,
    verbose: int,
) -> list[FoldScores]:
    """Return the scores of a trial on each of the `splits`; see :func:`score_fold`."""
    common, seconds = _share(
        trial, [train for train, _ in splits], scoring, n_jobs=n_jobs, verbose=verbose
    )
    tasks = (
        delayed(score_fold)(
            trial.model,
            trial.data,
            trial.grid,
            train=train,
            test=test,
            scoring=scoring,
            common=found,
            verbose=verbose - 1,
        )
        for (train, test), found in zip(splits, common, strict=True)
    )
    done = Parallel(n_jobs=process_count(n_jobs), return_as="generator")(tasks)
    with progress_bar(done, len(splits), "folds", verbose) as bar:
        folds = list(bar)
    # The common distances count as a part of every fold, each an equal part.
    part = seconds / len(splits)
    return [replace(fold, fit_time=fold.fit_time + part) for fold in folds]


def _share(
    trial: Trial,
    trains: list[NDArray[np.intp]],
    scoring: Scoring,
    *,
    n_jobs: int | None,
    verbose: int,
) -> tuple[list[Known], float]:
    """Return each fold's part of the common distances, and the seconds they took."""
    start = perf_counter()
    try:
        found = share_folds(trial, trains, n_jobs=n_jobs, verbose=verbose)
    except Exception:
        if scoring.error_score == "raise":
            raise
        found = [None] * len(trains)  # each fold finds out for itself, and is recorded as failed
    return found, perf_counter() - start


@dataclass(frozen=True, eq=False)
class Scoring:
    """A scorer, what it is told beside points and labels, and what stands for a failure."""

    scorer: Any
    params: dict[str, Any]
    error_score: Any

    def score(self, fitted: PVMClassifier, X: Any, y: NDArray[Any]) -> tuple[float, str | None]:
        """Return the score of one model, or what stands for it and why."""
        try:
            return float(self.scorer(fitted, X, y, **self.params)), None
        except NoPrototypesError:  # an outcome of a grid, which there is no need to look into
            return np.nan, None
        except Exception as error:
            if self.error_score == "raise":
                raise
            return self.error_score, _reason(error)


@dataclass(frozen=True, eq=False)
class FoldScores:
    """What came of one fold, in tables of shape (n_eps, n_costs).

    `score` has what stands for one that could not be had, `n_prototypes` and `n_classes_lost`,
    the number of classes without a prototype, NaN where there was no model. The path, which
    is one for all settings, took `fit_time` seconds. `failures` are the errors of the settings
    that could not be scored.
    """

    score: Floats
    n_prototypes: Floats
    n_classes_lost: Floats
    fit_time: float
    score_time: Floats
    failures: tuple[str, ...] = ()

    @classmethod
    def failed(cls, grid: Grid, error: Exception, *, score: float, time: float) -> Self:
        """Return the scores of a fold that could not be fitted."""
        shape = (len(grid.radii), len(grid.costs))
        reasons = (_reason(error),) * int(np.prod(shape))
        unknown = np.full(shape, np.nan)
        return cls(np.full(shape, score), unknown, unknown, time, np.zeros(shape), reasons)


def score_fold(
    model: PVMClassifier,
    data: Labeled,
    grid: Grid,
    *,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    scoring: Scoring,
    common: Known = None,
    verbose: int = 0,
) -> FoldScores:
    """Fit `model` for all radii and costs on the rows `train` and score it on `test`.

    Candidates are made, and the dissimilarity is fitted, from the training rows alone.
    `common` is what :func:`share_folds` has found for this fold.
    """
    model = _for_classes(model, data.y[train])
    start = perf_counter()
    try:
        check_weights(data.weights[train], *np.unique(data.y[train], return_inverse=True)[::-1])
        train = _with_weight(data, train)
        training, selections = _solve(model, data, train, grid, common=common, verbose=verbose)
    except Exception as error:
        if scoring.error_score == "raise":
            raise
        seconds = perf_counter() - start
        return FoldScores.failed(grid, error, score=scoring.error_score, time=seconds)
    beside = train if _is_pairwise(model) else None
    held_out = take_points(data.points, test, beside=beside), data.y[test]
    scoring = replace(scoring, params=_check_method_params(data.points, scoring.params, test))
    seconds = perf_counter() - start
    return _score_selections(model, training, selections, grid, held_out, scoring, seconds)


def share_folds(
    trial: Trial, trains: Sequence[NDArray[np.intp]], *, n_jobs: int | None, verbose: int
) -> list[Known]:
    """Look at the distances between all points once for all folds, where that leaks nothing.

    That is so where the candidates are the points themselves and the dissimilarity learns
    nothing: a pair is then as far apart in every fold that holds both. Returns what each of
    the folds, which are fitted on the rows `trains`, has of it.
    """
    model, data, grid = trial.model, trial.data, trial.grid
    dissimilarity = resolve_metric(model.metric, model.metric_params)
    if not (is_train(model.candidates) and traits_of(dissimilarity).stateless):
        return [None] * len(trains)
    rng = np.random.default_rng(0)
    training = prepare(model, data.points, data.y, None, unlabeled=data.unlabeled, rng=rng)
    closed = model.closed_ball
    parts = [_part(model, training, data, train) for train in trains]
    if not check_adaptive_radii(model.radii):
        levels = training_levels(
            training, radii=grid.radii, closed=closed, rng=rng, n_jobs=n_jobs, verbose=verbose
        )
        if not _takes_lists(model):
            return [levels] * len(trains)
        every = GreedyLevels.of(training, levels, n_levels=len(grid.radii))
        return [levels if part is None else replace(every, subset=part) for part in parts]
    found = iter(
        find_adaptive_balls(
            training,
            [part for part in parts if part is not None],
            limits=grid.radii,
            closed=closed,
            least_cost=float(grid.costs[0]),
            n_jobs=n_jobs,
            verbose=verbose,
        )
    )
    return [None if part is None else next(found) for part in parts]


def _part(
    model: PVMClassifier, training: Training, data: Labeled, train: NDArray[np.intp]
) -> TrainingSubset | None:
    """Return what a fold has of all points, None where it has them in another order.

    Ties go by the order of the rows: a fold that has another one than all points, or some
    of them twice, looks at the distances for itself.
    """
    rows = _with_weight(data, train)
    if not (rows[1:] > rows[:-1]).all():
        return None
    classes, codes = np.unique(data.y[rows], return_inverse=True)
    class_weight = _for_classes(model, classes).class_weight
    weights = apply_class_weight(class_weight, data.weights[rows], codes, classes)
    return TrainingSubset.of_rows(training, rows, weights)


def _takes_lists(model: PVMClassifier) -> bool:
    """Whether the folds of a model are walked along lists of levels, instead of a table."""
    own = check_adaptive_radii(model.radii)
    return wants_lists(find_solver(model.solver), _fold_options(model), own=own)


def _fold_options(model: PVMClassifier) -> dict[str, Any]:
    """Return the options of the solver in a fold.

    How far from the best a fold's selection is does not matter for its score.
    """
    without_bound = {"bound": False} if has_prefixes(find_solver(model.solver)) else {}
    return {**(model.solver_options or {}), **without_bound}


def _with_weight(data: Labeled, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return those of some rows that have a weight."""
    return rows[data.weights[rows] > 0.0]


def take_points(X: Any, rows: NDArray[np.intp], *, beside: NDArray[np.intp] | None) -> Any:
    """Return some points; of a square table the values between them and those `beside`."""
    if beside is None:
        return _safe_indexing(X, rows)
    return pick_entries(X[rows], beside) if issparse(X) else X[np.ix_(rows, beside)]


def _is_pairwise(model: PVMClassifier) -> bool:
    """Whether the points of a model are rows of a table of values between them."""
    return bool(model.__sklearn_tags__().input_tags.pairwise)


def _solve(
    model: PVMClassifier,
    data: Labeled,
    train: NDArray[np.intp],
    grid: Grid,
    *,
    common: Known,
    verbose: int,
) -> tuple[Training, Selections]:
    """Return the training part of a fold and its selections for all radii and costs."""
    rng = model._generator()
    points = take_points(data.points, train, beside=train if _is_pairwise(model) else None)
    weights = data.weights[train]
    training = prepare(model, points, data.y[train], weights, unlabeled=data.unlabeled, rng=rng)
    rng = after_candidates(model.random_state, rng)
    solver, options = find_solver(model.solver), _fold_options(model)
    budget = check_max_prototypes(model.max_prototypes, training.classes)
    if isinstance(common, csr_array):  # its columns after those of all points are unlabeled
        unlabeled = np.arange(len(data.y), common.shape[1])
        common = common[train][:, np.concatenate([train, unlabeled])]
    problems = formulate_path(
        training,
        common,
        radii=grid.radii,
        own=check_adaptive_radii(model.radii),
        closed=model.closed_ball,
        prototype_cost=float(grid.costs[0]),
        solver=solver,
        options=options,
        rng=rng,
        n_jobs=model.n_jobs,
        verbose=verbose,
    )
    selections = solve_path(
        problems,
        n_classes=len(training.classes),
        costs=grid.costs,
        solver=solver,
        options=options,
        rng=rng,
        verbose=verbose,
        max_prototypes=budget,
        min_per_class=check_min_per_class(model.min_per_class, budget, len(training.classes)),
    )
    return training, selections


def _for_classes(model: PVMClassifier, y: NDArray[Any]) -> PVMClassifier:
    """Return a copy of a model for a fold, whose parameters name no class that it lacks.

    Its random_state is as new.
    """
    present = set(np.unique(y).tolist())
    by_class = {
        name: {label: one for label, one in value.items() if label in present}
        for name in ("max_prototypes", "class_weight")
        if isinstance(value := getattr(model, name), Mapping)
    }
    copy: PVMClassifier = clone(model).set_params(**by_class)
    return copy


def _score_selections(
    model: PVMClassifier,
    training: Training,
    selections: Selections,
    grid: Grid,
    held_out: tuple[Any, NDArray[Any]],
    scoring: Scoring,
    fit_time: float,
) -> FoldScores:
    """Score every selection, those that equal the one before them only once."""
    sizes = np.array([[len(one.candidates) for one in row] for row in selections], dtype=float)
    # A class that has a prototype only because each must have one is lost, too.
    n_kept = [[len(np.unique(one.classes)) - len(one.forced) for one in row] for row in selections]
    lost = len(training.classes) - np.array(n_kept, dtype=float)
    score, time = np.empty_like(sizes), np.zeros_like(sizes)
    failures = []
    for i, (eps, row) in enumerate(zip(grid.radii, selections, strict=True)):
        reason: str | None = None
        for j, selection in enumerate(row):
            if j > 0 and _same(selection, row[j - 1]):
                score[i, j], time[i, j] = score[i, j - 1], time[i, j - 1]
            else:
                start = perf_counter()
                cost = grid.costs[j]
                fitted = with_selection(model, selection, training, eps=eps, cost=cost)
                score[i, j], reason = scoring.score(fitted, *held_out)
                time[i, j] = perf_counter() - start
            failures += [reason] if reason is not None else []
    return FoldScores(score, sizes, lost, fit_time, time, tuple(failures))


def _reason(error: Exception) -> str:
    """Return an error in one line."""
    first, _, _ = str(error).strip().partition("\n")
    return f"{type(error).__name__}: {first}"


def _same(one: Selection, other: Selection) -> bool:
    """Whether two selections have the same prototypes, and of the same radii if of their own."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in _PREDICTIVE]
    return all(np.array_equal(a, b) for a, b in pairs)


def check_max_search_samples(most: Any) -> None:
    """Refuse a number of samples that is not an integer of at least 2, or None."""
    if most is not None and not (is_count(most) and most >= 2):
        raise ValueError(
            "max_search_samples must be an integer of at least 2, or None to search on all "
            f"samples, got {most!r}"
        )


def draw_search_rows(data: Labeled, most: int | None, random_state: Any, verbose: int) -> Rows:
    """Draw a stratified sample of at most `most` rows if there are more.

    Samples of weight zero count as missing. `random_state` is not changed, and None always
    draws the same rows. When `verbose`, a line reports the sample.
    """
    rows = np.flatnonzero(data.weights > 0.0)
    if most is None or len(rows) <= most:
        return None
    labels, codes = np.unique(data.y[rows], return_inverse=True)
    if most < 2 * len(labels):
        raise ValueError(
            f"max_search_samples must allow two samples per class, at least {2 * len(labels)} for "
            f"{len(labels)} classes, got {most}; raise it, or pass None to search on all samples"
        )
    seed = 0 if random_state is None else check_random_state(deepcopy(random_state)).randint(2**31)
    drawn = draw_stratified(int(most), codes, np.random.default_rng(seed), at_least=_FEW)
    say(
        f"searching on a stratified sample of {most} of {len(rows)} samples; the final model is "
        "fitted on all of them (max_search_samples=None also searches on all)",
        verbose,
    )
    return np.asarray(rows[drawn])


def take_rows(data: Labeled, rows: Rows, *, pairwise: bool) -> Labeled:
    """Return some of the labelled samples; a pairwise table is cut on both sides."""
    if rows is None:
        return data
    points = take_points(data.points, rows, beside=rows if pairwise else None)
    return replace(data, points=points, y=data.y[rows], weights=data.weights[rows])


def make_splits(
    cv: Any, data: Labeled, split_params: dict[str, Any], *, rows: Rows
) -> list[Split]:
    """Return the rows to train and to test on, for each fold.

    A sample of the rows is split as all rows are, and its rows are numbered from 0.
    """
    every = np.arange(len(data.y))
    splitter = check_cv(cv, data.y, classifier=True)
    splits = splitter.split(data.points, data.y, **split_params)
    listed = [(every[train], every[test]) for train, test in splits]
    if not listed:
        raise ValueError(f"cv must give at least one split, got none from {cv!r}")
    return listed if rows is None else _restricted(listed, rows, len(every))


def _restricted(splits: list[Split], rows: NDArray[np.intp], n_samples: int) -> list[Split]:
    """Return the sampled rows of each split, numbered from 0, without splits that lose a side."""
    place = np.full(n_samples, -1)
    place[rows] = np.arange(len(rows))
    numbered = [(place[train], place[test]) for train, test in splits]
    kept = [(train[train >= 0], test[test >= 0]) for train, test in numbered]
    kept = [(train, test) for train, test in kept if len(train) and len(test)]
    if not kept:
        raise ValueError(
            f"max_search_samples={len(rows)} leaves no split with samples to train and to test "
            "on; raise it, or pass None to search on all samples"
        )
    return kept
