"""The map of prototypes, and the boxes on it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import naive
from paper import PAPER
from protocover import PVMClassifier
from protocover._maps import classical_scaling, sammon_map
from protocover.dissimilarity import RankDissimilarity

plt = pytest.importorskip("matplotlib.pyplot")
PrototypeMapDisplay = pytest.importorskip("protocover.plotting").PrototypeMapDisplay
arrange = pytest.importorskip("protocover.plotting._map").arrange

X, Y = load_digits(return_X_y=True)
X, Y = X[:400], Y[:400]


@pytest.fixture(scope="module")
def model():
    return PVMClassifier(eps=25.0, **PAPER).fit(X, Y)


def test_sammons_map_is_that_of_the_distances_between_prototypes(model):
    display = PrototypeMapDisplay.from_estimator(model, max_prototypes=20)
    D = cdist(model.prototypes_[:20], model.prototypes_[:20])
    np.testing.assert_allclose(display.coordinates, sammon_map(D).coordinates, atol=1e-6)
    assert display.stress == pytest.approx(naive.sammon_stress(D, display.coordinates))
    assert display.ax_.get_title() == f"Sammon's mapping, stress {display.stress:.2g}"


def test_classical_scaling_has_its_stress_told_too(model):
    display = PrototypeMapDisplay.from_estimator(model, max_prototypes=20, method="mds")
    D = cdist(model.prototypes_[:20], model.prototypes_[:20])
    np.testing.assert_allclose(display.coordinates, classical_scaling(D), atol=1e-6)
    assert display.stress == pytest.approx(naive.sammon_stress(D, display.coordinates))
    assert display.ax_.get_title().startswith("classical scaling")


def test_places_of_ones_own_are_kept(model):
    places = np.arange(20.0).reshape(10, 2)
    display = PrototypeMapDisplay.from_estimator(model, max_prototypes=10, method=places)
    np.testing.assert_array_equal(display.coordinates, places)
    assert display.method == "given"


def test_images_stand_at_their_places_and_none_hides_another(model):
    display = PrototypeMapDisplay.from_estimator(model, max_prototypes=40, image_shape=(8, 8))
    np.testing.assert_array_equal(display.images[3].ravel(), model.prototypes_[3])
    shown = [image.get_extent() for image in display.ax_.images]
    assert len(shown) == display.shown_.sum() > 30
    for i, a in enumerate(shown):
        for b in shown[:i]:
            width = min(a[1], b[1]) - max(a[0], b[0])
            height = min(a[3], b[3]) - max(a[2], b[2])
            assert min(width / (a[1] - a[0]), height / (a[3] - a[2])) < 0.06


def test_more_than_eight_classes_are_named_on_the_images(model):
    display = PrototypeMapDisplay.from_estimator(model, max_prototypes=12, image_shape=(8, 8))
    written = [text.get_text() for text in display.ax_.texts]
    assert written == [str(label) for label in model.prototype_labels_[:12]]


def test_without_images_the_classes_or_given_names_are_written(model):
    plain = PrototypeMapDisplay.from_estimator(model, max_prototypes=5)
    written = {text.get_text() for text in plain.ax_.texts}
    assert written == set(map(str, model.prototype_labels_[:5]))
    named = PrototypeMapDisplay.from_estimator(
        model, max_prototypes=3, names=["first", "second one of a very long name", "$third_$"]
    )
    written = [text.get_text() for text in named.ax_.texts]
    assert written == ["first", "second one of a…ong name", r"\$third_\$"]
    named.figure_.draw_without_rendering()


def test_precomputed_dissimilarities_are_handed_over():
    D = cdist(X, X)
    table = PVMClassifier(eps=25.0, metric="precomputed", **PAPER).fit(D, Y)
    with pytest.raises(ValueError, match="dissimilarities between the prototypes must be passed"):
        PrototypeMapDisplay.from_estimator(table)
    between = D[np.ix_(table.prototype_indices_, table.candidate_indices_)]
    display = PrototypeMapDisplay.from_estimator(
        table,
        dissimilarities=between,
        max_prototypes=15,
        images=X.reshape(-1, 8, 8)[table.prototype_indices_],
    )
    plain = PrototypeMapDisplay.from_estimator(
        PVMClassifier(eps=25.0, **PAPER).fit(X, Y), max_prototypes=15
    )
    assert display.stress == pytest.approx(plain.stress, rel=1e-4)
    with pytest.raises(ValueError, match="prototypes are not rows of features; pass images"):
        PrototypeMapDisplay.from_estimator(table, dissimilarities=between, image_shape=(8, 8))


def test_of_an_asymmetric_dissimilarity_the_means_are_mapped():
    ranked = PVMClassifier(eps=20.0, metric=RankDissimilarity("euclidean"), **PAPER).fit(X, Y)
    display = PrototypeMapDisplay.from_estimator(ranked, max_prototypes=12, method="mds")
    D = ranked.transform(ranked.prototypes_[:12])[:, :12]
    assert np.abs(D - D.T).max() > 0
    D = (D + D.T) / 2 * (1 - np.eye(12))
    np.testing.assert_allclose(display.coordinates, classical_scaling(D), atol=1e-8)


@pytest.mark.parametrize("n_prototypes", [1, 2, 3])
def test_very_few_prototypes_have_a_map(model, n_prototypes):
    display = PrototypeMapDisplay.from_estimator(
        model, max_prototypes=n_prototypes, image_shape=(8, 8)
    )
    assert display.shown_.all()
    assert display.stress == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "tsne"}, "method must be 'sammon', 'mds' or coordinates, got 'tsne'"),
        ({"method": np.zeros((3, 2))}, r"two coordinates for each of 5 prototypes, got shape"),
        ({"image_shape": (8, 9)}, r"image_shape \(8, 9\) does not multiply out to the 64"),
        ({"image_shape": (64,)}, r"image_shape must be \(height, width\)"),
        ({"images": np.zeros((2, 8, 8))}, "images must be 5 images, one for each prototype"),
        ({"dissimilarities": np.zeros((2, 2))}, "a matrix between the 5 prototypes, got shape"),
    ],
)
def test_what_does_not_fit_is_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        PrototypeMapDisplay.from_estimator(model, max_prototypes=5, **options)


@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=25),
    st.integers(1, 4),
)
def test_boxes_shown_do_not_overlap_and_stay_inside(spots, width):
    centers = np.array(spots, dtype=float)
    sizes = np.tile([float(width), 1.0], (len(centers), 1))
    places, shown = arrange(centers, sizes, (-2.0, 12.0, -2.0, 12.0), furthest=3.0)
    assert shown[0]
    assert (np.abs(places - centers) <= 3.0 + 1e-9).all()
    assert (places - sizes / 2 >= -2.0 - 1e-9).all()
    assert (places + sizes / 2 <= 12.0 + 1e-9).all()
    kept = np.flatnonzero(shown)
    for i in kept:
        for j in kept[kept < i]:
            gap = np.abs(places[i] - places[j]) - sizes[i]
            assert (gap >= -0.05 * sizes[i] - 1e-9).any()


def test_boxes_with_room_stay_where_they_are_and_others_give_way():
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 0.1]])
    places, shown = arrange(centers, np.ones((3, 2)), (-20.0, 20.0, -20.0, 20.0), furthest=5.0)
    np.testing.assert_array_equal(places[0], centers[0])
    assert shown.all()
    assert (places[2] - places[1])[1] == pytest.approx(1.0, abs=1e-3)


def test_boxes_without_room_are_left_out_the_later_first():
    centers = np.zeros((5, 2))
    _, shown = arrange(centers, np.ones((5, 2)), (-5.0, 5.0, -5.0, 5.0), furthest=0.0)
    np.testing.assert_array_equal(shown, [True, False, False, False, False])
