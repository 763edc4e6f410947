"""Rechecks of fitted models against their training data: the problems are formulated again.

Nothing here uses the code of the solvers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._balls import traits_of
from .._cover import CoverProblem, CoverSolution, Limit, ModelVerification, Verification, verify
from .._exceptions import warn_caller
from .._prototypes import column_order
from .._resources import row_count
from .._selection.balls import ClassProblem
from .._selection.covering import ResidualProblem
from .._selection.parameters import (
    check_adaptive_radii,
    check_eps,
    check_max_prototypes,
    check_outlier_label,
    check_prototype_cost,
    check_target,
)
from .._selection.radii import propose_cover_eps
from .._selection.selection import ClassSelection, Selection, formulate_classes
from .._selection.training import (
    Training,
    completed,
    pool_balls,
    prepare_training,
    side_by_side,
)
from .._typing import Indices
from ..candidates._pool import Pool, numbers
from ..data._points import check_estimator_points, same_points
from ..solvers._registry import SOLVERS, unwrapped
from .fitted_decision import rule_faults
from .fitting import CoverTerms
from .model import CoverModel

_NOT_REMADE = (
    "its candidates were drawn at random and cannot be made again without the seed: the "
    "objective is rechecked, the bounds are not; fit with random_state=0, say, to have them "
    "rechecked too"
)
_BY_PROTOTYPE = (
    "candidate_indices_",
    "prototype_indices_",
    "prototype_sources_",
    "prototype_labels_",
    "newly_covered_count_",
    "miscovered_count_",
    "prototype_radii_",
)
_BY_REPRESENTATIVE = (
    "candidate_indices_",
    "representative_indices_",
    "representative_sources_",
    "counts_",
)
_OF_SELECTION = (
    "candidate_indices_",
    "prototype_labels_",
    "covered_count_",
    "newly_covered_count_",
    "miscovered_count_",
    "prototype_radii_",
    "objective_",
    "lower_bound_",
    "gap_",
    "certificate_",
)
_OF_SOLUTION = ("objective_", "lower_bound_", "gap_", "certificate_", "status_")


def recheck_model(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, unlabeled: Any = None
) -> ModelVerification:
    """Recheck everything that a fitted classifier states; see `PVMClassifier.verify`."""
    misfits = _length_faults(model)
    if misfits:
        nothing = Verification(math.nan, -math.inf, "none", ())
        return ModelVerification(dict.fromkeys(model.classes_.tolist(), nothing), misfits)
    training, remade = _prepare_again(model, X, y, sample_weight, unlabeled=unlabeled)
    training = _in_classes_of(model, training)
    growth = getattr(model, "_growth", None)
    if growth is not None:
        pools = zip(training.pools, growth.pools, growth.growing, strict=True)
        kept = [new if grows else old for new, old, grows in pools]
        training = replace(training, dissimilarity=growth.dissimilarity, pools=kept)
        remade = True
    if not remade:
        training = _among(training, model.prototypes_, model.candidate_indices_)
        warn_caller(f"this model can be rechecked in part only: {_NOT_REMADE}")
    columns = _columns_of(model.candidate_indices_, training)
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
            *_statement_faults(model),
            *_parameter_faults(model, training),
            *rule_faults(model, training),
        ),
        unchecked="" if remade else _NOT_REMADE,
        together=_together(model, problems, solutions, bounded=remade),
    )


def recheck_cover(cover: Any, X: Any, sample_weight: Any = None) -> Verification:
    """Recheck everything that a fitted cover states; see `BallCover.verify`."""
    samples = check_estimator_points(cover, X, cover.dissimilarity_, reset=False)
    misfits = _cover_length_faults(cover, row_count(samples))
    if misfits:
        return Verification(math.nan, -math.inf, "none", misfits)
    again = _CoverAgain.of(cover, X, sample_weight)
    if not again.remade:
        warn_caller(f"this cover can be rechecked in part only: {_NOT_REMADE}")
    found = again.verified()
    objective, bound = again.whole(found)
    faults = (*again.promise_faults(), *found.faults, *again.statement_faults(samples))
    unchecked = "" if again.remade else _NOT_REMADE
    return Verification(objective, bound, found.certificate, faults, unchecked)


# The data, for both.


def _prepare_again(
    model: Any, X: Any, y: Any, sample_weight: Any, *, unlabeled: Any = None
) -> tuple[Training, bool]:
    """Prepare the training data as the fit did; also return if the candidates are the same."""
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
        cross_class=getattr(model, "cross_class", True),
        class_weight=getattr(model, "class_weight", None),
    )
    return training, seeded or _state(rng) == before


def _state(rng: np.random.Generator) -> tuple[str, int]:
    """Return what changes as soon as something is drawn from a generator."""
    bits = rng.bit_generator
    return str(bits.state), getattr(bits.seed_seq, "n_children_spawned", 0)


def _among(training: Training, chosen: Any, indices: Indices) -> Training:
    """Return training data whose only candidates are those `chosen`, by their numbers."""
    extent = sum(pool.extent for pool in training.pools)
    return replace(training, pools=[Pool(chosen, "model", indices, extent)])


def _columns_of(indices: Indices, training: Training) -> Indices:
    """Return the positions of candidates, given by their numbers, -1 if there is none."""
    place = {number: column for column, number in enumerate(numbers(training.pools).tolist())}
    return np.array([place.get(number, -1) for number in indices.tolist()], dtype=np.intp)


def _unbounded(solution: CoverSolution) -> CoverSolution:
    """Return a solution that states no bound."""
    return replace(solution, dual=None, proof=None, lower_bound=-math.inf, certificate="none")


def _differences(model: Any, true: Mapping[str, Any], names: Any = None) -> list[str]:
    """Return the attributes, among those with `names`, that are not what they should be."""
    return [
        f"{name} is {_plain(true[name])!r}, not {_plain(getattr(model, name))!r}"
        for name in (true if names is None else names)
        if not _same(true[name], getattr(model, name))
    ]


def _same(one: Any, other: Any) -> bool:
    """Whether two values, or arrays of them, are equal."""
    return np.shape(one) == np.shape(other) and bool(np.all(np.asarray(one) == np.asarray(other)))


def _plain(value: Any) -> Any:
    """Return a value as it is written in a message."""
    return value.tolist() if isinstance(value, np.ndarray) else value


# Classifiers.


def _length_faults(model: Any) -> tuple[str, ...]:
    """Return which parts of a model do not match, so that nothing else can be checked."""
    selection = model.solution_
    n = len(selection.candidates)
    if len(selection.solutions) != len(model.classes_):
        return (f"solution_ has {len(selection.solutions)} solutions, not {len(model.classes_)}",)
    sizes = {name: len(getattr(model, name)) for name in _BY_PROTOTYPE}
    sizes["prototypes_"] = row_count(model.prototypes_)
    sizes["solution_.classes"] = len(selection.classes)
    faults = [f"{name} holds {size}, not {n}" for name, size in sizes.items() if size != n]
    for one in selection.solutions:
        faults += _score_faults(one)
    chosen = [len(one.selected) for one in selection.solutions]
    if not faults and _by_class(selection) != chosen:
        faults.append(f"solution_ has {_by_class(selection)} prototypes by class, not {chosen}")
    selected = np.concatenate([one.selected for one in selection.solutions])
    if not faults and not np.isin(selected, selection.candidates).all():
        faults.append("solution_ has solutions that select other candidates than it names")
    return tuple(faults)


def _score_faults(solution: CoverSolution) -> list[str]:
    """Return whether a solution has a score and a count for each of its choices."""
    n = len(solution.selected)
    if len(solution.score) == len(solution.newly_covered) == n:
        return []
    return [
        f"solution_ has a score and count for {len(solution.score)} and "
        f"{len(solution.newly_covered)} choices, not {n}"
    ]


def _in_classes_of(model: Any, training: Training) -> Training:
    """Return training data with the classes of the model, which may have some without samples."""
    known = model.classes_.tolist()
    unknown = [label for label in training.classes.tolist() if label not in known]
    if unknown:
        raise ValueError(
            f"y holds labels that the model was not fitted on: {unknown}; its classes are {known}"
        )
    codes = np.array([known.index(label) for label in training.classes.tolist()])
    return replace(training, codes=codes[training.codes], classes=model.classes_)


def _balls(model: Any, classes: list[ClassProblem], columns: Indices) -> Indices:
    """Return the column of each prototype in its class's problem, -1 if there is none."""
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


