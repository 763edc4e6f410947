"""The Gaussian kernel, as wide as the points are apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def gaussian_kernel(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(-d^2 / (2 s^2)), s the median distance of two different points."""
    apart = distances[distances > 0.0]
    width = float(np.median(apart)) if len(apart) else 1.0
    return np.exp(-0.5 * (distances / width) ** 2)
