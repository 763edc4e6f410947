"""Tell which linear algebra kernel is in use, and a digest of tangent distances computed with it.

Run as a script by `test_tangent`, in a process of its own for each kernel.
"""

from __future__ import annotations

import sys
from hashlib import sha256

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info

from protocover.dissimilarity.tangent import TangentDistance


def kernels() -> str:
    """Name the kernels of all linear algebra libraries that have names for them."""
    return ", ".join(info["architecture"] for info in threadpool_info() if "architecture" in info)


def digest(**parameters: object) -> str:
    """Digest the distances of some digits, far from and very close to one another."""
    X = load_digits().data[:220] / 16.0
    near = X[:40] + 1e-6 * X[40:80]
    distance = TangentDistance((8, 8), **parameters).fit(X)
    content = sha256(distance.cross(X, np.vstack((X, near))).astype("<f8").tobytes())
    return content.hexdigest()[:16]


SETTINGS = (
    {},
    {"spring": 0.0},
    {"sides": "point"},
    {"pad": 0, "smoothing": 0.0, "derivative": 0.0, "spring": 0.005},
)

if __name__ == "__main__":
    digests = " ".join(digest(**setting) for setting in SETTINGS)
    sys.stdout.write(f"{kernels()}\n{digests}\n")