def _solutions(model: Any, balls: Indices, *, bounded: bool) -> list[CoverSolution]:
    """Return what the model states of each class, in the numbering of the problems."""
    classes, order = _joined(model.solution_).classes, _order_of_columns(model)
    place = np.arange(len(classes)) if order is None else np.argsort(order)
    stated = [
        replace(solution, selected=balls[place[classes == label]])
        for label, solution in enumerate(model.solution_.solutions)
    ]
    return stated if bounded else [_unbounded(one) for one in stated]


def _rule(model: Any) -> str | None:
    """Return what a model's prototypes are ordered by, as `verify` takes it.

    Within a budget, or with their own radii, the ratio greedy's choices may have drops.
    """
    solver = model.solver
    function = SOLVERS.get(solver) if isinstance(solver, str) else unwrapped(solver)
    if function is SOLVERS["ratio-greedy"]:
        plain = model.max_prototypes is None and model.solution_.radii is None
        return "ratio" if plain else None
    return "drop" if function in SOLVERS.values() else "own"


def _together(
    model: Any, problems: list[CoverProblem], solutions: list[CoverSolution], *, bounded: bool
) -> Verification | None:
    """Recheck what is stated of all classes that share a budget."""
    shared = model.solution_.shared
    if shared is None or any((one.selected < 0).any() for one in solutions):
        return None
    stated = shared if bounded else replace(shared, lower_bound=-math.inf, certificate="none")
    return verify(problems, solutions, limit=shared.limit, stated=stated)


