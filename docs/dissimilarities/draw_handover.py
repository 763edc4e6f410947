"""Draw the picture of handover.md: time series and their prototypes under warping."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from time_series import SHAPES, fit_function, make_series


def main():
    """Draw the series of each shape, and over them the prototypes chosen."""
    series, shape = make_series()
    model = fit_function(series, shape, eps=7.5)
    figure, axes = plt.subplots(1, 3, figsize=(7.0, 2.3), sharey=True, layout="constrained")
    for ax, name in zip(axes, SHAPES, strict=True):
        for values, other in zip(series, shape, strict=True):
            if other == name:
                ax.plot(values, color="0.8", linewidth=0.6)
        for index, label in zip(model.prototype_indices_, model.prototype_labels_, strict=True):
            if label == name:
                ax.plot(series[index], linewidth=1.5)
        ax.set(title=name, xlabel="time")
    figure.savefig(Path(__file__).with_name("handover.png"), dpi=75)


if __name__ == "__main__":
    main()
