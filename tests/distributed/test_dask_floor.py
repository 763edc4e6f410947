"""A prototype for every class, candidates of one class and weights of classes, on Dask."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import load_iris

from distributed import Client
from protocover import PVMClassifier
from protocover.distributed import DaskPVMClassifier

pytestmark = pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")

ORDER = np.random.default_rng(0).permutation(150)
X, Y = (part[ORDER] for part in load_iris(return_X_y=True))
WEIGHTS = 1.0 + np.arange(150) % 3


@pytest.fixture(scope="module")
def client():
    with Client(processes=False, n_workers=1, dashboard_address=None) as client:
        yield client


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cross_class": True},
        {"prototype_cost": 100.0},
        {"prototype_cost": 100.0, "selection": "rounds"},
        {"radii": "adaptive", "prototype_cost": 60.0},
        {"class_weight": "balanced", "selection": "rounds"},
        {"class_weight": {0: 0.3}, "radii": "adaptive"},
        {"max_prototypes": 4, "selection": "rounds"},
        {"max_prototypes": 3},
        {"max_prototypes": {0: 0, 1: 2}, "prototype_cost": 100.0},
        {"min_per_class": 0, "prototype_cost": 25.0},
    ],
    ids=str,
)
def test_it_selects_what_one_machine_selects(client, options, weighted):
    given = {name: value for name, value in options.items() if name != "selection"}
    weights = WEIGHTS if weighted else None
    ours = PVMClassifier(**{"radii": "shared", **given}, solver="greedy").fit(X, Y, weights)
    chunks = da.from_array(X, chunks=(40, 4)), da.from_array(Y, chunks=40)
    lazy = [da.from_array(WEIGHTS, chunks=40)] if weighted else []
    theirs = DaskPVMClassifier(client=client, **options).fit(*chunks, *lazy)
    for name in ("candidate_indices_", "prototype_labels_", "prototype_radii_"):
        assert getattr(theirs, name).tolist() == getattr(ours, name).tolist()
    assert theirs.prototype_cost_ == ours.prototype_cost_
    assert theirs.objective_ == pytest.approx(ours.objective_)
    assert theirs.to_local().verify(X, Y, weights).ok


def test_balanced_weights_are_the_same_to_the_last_bit(client):
    weights = np.random.default_rng(0).random(150) + 0.1
    chunks = da.from_array(X, chunks=(7, 4)), da.from_array(Y, chunks=7)
    theirs = DaskPVMClassifier(client=client, class_weight="balanced")
    theirs.fit(*chunks, da.from_array(weights, chunks=7))
    ours = PVMClassifier(radii="shared", solver="greedy", class_weight="balanced")
    assert theirs.objective_ == ours.fit(X, Y, weights).objective_
    assert theirs.to_local().verify(X, Y, weights).ok


def test_it_warns_of_classes_that_have_a_prototype_only_because_they_must(client):
    chunks = da.from_array(X, chunks=(40, 4)), da.from_array(Y, chunks=40)
    with pytest.warns(UserWarning, match=r"no prototype of the classes \[0, 1, 2\]"):
        DaskPVMClassifier(client=client, prototype_cost=100.0).fit(*chunks)
