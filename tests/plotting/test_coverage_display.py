"""Coverage by class, and its confusion between classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from paper import PAPER
from protocover import NoPrototypesError, PVMClassifier, PVMClassifierCV
from protocover._prototypes.coverage import Coverage

plt = pytest.importorskip("matplotlib.pyplot")
plotting = pytest.importorskip("protocover.plotting")

# Six points of classes a, a, a, a, b, b, a seventh of an unknown class; three prototypes.
BALLS = [
    [1, 0, 0],
    [1, 1, 0],
    [0, 0, 1],
    [0, 0, 0],
    [1, 0, 1],
    [1, 0, 1],
    [1, 1, 1],
]
KNOWN = Coverage(
    balls=csr_array(np.array(BALLS, dtype=bool)),
    point_classes=np.array([0, 0, 0, 0, 1, 1, -1]),
    prototype_classes=np.array([0, 0, 1]),
    classes=np.array(["a", "b", "c"]),
)


def test_shares_split_each_class_by_whose_balls_hold_its_points():
    display = plotting.CoverageDisplay.from_coverage(KNOWN)
    np.testing.assert_array_equal(display.shares[0], [0.5, 0.0, 0.25, 0.25])
    np.testing.assert_array_equal(display.shares[1], [0.0, 1.0, 0.0, 0.0])
    assert np.isnan(display.shares[2]).all()
    np.testing.assert_array_equal(display.points, [4, 2, 0])
    np.testing.assert_array_equal(display.prototypes, [2, 1, 0])


def test_bars_are_as_long_as_the_shares():
    ax = plotting.CoverageDisplay.from_coverage(KNOWN).ax_
    widths = np.array([[bar.get_width() for bar in part] for part in ax.containers])
    np.testing.assert_array_equal(widths[:, 0], [0.5, 0.0, 0.25, 0.25])
    starts = np.array([[bar.get_x() for bar in part] for part in ax.containers])
    np.testing.assert_allclose(starts[1:], np.cumsum(widths, axis=0)[:-1])
    written = [text.get_text() for text in ax.texts]
    assert written[:3] == ["2 of 4", "1 of 2", "0 of 0"]
    hatches = {part[0].get_hatch() for part in ax.containers}
    assert len(hatches) >= 3


def test_the_confusion_counts_points_in_balls_of_each_class():
    display = plotting.CoverageConfusionDisplay.from_coverage(KNOWN)
    np.testing.assert_array_equal(display.confusion, [[2, 1, 0], [2, 2, 0], [0, 0, 0]])
    np.testing.assert_array_equal(display.uncovered, [1, 0, 0])
    cells = {text.get_position(): text.get_text() for text in display.ax_.texts}
    assert cells == {(0, 0): "2", (1, 0): "1", (3, 0): "1", (0, 1): "2", (1, 1): "2"}
    shares = display.ax_.images[0].get_array()
    np.testing.assert_allclose(shares, [[0.5, 0.25, 0, 0.25], [1, 1, 0, 0], [0, 0, 0, 0]])


def test_the_confusion_is_written_in_percent_of_a_class():
    display = plotting.CoverageConfusionDisplay.from_coverage(KNOWN, normalize="true")
    cells = {text.get_position(): text.get_text() for text in display.ax_.texts}
    assert cells[0, 0] == "50"
    assert cells[1, 0] == "25"


def test_another_normalisation_is_refused():
    with pytest.raises(ValueError, match="normalize must be 'true' or None, got 'pred'"):
        plotting.CoverageConfusionDisplay.from_coverage(KNOWN, normalize="pred")


@pytest.mark.parametrize("name", ["CoverageDisplay", "CoverageConfusionDisplay"])
def test_they_are_made_from_models_and_searches_and_draw_where_told(name):
    display = getattr(plotting, name)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + np.repeat(np.arange(3.0), 20)[:, None]
    y = np.repeat(["x", "y", "z"], 20)
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, y)
    _, ax = plt.subplots()
    drawn = display.from_estimator(model, X, y, ax=ax)
    assert drawn.ax_ is ax
    np.testing.assert_array_equal(drawn.points, [20, 20, 20])
    search = PVMClassifierCV(eps=[0.8, 1.0], cv=3, random_state=0, **PAPER).fit(X, y)
    same = display.from_estimator(search, X, y)
    np.testing.assert_array_equal(
        same.points, display.from_estimator(search.best_estimator_, X, y).points
    )
    with pytest.raises(NoPrototypesError, match="nothing to draw"):
        display.from_estimator(
            PVMClassifier(eps=1.0, prototype_cost=100.0, **PAPER).fit(X, y), X, y
        )


def test_shares_of_a_model_agree_with_its_own_counts():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 2)), rng.integers(2, size=50)
    model = PVMClassifier(eps=0.6, **PAPER).fit(X, y)
    display = plotting.CoverageDisplay.from_estimator(model, X, y)
    covered = (display.shares[:, :2].sum(axis=1) * display.points).sum()
    assert covered == pytest.approx(model.newly_covered_count_.sum())
