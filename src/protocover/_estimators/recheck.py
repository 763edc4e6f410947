"""A fitted model rechecked against its training data: the problems are written down again."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem, CoverSolution, ModelVerification, Verification, verify
from .._exceptions import warn_caller
from .._prototypes import PrototypeSet
from .._selection.balls import ClassProblem
from .._selection.selection import formulate_classes
from .._selection.training import Training
from ..candidates._pool import source_names, take, training_rows
from ..data._points import same_points
from ..solvers._registry import SOLVERS, unwrapped
from .remaking import NOT_REMADE, among, columns_of, prepare_again
from .statements import chosen_places, differences, length_faults, statement_faults


def recheck_model(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, unlabeled: Any = None
) -> ModelVerification:
    """Recheck all that a fitted classifier says of its prototypes; see `PVMClassifier.verify`."""
    misfits = length_faults(model)
    if misfits:
        nothing = Verification(math.nan, -math.inf, "none", ())
        return ModelVerification(dict.fromkeys(model.classes_.tolist(), nothing), misfits)
    training, remade = _prepare_again(model, X, y, sample_weight, unlabeled)
    if not remade:
        warn_caller(f"this model can be rechecked in part only: {NOT_REMADE}")
    columns = columns_of(model.candidate_indices_, training)
    classes = formulate_classes(
        training,
        eps=model.eps_,
        adaptive_radii=model.solution_.radii is not None,
        closed=model.closed_ball,
        prototype_cost=model.prototype_cost_,
        n_jobs=model.n_jobs,
    )
    problems = [one.problem for one in classes]
    balls = _balls(model, classes, columns)
    solutions = _solutions(model, balls, bounded=remade)
    rule = _rule(model)
    found = map(partial(verify, order_by=rule), problems, solutions)
    return ModelVerification(
        by_class=dict(zip(model.classes_.tolist(), found, strict=True)),
        faults=(
            *_data_faults(model, training, columns, remade=remade),
            *_radius_faults(model, columns, balls),
            *_count_faults(model, classes, balls),
            *_answer_faults(model, training, columns),
            *statement_faults(model, training),
        ),
        unchecked="" if remade else NOT_REMADE,
        together=_together(model, problems, solutions, bounded=remade),
    )


def _together(
    model: Any,
    problems: list[CoverProblem],
    solutions: list[CoverSolution],
    *,
    bounded: bool,
) -> Verification | None:
    """Recheck what is said of all classes that share a budget."""
    shared = model.solution_.shared
    if shared is None or any((one.selected < 0).any() for one in solutions):
        return None
    stated = shared if bounded else replace(shared, lower_bound=-math.inf, certificate="none")
    return verify(problems, solutions, limit=shared.limit, stated=stated)


def _rule(model: Any) -> str | None:
    """Return what a model's order is made by, in the words of `verify`.

    Within a budget, or with radii of their own, the ratio greedy's choices may have drops.
    """
    solver = model.solver
    function = SOLVERS.get(solver) if isinstance(solver, str) else unwrapped(solver)
    if function is SOLVERS["ratio-greedy"]:
        plain = model.max_prototypes is None and model.solution_.radii is None
        return "ratio" if plain else None
    return "drop" if function in SOLVERS.values() else "own"


def _balls(model: Any, classes: list[ClassProblem], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the column of each prototype's ball in its class's problem, -1 where it is none."""
    own, places = model.solution_.classes, []
    for one in classes:
        radii = np.full(len(one.candidate), model.eps_) if one.radius is None else one.radius
        keys = zip(one.candidate.tolist(), radii.tolist(), strict=True)
        places.append({ball: place for place, ball in enumerate(keys)})
    radii = np.full(len(own), model.eps_)
    if model.solution_.radii is not None:
        radii = model.prototype_radii_
    wanted = zip(own.tolist(), columns.tolist(), radii.tolist(), strict=True)
    return np.array(
        [places[label].get((column, radius), -1) for label, column, radius in wanted], np.intp
    )


