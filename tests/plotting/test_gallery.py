import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from paper import PAPER
from protocover import NoPrototypesError, PVMClassifier, PVMClassifierCV

plt = pytest.importorskip("matplotlib.pyplot")
PrototypeGalleryDisplay = pytest.importorskip("protocover.plotting").PrototypeGalleryDisplay

X, Y = load_digits(return_X_y=True)


def test_it_shows_the_first_prototypes_with_their_counts():
    model = PVMClassifier(eps=25.0, **PAPER).fit(X[:300], Y[:300])
    display = PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 8), max_prototypes=12)
    np.testing.assert_array_equal(display.images[3].ravel(), model.prototypes_[3])
    captions = [text.get_text() for text in display.ax_.texts]
    assert len(captions) == len(display.ax_.images) == 12
    covered, wrong = model.newly_covered_count_[0], model.miscovered_count_[0]
    assert captions[0] == f"{model.prototype_labels_[0]}: {covered} ({wrong})"


def test_it_draws_where_it_is_told():
    model = PVMClassifier(eps=25.0, max_prototypes=3, **PAPER).fit(X[:300], Y[:300])
    _, ax = plt.subplots()
    display = PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 8), ax=ax)
    assert display.ax_ is ax


def test_a_shape_that_does_not_multiply_out_is_refused():
    model = PVMClassifier(eps=25.0, **PAPER).fit(X[:300], Y[:300])
    with pytest.raises(ValueError, match="does not multiply out to the 64 features"):
        PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 7))


def test_without_a_shape_the_way_out_is_told():
    model = PVMClassifier(eps=25.0, **PAPER).fit(X[:300], Y[:300])
    with pytest.raises(ValueError, match="use PrototypeTableDisplay for rows of a table"):
        PrototypeGalleryDisplay.from_estimator(model)


def test_images_may_be_handed_over_where_prototypes_are_none():
    D = cdist(X[:300], X[:300])
    model = PVMClassifier(eps=25.0, metric="precomputed", max_prototypes=4, **PAPER).fit(
        D, Y[:300]
    )
    color = np.repeat(X[:300].reshape(-1, 8, 8, 1) / 16, 3, axis=3)
    display = PrototypeGalleryDisplay.from_estimator(model, images=color[model.prototype_indices_])
    np.testing.assert_array_equal(display.images, color[model.prototype_indices_])
    assert len(display.ax_.images) == 4
    with pytest.raises(ValueError, match="images must be 4 images, one for each prototype"):
        PrototypeGalleryDisplay.from_estimator(model, images=color[:2])


def test_floats_to_255_are_colors_too():
    rows = np.linspace(0.0, 255.0, 4 * 12).reshape(4, 12)
    model = PVMClassifier(eps=10.0, **PAPER).fit(rows, [0, 0, 1, 1])
    display = PrototypeGalleryDisplay.from_estimator(model, image_shape=(2, 2, 3))
    drawn = display.ax_.images[0].get_array()
    np.testing.assert_allclose(np.ravel(drawn), np.ravel(display.images[0]) / 255.0)


def test_long_labels_stand_on_a_line_of_their_own():
    names = np.array([f"the number {k} itself" for k in range(10)])
    model = PVMClassifier(eps=25.0, max_prototypes=3, **PAPER).fit(X[:300], names[Y[:300]])
    display = PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 8))
    captions = [text.get_text() for text in display.ax_.texts]
    labels, counts = zip(*(caption.split("\n") for caption in captions), strict=True)
    assert all(label.startswith("the numb…") for label in labels)
    assert counts[0] == f"{model.newly_covered_count_[0]} ({model.miscovered_count_[0]})"


def test_any_images_may_be_shown_with_labels_alone():
    display = PrototypeGalleryDisplay(X[:5].reshape(-1, 8, 8), labels=Y[:5]).plot(n_columns=2)
    assert [text.get_text() for text in display.ax_.texts] == [str(label) for label in Y[:5]]


def test_a_search_stands_for_its_best_model():
    search = PVMClassifierCV(eps=[24.0, 26.0], cv=2, random_state=0, **PAPER).fit(X[:200], Y[:200])
    display = PrototypeGalleryDisplay.from_estimator(search, image_shape=(8, 8))
    np.testing.assert_array_equal(display.labels, search.best_estimator_.prototype_labels_)


def test_a_model_without_prototypes_is_refused():
    model = PVMClassifier(eps=25.0, prototype_cost=1e6, **PAPER).fit(X[:300], Y[:300])
    with pytest.raises(NoPrototypesError, match="nothing to draw"):
        PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 8))
