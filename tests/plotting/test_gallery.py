import numpy as np
import pytest
from sklearn.datasets import load_digits

from protocover import PVMClassifier

pytest.importorskip("matplotlib").use("Agg")
PrototypeGalleryDisplay = pytest.importorskip("protocover.plotting").PrototypeGalleryDisplay

X, Y = load_digits(return_X_y=True)


def test_it_shows_the_first_prototypes_with_their_counts():
    model = PVMClassifier(25.0).fit(X[:300], Y[:300])
    display = PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 8), n_prototypes=12)
    np.testing.assert_array_equal(display.images[3].ravel(), model.prototypes_[3])
    captions = [text.get_text() for text in display.ax_.texts]
    assert len(captions) == len(display.ax_.images) == 12
    covered, wrong = model.prototype_covered_[0], model.prototype_miscovered_[0]
    assert captions[0] == f"{model.prototype_labels_[0]}: {covered} ({wrong})"


def test_it_draws_where_it_is_told():
    from matplotlib import pyplot as plt

    model = PVMClassifier(25.0, n_prototypes=3).fit(X[:300], Y[:300])
    _, ax = plt.subplots()
    display = PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 8), ax=ax)
    assert display.ax_ is ax


def test_a_shape_that_does_not_multiply_out_is_refused():
    model = PVMClassifier(25.0).fit(X[:300], Y[:300])
    with pytest.raises(ValueError, match="does not multiply out to the 64 features"):
        PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 7))
