"""Whatever is changed in a fitted model, or in its file, the recheck finds it out."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from protocover import PVMClassifier, load_model, save_model
from protocover._cover import CoverSolution
from protocover._exceptions import ModelFileError
from protocover.solvers._registry import SOLVERS

X, Y = load_iris(return_X_y=True)
WEIGHTS = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(Y))
ATTRIBUTES = (
    "eps_",
    "prototype_cost_",
    "outlier_label_",
    "classes_",
    "class_count_",
    "prototypes_",
    "candidate_indices_",
    "prototype_indices_",
    "prototype_sources_",
    "prototype_labels_",
    "newly_covered_count_",
    "covered_count_",
    "miscovered_count_",
    "prototype_radii_",
    "objective_",
    "lower_bound_",
    "gap_",
    "certificate_",
)
MODELS = {
    "greedy": {"eps": 0.7, "solver": "greedy", "outlier_label": -1},
    "ratio": {"eps": 0.7, "solver": "ratio-greedy", "outlier_label": -1},
    "exact": {"eps": 0.7, "solver": "exact", "prototype_cost": 1.0, "outlier_label": -1},
    "adaptive": {"eps": 1.5, "solver": "exact", "radii": "adaptive", "outlier_label": -1},
    "leaves": {"eps": 0.8, "solver": "auto", "radii": "adaptive", "outlier_label": -1},
}


@pytest.fixture(scope="module")
def models():
    return {
        name: PVMClassifier(**settings, random_state=0).fit(X, Y, sample_weight=WEIGHTS)
        for name, settings in MODELS.items()
    }


def _restate(model, selection, **parts):
    """Make a model state a forged selection everywhere."""
    model._set_model(replace(model._model, selection=selection, **parts))


def _in_a_class(**lie):
    """Tell a lie about the class with the most prototypes, and repeat it wherever it shows."""

    def change(model):
        selection = model.solution_
        label = int(np.argmax([len(one.selected) for one in selection.solutions]))
        solution = selection.solutions[label]
        told = {
            name: value(getattr(solution, name)) if callable(value) else value
            for name, value in lie.items()
        }
        forged = replace(solution, **told)
        solutions = [*selection.solutions]
        solutions[label] = forged
        own = selection.classes == label
        same = {}
        for name in ("score", "newly_covered"):
            if name in told and told[name].shape == getattr(solution, name).shape:
                values = getattr(selection, name).copy()
                values[own] = told[name]
                same[name] = values
        _restate(model, replace(selection, solutions=tuple(solutions), **same))

    return change


def _of_the_selection(**lie):
    """Tell a lie about all prototypes, but not in the solutions of the classes."""

    def change(model):
        told = {name: value(getattr(model.solution_, name)) for name, value in lie.items()}
        _restate(model, replace(model.solution_, **told))

    return change


def _attribute(name, value):
    """Change an attribute alone."""

    def change(model):
        old = getattr(model, name)
        setattr(model, name, value(old) if callable(value) else value)

    return change


def _swap_solutions(model):
    first, second, third = model.solution_.solutions
    _restate(model, replace(model.solution_, solutions=(first, third, second)))


def _swap_vectors(model):
    first, second, third = model.solution_.solutions
    second, third = replace(second, dual=third.dual), replace(third, dual=second.dual)
    _restate(model, replace(model.solution_, solutions=(first, second, third)))


def _order_backwards(model):
    selection = model.solution_
    back = np.arange(len(selection.candidates))[::-1]
    solutions = tuple(
        replace(
            one,
            selected=one.selected[::-1],
            newly_covered=one.newly_covered[::-1],
            score=one.score[::-1],
        )
        for one in selection.solutions
    )
    fitted = model._model
    _restate(
        model,
        replace(selection._rearranged(back), solutions=solutions),
        prototypes=fitted.prototypes[::-1],
        rows=fitted.rows[::-1],
        sources=fitted.sources[::-1],
    )


def _describe_another_order(model):
    """Every number true of an order that the solver's rule does not make."""
    problem_free = model.solution_.solutions
    flat = tuple(
        replace(one, score=np.full_like(one.score, one.score.min(initial=np.inf)))
        for one in problem_free
    )
    selection = replace(model.solution_, solutions=flat)
    own = selection.classes
    score = np.array([flat[c].score[0] for c in own])
    _restate(model, replace(selection, score=score))


def _one_twice(model):
    selection = model.solution_
    label = int(np.argmax([len(one.selected) for one in selection.solutions]))
    places = np.flatnonzero(selection.classes == label)[:2]
    candidates = selection.candidates.copy()
    candidates[places] = candidates[places[0]]
    solutions = [*selection.solutions]
    selected = solutions[label].selected.copy()
    selected[:2] = selected[0]
    solutions[label] = replace(solutions[label], selected=selected)
    rows = model.prototypes_.copy()
    rows[places] = rows[places[0]]
    forged = replace(selection, candidates=candidates, solutions=tuple(solutions))
    _restate(model, forged, prototypes=rows)


