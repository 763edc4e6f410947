"""Covers in model files: what is saved comes back, and what was made up is refused."""

from __future__ import annotations

import array
import copy
import warnings
from collections import deque
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import radius_neighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_round_trip import assert_same

from protocover import BallCover, ModelFileError, load_model, save_model
from protocover._persistence import model_info
from protocover._persistence.container import pack, unpack
from protocover.candidates import KMeansCandidates

X, _ = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
FRAME = pd.DataFrame(X, columns=NAMES)
GRAPH = radius_neighbors_graph(X, 1.2, mode="distance")
PRICE = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(X))
SOLUTION = ("fitted", "solution_", "object", 1)
COVERS = {
    "all": (BallCover(eps=1.0), X),
    "auto": (BallCover(), FRAME),
    "number": (BallCover(eps=1.0, max_representatives=4), FRAME),
    "coverage": (BallCover(eps=0.8, coverage=0.9), X),
    "coverage by price": (BallCover(eps=0.8, coverage=0.9, candidate_cost=PRICE), X),
    "cost": (BallCover(eps=0.8, cost=3.0, solver="exact"), X),
    "cost by price": (BallCover(eps=0.8, cost=1.5, candidate_cost=PRICE.tolist()), X),
    "must include": (BallCover(eps=0.8, must_include=[3, 70], max_representatives=6), X),
    "graph": (BallCover(eps=1.0, metric="precomputed", coverage=0.9), GRAPH),
    "sparse": (BallCover(eps=1.0), csr_array(X)),
    "closed": (BallCover(eps=1.0, closed_ball=True), X.astype(np.float32)),
    "nothing": (BallCover(eps=0.5, cost=1000.0), X),
    "kmeans": (BallCover(eps=1.0, candidates=KMeansCandidates(20), random_state=0), X),
    "given": (BallCover(eps=1.0, candidates=X[::3] + 0.01, cost=1.0), X),
}


def round_trip(model, folder):
    save_model(model, folder / "cover.protocover")
    return load_model(folder / "cover.protocover")


def no_warnings(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments)


@pytest.mark.parametrize("name", COVERS)
def test_a_cover_comes_back_with_all_that_it_says(name, tmp_path):
    model, points = COVERS[name]
    model = no_warnings(model.fit, points)
    again = no_warnings(round_trip, model, tmp_path)
    if name == "graph":  # its dissimilarity also knows what was no neighbour of itself in it
        assert_same(model.solution_, again.solution_)
        assert_same(model.labels_, again.labels_)
    else:
        assert_same(model, again)
    assert_same(model.predict(points), again.predict(points))
    assert_same(model.transform(points), again.transform(points))
    assert again.verify(points).ok, again.verify(points)
    assert model_info(tmp_path / "cover.protocover").model == "BallCover"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"must_include": range(5)}, [0, 1, 2, 3, 4]),
        ({"must_include": range(0)}, []),
        ({"must_include": pd.Index([3, 1])}, [3, 1]),
        ({"must_include": pd.RangeIndex(2, 5)}, [2, 3, 4]),
        ({"must_include": array.array("q", [3, 1])}, [3, 1]),
        ({"must_include": deque([3, 1])}, [3, 1]),
        ({"candidate_cost": range(1, 151)}, list(range(1, 151))),
        ({"candidate_cost": pd.array(PRICE, dtype="Float64")}, PRICE.tolist()),
        ({"cost": Fraction(1, 3)}, 1 / 3),
    ],
    ids=lambda one: f"{next(iter(one.values()))!r:.20}" if isinstance(one, dict) else "",
)
def test_numbers_by_another_name_are_kept_as_the_numbers_they_mean(given, kept, tmp_path):
    model = BallCover(eps=0.8, **given).fit(X)
    again = round_trip(model, tmp_path)
    found = getattr(again, next(iter(given)))
    assert (list(found) if np.ndim(found) else found) == kept
    assert_same(model.predict(X), again.predict(X))
    assert again.verify(X).ok
    assert clone(again).fit(X).candidate_indices_.tolist() == (model.candidate_indices_.tolist())


