"""Distances to the prototypes as a transformer, for every kind of input."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import radius_neighbors_graph
from sklearn.pipeline import make_pipeline

from protocover import BallCover, PVMClassifier, PVMClassifierCV
from protocover._inspection.fitted import distance_blocks
from protocover.dissimilarity import Gower, SpectrumDistance

X, Y = load_iris(return_X_y=True)
NAMES = ["length", "width", "petal", "leaf"]


@pytest.mark.parametrize(
    "model",
    [PVMClassifier(eps=1.0), PVMClassifierCV(eps=[0.5, 1.0], cv=3), BallCover(eps=1.0)],
    ids=["classifier", "search", "cover"],
)
@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_columns_are_distances_with_names(model, package):
    frames = pytest.importorskip(package)
    frame = frames.DataFrame({name: X[:, k] for k, name in enumerate(NAMES)})
    plain = model.fit(frame, Y).transform(frame)
    chosen = getattr(model, "candidate_indices_", None)
    np.testing.assert_allclose(plain, cdist(X, X[chosen]), atol=1e-12)
    np.testing.assert_array_equal(model.fit_transform(frame, Y), plain)
    prefix = type(model).__name__.lower()
    names = [f"{prefix}{k}" for k in range(len(chosen))]
    assert model.get_feature_names_out().tolist() == names
    with config_context(transform_output=package):
        table = model.transform(frame)
    assert isinstance(table, frames.DataFrame)
    assert list(table.columns) == names
    np.testing.assert_array_equal(table.to_numpy(), plain)


def test_the_number_of_prototypes_is_an_attribute():
    for model in (PVMClassifier(eps=1.0), PVMClassifierCV(eps=[0.5, 1.0], cv=3)):
        assert not hasattr(model, "n_prototypes_")
        assert model.fit(X, Y).n_prototypes_ == len(model.prototypes_)
        assert type(model.n_prototypes_) is int


def test_output_in_frames_changes_nothing_inside():
    pytest.importorskip("pandas")
    model = PVMClassifier(eps=1.0).fit(X, Y)
    expected = [table for _, table in distance_blocks(model, X)]
    model.set_output(transform="pandas")
    assert list(model.transform(X).columns) == model.get_feature_names_out().tolist()
    for (_, table), plain in zip(distance_blocks(model, X), expected, strict=True):
        np.testing.assert_array_equal(table, plain)


def test_distances_are_features_of_a_pipeline():
    pipeline = make_pipeline(PVMClassifier(eps=1.0), LogisticRegression(max_iter=1000))
    assert pipeline.fit(X, Y).score(X, Y) > 0.9


def test_graphs_sequences_and_mixed_rows():
    graph = csr_array(radius_neighbors_graph(X, 1.03, mode="distance", include_self=True))
    model = PVMClassifier(eps=0.5, metric="precomputed").fit(graph, Y)
    D = cdist(X, X)[:, model.candidate_indices_]
    expected = np.where(D > 1.03, np.inf, D)
    np.testing.assert_allclose(model.transform(graph), expected, atol=1e-12)

    words = ["ABAB", "ABBA", "BABA", "CCDD", "CDCD", "DDCC"]
    model = PVMClassifier(metric=SpectrumDistance(2)).fit(words, [0, 0, 0, 1, 1, 1])
    assert model.transform(words).shape == (6, model.n_prototypes_)
    with pytest.raises(ValueError, match="X must hold rows of numbers, got text"):
        PVMClassifier(eps=1.0).fit(X, Y).transform(words)

    mixed = np.array([[1.0, "a"], [2.0, "a"], [8.0, "b"], [9.0, "b"]], dtype=object)
    model = PVMClassifier(metric=Gower()).fit(mixed, [0, 0, 1, 1])
    expected = Gower().fit(mixed).pairwise(mixed, mixed[model.candidate_indices_])
    np.testing.assert_array_equal(model.transform(mixed), expected)