def _drop_the_last(model):
    """Leave out a prototype, and say nothing of it but in the objective."""
    selection = model.solution_
    label = int(selection.classes[-1])
    solutions = [*selection.solutions]
    solutions[label] = solutions[label].first(len(solutions[label].selected) - 1)
    kept = selection._rearranged(np.arange(len(selection.candidates) - 1))
    fitted = model._model
    _restate(
        model,
        replace(kept, solutions=tuple(solutions)),
        prototypes=fitted.prototypes[:-1],
        rows=fitted.rows[:-1],
        sources=fitted.sources[:-1],
    )


def _answer_from_elsewhere(model):
    model._model = replace(model._model, prototypes=model._model.prototypes[::-1])


def _proof_of_nothing(model):
    """Claim that the best was found, and hand over a vector that proves less."""
    lies = {
        "lower_bound": lambda bound: bound,
        "dual": lambda dual: dual * 0.5,
        "certificate": "verified",
    }
    _in_a_class(**lies)(model)


def _in_leaves(change):
    """Change the leaves of the class that has them."""

    def changed(model):
        solutions = [
            one if one.proof is None else replace(one, proof=change(one.proof))
            for one in model.solution_.solutions
        ]
        _restate(model, replace(model.solution_, solutions=tuple(solutions)))

    return changed


def _shift(values):
    return np.where(np.arange(len(values)) == 0, values + 1, values)


TAMPERINGS = {
    "objective less": _in_a_class(objective=lambda value: value - 0.5),
    "objective nan": _in_a_class(objective=np.nan),
    "objective and bound less": _in_a_class(objective=0.125, lower_bound=0.125),
    "bound nan": _in_a_class(lower_bound=np.nan),
    "bound nan, proved": _in_a_class(lower_bound=np.nan, certificate="verified"),
    "bound inf": _in_a_class(lower_bound=np.inf),
    "bound -inf": _in_a_class(lower_bound=-np.inf),
    "bound -inf, proved": _in_a_class(lower_bound=-np.inf, certificate="verified"),
    "bound more": _in_a_class(lower_bound=lambda bound: np.nextafter(bound, np.inf)),
    "bound less": _in_a_class(lower_bound=lambda bound: bound - 0.5),
    "no certificate": _in_a_class(certificate="none"),
    "certificate of a word": _in_a_class(certificate="certain"),
    "certificate of a solver": _in_a_class(certificate="solver", lower_bound=0.25),
    "vector nan": _in_a_class(dual=lambda dual: np.full_like(dual, np.nan)),
    "vector above prize": _in_a_class(dual=lambda dual: dual + 4.0),
    "vector below zero": _in_a_class(dual=lambda dual: dual - 1.0),
    "vector too short": _in_a_class(dual=lambda dual: dual[:-1]),
    "vector inf": _in_a_class(dual=lambda dual: np.full_like(dual, np.inf)),
    "no vector": _in_a_class(dual=None),
    "vector of half the proof": _proof_of_nothing,
    "vectors swapped": _swap_vectors,
    "solutions swapped": _swap_solutions,
    "score in a class": _in_a_class(score=lambda score: score + 0.25),
    "score nan": _in_a_class(score=lambda score: np.full_like(score, np.nan)),
    "score too short": _in_a_class(score=lambda score: score[:-1]),
    "score of the selection": _of_the_selection(score=lambda score: score + 0.25),
    "score all alike": _describe_another_order,
    "newly covered in a class": _in_a_class(newly_covered=_shift),
    "newly covered of the selection": _of_the_selection(newly_covered=_shift),
    "covered": _of_the_selection(covered=_shift),
    "miscovered": _of_the_selection(miscovered=_shift),
    "candidates": _of_the_selection(candidates=_shift),
    "candidates in a class": _in_a_class(selected=_shift),
    "a candidate twice": _one_twice,
    "candidates outside": _attribute("candidate_indices_", lambda at: at + 1000),
    "classes of prototypes": _of_the_selection(classes=lambda codes: (codes + 1) % 3),
    "order": _order_backwards,
    "a prototype left out": _drop_the_last,
    "labels": _attribute("prototype_labels_", lambda labels: labels[::-1]),
    "a label": _attribute("prototype_labels_", lambda at: np.append((at[0] + 1) % 3, at[1:])),
    "indices": _attribute("candidate_indices_", lambda indices: indices[::-1]),
    "rows": _attribute("prototype_indices_", lambda rows: rows[::-1]),
    "sources": _attribute("prototype_sources_", lambda names: np.char.replace(names, "t", "d")),
    "radii": _attribute("prototype_radii_", lambda radii: np.nextafter(radii, 9.0)),
    "radii of all": _attribute("prototype_radii_", lambda radii: radii * 0.5),
    "prototypes": _attribute("prototypes_", lambda rows: rows + 1e-9),
    "too few prototypes": _attribute("prototypes_", lambda rows: rows[:-1]),
    "newly covered": _attribute("newly_covered_count_", _shift),
    "covered alone": _attribute("covered_count_", _shift),
    "miscovered alone": _attribute("miscovered_count_", _shift),
    "eps": _attribute("eps_", lambda eps: np.nextafter(eps, 9.0)),
    "eps nan": _attribute("eps_", np.nan),
    "cost": _attribute("prototype_cost_", lambda cost: np.nextafter(cost, 9.0)),
    "class count": _attribute("class_count_", _shift),
    "classes backwards": _attribute("classes_", lambda classes: classes[::-1]),
    "outlier label": _attribute("outlier_label_", 2),
    "objective alone": _attribute("objective_", lambda value: value - 0.25),
    "bound alone": _attribute("lower_bound_", np.nan),
    "gap alone": _attribute("gap_", 0.5),
    "gap nan": _attribute("gap_", np.nan),
    "certificate alone": _attribute("certificate_", "certain"),
    "budget": _attribute("max_prototypes", 1),
    "parameter eps": _attribute("eps", 0.75),
    "what it answers from": _answer_from_elsewhere,
}


