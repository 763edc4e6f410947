"""Small tables and folders of images for the commands to read."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from protocover._cli import main

pytest.importorskip("PIL", reason="pillow, an optional package, is not installed")
pytest.importorskip("pyarrow", reason="pyarrow, an optional package, is not installed")


@pytest.fixture(autouse=True)
def inside_a_fresh_folder(tmp_path, monkeypatch):
    """Commands write beside where they are called."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def flowers():
    """Thirty rows of two numbers in two classes that are easy to tell apart."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["lily", "rose"], 15)
    return pd.DataFrame(
        {
            "length": rng.normal(0, 1, 30).round(3) + 6 * (kind == "rose"),
            "width": rng.normal(0, 100, 30).round(1),
            "kind": kind,
        }
    )


@pytest.fixture
def patients():
    """Forty rows of a mixed table: numbers, text, booleans, dates, some missing."""
    rng = np.random.default_rng(1)
    ill = np.repeat(["no", "yes"], 20)
    table = pd.DataFrame(
        {
            "patient": [f"P{k:03d}" for k in rng.permutation(40)],
            "age": rng.integers(20, 40, 40) + 30 * (ill == "yes"),
            "sex": rng.choice(["f", "m"], 40),
            "smoker": rng.choice(["true", "false"], 40),
            "seen": pd.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d"),
            "grade": rng.choice(["low", "middle", "high"], 40),
            "ill": np.where(ill == "yes", "ill", "well"),
        }
    )
    table["age"] = table["age"].astype(object)
    table.loc[[2, 30], "age"] = None
    return table


@pytest.fixture
def fit():
    """Run ``protocover fit`` in little time and return the exit code."""

    def run(data, *options):
        return main(["fit", str(data), "--grid", "4", "--cv", "3", *map(str, options)])

    return run


@pytest.fixture
def save_images():
    """Write grey squares, light in one class and dark in the other, one folder a class."""
    from PIL import Image

    def save(folder, n=6, size=(8, 8), mode="L"):
        rng = np.random.default_rng(2)
        for label, level in (("light", 200), ("dark", 40)):
            os.makedirs(folder / label)
            for k in range(n):
                pixels = (level + rng.integers(-20, 20, (size[1], size[0]))).astype(np.uint8)
                Image.fromarray(pixels).convert(mode).save(folder / label / f"{k}.png")
        return folder

    return save
