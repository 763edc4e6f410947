import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import KernelDistance, RankDissimilarity

RNG = np.random.default_rng(0)
X = RNG.integers(0, 7, size=(48, 2)).astype(float)
Y = RNG.integers(3, size=48)
GIVEN = RNG.normal(3.0, 2.0, size=(10, 2))

SETTINGS = {
    "training points": {},
    "given candidates": {"candidates": GIVEN},
    "both": {"candidates": ["train", GIVEN]},
    "closed balls": {"closed_ball": True},
    "a cost": {"prototype_cost": 0.7},
    "a budget": {"max_prototypes": 4},
    "another metric": {"metric": "cityblock"},
    "an uphill metric": {"metric": lambda a, b: max(0.0, float((b - a).sum()))},
    "another solver": {"solver": "ratio-greedy"},
}
MACHINES = pytest.mark.parametrize("machine", [{}, PAPER], ids=["default", "paper"])


def grown(batches, *, weights=None, **params):
    model = PVMClassifier(**{"eps": 2.0, **params})
    for rows in batches:
        model.partial_fit(
            X[rows], Y[rows], sample_weight=None if weights is None else weights[rows]
        )
    return model


def assert_same_model(one, other):
    for name in (
        "classes_",
        "prototypes_",
        "candidate_indices_",
        "prototype_labels_",
        "newly_covered_count_",
        "covered_count_",
        "miscovered_count_",
        "prototype_indices_",
        "prototype_sources_",
    ):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("eps_", "prototype_cost_", "objective_", "lower_bound_", "certificate_"):
        assert getattr(one, name) == getattr(other, name), name
    queries = RNG.normal(3.0, 3.0, size=(20, 2))
    np.testing.assert_array_equal(one.predict(queries), other.predict(queries))


@MACHINES
@pytest.mark.parametrize("name", SETTINGS)
def test_batches_end_in_the_model_of_all_points(name, machine):
    params = {"eps": 2.0, **SETTINGS[name], **machine}
    batches = np.split(np.arange(len(X)), [20, 21, 35])
    assert_same_model(grown(batches, **params), PVMClassifier(**params).fit(X, Y))


@MACHINES
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 47), max_size=5),
    st.sampled_from([1.0, 1.5, np.sqrt(2.0), 3.0]),
    st.one_of(st.none(), st.integers(0, 99)),
)
def test_any_split_ends_in_the_model_of_all_points(machine, cuts, eps, seed):
    """Whole numbers make ties of distances and of gains; weights may be zero, or tiny."""
    weights = None
    if seed is not None:
        choices = [0.0, 0.5, 1.0, 2.0, 1e-30]
        weights = np.random.default_rng(seed).choice(choices, size=len(X))
        cuts = [cut + 10 for cut in cuts if cut < 38]
        weights[:10] = 1.0
    batches = [rows for rows in np.split(np.arange(len(X)), sorted(set(cuts))) if len(rows)]
    whole = PVMClassifier(eps=eps, **machine).fit(X, Y, weights)
    assert_same_model(grown(batches, eps=eps, weights=weights, **machine), whole)


def test_no_distance_is_computed_twice():
    asked = []

    def distance(a, b):
        asked.append((tuple(a), tuple(b)))
        return float(abs(a - b).sum())

    points = np.random.default_rng(1).normal(size=(12, 2))
    model = PVMClassifier(eps=1.0, metric=distance, n_jobs=1, **PAPER)
    for rows in (slice(0, 5), slice(5, 9), slice(9, 12)):
        model.partial_fit(points[rows], np.arange(12)[rows] % 2)
    known = {frozenset(pair) for pair in asked}
    assert len(known) == 12 * 13 // 2
    model_pairs = [pair for pair in asked if pair[0] != pair[1]]
    later = [pair for pair in model_pairs if set(pair) & {tuple(p) for p in points[9:]}]
    assert all(set(pair) - {tuple(p) for p in points[:9]} for pair in later)


def test_sampled_candidates_stay_those_of_the_first_batch():
    model = PVMClassifier(eps=2.0, candidates=0.5, random_state=0, **PAPER).partial_fit(
        X[:20], Y[:20]
    )
    fixed = model._growth.pools[0].points.copy()
    model.partial_fit(X[20:], Y[20:])
    whole = PVMClassifier(eps=2.0, candidates=fixed, **PAPER).fit(X, Y)
    np.testing.assert_array_equal(model.prototypes_, whole.prototypes_)
    assert model.objective_ == whole.objective_
    assert model._growth.points is None


def test_the_automatic_radius_is_that_of_the_first_batch():
    first = PVMClassifier(**PAPER).fit(X[:20], Y[:20])
    model = PVMClassifier(**PAPER).partial_fit(X[:20], Y[:20]).partial_fit(X[20:], Y[20:])
    assert model.eps_ == first.eps_
    assert_same_model(model, PVMClassifier(eps=first.eps_, **PAPER).fit(X, Y))


def test_classes_may_be_declared_or_come_as_they_are():
    order = np.argsort(Y, kind="stable")
    first, rest = order[:10], order[10:]
    declared = PVMClassifier(eps=2.0, **PAPER).partial_fit(X[first], Y[first], classes=[2, 0, 1])
    assert declared.classes_.tolist() == [0, 1, 2]
    undeclared = PVMClassifier(eps=2.0, **PAPER).partial_fit(X[first], Y[first])
    assert undeclared.classes_.tolist() == [0]
    whole = PVMClassifier(eps=2.0, **PAPER).fit(X[order], Y[order])
    for model in (declared, undeclared):
        assert_same_model(model.partial_fit(X[rest], Y[rest]), whole)


