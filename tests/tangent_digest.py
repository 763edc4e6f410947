"""Digests of tangent distances, which are the same on every machine."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from sklearn.datasets import load_digits

from protocover.dissimilarity._tangent import TangentDistance


def digest(**parameters: object) -> str:
    """Digest the distances of some digits, far from and very close to one another."""
    X = load_digits().data[:220] / 16.0
    near = X[:40] + 1e-6 * X[40:80]
    distance = TangentDistance((8, 8), **parameters).fit(X)
    content = sha256(distance.pairwise(X, np.vstack((X, near))).astype("<f8").tobytes())
    return content.hexdigest()[:16]


SETTINGS = (
    {},
    {"spring": 0.0},
    {"sides": "point"},
    {"pad": 0, "smoothing": 0.0, "derivative": 0.0, "spring": 0.005},
)