def _prepare_again(
    model: Any, X: Any, y: Any, sample_weight: Any, unlabeled: Any
) -> tuple[Training, bool]:
    """Make the training set ready as the fit did; also tell if its candidates are the same."""
    training, remade = prepare_again(model, X, y, sample_weight, unlabeled=unlabeled)
    training = _in_classes_of(model, training)
    growth = getattr(model, "_growth", None)
    if growth is not None:
        pools = zip(training.pools, growth.pools, growth.growing, strict=True)
        kept = [new if grows else old for new, old, grows in pools]
        return replace(training, dissimilarity=growth.dissimilarity, pools=kept), True
    if remade:
        return training, True
    return among(training, model.prototypes_, model.candidate_indices_), False


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


def _solutions(model: Any, balls: NDArray[np.intp], *, bounded: bool) -> list[CoverSolution]:
    """Return what the model says of each class, in the numbering of the problems."""
    solutions = []
    for places, solution in zip(chosen_places(model), model.solution_.solutions, strict=True):
        said = replace(solution, selected=balls[places])
        if not bounded:
            said = replace(said, dual=None, proof=None, lower_bound=-math.inf, certificate="none")
        solutions.append(said)
    return solutions


def _data_faults(
    model: Any, training: Training, columns: NDArray[np.intp], *, remade: bool
) -> list[str]:
    """Say where the data are not those that the model was fitted on."""
    faults = []
    counts = np.bincount(training.codes, minlength=len(training.classes))
    if not np.array_equal(counts, model.class_count_):
        faults.append(f"class_count_ is {counts.tolist()}, not {model.class_count_.tolist()}")
    missing = model.candidate_indices_[columns < 0]
    if len(missing):
        return [*faults, f"candidate_indices_ names {missing.tolist()}, which are no candidates"]
    if not same_points(take(training.pools, columns), model.prototypes_):
        faults.append("prototypes_ are not the candidates of candidate_indices_")
    if remade:
        origin = {
            "prototype_indices_": training_rows(training.pools)[columns],
            "prototype_sources_": source_names(training.pools)[columns],
        }
        faults += differences(model, origin)
    return faults


def _answer_faults(model: Any, training: Training, columns: NDArray[np.intp]) -> list[str]:
    """Compare the balls that the model answers from with those of prototypes put together anew."""
    if (columns < 0).any():
        return []
    codes, dissimilarity = model.solution_.classes, training.dissimilarity
    anew = partial(
        PrototypeSet.of,
        take(training.pools, columns),
        codes,
        n_classes=len(model.classes_),
        radii=model.solution_.radii,
    )
    if hasattr(dissimilarity, "for_prototypes"):
        by_class = anew(dissimilarity=dissimilarity).points
        dissimilarity = dissimilarity.for_prototypes(by_class)
    own, other = (
        one.balls(training.points, eps=model.eps_, closed=model.closed_ball, n_jobs=model.n_jobs)
        for one in (model._prototype_set, anew(dissimilarity=dissimilarity))
    )
    if own.shape == other.shape and (own != other).nnz == 0:
        return []
    return ["the balls of the model's own prototypes and dissimilarity are not those of the data"]


def _radius_faults(model: Any, columns: NDArray[np.intp], balls: NDArray[np.intp]) -> list[str]:
    """Say which prototypes are candidates, but have radii that none of them may take."""
    odd = np.flatnonzero((columns >= 0) & (balls < 0))
    if len(odd) == 0:
        return []
    if model.solution_.radii is None:
        return [f"the prototypes {odd.tolist()} are of another class than they serve"]
    return [f"prototype_radii_ of the prototypes {odd.tolist()} do not end before another class"]


def _count_faults(model: Any, classes: list[ClassProblem], balls: NDArray[np.intp]) -> list[str]:
    """Recount the points of its own and of other classes in each prototype's ball."""
    if (balls < 0).any():
        return []
    pairs = list(zip(model.solution_.classes.tolist(), balls.tolist(), strict=True))
    covered = np.array([classes[label].covered[j] for label, j in pairs], np.intp)
    miscovered = np.array([classes[label].miscovered[j] for label, j in pairs], np.intp)
    return differences(model, {"covered_count_": covered, "miscovered_count_": miscovered})
