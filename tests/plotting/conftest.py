"""Figures are drawn without a screen and closed after each test."""

from __future__ import annotations

import pytest

plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
plt.switch_backend("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")