def test_a_pipeline_may_end_in_a_cover(tmp_path):
    model = make_pipeline(StandardScaler(), BallCover(max_representatives=5)).fit(FRAME)
    again = round_trip(model, tmp_path)
    assert again.predict(FRAME).tolist() == model[-1].labels_.tolist()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(FRAME[NAMES[::-1]])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The contents of files of covers, by name."""
    path = tmp_path_factory.mktemp("covers") / "m"
    found = {}
    for name in ("must include", "coverage", "graph", "sparse"):
        model, points = COVERS[name]
        save_model(no_warnings(model.fit, points), path)
        found[name] = unpack(path.read_bytes())
    return found


def load_forged(document, arrays, folder):
    (folder / "m").write_bytes(b"".join(pack(document, list(arrays))))
    return load_model(folder / "m")


@pytest.mark.parametrize(
    ("name", "path", "change"),
    [
        ("must include", ("fitted", "labels_"), lambda a: a + 1),
        ("must include", ("fitted", "labels_"), lambda a: a - 1),
        ("must include", ("fitted", "labels_"), lambda a: a.astype(float)),
        ("must include", ("fitted", "labels_"), lambda a: a[:, None]),
        ("must include", ("fitted", "labels_"), lambda a: a * 0 + np.iinfo(np.int64).max),
        ("must include", ("fitted", "counts_"), lambda a: a[1:]),
        ("must include", ("fitted", "counts_"), lambda a: a - 1000),
        ("must include", ("fitted", "representatives_"), lambda a: a[:, 1:]),
        ("must include", ("fitted", "representatives_"), lambda a: a[1:]),
        ("must include", ("fitted", "candidate_indices_"), lambda a: a - 1000),
        ("must include", ("fitted", "candidate_indices_"), lambda a: a[1:]),
        ("must include", ("fitted", "representative_indices_"), lambda a: a - 1000),
        ("must include", ("fitted", "representative_sources_"), lambda a: a[1:]),
        ("must include", (*SOLUTION, "selected"), lambda a: a - 1000),
        ("must include", (*SOLUTION, "selected"), lambda a: np.tile(a, 9)),
        ("must include", (*SOLUTION, "score"), lambda a: a[1:]),
        ("must include", (*SOLUTION, "newly_covered"), lambda a: a.astype(float)),
        ("coverage", (*SOLUTION, "dual"), lambda a: a[:, None]),
        ("coverage", (*SOLUTION, "dual"), lambda a: a.astype(str)),
        ("graph", ("fitted", "representatives_"), lambda a: a + 1000),
        ("graph", ("fitted", "representatives_"), lambda a: a - 1000),
    ],
)
def test_arrays_that_no_cover_has_are_refused(name, path, change, saved, tmp_path):
    contents = saved[name]
    place = contents.document["model"]
    for key in (*path, "array"):
        place = place[key]
    arrays = list(contents.arrays)
    arrays[place] = change(arrays[place])
    with pytest.raises(ModelFileError):
        load_forged(contents.document, arrays, tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("fitted", "eps_"), 0.0, "eps_ must be a finite number above 0"),
        (("fitted", "eps_"), {"float": "inf"}, "eps_ must be a finite number above 0"),
        (("fitted", "eps_"), {"float": "nan"}, "eps_ must be a finite number above 0"),
        (("fitted", "eps_"), "auto", "eps_ must be a number"),
        (("fitted", "coverage_"), 1.5, "coverage_ must be a share from 0 to 1"),
        (("fitted", "coverage_"), {"float": "nan"}, "coverage_ must be a share"),
        (("fitted", "objective_"), "least", "objective_ must be a number"),
        (("fitted", "lower_bound_"), None, "lower_bound_ must be a number"),
        (("fitted", "labels_"), [0, 1], "labels_ must be an array"),
        ((*SOLUTION, "certificate"), "certain", "certificate"),
        ((*SOLUTION, "limit", "object", 1, "at_most"), -1, "at_most"),
        ((*SOLUTION, "price"), "dear", "price must be a number"),
        (("parameters", "memory"), "/", "arguments of BallCover"),
        (("parameters", "metric"), {"object": ["os.system", {}]}, "an object's name"),
        (("fitted", "dissimilarity_", "name"), "Function", "the name of a dissimilarity"),
        (("fitted", "n_features_in_"), 3, "do not fit the model"),
    ],
)
def test_values_that_no_cover_has_are_refused(path, value, message, saved, tmp_path):
    contents = saved["must include"]
    document = copy.deepcopy(contents.document)
    place = document["model"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ModelFileError, match=message):
        load_forged(document, contents.arrays, tmp_path)


@pytest.mark.parametrize("part", [("parameters",), ("fitted", "solution_"), ("fitted", "counts_")])
def test_a_cover_without_one_of_its_parts_is_refused(part, saved, tmp_path):
    contents = saved["sparse"]
    document = copy.deepcopy(contents.document)
    place = document["model"]
    for key in part[:-1]:
        place = place[key]
    del place[part[-1]]
    with pytest.raises(ModelFileError):
        load_forged(document, contents.arrays, tmp_path)
