"""The guide docs/extending.md, followed with the toys it shows."""

from __future__ import annotations

import ast
import re
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier
from protocover._balls import Traits, traits_of

GUIDE = Path(__file__).parents[1] / "docs" / "extending.md"


@pytest.fixture(scope="module")
def toys():
    """What the code of the guide defines."""
    defined = {"__name__": "extending"}
    exec("\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)), defined)
    return defined


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_the_solver_takes_the_best_candidate_of_each_class(toys, iris):
    X, y = iris
    model = PVMClassifier(eps=1.0, solver=toys["take_best"], **PAPER).fit(X, y)
    greedy = PVMClassifier(eps=1.0, solver="greedy", **PAPER).fit(X, y)
    first = [greedy.candidate_indices_[greedy.prototype_labels_ == label][0] for label in range(3)]
    assert sorted(model.candidate_indices_) == sorted(first)


def test_the_solver_keeps_to_its_budget(toys, iris):
    X, y = iris
    model = PVMClassifier(eps=1.0, solver=toys["take_best"], max_prototypes={0: 0}, **PAPER).fit(
        X, y
    )
    assert sorted(model.prototype_labels_) == [1, 2]


def test_the_solver_need_not_be_trusted(toys, iris):
    """Objective and bound are recomputed from the problem, whatever the solver says."""
    X, y = iris
    model = PVMClassifier(eps=1.0, solver=toys["take_best"], **PAPER).fit(X, y)
    inside = cdist(X, model.prototypes_) < 1.0
    own = y[:, None] == model.prototype_labels_
    uncovered = np.sum(~(inside & own).any(axis=1))
    wrong = np.sum(inside & ~own)
    assert model.objective_ == pytest.approx(uncovered + wrong + 3 / len(y))


def test_the_dissimilarity_selects_and_predicts(toys, iris):
    X, y = iris
    weights = np.array([0.1, 0.1, 1.0, 1.0])
    model = PVMClassifier(eps=1.0, metric=toys["Weighted"](weights), **PAPER).fit(X, y)
    table = cdist(X * weights, X * weights, "cityblock")
    same = PVMClassifier(eps=1.0, metric="precomputed", **PAPER).fit(table, y)
    assert np.array_equal(model.candidate_indices_, same.candidate_indices_)
    assert np.array_equal(model.predict(X), same.predict(table))
    assert clone(model).metric.weights is not None


def test_the_guide_lists_every_trait_with_its_default():
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", GUIDE.read_text(), re.MULTILINE)
    assert {name: ast.literal_eval(default) for name, default in rows} == asdict(Traits())


def test_traits_are_read_from_plain_attributes_and_properties(toys):
    assert traits_of(toys["Weighted"]()) == Traits(symmetric=True)

    class Odd:
        thread_safe = 0
        input_tags: ClassVar = {"string": True}

        @property
        def precomputed(self):
            return True

    assert traits_of(Odd()) == Traits(
        precomputed=True, thread_safe=False, input_tags={"string": True}
    )
    assert traits_of(Odd()).thread_safe is False


def test_the_generator_offers_candidates_that_become_prototypes(toys, iris):
    X, y = iris
    model = PVMClassifier(eps=1.0, candidates=toys["Midpoints"](20), random_state=0, **PAPER).fit(
        X, y
    )
    assert set(model.prototype_sources_) == {"midpoints"}
    assert model.score(X, y) > 0.8


def test_the_files_that_the_guide_names_are_there():
    root = GUIDE.parents[1]
    for path in re.findall(r"`((?:docs|tests)/[\w/.-]+\.(?:md|py))`", GUIDE.read_text()):
        assert (root / path).exists(), path
