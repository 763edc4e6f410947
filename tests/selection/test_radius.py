import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from paper import PAPER
from protocover import PVMClassifier, suggest_eps
from protocover._balls import build_balls
from protocover._estimators.fitting import prepare
from protocover._selection import radii as radius_module
from protocover.dissimilarity import DANN

X, Y = load_iris(return_X_y=True)


def test_at_its_start_the_machine_is_the_nearest_neighbor_rule():
    X_distinct, rows = np.unique(X, axis=0, return_index=True)
    y = Y[rows]
    model = PVMClassifier(eps=suggest_eps(X_distinct, y)[0], **PAPER).fit(X_distinct, y)
    assert len(model.candidate_indices_) == len(y)
    queries = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), size=(50, 4))
    nearest = KNeighborsClassifier(1).fit(X_distinct, y)
    np.testing.assert_array_equal(model.predict(queries), nearest.predict(queries))


def test_the_grid_steps_through_quantiles_up_to_the_given_one():
    distances = pdist(X)
    grid = suggest_eps(X, Y, n_eps=5, max_quantile=0.4)
    expected = np.quantile(distances[distances > 0], [0, 0.1, 0.2, 0.3, 0.4], method="lower")
    np.testing.assert_array_equal(grid, expected)


def test_by_default_it_ends_where_balls_would_join_classes():
    """Three classes of equal size: a third of the pairs agree, half of all is the limit."""
    distances = pdist(X)
    top = np.quantile(distances[distances > 0], 0.5, method="lower")
    assert suggest_eps(X, Y)[-1] == top
    ten = np.repeat(np.arange(10), 15)
    top = np.quantile(distances[distances > 0], 0.15, method="lower")
    assert suggest_eps(X, ten)[-1] == top


def test_of_many_points_a_sample_is_used_but_the_smallest_distance_is_found(monkeypatch):
    monkeypatch.setattr(radius_module, "GRID_SAMPLE_SIZE", 40)
    distances = pdist(X)
    grid = suggest_eps(X, Y, random_state=0)
    assert grid[0] == distances[distances > 0].min()
    assert np.abs((distances < grid[-1]).mean() - 0.5) < 0.15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_eps": 0}, "n_eps must be a positive whole number, of radii to propose, got 0"),
        ({"max_quantile": 0.0}, "max_quantile must be above 0"),
        ({"metric": "nonsense"}, "metric must be one of"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        suggest_eps(X, Y, **arguments)


def test_points_all_alike_have_no_grid():
    with pytest.raises(ValueError, match="at least two points at a positive dissimilarity"):
        suggest_eps(np.ones((5, 2)))


def test_auto_is_the_median_distance_to_the_nearest_rival():
    D = cdist(X, X)
    rival = np.array([D[i, Y[i] != Y].min() for i in range(len(Y))])
    expected = np.sort(rival)[(len(rival) - 1) // 2]
    assert PVMClassifier(**PAPER).fit(X, Y).eps_ == expected
    assert PVMClassifier(metric="precomputed", **PAPER).fit(D, Y).eps_ == expected


def test_auto_counts_a_point_of_weight_three_three_times():
    weights = np.random.default_rng(0).integers(0, 4, size=len(Y))
    weighted = PVMClassifier(**PAPER).fit(X, Y, weights)
    repeated = PVMClassifier(**PAPER).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    assert weighted.eps_ == repeated.eps_


def test_auto_has_an_answer_where_there_is_no_rival():
    one_class = PVMClassifier(**PAPER).fit(X, np.zeros(len(X)))
    assert 1 <= len(one_class.candidate_indices_) < 20
    alike = PVMClassifier(**PAPER).fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    assert alike.eps_ == 1.0


def test_auto_is_the_same_for_a_table_where_some_have_no_weight():
    D = cdist(X, X)
    weights = np.random.default_rng(5).choice([0.0, 1.0, 2.5], size=len(Y))
    expected = PVMClassifier(**PAPER).fit(X, Y, weights).eps_
    assert expected != PVMClassifier(**PAPER).fit(X, Y).eps_
    assert PVMClassifier(metric="precomputed", **PAPER).fit(D, Y, weights).eps_ == expected
    drawn = PVMClassifier(metric="precomputed", candidates=30, random_state=0, **PAPER)
    assert drawn.fit(D, Y, weights).eps_ == expected
    kept = weights > 0
    wide = PVMClassifier(metric="precomputed", **PAPER).fit(D[:, ::2], Y, np.where(kept, 1.0, 0.0))
    assert (
        wide.eps_ == PVMClassifier(metric="precomputed", **PAPER).fit(D[kept, ::2], Y[kept]).eps_
    )


def test_auto_does_not_depend_on_the_candidates():
    expected = PVMClassifier(**PAPER).fit(X, Y).eps_
    for candidates in ("kmeans", 20, X[:5] + 40.0, ["train", "hull"]):
        assert (
            PVMClassifier(candidates=candidates, random_state=0, **PAPER).fit(X, Y).eps_
            == expected
        )


def test_auto_does_not_depend_on_the_blocks_of_rows(monkeypatch):
    expected = PVMClassifier(**PAPER).fit(X, Y).eps_
    monkeypatch.setattr(radius_module, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(radius_module, "SAMPLE_SIZE", 7)
    monkeypatch.setattr(radius_module, "sample_rows", lambda n, size, rng: np.arange(n))
    assert PVMClassifier(**PAPER).fit(X, Y).eps_ == expected


def test_with_one_class_many_points_are_sampled_on_both_sides(monkeypatch):
    distances = pdist(X)
    quartile = np.quantile(distances[distances > 0], 0.25)
    assert PVMClassifier(**PAPER).fit(X, np.zeros(150)).eps_ == pytest.approx(quartile, rel=0.02)
    monkeypatch.setattr(radius_module, "SAMPLE_SIZE", 60)
    for metric, points in (("euclidean", X), ("precomputed", cdist(X, X))):
        model = PVMClassifier(metric=metric, random_state=0, **PAPER).fit(points, np.zeros(150))
        assert model.eps_ == pytest.approx(quartile, rel=0.2)


Centers = X[::10] + 0.01


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"candidates": Centers}, cdist(X, Centers)),
        ({"candidates": ["train", Centers]}, cdist(X, np.vstack((X, Centers)))),
        ({"unlabeled": Centers}, cdist(X, np.vstack((X, Centers)))),
        ({"candidates": Centers, "metric": "cityblock"}, cdist(X, Centers, "cityblock")),
    ],
)
def test_the_grid_is_of_distances_from_the_candidates(options, expected):
    expected = expected[expected > 0]
    grid = suggest_eps(X, Y, n_eps=5, max_quantile=0.4, **options)
    quantiles = np.quantile(expected, [0, 0.1, 0.2, 0.3, 0.4], method="lower")
    np.testing.assert_allclose(grid, quantiles, rtol=1e-12)