def _data_faults(model: Any, training: Training, columns: Indices, *, remade: bool) -> list[str]:
    """Return where the data are not those that the model was fitted on."""
    faults = []
    counts = np.bincount(training.codes, minlength=len(training.classes))
    if not np.array_equal(counts, model.class_count_):
        faults.append(f"class_count_ is {counts.tolist()}, not {model.class_count_.tolist()}")
    missing = model.candidate_indices_[columns < 0]
    if len(missing):
        return [*faults, f"candidate_indices_ names {missing.tolist()}, which are no candidates"]
    again = CoverModel.of_pools(
        model.solution_,
        training.pools,
        columns,
        classes=model.classes_,
        class_count=counts,
        eps=model.eps_,
        prototype_cost=model.prototype_cost_,
        outlier_label=model.outlier_label_,
        dissimilarity=training.dissimilarity,
    )
    if not same_points(again.prototypes, model.prototypes_):
        faults.append("prototypes_ are not the candidates of candidate_indices_")
    if remade:
        names = ("prototype_indices_", "prototype_sources_")
        faults += _differences(model, again.attributes(), names)
    fitted, true = (
        one.prototype_set.balls(
            training.points, eps=model.eps_, closed=model.closed_ball, n_jobs=model.n_jobs
        )
        for one in (model._model, again)
    )
    if fitted.shape != true.shape or (fitted != true).nnz:
        faults.append(
            "the balls of the model's own prototypes and dissimilarity are not those of the data"
        )
    return faults


def _radius_faults(model: Any, columns: Indices, balls: Indices) -> list[str]:
    """Return which prototypes are candidates, but have radii that none of them may take."""
    odd = np.flatnonzero((columns >= 0) & (balls < 0))
    if len(odd) == 0:
        return []
    if model.solution_.radii is None:
        return [f"the prototypes {odd.tolist()} are of another class than they serve"]
    return [f"prototype_radii_ of the prototypes {odd.tolist()} do not end before another class"]


def _count_faults(model: Any, classes: list[ClassProblem], balls: Indices) -> list[str]:
    """Recount the samples of its own and of other classes that each prototype covers."""
    if (balls < 0).any():
        return []
    pairs = list(zip(model.solution_.classes.tolist(), balls.tolist(), strict=True))
    covered = np.array([classes[label].covered[j] for label, j in pairs], np.intp)
    miscovered = np.array([classes[label].miscovered[j] for label, j in pairs], np.intp)
    return _differences(model, {"covered_count_": covered, "miscovered_count_": miscovered})


def _statement_faults(model: Any) -> list[str]:
    """Return where attributes, selection and the solutions of the classes disagree."""
    selection, joined, order = model.solution_, _joined(model.solution_), _order_of_columns(model)
    if order is not None:
        joined = joined._rearranged(order)
    stated = replace(
        model._model, selection=selection, classes=model.classes_, eps=model.eps_
    ).attributes()
    return [
        *_differences(model, {"classes_": np.unique(model.classes_)}),
        *_differences(model, stated, _OF_SELECTION),
        *(
            f"solution_.{name} is not that of the solutions of the classes, in order of score"
            for name in ("candidates", "classes", "newly_covered", "score")
            if not np.array_equal(getattr(joined, name), getattr(selection, name))
        ),
    ]


