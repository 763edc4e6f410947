"""Balls in the plane: what the display holds and what it puts on the axes."""

from __future__ import annotations

import numpy as np
import pytest

from paper import PAPER
from protocover import NoPrototypesError, PVMClassifier, PVMClassifierCV

plt = pytest.importorskip("matplotlib.pyplot")
plotting = pytest.importorskip("protocover.plotting")
BallsDisplay = plotting.BallsDisplay

X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [6.0, 1.0], [7.0, 1.0], [20.0, 5.0]])
Y = np.array(["a", "a", "a", "b", "b", "b"])


def fit(eps=1.5, **parameters):
    return PVMClassifier(eps=eps, prototype_cost=1.0, **{**PAPER, **parameters}).fit(X, Y)


def circles(ax):
    """Centres and radii of all circles drawn, from their outlines."""
    outlines = [path.vertices for group in ax.collections for path in group.get_paths()]
    boxes = [(outline.min(axis=0), outline.max(axis=0)) for outline in outlines]
    round_ones = [(low, high) for low, high in boxes if np.ptp(high - low) < 1e-9]
    return {
        (*np.round((low + high) / 2, 6), round((high - low)[0] / 2, 6)) for low, high in round_ones
    }


def test_it_holds_points_prototypes_and_what_is_covered():
    model = fit()
    display = BallsDisplay.from_estimator(model, X, Y)
    np.testing.assert_array_equal(display.points, X)
    np.testing.assert_array_equal(display.point_classes, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(display.prototypes, model.prototypes_)
    np.testing.assert_array_equal(display.prototype_classes, [0, 1])
    # The far point is not worth a prototype at this cost.
    np.testing.assert_array_equal(display.covered, [True] * 5 + [False])
    assert display.eps == display.circle_radius == 1.5
    assert display.regions is None


def test_balls_are_circles_in_units_of_the_data():
    display = BallsDisplay.from_estimator(fit(), X, Y)
    assert circles(display.ax_) >= {(1.0, 0.0, 1.5), (*display.prototypes[1], 1.5)}
    assert display.ax_.get_aspect() == 1.0


def test_a_squared_distance_gives_circles_of_the_root():
    display = BallsDisplay.from_estimator(fit(2.25, metric="sqeuclidean"), X, Y)
    assert display.circle_radius == 1.5


def test_other_balls_are_found_on_a_grid():
    model = fit(metric="cityblock")
    display = BallsDisplay.from_estimator(model, X, Y, resolution=50)
    assert display.circle_radius is None
    assert display.distances.shape == (2, 50, 50)
    x, y = display.plane.x[30], display.plane.y[10]
    center = display.prototypes[1]
    expected = abs(x - center[0]) + abs(y - center[1])
    assert display.distances[1, 10, 30] == pytest.approx(expected, rel=1e-6)


def test_the_rim_found_on_a_grid_is_where_the_distance_is_eps():
    display = BallsDisplay.from_estimator(fit(metric="cityblock"), X, Y, show_points=False)
    rims = [
        path.vertices
        for group in display.ax_.collections
        for path in group.get_paths()
        if group.get_facecolor().size == 0 and len(path.vertices)
    ]
    assert len(rims) == 2
    for rim, center in zip(rims, display.prototypes, strict=True):
        np.testing.assert_allclose(np.abs(rim - center).sum(axis=1), 1.5, atol=0.05)


def test_each_ball_has_its_own_radius_where_prototypes_have():
    model = fit(None, radii="adaptive")
    display = BallsDisplay.from_estimator(model, X, Y)
    assert model.prototype_radii_.min() < model.prototype_radii_.max()
    np.testing.assert_array_equal(display.radii, model.prototype_radii_)
    expected = {
        (*np.round(center, 6), round(radius, 6))
        for center, radius in zip(model.prototypes_, model.prototype_radii_, strict=True)
    }
    assert circles(display.ax_) >= expected
    squared = fit(None, radii="adaptive", metric="sqeuclidean")
    drawn = BallsDisplay.from_estimator(squared, X, Y)
    np.testing.assert_allclose(drawn.circle_radius, np.sqrt(squared.prototype_radii_))


def test_the_rim_of_a_ball_that_is_no_circle_is_at_its_own_radius():
    model = fit(None, radii="adaptive", metric="cityblock")
    display = BallsDisplay.from_estimator(model, X, Y, show_points=False)
    rims = [
        path.vertices
        for group in display.ax_.collections
        for path in group.get_paths()
        if group.get_facecolor().size == 0 and len(path.vertices)
    ]
    assert len(set(model.prototype_radii_)) == len(rims) == 2
    for rim, center, radius in zip(rims, model.prototypes_, model.prototype_radii_, strict=True):
        np.testing.assert_allclose(np.abs(rim - center).sum(axis=1), radius, atol=0.05)


@pytest.mark.parametrize("display", ["BallsDisplay", "BoundaryDisplay"])
@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_the_regions_are_those_of_the_rule_with_either_kind_of_radii(radii, display):
    model = fit(1.5 if radii == "shared" else 8.0, radii=radii)
    with_boundary = {"boundary": True} if display == "BallsDisplay" else {}
    drawn = getattr(plotting, display).from_estimator(model, X, Y, resolution=40, **with_boundary)
    away = np.linalg.norm(drawn.plane.points[:, None] - model.prototypes_, axis=2)
    if radii == "adaptive":
        away /= model.prototype_radii_
    answers = model.classes_[drawn.regions].ravel()
    np.testing.assert_array_equal(answers, model.prototype_labels_[away.argmin(axis=1)])


def test_the_boundary_is_that_of_the_classifier():
    model = fit()
    display = BallsDisplay.from_estimator(model, X, Y, boundary=True, fill=True, resolution=40)
    answers = model.classes_[display.regions].ravel()
    np.testing.assert_array_equal(answers, model.predict(display.plane.points))
    assert len(display.ax_.images) == 1


def test_uncovered_points_are_hollow():
    display = BallsDisplay.from_estimator(fit(), X, Y, show_balls=False)
    hollow = [group for group in display.ax_.collections if group.get_facecolor().size == 0]
    drawn = np.vstack([group.get_offsets() for group in hollow if len(group.get_offsets())])
    np.testing.assert_array_equal(drawn, [[20.0, 5.0]])
    assert "uncovered" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_small_multiples_share_limits_and_have_no_legends():
    _, axes = plt.subplots(1, 2)
    for eps, ax in zip((1.2, 4.0), axes, strict=True):
        assert BallsDisplay.from_estimator(fit(eps), X, Y, ax=ax).ax_ is ax
    assert axes[0].axis() == axes[1].axis()
    assert axes[0].get_legend() is None


def test_many_classes_are_named_where_they_lie():
    centers = np.array([[10.0 * (k % 6), 10.0 * (k // 6)] for k in range(26)])
    names = np.array([f"class {chr(65 + k)}" for k in range(26)])
    model = PVMClassifier(eps=1.0, **PAPER).fit(np.tile(centers, (3, 1)), np.tile(names, 3))
    display = BallsDisplay.from_estimator(model, centers, names)
    written = {text.get_text(): text.get_position() for text in display.ax_.texts}
    assert written == {name: tuple(center) for name, center in zip(names, centers, strict=True)}


def test_a_search_stands_for_its_best_model():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2)) + np.repeat([[0.0, 0.0], [4.0, 0.0]], 20, axis=0)
    labels = np.repeat([0, 1], 20)
    search = PVMClassifierCV(n_eps=4, cv=3, random_state=0, **PAPER).fit(points, labels)
    display = BallsDisplay.from_estimator(search, points, labels)
    assert display.eps == search.eps_


def test_data_that_are_not_in_the_plane_are_refused():
    model = PVMClassifier(eps=1.0, **PAPER).fit(np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="two features to be drawn in the plane, got shape"):
        BallsDisplay.from_estimator(model, np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match=r"X must have two features .* got shape \(2, 1\)"):
        BallsDisplay.from_estimator(fit(), [[1.0], [2.0]], ["a", "b"])


def test_a_model_without_prototypes_is_refused():
    model = PVMClassifier(eps=1.5, prototype_cost=50.0, **PAPER).fit(X, Y)
    with pytest.raises(NoPrototypesError, match="nothing to draw; lower prototype_cost"):
        BallsDisplay.from_estimator(model, X, Y)
    options = {"radii": "adaptive", "min_per_class": 0, "prototype_cost": 50.0}
    unlimited = PVMClassifier(eps=None, **options).fit(X, Y)
    with pytest.raises(
        NoPrototypesError,
        match=r"at prototype_cost=50, so there is nothing to draw; lower prototype_cost$",
    ):
        BallsDisplay.from_estimator(unlimited, X, Y)


def test_other_estimators_are_refused():
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(TypeError, match="PVMClassifier or PVMClassifierCV, got KNeighbors"):
        BallsDisplay.from_estimator(KNeighborsClassifier(1).fit(X, Y), X, Y)


def test_a_grid_needs_two_rows():
    with pytest.raises(ValueError, match="resolution must be an integer of at least 2, got 1"):
        BallsDisplay.from_estimator(fit(), X, Y, resolution=1)