@pytest.mark.parametrize("candidates", [0.3, "kmeans"])
@pytest.mark.parametrize("y", [Y, None])
def test_candidates_are_those_of_the_classifier(candidates, y):
    """Drawn with the same random_state; without labels as if of one class."""
    labels = np.zeros(150) if y is None else y
    model = PVMClassifier(
        eps=1e9, candidates=candidates, prototype_cost=0, random_state=7, **PAPER
    )
    training = prepare(model, X, labels, None, rng=model._generator())
    distances = cdist(X, training.pools[0].points)
    smallest = distances[distances > 0].min()
    grid = suggest_eps(X, y, candidates=candidates, random_state=7)
    assert grid[0] == pytest.approx(smallest, rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_that_repeat_cost_no_pairs_and_change_nothing(monkeypatch, form):
    monkeypatch.setattr(radius_module, "GRID_SAMPLE_SIZE", 30)
    monkeypatch.setattr(radius_module, "_BLOCK_ROWS", 7)
    rows = np.random.default_rng(0).integers(0, 12, size=400)
    few = np.random.default_rng(1).normal(size=(12, 3)).round(1)
    few[0], few[1] = [0.0, 1.0, 2.0], [-0.0, 1.0, 2.0]
    asked = []

    def counted(dissimilarity, A, B, **options):
        asked.append((A.shape[0], B.shape[0]))
        return build_balls(dissimilarity, A, B, **options)

    monkeypatch.setattr(radius_module, "build_balls", counted)
    grid = suggest_eps(form(few[rows]), random_state=0)
    distances = pdist(few)
    assert grid[0] == pytest.approx(distances[distances > 0].min(), rel=1e-6)
    suggest_eps(form(few[rows]), candidates=form(few[rows][:50]), random_state=0)
    assert all(max(shape) <= 12 for shape in asked)
    assert len(asked) == 2


def test_the_smallest_of_many_is_found_in_both_directions(monkeypatch):
    """DANN's distances differ in the two directions of a pair."""
    monkeypatch.setattr(radius_module, "GRID_SAMPLE_SIZE", 40)
    table = DANN().fit(X, Y).pairwise(X, X)
    assert suggest_eps(X, Y, metric=DANN(), random_state=0)[0] == pytest.approx(
        table[table > 0].min(), rel=1e-9
    )


def test_of_a_table_with_drawn_columns_only_those_count():
    D = cdist(X, X)
    grid = suggest_eps(D, Y, metric="precomputed", candidates=20, random_state=3)
    model = PVMClassifier(eps=1.0, metric="precomputed", candidates=20, random_state=3, **PAPER)
    training = prepare(model, D, Y, None, rng=model._generator())
    part = D[:, training.pools[0].points]
    assert grid[0] == part[part > 0].min()