def _by_class(selection: Selection) -> list[int]:
    """Count the prototypes of each class."""
    n_classes = len(selection.solutions)
    return [int((selection.classes == label).sum()) for label in range(n_classes)]


def _joined(selection: Selection) -> Selection:
    """Join the solutions of the classes again; the counts in neighbourhoods are no part of it."""
    counts = [one.newly_covered for one in selection.solutions]
    classes = zip(selection.solutions, counts, strict=True)
    return Selection.joined([ClassSelection(one, count, count, None) for one, count in classes])


def _order_of_columns(model: Any) -> Indices | None:
    """Return the order of prototypes that are all columns of a matrix, from that of choosing."""
    if not traits_of(model.dissimilarity_).precomputed:
        return None
    return column_order(_joined(model.solution_).candidates, model.n_features_in_)


def _parameter_faults(model: Any, training: Training) -> list[str]:
    """Return where the model is not what its own parameters ask for."""
    own, classes = check_adaptive_radii(model.radii), model.classes_
    eps = check_eps(model.eps, own=own)
    cost = check_prototype_cost(model.prototype_cost, training.cost_weights, own=own)
    label = check_outlier_label(model.outlier_label, classes, training.class_count)
    # A radius that was proposed may rest on a sample, or on a first batch alone.
    asked = {} if eps is None else {"eps_": eps}
    asked |= {"prototype_cost_": cost, "outlier_label_": label}
    faults = _differences(model, asked)
    if own != (model.solution_.radii is not None):
        faults.append(f"radii is {model.radii!r}, but solution_.radii says otherwise")
    budget = check_max_prototypes(model.max_prototypes, classes)
    counts, limits = _by_class(model.solution_), budget if isinstance(budget, dict) else {}
    over = any(counts[label] > limit for label, limit in limits.items())
    if over or (isinstance(budget, int) and sum(counts) > budget):
        faults.append(
            f"max_prototypes is {model.max_prototypes!r}, but there are {counts} by class"
        )
    lost = [
        label
        for k, label in enumerate(classes.tolist())
        if counts[k] == 0 and training.class_count[k] > 0 and limits.get(k) != 0
    ]
    if model.min_per_class and lost:
        faults.append(f"min_per_class is 1, but there are no prototypes of {lost}")
    return faults


# Covers.


def _cover_length_faults(cover: Any, n_samples: int) -> tuple[str, ...]:
    """Return which parts of a cover do not match, so that nothing else can be checked."""
    n = len(cover.candidate_indices_)
    sizes = {name: len(getattr(cover, name)) for name in _BY_REPRESENTATIVE}
    sizes["representatives_"] = row_count(cover.representatives_)
    faults = [f"{name} holds {size}, not {n}" for name, size in sizes.items() if size != n]
    if len(cover.labels_) != n_samples:
        faults.append(f"labels_ holds {len(cover.labels_)}, not {n_samples}: other points than X")
    return (*faults, *_score_faults(cover.solution_))


