"""A fitted model rechecked against its training data: the problems are written down again."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..candidates import Pool, numbers, take
from ..cover import CoverSolution, ModelVerification, verify
from ..data.points import check_estimator_points, same_points
from ..exceptions import warn_caller
from ..resources import row_count
from .by_class import Formulation, formulate
from .own_radii import formulate_own
from .training import Training, pool_balls, prepare_training, side_by_side

__all__ = ["recheck_model"]

_NOT_REMADE = (
    "its candidates were drawn at random and cannot be made again without the seed: the "
    "objective is rechecked, the bounds are not; fit with random_state=0, say, to have them "
    "rechecked too"
)


def recheck_model(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, unlabeled: Any = None
) -> ModelVerification:
    """Recheck all that a fitted classifier says of its prototypes; see `PVMClassifier.verify`."""
    training, remade = _prepare_again(model, X, y, sample_weight, unlabeled)
    if not remade:
        warn_caller(f"this model can be rechecked in part only: {_NOT_REMADE}")
    columns = _columns(model, training) if remade else np.arange(len(model.prototype_indices_))
    formulation = _formulate_again(model, training)
    balls = _balls(model, formulation, columns)
    solutions = _solutions(model, balls, bounded=remade)
    found = map(verify, formulation.problems, solutions)
    return ModelVerification(
        by_class=dict(zip(model.classes_.tolist(), found, strict=True)),
        faults=(
            *_data_faults(model, training, columns),
            *_radius_faults(model, columns, balls),
            *_count_faults(model, formulation, balls),
            *_sum_faults(model),
        ),
        unchecked="" if remade else _NOT_REMADE,
    )


def _formulate_again(model: Any, training: Training) -> Formulation:
    """Write down the problems of all classes as the fit did."""
    if model.solution_.radii is not None:
        return formulate_own(
            training,
            eps=model.eps_,
            closed=model.closed_ball,
            prototype_cost=model.prototype_cost_,
            n_jobs=model.n_jobs,
        )
    balls = pool_balls(
        training,
        eps=model.eps_,
        closed=model.closed_ball,
        rng=np.random.default_rng(0),
        n_jobs=model.n_jobs,
        verbose=0,
    )
    problems = formulate(
        side_by_side(balls),
        training.codes,
        training.weights,
        n_classes=len(training.classes),
        prototype_cost=model.prototype_cost_,
    )
    return Formulation(problems)


def _balls(model: Any, formulation: Formulation, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the column of each prototype's ball in its class's problem, -1 where it is none."""
    if formulation.balls is None:
        return columns
    own = np.searchsorted(model.classes_, model.prototype_labels_)
    places = [
        {
            ball: place
            for place, ball in enumerate(
                zip(one.candidate.tolist(), np.asarray(one.radius).tolist(), strict=True)
            )
        }
        for one in formulation.balls
    ]
    wanted = zip(own.tolist(), columns.tolist(), model.prototype_radii_.tolist(), strict=True)
    return np.array(
        [places[label].get((column, radius), -1) for label, column, radius in wanted], np.intp
    )


def _prepare_again(
    model: Any, X: Any, y: Any, sample_weight: Any, unlabeled: Any
) -> tuple[Training, bool]:
    """Make the training set ready as the fit did; also tell if its candidates are the same.

    Where they are not, the prototypes alone are the candidates.
    """
    seeded = isinstance(model.random_state, Integral)
    seed = check_random_state(model.random_state).randint(2**31) if seeded else 0
    rng = np.random.default_rng(seed)
    before = _state(rng)
    training = prepare_training(
        check_estimator_points(model, X, model.dissimilarity_, reset=False),
        y,
        sample_weight,
        metric=model.metric,
        metric_params=model.metric_params,
        candidates=model.candidates,
        rng=rng,
        unlabeled=unlabeled,
    )
    training = _in_classes_of(model, training)
    growth = getattr(model, "_growth", None)
    if growth is not None:
        pools = zip(training.pools, growth.pools, growth.growing, strict=True)
        kept = [new if grows else old for new, old, grows in pools]
        return replace(training, dissimilarity=growth.dissimilarity, pools=kept), True
    if seeded or _state(rng) == before:
        return training, True
    own = np.arange(row_count(model.prototypes_))
    return replace(training, pools=[Pool(model.prototypes_, "model", own, len(own))]), False


def _state(rng: np.random.Generator) -> tuple[str, int]:
    """Return what changes as soon as something is drawn from a generator."""
    bits = rng.bit_generator
    return str(bits.state), getattr(bits.seed_seq, "n_children_spawned", 0)


