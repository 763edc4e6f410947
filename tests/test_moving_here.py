"""What docs/moving-here.md says of R's protoclass and alibi's ProtoSelect, by their answers.

benchmarks/peers/record_alibi.py made alibi's; protoclass's came from a run of that package.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from protocover import PVMClassifier

DATA = Path(__file__).parent / "recorded"
PROBLEMS = json.loads((DATA / "protoclass_recorded.json").read_text())
ALIBI = json.loads((DATA / "alibi_recorded.json").read_text())


def settings(**wanted):
    """Recorded answers of alibi with the given settings."""
    return [case for case in ALIBI if all(case[name] == wanted[name] for name in wanted)]


def fit(case, **parameters):
    problem = PROBLEMS[case["problem"]]
    table = np.array(problem["dissimilarities"])
    _, y = np.unique(problem["labels"], return_inverse=True)
    model = PVMClassifier(case["eps"], metric="precomputed", **parameters, solver="greedy")
    return model.fit(table, y), table, y


def sequences(candidates, labels):
    """The order of selection within each class."""
    labels = np.asarray(labels)
    return {label: list(np.asarray(candidates)[labels == label]) for label in set(labels.tolist())}


def same_sequences(model, case):
    ours = sequences(model.prototype_indices_, model.prototype_labels_)
    return ours == sequences(case["candidates"], case["labels"])


@pytest.mark.parametrize("problem", PROBLEMS)
def test_protoclass_is_the_default_with_its_table(problem):
    """An open ball, the same cost: the same prototypes in the same order."""
    model = PVMClassifier(
        problem["eps"],
        metric="precomputed",
        prototype_cost=problem["prototype_cost"],
        solver="greedy",
    )
    model.fit(np.array(problem["dissimilarities"]), problem["labels"])
    order = [entry[0] if isinstance(entry, list) else entry for entry in problem["order"]]
    assert model.prototype_indices_.tolist() == order


@pytest.mark.parametrize("case", settings(cost=2.0**-10, budget=None))
def test_alibi_is_a_closed_ball(case):
    """With a cost that is a power of two, class by class the same order of selection."""
    model, _, _ = fit(case, closed_ball=True, prototype_cost=case["cost"])
    assert same_sequences(model, case)


def test_an_open_ball_would_differ_from_alibi():
    """Each recorded radius is one of the distances, so that the boundary matters."""
    cases = settings(cost=2.0**-10, budget=None)
    assert not all(same_sequences(fit(case, prototype_cost=2.0**-10)[0], case) for case in cases)


@pytest.mark.parametrize("case", settings(cost=1.0, budget=None))
def test_alibi_takes_a_prototype_whose_gain_equals_its_cost(case):
    """A cost a touch below does the same here."""
    model, _, _ = fit(case, closed_ball=True, prototype_cost=np.nextafter(1.0, 0.0))
    assert same_sequences(model, case)


def test_ours_stops_where_the_gain_equals_the_cost():
    cases = settings(cost=1.0, budget=None)
    models = [fit(case, closed_ball=True, prototype_cost=1.0)[0] for case in cases]
    fewer = [
        len(case["labels"]) - len(m.prototype_labels_)
        for case, m in zip(cases, models, strict=True)
    ]
    assert min(fewer) >= 0
    assert max(fewer) > 0


@pytest.mark.parametrize("case", settings(cost=None))
def test_alibi_with_its_default_cost_is_a_greedy_selection_up_to_ties(case):
    """Each of its choices has the largest gain of its class at that point."""
    _, table, y = fit(case)
    inside = table <= case["eps"]
    for label, chosen in sequences(case["candidates"], case["labels"]).items():
        own, wrong = inside[y == label].copy(), inside[y != label].sum(axis=0)
        for candidate in chosen:
            gain = own.sum(axis=0) - wrong
            assert gain[candidate] == gain.max()
            own[own[:, candidate]] = False


@pytest.mark.parametrize("case", settings(cost=2.0**-10, budget=3))
def test_a_budget_keeps_prototypes_of_the_same_gains_as_alibi(case):
    """Which of several tied classes comes first differs; the gains kept do not."""
    model, table, y = fit(case, closed_ball=True, prototype_cost=2.0**-10, n_prototypes=3)
    assert objective(table, y, case["eps"], case["candidates"], case["labels"]) == objective(
        table, y, case["eps"], model.prototype_indices_, model.prototype_labels_
    )


def objective(table, y, eps, candidates, labels):
    """Uncovered plus wrongly covered points of a selection, by counting."""
    inside = table <= eps
    uncovered = sum(
        not any(
            inside[i, j] and label == y[i] for j, label in zip(candidates, labels, strict=True)
        )
        for i in range(len(y))
    )
    wrong = sum(
        np.sum(inside[:, j] & (y != label)) for j, label in zip(candidates, labels, strict=True)
    )
    return uncovered + wrong
