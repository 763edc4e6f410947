"""Colours and markers of classes, and the package without matplotlib."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

palette = pytest.importorskip("protocover.plotting._style")


def test_a_hundred_classes_can_be_told_apart():
    styles = palette.class_styles(130)
    assert len(set(styles)) == 130


def test_ten_classes_differ_in_color_and_in_marker():
    styles = palette.class_styles(10)
    assert len({style.color for style in styles}) == 10
    assert len({style.marker for style in styles}) == 10


def test_a_class_looks_the_same_among_few_and_many():
    assert palette.class_styles(3) == palette.class_styles(26)[:3]


# Machado, Oliveira and Fernandes (2009): full protanopia and deuteranopia in linear light.
BLINDNESS = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_first_colors_differ_for_the_color_blind(kind):
    from matplotlib.colors import to_rgb

    rgb = np.array([to_rgb(style.color) for style in palette.class_styles(8)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(BLINDNESS[kind]).T, 0.0, 1.0) ** (1 / 2.4)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(8, k=1)]
    assert apart.min() > 0.1


def test_a_tint_goes_from_the_color_to_white():
    assert palette.tint("#0072B2", 0.0) == "#0072b2"
    assert palette.tint("#0072B2", 1.0) == "#ffffff"


@pytest.mark.parametrize(
    ("label", "short"),
    [
        ("short", "short"),
        (7, "7"),
        ("a name of very many letters", "a name of very…letters"),
        ("two\nlines", "two lines"),
        ("$x$", r"\$x\$"),
    ],
)
def test_labels_are_shortened_to_a_line(label, short):
    assert palette.shorten(label) == short


def test_ink_can_be_read_on_its_ground():
    assert palette.readable_on("white") == "black"
    assert palette.readable_on("#0072B2") == "white"


def test_labels_that_are_no_class_are_told():
    codes = palette.encode(np.array(["b", "z", "a"]), np.array(["a", "b"]))
    np.testing.assert_array_equal(codes, [1, -1, 0])


def test_without_matplotlib_plotting_says_what_it_needs(monkeypatch):
    """That the package itself loads is seen where it loads without any optional package."""
    for name in [name for name in sys.modules if name.startswith("protocover.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError) as raised:
        importlib.import_module("protocover.plotting")
    assert str(raised.value) == (
        'protocover.plotting needs matplotlib: pip install "protocover[plot]"'
    )
