"""Displays of a cover: the same as of prototypes, without classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protocover import BallCover
from protocover.plotting import (
    BallsDisplay,
    BoundaryDisplay,
    PrototypeGalleryDisplay,
    PrototypeMapDisplay,
)

X = load_iris().data[:, 2:]
DIGITS = load_digits().data[:300]


def test_balls_of_a_cover_are_drawn_without_labels():
    cover = BallCover(eps=0.6, max_representatives=5).fit(X)
    display = BallsDisplay.from_estimator(cover, X)
    assert display.circle_radius == 0.6
    assert np.array_equal(display.covered, cover.labels_ >= 0)
    assert np.array_equal(display.prototypes, cover.representatives_)


def test_a_gallery_tells_how_many_each_stands_for():
    cover = BallCover(max_representatives=12).fit(DIGITS)
    display = PrototypeGalleryDisplay.from_estimator(cover, image_shape=(8, 8))
    assert [text.get_text() for text in display.ax_.texts] == [str(n) for n in cover.counts_]


def test_a_map_names_the_rows_and_has_no_legend_of_classes():
    model = make_pipeline(StandardScaler(), BallCover(max_representatives=6)).fit(X)
    display = PrototypeMapDisplay.from_estimator(model)
    rows = model[-1].representative_indices_
    assert list(display.names) == [f"row {row}" for row in rows]
    assert display.ax_.get_legend() is None
    named = PrototypeMapDisplay.from_estimator(model, names=list("abcdef"))
    assert list(named.names) == list("abcdef")


def test_a_boundary_needs_classes():
    with pytest.raises(TypeError, match=r"must be a fitted classifier .*, got BallCover"):
        BoundaryDisplay.from_estimator(BallCover(eps=0.6).fit(X), X, np.zeros(len(X)))
