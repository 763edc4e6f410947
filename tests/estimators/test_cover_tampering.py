"""Whatever is changed in a fitted cover, or in its file, the recheck finds it out."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from protocover import BallCover, load_model, save_model
from protocover._cover import Limit
from protocover._estimators.model import one_class
from protocover._exceptions import ModelFileError

X, _ = load_iris(return_X_y=True)
WEIGHTS = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(X))
PRICE = np.random.default_rng(1).choice([0.5, 1.0, 2.25], len(X))
MODELS = {
    "all": {},
    "auto": {"eps": "auto"},
    "number": {"max_representatives": 4},
    "number, greedy": {"max_representatives": 4, "solver": "greedy"},
    "coverage": {"coverage": 0.8},
    "coverage by price": {"coverage": 0.8, "candidate_cost": PRICE},
    "cost": {"cost": 3.0},
    "cost by price": {"cost": 2.0, "candidate_cost": PRICE, "solver": "greedy"},
    "must include": {"must_include": [3, 70], "max_representatives": 5},
    "must include, coverage": {"must_include": [3, 70], "coverage": 0.9, "candidate_cost": PRICE},
}


@pytest.fixture(scope="module")
def models():
    return {
        name: BallCover(**{"eps": 0.8, **settings}).fit(X, sample_weight=WEIGHTS)
        for name, settings in MODELS.items()
    }


def _restate(model, solution, counts=None, **parts):
    """Make a cover state a forged solution everywhere, with what had to be chosen."""
    fitted, before = model._model, model.solution_
    samples = parts.pop("assignment", fitted.assignment)
    bound = samples.lower_bound
    if np.isfinite(before.lower_bound):
        bound += solution.lower_bound - before.lower_bound
    samples = replace(
        samples,
        objective=samples.objective + solution.objective - before.objective,
        lower_bound=bound,
    )
    parts = {"rows": fitted.rows, "sources": fitted.sources, **parts}
    indices = parts.pop("indices", fitted.selection.candidates)
    counts = fitted.selection.covered if counts is None else counts
    selection = one_class(indices, counts, (solution,))
    model._set_model(replace(fitted, selection=selection, assignment=samples, **parts))


def _parts(model, kept):
    """Return the parts of a cover of some of its representatives."""
    fitted = model._model
    return {
        "counts": fitted.selection.covered[kept],
        "indices": fitted.selection.candidates[kept],
        "prototypes": fitted.prototypes[kept],
        "rows": fitted.rows[kept],
        "sources": fitted.sources[kept],
    }


def _lie(**lies):
    """Tell a lie in the solution, and repeat it wherever it shows."""

    def change(model):
        told = {
            name: value(getattr(model.solution_, name)) if callable(value) else value
            for name, value in lies.items()
        }
        _restate(model, replace(model.solution_, **told))

    return change


def _vector(change):
    """Change the vector, or make one up where there is none."""

    def forge(model):
        dual = model.solution_.dual
        _restate(
            model, replace(model.solution_, dual=change(np.ones(3) if dual is None else dual))
        )

    return forge


def _attribute(name, value):
    """Change an attribute alone."""

    def change(model):
        old = getattr(model, name)
        setattr(model, name, value(old) if callable(value) else value)

    return change


def _backwards(model):
    solution, samples = model.solution_, model._model.assignment
    back = replace(
        solution,
        selected=solution.selected[::-1],
        score=solution.score[::-1],
        newly_covered=solution.newly_covered[::-1],
    )
    last = len(model.counts_) - 1
    labels = np.where(samples.labels < 0, -1, last - samples.labels)
    kept = slice(None, None, -1)
    _restate(model, back, assignment=replace(samples, labels=labels), **_parts(model, kept))


def _drop_the_last(model):
    solution, samples = model.solution_, model._model.assignment
    labels = np.where(samples.labels == len(model.counts_) - 1, -1, samples.labels)
    fewer = solution.first(len(solution.selected) - 1)
    kept = slice(None, -1)
    _restate(model, fewer, assignment=replace(samples, labels=labels), **_parts(model, kept))


def _answer_from_elsewhere(model):
    model._model = replace(model._model, prototypes=model._model.prototypes[::-1])


def _shift(values):
    return np.where(np.arange(len(values)) == 0, values + 1, values)


TAMPERINGS = {
    "objective less": _lie(objective=lambda value: value - 0.5),
    "objective nan": _lie(objective=np.nan),
    "objective and bound less": _lie(objective=0.125, lower_bound=0.125),
    "bound nan": _lie(lower_bound=np.nan),
    "bound inf": _lie(lower_bound=np.inf),
    "bound more": _lie(lower_bound=lambda bound: np.nextafter(bound, np.inf)),
    "bound less": _lie(lower_bound=lambda bound: bound - 0.5),
    "no certificate": _lie(certificate="none"),
    "certificate of a word": _lie(certificate="certain"),
    "vector nan": _vector(lambda dual: np.full_like(dual, np.nan)),
    "vector above the weights": _vector(lambda dual: dual + 4.0),
    "vector below zero": _vector(lambda dual: dual - 4.0),
    "vector too short": _vector(lambda dual: dual[:-1]),
    "score": _lie(score=lambda score: score + 0.25),
    "score nan": _lie(score=lambda score: np.full_like(score, np.nan)),
    "score too short": _lie(score=lambda score: score[:-1]),
    "newly covered": _lie(newly_covered=_shift),
    "selected": _lie(selected=_shift),
    "selected outside": _lie(selected=lambda at: at + 1000),
    "one twice": _lie(selected=lambda at: np.append(at[:1], at[:-1])),
    "order": _backwards,
    "one left out": _drop_the_last,
    "another budget": _lie(limit=lambda limit: Limit(at_most=(limit.at_most or 4) - 1)),
    "indices": _attribute("candidate_indices_", lambda at: at[::-1]),
    "indices outside": _attribute("candidate_indices_", lambda at: at + 1000),
    "rows": _attribute("representative_indices_", lambda rows: rows[::-1]),
    "sources": _attribute("representative_sources_", lambda s: np.char.replace(s, "t", "d")),
    "representatives": _attribute("representatives_", lambda rows: rows + 1e-9),
    "too few representatives": _attribute("representatives_", lambda rows: rows[:-1]),
    "labels": _attribute("labels_", lambda labels: np.where(labels == 0, 1, labels)),
    "one label": _attribute("labels_", lambda labels: np.append(-1 - (labels[0] < 0), labels[1:])),
    "too few labels": _attribute("labels_", lambda labels: labels[:-1]),
    "counts": _attribute("counts_", _shift),
    "coverage less": _attribute("coverage_", 0.5),
    "coverage more": _attribute("coverage_", lambda share: np.nextafter(share, 2.0)),
    "eps": _attribute("eps_", lambda eps: np.nextafter(eps, 9.0)),
    "parameter eps": _attribute("eps", 0.75),
    "objective alone": _attribute("objective_", lambda value: value - 0.25),
    "bound alone": _attribute("lower_bound_", lambda bound: bound - 0.25),
    "gap alone": _attribute("gap_", 0.5),
    "gap nan": _attribute("gap_", np.nan),
    "certificate alone": _attribute("certificate_", "certain"),
    "status alone": _attribute("status_", "certain"),
    "had to be in": _attribute("must_include", [9]),
    "what it answers from": _answer_from_elsewhere,
}


def _accepted(model):
    """Whether a recheck has nothing to say against a cover; a refusal is something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.verify(X, sample_weight=WEIGHTS).ok


