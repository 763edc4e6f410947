"""The memory that a radius will take, estimated from a sample: it follows the memberships."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._exceptions import CoverMemoryWarning, warn_caller
from .._resources import available_memory, row_count, thread_count
from .._typing import Floats
from .traits import Dissimilarity

# The cover, the classes' shares of it and the worthwhile part of those, at their peak.
BYTES_PER_MEMBERSHIP = 13
# What is held beside the memberships: rows made ready, tiles of a thread.
_BYTES_PER_NUMBER = 4
_BYTES_PER_THREAD = 6e6
_SAMPLE = 512


@dataclass(frozen=True)
class Forecast:
    """The memory that building the balls and choosing from them is expected to take.

    Parameters
    ----------
    memberships : float
        Expected number of (point, candidate) pairs within eps.
    distances : ndarray
        The sampled dissimilarities behind it, sorted.
    n_pairs : int
        Number of all pairs.
    """

    memberships: float
    distances: Floats
    n_pairs: int

    @property
    def n_bytes(self) -> float:
        """Expected memory at the peak of building and selecting."""
        return self.memberships * BYTES_PER_MEMBERSHIP

    def eps_within(self, n_bytes: float) -> float:
        """Return the largest radius whose balls are expected to fit into `n_bytes`."""
        share = n_bytes / BYTES_PER_MEMBERSHIP / self.n_pairs
        last = min(int(share * len(self.distances)), len(self.distances) - 1)
        return float(self.distances[last])


def estimate_memberships(
    dissimilarity: Dissimilarity, X: Any, Z: Any, *, eps: float, rng: np.random.Generator
) -> Forecast:
    """Estimate the number of memberships from the dissimilarities of a sample of pairs."""
    n_points, n_candidates = row_count(X), row_count(Z)
    rows = rng.choice(n_points, min(_SAMPLE, n_points), replace=False)
    columns = rng.choice(n_candidates, min(_SAMPLE, n_candidates), replace=False)
    table = dissimilarity.pairwise(_safe_indexing(X, rows), _safe_indexing(Z, columns))
    distances = np.sort(table, axis=None)
    share = np.searchsorted(distances, eps) / len(distances)
    n_pairs = n_points * n_candidates
    return Forecast(share * n_pairs, distances, n_pairs)


def warn_if_too_large(
    dissimilarity: Dissimilarity, X: Any, Z: Any, *, eps: float, rng: np.random.Generator
) -> None:
    """Warn when the balls are expected not to fit into memory, and say which eps would.

    Where all pairs would fit nothing is sampled.
    """
    available = available_memory()
    n_pairs = row_count(X) * row_count(Z)
    if available is None or n_pairs * BYTES_PER_MEMBERSHIP <= available:
        return
    forecast = estimate_memberships(dissimilarity, X, Z, eps=eps, rng=rng)
    if forecast.n_bytes > available:
        warn_caller(
            f"balls of radius eps={eps:g} are expected to hold {forecast.memberships:.2g} points "
            f"in all and to need {forecast.n_bytes / 1e9:.1f} GB, but "
            f"{available / 1e9:.1f} GB are available; eps={forecast.eps_within(available):.4g} "
            "is expected to fit, as are fewer candidates",
            CoverMemoryWarning,
        )


def fixed_bytes(Z: Any, n_jobs: int | None) -> float:
    """Memory for rows made ready and for the tiles in work."""
    width = Z.shape[1] if len(getattr(Z, "shape", ())) == 2 else 0
    ready = row_count(Z) * (width + 2) * _BYTES_PER_NUMBER
    return ready + thread_count(n_jobs) * _BYTES_PER_THREAD
