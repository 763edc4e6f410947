"""Boundaries of any classifier in the plane."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from paper import PAPER
from protocover import PVMClassifier

plt = pytest.importorskip("matplotlib.pyplot")
BoundaryDisplay = pytest.importorskip("protocover.plotting").BoundaryDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(60, 2))
Y = np.where(X[:, 0] > 0.2, "right", "left")


def right_of(points):
    return np.where(points[:, 0] > 0.2, "right", "left")


RIGHT_OF = SimpleNamespace(predict=right_of)


def boundary_lines(ax):
    """All lines of contours on the axes."""
    return np.vstack(
        [
            path.vertices
            for group in ax.collections
            for path in group.get_paths()
            if group.get_facecolor().size == 0 and len(path.vertices) > 10
        ]
    )


def test_the_boundary_of_a_rule_is_drawn_where_the_rule_changes():
    display = BoundaryDisplay.from_estimator(RIGHT_OF, X, Y, resolution=201)
    step = display.plane.x[1] - display.plane.x[0]
    lines = boundary_lines(display.ax_)
    np.testing.assert_allclose(lines[:, 0], 0.2, atol=step)
    assert np.ptp(lines[:, 1]) == pytest.approx(np.ptp(display.plane.y))


def test_regions_hold_the_answers_on_the_grid():
    model = KNeighborsClassifier(3).fit(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y, resolution=30)
    answers = display.classes[display.regions].ravel()
    np.testing.assert_array_equal(answers, model.predict(display.plane.points))
    assert display.prototypes is None


def test_our_models_bring_their_prototypes():
    model = PVMClassifier(eps=0.4, **PAPER).fit(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y, resolution=30)
    np.testing.assert_array_equal(display.prototypes, model.prototypes_)
    np.testing.assert_array_equal(
        display.classes[display.prototype_classes], model.prototype_labels_
    )
    answers = display.classes[display.regions].ravel()
    np.testing.assert_array_equal(answers, model.predict(display.plane.points))


def test_classes_keep_their_colors_where_one_has_no_points():
    model = PVMClassifier(eps=0.4, **PAPER).fit(X, Y)
    part = Y == "right"
    display = BoundaryDisplay.from_estimator(model, X[part], Y[part], resolution=20)
    np.testing.assert_array_equal(display.classes, ["left", "right"])
    assert (display.point_classes == 1).all()


def test_an_answer_that_is_no_class_has_no_region():
    display = BoundaryDisplay.from_estimator(
        SimpleNamespace(predict=lambda points: np.full(len(points), "outlier")),
        X,
        Y,
        resolution=10,
    )
    assert (display.regions == -1).all()


def test_a_second_boundary_may_lie_over_the_first():
    _, ax = plt.subplots()
    BoundaryDisplay.from_estimator(
        RIGHT_OF, X, Y, ax=ax, fill=False, show_points=False, color="0.6"
    )
    before = len(ax.collections)
    display = BoundaryDisplay.from_estimator(
        PVMClassifier(eps=0.4, **PAPER).fit(X, Y), X, Y, ax=ax, fill=False, show_prototypes=False
    )
    assert display.ax_ is ax
    assert not ax.images
    assert len(ax.collections) > before > 0


def test_a_rule_that_does_not_answer_point_by_point_is_refused():
    with pytest.raises(ValueError, match="one label for each of 100 points, got shape"):
        BoundaryDisplay.from_estimator(
            SimpleNamespace(predict=lambda points: np.zeros(3)), X, Y, resolution=10
        )


def test_points_that_are_not_in_the_plane_are_refused():
    with pytest.raises(ValueError, match=r"X must have two features .* got shape \(60, 3\)"):
        BoundaryDisplay.from_estimator(RIGHT_OF, np.zeros((60, 3)), Y)


def test_each_point_needs_a_label():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BoundaryDisplay.from_estimator(RIGHT_OF, X, Y[:5])


def test_an_estimator_without_predict_is_refused():
    with pytest.raises(TypeError, match="estimator must be a fitted classifier with a predict"):
        BoundaryDisplay.from_estimator(right_of, X, Y)