OF_LEAVES = {
    "no leaves": _in_leaves(lambda _: None),
    "a leaf dropped": _in_leaves(lambda leaves: replace(leaves, steps=leaves.steps[:-1])),
    "branched elsewhere": _in_leaves(
        lambda leaves: replace(leaves, steps=np.where(leaves.steps >= 0, 0, leaves.steps))
    ),
    "a vector dropped": _in_leaves(lambda leaves: replace(leaves, vectors=leaves.vectors[:-1])),
    "vectors halved": _in_leaves(lambda leaves: replace(leaves, vectors=leaves.vectors * 0.5)),
    "vectors nan": _in_leaves(lambda leaves: replace(leaves, vectors=leaves.vectors * np.nan)),
    "vectors too short": _in_leaves(
        lambda leaves: replace(leaves, vectors=leaves.vectors[:, :-1])
    ),
    "vectors above prizes": _in_leaves(lambda leaves: replace(leaves, vectors=leaves.vectors + 4)),
}


def _accepted(model):
    """Whether a recheck has nothing to say against a model; a refusal is something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.verify(X, Y, sample_weight=WEIGHTS).ok


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_nobody_touched_is_accepted(models, name, tmp_path):
    save_model(models[name], tmp_path / "model.pvm")
    assert _accepted(models[name])
    assert _accepted(load_model(tmp_path / "model.pvm"))


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS)
@pytest.mark.parametrize("name", ["greedy", "ratio", "leaves"])
def test_no_change_of_a_model_is_accepted(models, name, change):
    model = deepcopy(models[name])
    change(model)
    assert not _accepted(model)


@pytest.mark.parametrize("change", OF_LEAVES.values(), ids=OF_LEAVES)
def test_no_change_of_leaves_is_accepted(models, change, tmp_path):
    assert sum(one.proof is not None for one in models["leaves"].solution_.solutions) == 1
    model = deepcopy(models["leaves"])
    change(model)
    assert not _accepted(model)
    _check_file(model, models["leaves"], tmp_path)


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS)
@pytest.mark.parametrize("name", ["adaptive"])
def test_no_change_of_a_file_is_accepted(models, name, change, tmp_path):
    """It is refused, found out, or of something that is computed again when a file is read."""
    model = deepcopy(models[name])
    change(model)
    _check_file(model, models[name], tmp_path)


def _check_file(model, honest, tmp_path):
    """Save a model that was tampered with: its file is refused, or found out."""
    try:
        save_model(model, tmp_path / "model.pvm")
        loaded = load_model(tmp_path / "model.pvm")
    except ModelFileError:
        return
    assert not _accepted(loaded) or _alike(loaded, honest)


def _alike(one, other):
    """Whether two models say the same, in their attributes and in their solutions."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in ATTRIBUTES]
    for mine, yours in zip(one.solution_.solutions, other.solution_.solutions, strict=True):
        names = CoverSolution.__dataclass_fields__.keys() - {"details"}
        pairs += [(getattr(mine, name), getattr(yours, name)) for name in names - {"proof"}]
        for name in ("steps", "vectors"):
            parts = (getattr(one.proof, name, None) for one in (mine, yours))
            pairs.append(tuple(parts))
    return all(np.array_equal(mine, yours) for mine, yours in pairs)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("budget", [None, 4, {0: 1}], ids=str)
def test_no_true_model_is_refused(solver, radii, budget):
    """Whatever the solver, the radii and the budget, and whatever its order is made by."""
    model = PVMClassifier(
        eps=1.0, solver=solver, radii=radii, max_prototypes=budget, random_state=0
    )
    model.fit(X, Y, sample_weight=WEIGHTS)
    found = model.verify(X, Y, sample_weight=WEIGHTS)
    assert found.ok, found