def test_labels_and_classes_that_do_not_fit_are_refused_and_change_nothing():
    model = PVMClassifier(eps=2.0, **PAPER).partial_fit(X[:20], Y[:20], classes=[0, 1, 2])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"y holds labels that are not in classes: \[7\]"):
        model.partial_fit(X[20:], np.full(28, 7))
    with pytest.raises(ValueError, match=r"classes must be those of the first call"):
        model.partial_fit(X[20:], Y[20:], classes=[0, 1])
    with pytest.raises(ValueError, match="sample_weight must hold one number for each of the 28"):
        model.partial_fit(X[20:], Y[20:], sample_weight=[1.0])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[20:, :1], Y[20:])
    assert vars(model) == before


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_a_buffer_that_is_used_for_every_batch_changes_nothing(radii):
    weights = np.linspace(1.0, 2.0, len(X))
    model = PVMClassifier(eps=2.0, radii=radii)
    rows, labels, masses = np.empty((16, 2)), np.empty(16, Y.dtype), np.empty(16)
    for start in (0, 16, 32):
        batch = slice(start, start + 16)
        rows[:], labels[:], masses[:] = X[batch], Y[batch], weights[batch]
        model.partial_fit(rows, labels, sample_weight=masses)
        rows[:], labels[:], masses[:] = 1e3, -1, 1e3
    assert_same_model(model, PVMClassifier(eps=2.0, radii=radii).fit(X, Y, weights))


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"closed_ball": True}),
        ({}, {"radii": "adaptive"}),
        ({}, {"metric": "cityblock"}),
        ({}, {"metric": RankDissimilarity()}),
        ({"metric": KernelDistance("rbf")}, {"metric__kernel": "laplacian"}),
        (
            {"metric": "minkowski", "metric_params": {"w": np.ones(2)}},
            {"metric_params": {"w": np.arange(1.0, 3.0)}},
        ),
    ],
    ids=lambda changed: "".join(changed),
)
def test_what_the_balls_depend_on_does_not_change_between_batches(first, then):
    model = PVMClassifier(eps=2.0, **{"radii": "shared", **first}).partial_fit(X[:20], Y[:20])
    model.partial_fit(X[20:30], Y[20:30])
    before = model.candidate_indices_.copy()
    (name,) = then
    model.set_params(**then)
    with pytest.raises(ValueError, match=f"^{name} must stay as it was in the first call of part"):
        model.partial_fit(X[30:], Y[30:])
    np.testing.assert_array_equal(model.candidate_indices_, before)


def test_numbers_and_text_are_not_labels_of_one_model():
    model = PVMClassifier(eps=2.0, **PAPER).partial_fit(X[:20], Y[:20])
    with pytest.raises(ValueError, match=r"y must hold labels of one type, got \d and 'a'"):
        model.partial_fit(X[20:], np.array(["a", "b"] * 14))
    assert model.classes_.dtype.kind == "i"
    with pytest.raises(ValueError, match="labels of one type, got 0 and '0'"):
        PVMClassifier(eps=2.0, **PAPER).partial_fit(X[:20], Y[:20].astype(str), classes=[0, 1, 2])


def test_fit_forgets_the_cover():
    model = PVMClassifier(eps=2.0, **PAPER).partial_fit(X[:20], Y[:20]).fit(X, Y)
    assert not hasattr(model, "_growth")
    with pytest.warns(UserWarning, match="keeps no cover to extend"):
        model.partial_fit(X[:20], Y[:20])
    assert_same_model(model, PVMClassifier(eps=2.0, **PAPER).fit(X[:20], Y[:20]))


def test_tables_of_dissimilarities_do_not_grow():
    with pytest.raises(AttributeError) as caught:
        PVMClassifier(metric="precomputed", **PAPER).partial_fit(np.zeros((3, 3)), [0, 1, 1])
    assert "new columns in the rows of old ones" in str(caught.value.__cause__)


@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
@pytest.mark.parametrize(
    "machine", [{"eps": 1.0}, {"eps": 2.5, **PAPER}], ids=["default", "paper"]
)
@pytest.mark.parametrize("name", ["training points", "given candidates", "both"])
def test_a_batch_without_weight_leaves_the_numbers_right(name, machine):
    weights = np.where(np.arange(len(X)) < 30, 1.0, 0.0)
    batches = np.split(np.arange(len(X)), [20, 30])
    params = {**SETTINGS[name], **machine}
    model, whole = grown(batches, weights=weights, **params), PVMClassifier(**params)
    assert_same_model(model, whole.fit(X, Y, weights))
    assert ("given" in whole.prototype_sources_) == (name != "training points")
    np.testing.assert_array_equal(model.solution_.candidates, whole.candidate_indices_)
    grown_on = model.partial_fit(X, Y)
    both = np.append(weights, np.ones(len(X)))
    assert_same_model(grown_on, whole.fit(np.vstack((X, X)), np.append(Y, Y), both))


def test_a_budget_may_name_a_declared_class_before_it_comes():
    params = {"eps": 2.0, "max_prototypes": {"late": 1}}
    first = np.array(["early", "other"])[np.arange(30) % 2]
    model = PVMClassifier(**params).partial_fit(X[:30], first, classes=["early", "late", "other"])
    assert set(model.prototype_labels_) == {"early", "other"}
    model.partial_fit(X[30:], np.full(len(X) - 30, "late"))
    whole = PVMClassifier(**params).fit(X, np.append(first, np.full(len(X) - 30, "late")))
    assert_same_model(model, whole)
    assert (model.prototype_labels_ == "late").sum() == 1