@dataclass(frozen=True, eq=False)
class _CoverAgain:
    """A cover next to its data and parameters, prepared again.

    Parameters
    ----------
    cover : BallCover
        Fitted.
    training : Training
        With the same candidates if `remade`, else with the representatives alone.
    terms : CoverTerms
        What the parameters ask for.
    chosen : ndarray of int
        The column of each candidate that the solution selects, -1 if it is none.
    residual : ResidualProblem
        The problem without the candidates that had to be chosen.
    """

    cover: Any
    training: Training
    remade: bool
    terms: CoverTerms
    chosen: Indices
    residual: ResidualProblem

    @classmethod
    def of(cls, cover: Any, X: Any, sample_weight: Any) -> _CoverAgain:
        """Prepare data and parameters as the fit did."""
        check_target(cover.max_representatives, cover.coverage, cover.cost)
        one_class = np.zeros(row_count(X), dtype=np.intp)
        training, remade = _prepare_again(cover, X, one_class, sample_weight)
        if not remade:
            training = _among(training, cover.representatives_, cover.candidate_indices_)
        terms = CoverTerms.of(cover, training)
        balls = pool_balls(
            training,
            eps=cover.eps_,
            closed=cover.closed_ball,
            rng=np.random.default_rng(0),
            n_jobs=cover.n_jobs,
            verbose=0,
        )
        residual = ResidualProblem.of(
            side_by_side(balls), training.weights, terms.price, terms.forced
        )
        chosen = _columns_of(cover.solution_.selected, training)
        return cls(cover, training, remade, terms, chosen, residual)

    @property
    def solution(self) -> CoverSolution:
        """The stated solution, its candidates numbered as in the problem of the rest."""
        place = np.full(int(self.chosen.max(initial=-1)) + 2, -1)
        known = self.residual.columns[self.residual.columns < len(place) - 1]
        place[known] = np.searchsorted(self.residual.columns, known)
        stated: CoverSolution = self.cover.solution_
        return replace(stated, selected=place[self.chosen])

    @property
    def cost(self) -> float | None:
        """What each candidate that had to be chosen costs, None for its price."""
        return None if self.terms.target.coverage is not None else self.terms.target.cost

    def verified(self) -> Verification:
        """Recheck selection, objective and bound."""
        target, stated = self.terms.target, self.solution
        stated = stated if self.remade else _unbounded(stated)
        if target.coverage is not None:
            problem, limit = self.residual.coverage(target.coverage, self.training.weights)
            if stated.limit.uncovered is None:
                stated = replace(stated, limit=limit)
            return verify(problem, stated, limit=limit)
        solver = self.cover.solver
        ours = isinstance(solver, str) or unwrapped(solver) in SOLVERS.values()
        return verify(self.residual.problem(target.cost), stated, order_by=None if ours else "own")

    def whole(self, found: Verification) -> tuple[float, float]:
        """Return objective and bound with the candidates that had to be chosen."""
        if math.isnan(found.objective):
            return math.nan, -math.inf
        described = replace(
            self.solution, objective=found.objective, lower_bound=found.lower_bound
        )
        chosen = self.residual.chosen(described, self.cost)
        return chosen.objective, chosen.lower_bound

    def promise_faults(self) -> list[str]:
        """Return where the cover is not what its own parameters ask for."""
        cover, target = self.cover, self.terms.target
        n_forced, stated = len(self.terms.forced), cover.solution_.limit
        n, faults = n_forced + len(self.chosen), []
        if target.number is not None and n > target.number:
            faults.append(f"max_representatives is {target.number}, but there are {n}")
        allowed = None if target.number is None else target.number - n_forced
        if stated.at_most not in (None, allowed):
            faults.append(f"solution_.limit is {stated}, not {Limit(at_most=allowed)}")
        eps = check_eps(cover.eps)
        if eps is None:
            eps = propose_cover_eps(
                self.training,
                number=target.number,
                coverage=target.coverage,
                closed=cover.closed_ball,
            )
        return [*faults, *_differences(cover, {"eps_": eps})]

    def statement_faults(self, samples: Any) -> list[str]:
        """Return which attributes are not those of the stated solution on the data."""
        cover, stated = self.cover, self.cover.solution_
        if (self.chosen < 0).any():
            unknown = stated.selected[self.chosen < 0].tolist()
            return [f"solution_.selected names {unknown}, which are no candidates"]
        if not math.isfinite(stated.objective):
            return [f"solution_.objective is {stated.objective!r}, which no cover has"]
        again = CoverModel.of_cover(
            self.residual.chosen(self.solution, self.cost),
            self.training,
            completed(samples, self.training.dissimilarity),
            eps=cover.eps_,
            closed=cover.closed_ball,
            n_jobs=cover.n_jobs,
        )
        names = ("candidate_indices_", "representative_indices_", "representative_sources_")
        labels = ("labels_", "counts_", "coverage_")
        true = again.cover_attributes()
        faults = _differences(cover, true, names if self.remade else names[:1])
        if not same_points(again.prototypes, cover.representatives_):
            faults.append("representatives_ are not the candidates of candidate_indices_")
        faults += _differences(cover, true, (*_OF_SOLUTION, *labels))
        used = cover._model.prototype_set
        if len(used.order) != len(again.rows) or not np.array_equal(
            true["labels_"],
            used.covering(
                completed(samples, self.training.dissimilarity),
                radii=again.radii,
                closed=cover.closed_ball,
                n_jobs=cover.n_jobs,
            ),
        ):
            faults.append("what the cover answers from are not these representatives")
        return faults
