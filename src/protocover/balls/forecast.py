"""What a radius will take, memberships, memory and time, estimated from a sample.

Memory is proportional to the memberships, time to the pairs and, less, the memberships.
Both constants are measured ones; the rate of pairs is measured anew on the sample.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ..exceptions import CoverMemoryWarning, warn_caller
from ..resources import available_memory, row_count, say, thread_count, worker_map
from .build import TILE_COLUMNS, TILE_ROWS, cut_tiles, level_test
from .traits import Dissimilarity, RowSearch, traits_of

__all__ = [
    "BYTES_PER_MEMBERSHIP",
    "SECONDS_PER_MEMBERSHIP",
    "Forecast",
    "announce",
    "estimate_memberships",
    "fixed_bytes",
    "in_bytes",
    "measure_sample",
    "warn_if_too_large",
]

# The cover, the classes' shares of it and the worthwhile part of those, at their peak.
BYTES_PER_MEMBERSHIP = 13
# Packing, sharing out by class and the greedy, in seconds of processor time.
SECONDS_PER_MEMBERSHIP = 50e-9
# What is held beside the memberships: rows made ready, tiles of a thread.
_BYTES_PER_NUMBER = 4
_BYTES_PER_THREAD = 6e6
# Where trees find the members, few pairs are looked at in vain: balls are small, nearly all are
# worth looking at, and there are many steps of few members each.
_TREE_BYTES_PER_ROW = 40
_TREE_BYTES_PER_MEMBERSHIP = 4
_TREE_SECONDS_PER_ROW = 2.5e-6
_TREE_SECONDS_PER_MEMBERSHIP = 180e-9
_SAMPLE_TILES = 16
_SAMPLE = 512
_SAMPLE_ROWS = 8192
_SAMPLE_COLUMNS = 2048
_SAMPLE_SHARE = 0.02


@dataclass(frozen=True)
class Forecast:
    """What building the balls and choosing from them is expected to take.

    Parameters
    ----------
    memberships : float
        Expected number of (point, candidate) pairs within eps.
    distances : ndarray
        The sampled dissimilarities behind it, sorted, where there are any.
    n_pairs : int
        Number of all pairs.
    fixed_bytes : float, default=0
        Memory that does not depend on the memberships.
    seconds : float, default=nan
        Processor time, where it was measured.
    """

    memberships: float
    distances: NDArray[np.float64]
    n_pairs: int
    fixed_bytes: float = 0.0
    seconds: float = np.nan

    @property
    def n_bytes(self) -> float:
        """Expected memory at the peak of building and selecting."""
        return self.fixed_bytes + self.memberships * BYTES_PER_MEMBERSHIP

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
    table = dissimilarity.cross(_safe_indexing(X, rows), _safe_indexing(Z, columns))
    distances = np.sort(table, axis=None)
    share = np.searchsorted(distances, eps) / len(distances)
    n_pairs = n_points * n_candidates
    return Forecast(share * n_pairs, distances, n_pairs)


def measure_sample(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    eps: float,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Forecast:
    """Build the balls of a sample, a fiftieth of all pairs at most, and scale up what it took."""
    if isinstance(dissimilarity, RowSearch) and dissimilarity.goes_by_rows(X, Z, eps=eps):
        return _measure_rows(dissimilarity, X, Z, eps, n_jobs)
    n_points, n_candidates = row_count(X), row_count(Z)
    n_columns = min(_SAMPLE_COLUMNS, n_candidates)
    most = int(_SAMPLE_SHARE * n_points * n_candidates / n_columns)
    n_rows = min(n_points, max(64, min(_SAMPLE_ROWS, most)))
    rows = np.sort(rng.choice(n_points, n_rows, replace=False))
    columns = np.sort(rng.choice(n_candidates, n_columns, replace=False))
    found, seconds = _try_out(
        dissimilarity, _safe_indexing(X, rows), _safe_indexing(Z, columns), eps, n_jobs
    )
    # A point is in its own ball for sure; only the other pairs are a sample.
    own = n_points if Z is X else 0
    known = len(np.intersect1d(rows, columns)) if Z is X else 0
    n_pairs, sampled = n_points * n_candidates, n_rows * n_columns
    share = max(0, found - known) / max(1, sampled - known)
    memberships = own + share * (n_pairs - own)
    half = 0.5 if Z is X and traits_of(dissimilarity).symmetric else 1.0
    return Forecast(
        memberships=memberships,
        distances=np.empty(0),
        n_pairs=n_pairs,
        fixed_bytes=fixed_bytes(Z, n_jobs),
        seconds=seconds / sampled * n_pairs * half + memberships * SECONDS_PER_MEMBERSHIP,
    )


def announce(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    eps: float,
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: int,
) -> None:
    """Say, when `verbose` is above 0, what building balls and the greedy will take."""
    if verbose <= 0:
        return
    estimate = measure_sample(dissimilarity, X, Z, eps=eps, rng=rng, n_jobs=n_jobs)
    say(
        f"balls of radius {eps:.4g}: {row_count(X)} points x {row_count(Z)} candidates, about "
        f"{estimate.memberships:.2g} memberships "
        f"({estimate.memberships / row_count(Z):.3g} per ball), "
        f"{in_bytes(estimate.n_bytes)} and {estimate.seconds:.2g} s of processor time "
        f"on {thread_count(n_jobs)} threads",
        verbose,
    )


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


def _measure_rows(
    dissimilarity: Dissimilarity, X: Any, Z: Any, eps: float, n_jobs: int | None
) -> Forecast:
    """Build the balls of some rows in full, here and there, and scale up what it took."""
    start = time.process_time()
    test = level_test(dissimilarity, X, Z, radii=np.array([eps]), closed=False)
    shape = getattr(test, "tile", (TILE_ROWS, TILE_COLUMNS))
    tiles = cut_tiles(row_count(X), row_count(Z), shape, symmetric=False)
    some = np.unique(np.linspace(0, len(tiles) - 1, _SAMPLE_TILES).astype(np.intp))
    ready = time.process_time()
    found = sum(len(test(*tiles[k])[0]) for k in some)
    share, seconds = len(some) / len(tiles), time.process_time() - ready
    n_rows, memberships = row_count(X), found / share
    halved = Z is X and traits_of(dissimilarity).symmetric
    in_trees = n_rows if halved else n_rows + row_count(Z)
    return Forecast(
        memberships=memberships,
        distances=np.empty(0),
        n_pairs=n_rows * row_count(Z),
        fixed_bytes=fixed_bytes(Z, n_jobs)
        + in_trees * (_TREE_BYTES_PER_ROW + 8 * X.shape[1])
        + memberships * _TREE_BYTES_PER_MEMBERSHIP,
        seconds=ready
        - start
        + seconds / share * (0.5 if halved else 1.0)
        + n_rows * _TREE_SECONDS_PER_ROW
        + memberships * _TREE_SECONDS_PER_MEMBERSHIP,
    )


def _try_out(
    dissimilarity: Dissimilarity, X: Any, Z: Any, eps: float, n_jobs: int | None
) -> tuple[int, float]:
    """Count the members among all pairs of a sample, and the processor time it takes."""
    test = level_test(dissimilarity, X, Z, radii=np.array([eps]), closed=False)
    shape = getattr(test, "tile", (TILE_ROWS, TILE_COLUMNS))
    tiles = cut_tiles(row_count(X), row_count(Z), shape, symmetric=False)
    with worker_map(n_jobs, thread_safe=traits_of(dissimilarity).thread_safe) as run:
        start = time.process_time()
        found = sum(run(lambda tile: len(test(*tile)[0]), tiles))
        return found, time.process_time() - start


def fixed_bytes(Z: Any, n_jobs: int | None) -> float:
    """Memory for rows made ready and for the tiles in work."""
    width = Z.shape[1] if len(getattr(Z, "shape", ())) == 2 else 0
    ready = row_count(Z) * (width + 2) * _BYTES_PER_NUMBER
    return ready + thread_count(n_jobs) * _BYTES_PER_THREAD


def in_bytes(n_bytes: float) -> str:
    """Write a number of bytes in the unit that suits it."""
    return f"{n_bytes / 1e9:.2g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.2g} MB"
