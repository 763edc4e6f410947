"""The classifier on a cluster against the one of one machine."""

from __future__ import annotations

import pickle
from functools import partial

import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from paper import PAPER
from protocover import PVMClassifier, load_model, save_model
from protocover.dissimilarity import DANN
from protocover.distributed import DaskPVMClassifier

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# In rounds nothing is proved; objects are compared by what they hold.
NOT_COMPARED = {"lower_bound_", "gap_", "certificate_", "solution_", "dissimilarity_"}

ORDER = np.random.default_rng(0).permutation(150)
IRIS = tuple(part[ORDER] for part in load_iris(return_X_y=True))


@pytest.fixture
def dask_classifier(client):
    return partial(DaskPVMClassifier, client=client)


def tied_points(seed, n=120):
    """Points on a coarse grid, so that distances, gains and nearest points tie."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 2)).astype(float)
    noise = rng.random(n) < 0.2
    return X, np.where(noise, rng.integers(0, 3, n), X[:, 0] // 2).astype(int)


def cut(values, step):
    return da.from_array(values, chunks=(step, *values.shape[1:]))


def assert_same_model(model, expected):
    """All fitted attributes that the plain classifier has are there and are equal."""
    local = model.to_local()
    names = {name for name in vars(expected) if name.endswith("_")}
    assert names == {name for name in vars(local) if name.endswith("_")}
    for name in names - NOT_COMPARED:
        for one in (model, local):
            value = getattr(one, name)
            np.testing.assert_array_equal(value, getattr(expected, name), err_msg=name)
    for name in ("candidates", "classes", "newly_covered", "covered", "miscovered", "score"):
        np.testing.assert_array_equal(
            getattr(local.solution_, name), getattr(expected.solution_, name), err_msg=name
        )


@pytest.mark.usefixtures("several_blocks")
@pytest.mark.parametrize("selection", ["classes", "rounds"])
@pytest.mark.parametrize("stored", [False, True])
def test_the_model_is_the_plain_one_to_the_last_bit(dask_classifier, tmp_path, selection, stored):
    seed = 2 * stored + (selection == "rounds")
    X, y = tied_points(seed)
    w = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 2.0], len(y)) if stored else None
    expected = PVMClassifier(solver="greedy", **PAPER).fit(X, y, w)
    model = dask_classifier(selection=selection, cache_dir=tmp_path if stored else None, **PAPER)
    model.fit(cut(X, 50), cut(y, 35), None if w is None else cut(w, 120))
    assert_same_model(model, expected)
    if selection == "classes":
        assert model.lower_bound_ == expected.lower_bound_
        assert model.certificate_ == expected.certificate_
    else:
        assert model.lower_bound_ == -np.inf
        assert model.certificate_ == "none"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("several_blocks")
@pytest.mark.parametrize("selection", ["classes", "rounds"])
def test_a_budget_for_all_classes_together_is_spent_as_on_one_machine(dask_classifier, selection):
    X, y = tied_points(7)
    options = {"radii": "shared", "eps": 1.5, "max_prototypes": 5, "closed_ball": True}
    expected = PVMClassifier(**options, solver="greedy").fit(X, y)
    model = dask_classifier(**options, selection=selection).fit(cut(X, 60), cut(y, 60))
    assert_same_model(model, expected)
    assert len(model.candidate_indices_) == 5


@pytest.mark.usefixtures("several_blocks")
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"eps": None, "prototype_cost": 0.25, "closed_ball": True},
        {"eps": 2.5, "max_prototypes": 4, "outlier_label": -1},
        {"eps": None, "candidates": 0.5, "random_state": 4},
        {"metric": lambda a, b: max(0.0, float((a - b).max())), "prototype_cost": 1.0},
    ],
)
def test_radii_of_their_own_are_the_plain_ones_to_the_last_bit(
    dask_classifier, tmp_path, stored, options
):
    X, y = tied_points(stored)
    w = np.random.default_rng(stored).choice([0.0, 0.3, 1.0, 2.0], len(y)) if stored else None
    expected = PVMClassifier(radii="adaptive", **options, solver="greedy").fit(X, y, w)
    model = dask_classifier(radii="adaptive", cache_dir=tmp_path if stored else None, **options)
    model.fit(cut(X, 50), cut(y, 35), None if w is None else cut(w, 120))
    assert_same_model(model, expected)
    np.testing.assert_array_equal(model.solution_.radii, expected.solution_.radii)
    if "max_prototypes" in options:
        # On one machine the classes share a price; here each is bounded by itself.
        best = PVMClassifier(radii="adaptive", **options, solver="exact").fit(X, y, w)
        assert best.gap_ == 0.0
        assert -np.inf < model.lower_bound_ <= best.objective_
    else:
        assert (model.lower_bound_, model.certificate_) == (
            expected.lower_bound_,
            expected.certificate_,
        )
    assert model.to_local().verify(X, y, w).ok
    queries = X + 0.3
    for method in ("predict", "decision_function"):
        np.testing.assert_array_equal(
            getattr(model, method)(cut(queries, 50)).compute(), getattr(expected, method)(queries)
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("selection", ["classes", "rounds"])
def test_where_no_prototype_is_worth_its_cost_there_is_none(dask_classifier, selection):
    X, y = tied_points(7)
    options = {**PAPER, "eps": 1.5, "prototype_cost": 1e3, "outlier_label": 7}
    expected = PVMClassifier(**options).fit(X, y)
    model = dask_classifier(**options, selection=selection).fit(cut(X, 60), cut(y, 60))
    assert_same_model(model, expected)
    assert model.predict(cut(X, 60)).compute().tolist() == [7] * 120


@pytest.mark.parametrize(
    ("options", "weighted"),
    [
        ({"prototype_cost": 100.0}, True),
        ({"prototype_cost": 100.0, "selection": "rounds"}, False),
        ({"radii": "adaptive", "prototype_cost": 60.0}, True),
        ({"class_weight": "balanced", "selection": "rounds"}, True),
        ({"class_weight": {0: 0.3}, "radii": "adaptive"}, False),
        ({"max_prototypes": 4, "selection": "rounds"}, True),
        ({"max_prototypes": 3}, False),
        ({"max_prototypes": {0: 0, 1: 2}, "prototype_cost": 100.0}, False),
        ({"min_per_class": 0, "prototype_cost": 25.0}, True),
    ],
    ids=str,
)
def test_classes_and_their_floors_and_weights_are_those_of_one_machine(
    dask_classifier, options, weighted
):
    X, y = IRIS
    weights = 1.0 + np.arange(150) % 3 if weighted else None
    given = {name: value for name, value in options.items() if name != "selection"}
    expected = PVMClassifier(**{"radii": "shared", **given}, solver="greedy").fit(X, y, weights)
    lazy = [cut(weights, 40)] if weighted else []
    model = dask_classifier(**options).fit(cut(X, 40), cut(y, 40), *lazy)
    for name in ("candidate_indices_", "prototype_labels_", "prototype_radii_"):
        assert getattr(model, name).tolist() == getattr(expected, name).tolist()
    assert model.prototype_cost_ == expected.prototype_cost_
    assert model.objective_ == pytest.approx(expected.objective_)
    assert model.to_local().verify(X, y, weights).ok


def test_it_warns_of_classes_that_have_a_prototype_only_because_they_must(dask_classifier):
    X, y = IRIS
    with pytest.warns(UserWarning, match=r"no prototype of the classes \[0, 1, 2\]"):
        dask_classifier(prototype_cost=100.0).fit(cut(X, 40), cut(y, 40))


def test_answers_are_lazy_and_those_of_the_plain_classifier(dask_classifier):
    X, y = tied_points(3)
    model = dask_classifier(eps=1.5, outlier_label="most_frequent", **PAPER).fit(
        cut(X, 60), cut(y, 60)
    )
    local = model.to_local()
    assert type(local) is PVMClassifier
    queries = np.random.default_rng(0).normal(3.0, 5.0, (40, 2))
    for method in ("predict", "decision_function"):
        answer = getattr(model, method)(cut(queries, 13))
        assert isinstance(answer, da.Array)
        expected = getattr(local, method)(queries)
        assert answer.shape == expected.shape
        assert answer.dtype == expected.dtype
        np.testing.assert_array_equal(answer.compute(), expected)
    assert model.score(cut(X, 50), cut(y, 60)) == local.score(X, y)
    weights = np.arange(120.0)
    weighted = model.score(cut(X, 50), cut(y, 60), cut(weights, 60))
    assert weighted == pytest.approx(local.score(X, y, weights))


def test_data_frames_keep_their_names_and_labels(dask_classifier):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y = tied_points(4)
    frame = pd.DataFrame(X, columns=["a", "b"])
    labels = pd.Series(np.array(["x", "y", "z"])[y])
    dX, dy = dd.from_pandas(frame, npartitions=3), dd.from_pandas(labels, npartitions=2)
    model = dask_classifier(eps=1.5, **PAPER).fit(dX, dy)
    expected = PVMClassifier(eps=1.5, solver="greedy", **PAPER).fit(frame, labels)
    assert_same_model(model, expected)
    local = model.to_local()
    assert local.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.predict(dX).compute(), expected.predict(frame))
    assert model.score(dX, dy) == expected.score(frame, labels)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(dX.rename(columns={"a": "c"}))


def shortened(values):
    """Lose a row of each chunk without declaring it, as by a careless map_blocks."""
    meta = np.empty((0,) * values.ndim, values.dtype)
    return da.map_blocks(lambda block: block[:-1], values, dtype=values.dtype, meta=meta)


@pytest.mark.parametrize("which", ["X", "y", "sample_weight", "X and y", "candidates"])
def test_chunks_shorter_than_declared_are_refused(dask_classifier, which):
    X, y = tied_points(9, n=60)
    parts = {"X": cut(X, 20), "y": cut(y, 20), "sample_weight": cut(np.ones(60), 20)}
    candidates = "train"
    if which == "candidates":
        candidates = shortened(cut(X[:40], 20))
    else:
        parts |= {name: shortened(parts[name]) for name in which.split(" and ")}
    message = f"{which.split(' ')[0]} must have chunks as long as it declares, got a chunk of 19"
    with pytest.raises(ValueError, match=message):
        dask_classifier(eps=1.5, candidates=candidates, **PAPER).fit(**parts)


def test_labels_of_all_chunks_are_checked_as_in_memory(dask_classifier):
    X, y = tied_points(10, n=60)
    for wrong, message in ((None, "contains NaN or None: None"), (7, "labels of one type")):
        labels = y.astype(str).astype(object)
        labels[40:] = wrong
        with pytest.raises(ValueError, match=message):
            dask_classifier(eps=1.5, **PAPER).fit(cut(X, 20), cut(labels, 20))


def test_the_plain_classifier_can_be_saved_and_the_estimator_pickled(
    client, dask_classifier, tmp_path
):
    X, y = tied_points(5)
    model = dask_classifier(eps=1.5, **PAPER).fit(cut(X, 60), cut(y, 60))
    assert model.client_ is client
    save_model(model.to_local(), tmp_path / "model")
    read = load_model(tmp_path / "model")
    np.testing.assert_array_equal(read.predict(X), model.to_local().predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(cut(X, 60)).compute(), read.predict(X))


def test_candidates_may_be_given_in_memory_or_as_a_collection(dask_classifier):
    X, y = tied_points(6)
    Z = np.random.default_rng(6).normal(2.5, 2.0, (40, 2))
    expected = PVMClassifier(eps=1.2, candidates=Z, solver="greedy", **PAPER).fit(X, y)
    for given in (Z, cut(Z, 15)):
        model = dask_classifier(eps=1.2, candidates=given, **PAPER).fit(cut(X, 60), cut(y, 60))
        assert_same_model(model, expected)


@pytest.mark.usefixtures("several_blocks")
@pytest.mark.parametrize("candidates", [30, 0.5])
def test_candidates_may_be_drawn_and_are_those_of_one_machine(dask_classifier, candidates):
    X, y = tied_points(6)
    w = np.where(np.arange(120) % 7, 1.0, 0.0)
    options = {"radii": "shared", "candidates": candidates, "random_state": 4}
    expected = PVMClassifier(**options).fit(X, y, w)
    model = dask_classifier(**options).fit(cut(X, 50), cut(y, 50), cut(w, 50))
    assert_same_model(model, expected)


@pytest.mark.parametrize("metric", ["seuclidean", lambda a, b: max(0.0, float((a - b).max()))])
def test_other_metrics_agree_too(dask_classifier, metric):
    """One that learns variances, and a function that is not even symmetric."""
    X, y = tied_points(8, n=60)
    expected = PVMClassifier(metric=metric, **PAPER).fit(X, y)
    assert_same_model(
        dask_classifier(metric=metric, **PAPER).fit(cut(X, 25), cut(y, 25)), expected
    )


def test_chunks_may_be_sparse(dask_classifier):
    X, y = tied_points(11)
    expected = PVMClassifier(**PAPER).fit(csr_array(X), y)
    dX = cut(X, 50).map_blocks(csr_array)
    model = dask_classifier(**PAPER).fit(dX, cut(y, 50))
    np.testing.assert_array_equal(model.candidate_indices_, expected.candidate_indices_)
    assert model.eps_ == expected.eps_
    np.testing.assert_array_equal(model.predict(dX).compute(), expected.predict(csr_array(X)))


def test_the_default_radius_is_that_of_one_machine_beyond_the_sample(dask_classifier):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), rng.integers(0, 2, 1500)
    expected = PVMClassifier(random_state=3, solver="greedy", **PAPER).fit(X, y)
    model = dask_classifier(random_state=3, selection="rounds", **PAPER).fit(
        cut(X, 800), cut(y, 800)
    )
    assert_same_model(model, expected)
    alone = dask_classifier(random_state=3, **PAPER).fit(cut(X, 800), cut(np.zeros(1500), 800))
    assert (
        alone.eps_
        == PVMClassifier(random_state=3, solver="greedy", **PAPER).fit(X, np.zeros(1500)).eps_
    )


X, Y = cut(np.arange(12.0).reshape(6, 2), 3), cut(np.array([0, 0, 0, 1, 1, 1]), 3)
ERRORS = {
    "unknown chunks": (X[X[:, 0] > 2], Y, {}, "chunks of known length.*X.compute_chunk_sizes"),
    "unknown labels": (X, Y[Y > 0], {}, "y must have chunks of known length"),
    "column chunks": (X.rechunk((3, 1)), Y, {}, r"all columns in one chunk, got 2.*rechunk"),
    "in memory": (np.zeros((6, 2)), Y, {}, "dask array or data frame, got ndarray.*PVMClassifier"),
    "labels in memory": (X, np.zeros(6), {}, "y must be a dask array"),
    "lengths": (X, Y[:4], {}, "as many rows, got 6 and 4"),
    "dimensions": (X[:, 0], Y, {}, "X must have two dimensions"),
    "selection": (X, Y, {"selection": "best"}, "selection must be .*got 'best'"),
    "metric": (X, Y, {"metric": DANN()}, "DANN needs all training points at once"),
    "table": (X, Y, {"metric": "precomputed"}, "table of values between points"),
    "a label of another kind, before any long work": (
        X,
        Y,
        {"outlier_label": "none", "candidates": "kmeans"},
        "outlier_label must be of the kind of the labels",
    ),
    "candidates": (
        X,
        Y,
        {"candidates": "kmeans"},
        "candidates must be 'train'.*'kmeans'.*on a sample",
    ),
    "features": (X, Y, {"candidates": np.zeros((2, 3))}, "must have 2 features as X has, got 3"),
    "radii": (X, Y, {"radii": "each"}, "radii must be 'shared', one radius for all"),
    "no limit": (X, Y, {"eps": None}, "None, for no limit to the radii, needs radii='adaptive'"),
    "own radii in rounds": (
        X,
        Y,
        {"radii": "adaptive", "selection": "rounds"},
        r"with radii='adaptive', got 'rounds'.*PVMClassifier\(radii='adaptive'\) to a sample",
    ),
    "eps": (X, Y, {"eps": -1.0}, "eps must be a positive number"),
    "not a number": (X * np.nan, Y, {}, "NaN"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_done_is_said_at_once_and_leaves_no_trace(dask_classifier, case):
    dX, dy, options, message = ERRORS[case]
    model = dask_classifier(**options)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(dX, dy)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1, 1, -1, 1], "not below 0"),
        ([1, 1, 1, 0, 0, 0], r"\[1\]"),
        ([0, 0, 0, 0, 0, 0], "positive for some point"),
        ([1, 1, 1, 1, 1, 1e300], r"between 1e-250 and 1e.280, got 1e.300"),
    ],
)
def test_weights_are_checked(dask_classifier, weights, message):
    with pytest.raises(ValueError, match=message):
        dask_classifier(**PAPER).fit(X, Y, cut(np.array(weights, dtype=float), 3))


@pytest.mark.parametrize("metric", ["euclidean", lambda a, b: float(abs(a - b).sum())])
def test_the_plain_estimators_point_here(metric):
    model = PVMClassifier(eps=1.0, metric=metric, **PAPER)
    with pytest.raises(TypeError, match=r"DaskPVMClassifier, or pass X.compute\(\)"):
        model.fit(X, Y)
    model.fit(X.compute(), Y.compute())
    with pytest.raises(TypeError, match="DaskPVMClassifier"):
        model.predict(X)
