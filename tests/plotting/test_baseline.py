"""A few pictures against stored ones, without their letters, which differ between machines.

``python tests/plotting/test_baseline.py`` draws the stored pictures anew: look at them
before they are kept.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.fixes import parse_version

from paper import PAPER
from protocover import PVMClassifier

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")
plotting = pytest.importorskip("protocover.plotting")
text = pytest.importorskip("matplotlib.text")
compare = pytest.importorskip("matplotlib.testing.compare")

FOLDER = Path(__file__).parent / "baseline"
# Root mean square difference of pixels, of 255: markers may move by a fraction of a pixel
# between versions, while a ball of another size or a lost point gives several times as much.
TOLERANCE = 6.0


def make_plane():
    """Three classes on a spiral, all by formula."""
    turn = np.linspace(0.0, 4.0, 60)
    X = np.column_stack([turn * np.cos(2 * turn), turn * np.sin(2 * turn)])
    return X, np.arange(60) // 10 % 3


def make_bars():
    """Three kinds of tiny images: a bar from left to right, from top to bottom, and both."""
    across, down = np.zeros((6, 6)), np.zeros((6, 6))
    across[2:4], down[:, 2:4] = 1.0, 1.0
    kinds = np.array([across, down, np.maximum(across, down)]).reshape(3, 36)
    shade = np.linspace(0.5, 1.0, 8)
    X = np.vstack([kinds * amount for amount in shade])
    return X, np.tile([0, 1, 2], 8)


def draw_balls(ax):
    X, y = make_plane()
    model = PVMClassifier(eps=0.9, prototype_cost=1.0, solver="greedy", **PAPER).fit(X, y)
    plotting.BallsDisplay.from_estimator(model, X, y, boundary=True, resolution=80, ax=ax)


def draw_regions(ax):
    X, y = make_plane()
    model = PVMClassifier(eps=0.9, solver="greedy", **PAPER).fit(X, y)
    plotting.BoundaryDisplay.from_estimator(model, X, y, resolution=80, ax=ax)


def draw_map(ax):
    X, y = make_bars()
    model = PVMClassifier(eps=0.5, solver="greedy", **PAPER).fit(X, y)
    places = np.column_stack(
        [X[model.prototype_indices_].sum(axis=1), model.prototype_labels_ * 6]
    )
    plotting.PrototypeMapDisplay.from_estimator(
        model, method=places, image_shape=(6, 6), thumbnail=0.3, ax=ax
    )


def draw_coverage(ax):
    X, y = make_plane()
    model = PVMClassifier(eps=1.1, prototype_cost=4.0, solver="greedy", **PAPER).fit(X, y)
    plotting.CoverageDisplay.from_estimator(model, X, y, ax=ax)


def draw_confusion(ax):
    X, y = make_plane()
    model = PVMClassifier(eps=1.1, prototype_cost=1.0, solver="greedy", **PAPER).fit(X, y)
    plotting.CoverageConfusionDisplay.from_estimator(model, X, y, ax=ax)


PICTURES = {
    "balls": draw_balls,
    "regions": draw_regions,
    "map": draw_map,
    "coverage": draw_coverage,
    "confusion": draw_confusion,
}


def draw(name, path):
    """Draw a picture in matplotlib's own style and take all letters off it."""
    with plt.style.context(["default"]):
        figure, ax = plt.subplots(figsize=(3.0, 3.0))
        PICTURES[name](ax)
        for axes in figure.axes:
            axes.set(xticks=[], yticks=[])
            if axes.get_legend() is not None:
                axes.get_legend().remove()
        for letters in figure.findobj(text.Text):
            letters.set_visible(False)
        figure.savefig(path, dpi=60, metadata={"Software": None})
        plt.close(figure)


@pytest.mark.skipif(
    parse_version(matplotlib.__version__) < parse_version("3.11"),
    reason="the stored pictures were drawn by matplotlib 3.11, which lays axes out differently",
)
@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_stored_one(name, tmp_path):
    path = tmp_path / f"{name}.png"
    draw(name, path)
    difference = compare.compare_images(str(FOLDER / f"{name}.png"), str(path), tol=TOLERANCE)
    # compare_images leaves its picture of the difference beside the one just drawn.
    assert difference is None, difference


if __name__ == "__main__":
    plt.switch_backend("Agg")
    for name in PICTURES:
        draw(name, FOLDER / f"{name}.png")