def _in_classes_of(model: Any, training: Training) -> Training:
    """Give the classes the model's numbers; it may know of some that have no point."""
    known = model.classes_.tolist()
    unknown = [label for label in training.classes.tolist() if label not in known]
    if unknown:
        raise ValueError(
            f"y holds labels that the model was not fitted on: {unknown}; its classes are {known}"
        )
    codes = np.array([known.index(label) for label in training.classes.tolist()])
    return replace(training, codes=codes[training.codes], classes=model.classes_)


def _columns(model: Any, training: Training) -> NDArray[np.intp]:
    """Return each prototype's place among the candidates, -1 where there is none."""
    place = {number: column for column, number in enumerate(numbers(training.pools).tolist())}
    return np.array(
        [place.get(number, -1) for number in model.prototype_indices_.tolist()], dtype=np.intp
    )


def _solutions(model: Any, columns: NDArray[np.intp], *, bounded: bool) -> list[CoverSolution]:
    """Return what the model says of each class, in the numbering of the problems."""
    solutions = []
    for label, solution in zip(model.classes_, model.solution_.solutions, strict=True):
        own = _as_chosen(solution, model.prototype_indices_, model.prototype_labels_ == label)
        said = replace(
            solution, selected=columns[own], newly_covered=model.prototype_newly_covered_[own]
        )
        if not bounded:
            said = replace(said, dual=None, lower_bound=-math.inf, certificate="none")
        solutions.append(said)
    return solutions


def _as_chosen(
    solution: CoverSolution, indices: NDArray[np.intp], own: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return the places of a class's prototypes in the order in which they were chosen.

    Of a table whose columns all are prototypes they stand in the order of the columns.
    """
    places = np.flatnonzero(own)
    sorted_places = places[np.argsort(indices[places])]
    if not np.array_equal(np.sort(solution.selected), indices[sorted_places]):
        return places
    return sorted_places[np.argsort(np.argsort(solution.selected))]


def _data_faults(model: Any, training: Training, columns: NDArray[np.intp]) -> list[str]:
    """Say where the data are not those that the model was fitted on."""
    faults = []
    counts = np.bincount(training.codes, minlength=len(training.classes))
    if not np.array_equal(counts, model.class_count_):
        faults.append(f"class_count_ is {counts.tolist()}, not {model.class_count_.tolist()}")
    missing = model.prototype_indices_[columns < 0]
    if len(missing):
        faults.append(f"prototype_indices_ names {missing.tolist()}, which are no candidates")
    elif not same_points(take(training.pools, columns), model.prototypes_):
        faults.append("prototypes_ are not the candidates of prototype_indices_")
    return faults


def _radius_faults(model: Any, columns: NDArray[np.intp], balls: NDArray[np.intp]) -> list[str]:
    """Say which prototypes are candidates, but have radii that none of them may take."""
    odd = np.flatnonzero((columns >= 0) & (balls < 0))
    if len(odd) == 0:
        return []
    return [f"prototype_radii_ of the prototypes {odd.tolist()} do not end before another class"]


def _count_faults(model: Any, formulation: Formulation, balls: NDArray[np.intp]) -> list[str]:
    """Recount the points of its own and of other classes in each prototype's ball."""
    if (balls < 0).any():
        return []
    own = np.searchsorted(model.classes_, model.prototype_labels_)
    if formulation.balls is None:
        sizes = np.array([np.diff(one.cover.indptr)[balls] for one in formulation.problems])
        covered = sizes[own, np.arange(len(own))]
        miscovered = sizes.sum(axis=0) - covered
    else:
        pairs = list(zip(own.tolist(), balls.tolist(), strict=True))
        covered = np.array([formulation.balls[c].covered[j] for c, j in pairs], np.intp)
        miscovered = np.array([formulation.balls[c].miscovered[j] for c, j in pairs], np.intp)
    counts = {"prototype_covered_": covered, "prototype_miscovered_": miscovered}
    # A model from a file of an earlier version has nothing to say of the first.
    said = {name: getattr(model, name, counts[name]) for name in counts}
    return [
        f"{name} is {counts[name].tolist()}, not {said[name].tolist()}"
        for name in counts
        if not np.array_equal(counts[name], said[name])
    ]


def _sum_faults(model: Any) -> list[str]:
    """Compare what the model says of all classes with what its solutions add up to."""
    faults = []
    for name in ("objective", "lower_bound", "gap", "certificate"):
        parts, said = getattr(model.solution_, name), getattr(model, f"{name}_")
        if parts != said:
            faults.append(f"{name}_ is {parts!r}, not {said!r}")
    return faults
