import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from protocover import PVMClassifier, pvm_path, suggest_eps
from protocover.candidates import KMeansCandidates

X, Y = load_iris(return_X_y=True)
RADII = [0.3, 0.6, 1.0, 2.0]
COSTS = [0.01, 0.5, 1.0, 4.0]


def assert_same(selection, model):
    np.testing.assert_array_equal(selection.candidates, model.prototype_indices_)
    np.testing.assert_array_equal(selection.covered, model.prototype_covered_)
    np.testing.assert_array_equal(selection.miscovered, model.prototype_miscovered_)
    assert selection.objective == model.objective_


@pytest.mark.parametrize("solver", ["greedy", "ratio-greedy"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("closed", [False, True])
def test_every_point_of_the_path_is_a_separate_fit(solver, weighted, closed):
    """On distances with one decimal, so that radii are ties."""
    weights = np.random.default_rng(0).integers(1, 5, size=len(Y)) / 8 if weighted else None
    D = cdist(X, X).round(1)
    options = {"metric": "precomputed", "solver": solver, "closed_ball": closed}
    path = pvm_path(D, Y, eps=RADII, prototype_costs=COSTS, sample_weight=weights, **options)
    for i, eps in enumerate(RADII):
        for j, cost in enumerate(COSTS):
            model = PVMClassifier(eps, prototype_cost=cost, **options).fit(D, Y, weights)
            assert_same(path.selections[i][j], model)
            assert path.n_prototypes[i, j] == len(model.prototype_indices_)
            assert path.objective[i, j] == model.objective_
            assert path.lower_bound[i, j] <= model.objective_


@pytest.mark.parametrize("seed", range(10))
def test_random_points_with_ties_agree_too(seed):
    rng = np.random.default_rng(seed)
    points, y = rng.integers(0, 6, size=(50, 2)).astype(float), rng.integers(0, 3, size=50)
    radii = np.unique(cdist(points, points))[1:6]
    path = pvm_path(points, y, eps=radii)
    for row, eps in zip(path.selections, radii, strict=True):
        assert_same(row[0], PVMClassifier(eps).fit(points, y))


def test_candidates_of_several_sources_are_drawn_once():
    candidates = ["train", KMeansCandidates(4)]
    path = pvm_path(X, Y, eps=RADII, candidates=candidates, random_state=0)
    model = PVMClassifier(1.0, candidates=candidates, random_state=0).fit(X, Y)
    assert_same(path.selections[2][0], model)


def test_the_default_grid_is_the_suggested_one():
    path = pvm_path(X, Y, eps=6, random_state=0)
    np.testing.assert_array_equal(path.eps, suggest_eps(X, Y, 6))
    np.testing.assert_array_equal(path.prototype_costs, [1 / len(Y)])


def test_it_becomes_a_tidy_frame():
    pytest.importorskip("pandas")
    path = pvm_path(X, Y, eps=RADII, prototype_costs=COSTS)
    frame = path.to_frame()
    assert len(frame) == len(RADII) * len(COSTS)
    row = frame[(frame.eps == 1.0) & (frame.prototype_cost == 4.0)].iloc[0]
    assert row.n_prototypes == path.n_prototypes[2, 3]
    assert [row[f"n_prototypes_{c}"] for c in range(3)] == path.n_prototypes_by_class[
        2, 3
    ].tolist()


def test_radii_and_costs_are_sorted_and_told_once():
    path = pvm_path(X, Y, eps=[1.0, 0.5, 1.0], prototype_costs=[2.0, 1.0])
    assert path.eps.tolist() == [0.5, 1.0]
    assert path.prototype_costs.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eps": [0.0, 1.0]}, "eps must be positive numbers"),
        ({"eps": []}, "eps must be positive numbers"),
        ({"eps": [np.nan]}, "eps must be positive numbers"),
        ({"prototype_costs": [-1.0]}, "prototype_costs must be numbers not below 0"),
        ({"prototype_costs": []}, "prototype_costs must be numbers not below 0"),
        ({"solver": "magic"}, "solver must be one of"),
    ],
)
def test_bad_grids_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        pvm_path(X, Y, **{"eps": RADII, **arguments})