@pytest.mark.parametrize("name", MODELS)
def test_a_cover_that_nobody_touched_is_accepted(models, name, tmp_path):
    model = models[name]
    found = model.verify(X, sample_weight=WEIGHTS)
    assert found.ok, found
    assert found.objective == model.objective_
    assert found.unchecked == ""
    if model.certificate_ == "verified":
        assert (found.lower_bound, found.certificate) == (model.lower_bound_, model.certificate_)
    save_model(model, tmp_path / "m")
    assert _accepted(load_model(tmp_path / "m"))


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS)
@pytest.mark.parametrize("name", ["number", "coverage by price", "must include", "cost"])
def test_no_change_of_a_cover_is_accepted(models, name, change):
    model = deepcopy(models[name])
    change(model)
    assert not _accepted(model)


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS)
@pytest.mark.parametrize("name", ["coverage by price"])
def test_no_change_of_a_file_is_accepted(models, name, change, tmp_path):
    """It is refused, found out, or of something that is computed again when a file is read."""
    model = deepcopy(models[name])
    change(model)
    try:
        save_model(model, tmp_path / "m")
        loaded = load_model(tmp_path / "m")
    except ModelFileError:
        return
    again = {"gap_", "certificate_", "status_", "_model"}
    kept = [key for key in vars(loaded) if key not in again]
    same = all(str(vars(loaded)[key]) == str(vars(models[name])[key]) for key in kept)
    assert not _accepted(loaded) or same
