"""The memory that neighbourhoods will take, estimated from a sample.

It follows the number of memberships. With per-prototype radii only those memberships are kept
that may pay for a prototype; so the neighbourhoods of a few candidates are found, and what is
kept of them is scaled up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._exceptions import CoverMemoryWarning, warn_caller
from .._resources import available_memory, row_count, thread_count
from .._typing import Floats, Indices
from .ordered import BLOCK_MEMBERS, OrderedMembers, ordered_members, strip_width, upper_bytes
from .traits import Dissimilarity, traits_of

# The cover, its parts by class and the worthwhile part of those, at their peak.
BYTES_PER_MEMBERSHIP = 13
# Memory besides the memberships: prepared rows, tiles of a thread.
_BYTES_PER_NUMBER = 4
_BYTES_PER_THREAD = 6e6
_SAMPLE = 512
# Bytes of a membership that is kept and of a neighbourhood: while problems are solved, and
# before that while strips are searched.
BYTES_PER_KEPT, _BYTES_PER_BALL = 22, 170
_FOUND_PER_KEPT, _FOUND_PER_BALL = 4, 56
# Bytes of a member in a thread while members are sorted.
_BYTES_IN_STRIP, _BYTES_IN_BLOCK = 60, 60
_CANDIDATES = 128

# Takes the sampled candidates and returns a function of their members that counts how many
# neighbourhoods are kept, and how many memberships.
Keep = Callable[[Indices], Callable[[OrderedMembers], tuple[int, int]]]


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
        fraction = n_bytes / BYTES_PER_MEMBERSHIP / self.n_pairs
        last = min(int(fraction * len(self.distances)), len(self.distances) - 1)
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
    fraction = np.searchsorted(distances, eps) / len(distances)
    n_pairs = n_points * n_candidates
    return Forecast(fraction * n_pairs, distances, n_pairs)


def warn_if_too_large(
    dissimilarity: Dissimilarity, X: Any, Z: Any, *, eps: float, rng: np.random.Generator
) -> None:
    """Warn if the balls are expected not to fit into memory, and name an eps that would.

    Nothing is sampled if all pairs would fit.
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
    """Memory for prepared rows and for the tiles in work."""
    width = Z.shape[1] if len(getattr(Z, "shape", ())) == 2 else 0
    ready = row_count(Z) * (width + 2) * _BYTES_PER_NUMBER
    return ready + thread_count(n_jobs) * _BYTES_PER_THREAD


@dataclass(frozen=True)
class OwnForecast:
    """The expected cost of neighbourhoods with per-prototype radii, and of the greedy solver.

    Parameters
    ----------
    memberships : float
        Expected number of (point, candidate) pairs within the largest radius allowed.
    kept : float
        The number of them in balls that may be worth choosing.
    n_bytes : float
        Memory at the peak.
    """

    memberships: float
    kept: float
    n_bytes: float


def warn_if_own_too_large(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    keep: Keep,
    *,
    eps: float,
    rng: np.random.Generator,
    **asked: Any,
) -> None:
    """Warn if the balls are expected not to fit into memory.

    Nothing is sampled if all pairs would fit. The further arguments are those of
    :func:`measure_own`.
    """
    available, n_pairs = available_memory(), row_count(X) * row_count(Z)
    if available is None or n_pairs * BYTES_PER_KEPT <= available:
        return
    forecast = measure_own(dissimilarity, X, Z, keep, eps=eps, rng=rng, **asked)
    if forecast.n_bytes > available:
        limit = f"up to {eps:.4g}" if np.isfinite(eps) else "without a limit"
        warn_caller(
            f"per-prototype radii {limit} are expected to keep {forecast.kept:.2g} memberships "
            f"and to need {forecast.n_bytes / 1e9:.1f} GB, but {available / 1e9:.1f} GB are "
            "available; a smaller eps, fewer candidates or a higher prototype_cost need less",
            CoverMemoryWarning,
        )


def measure_own(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    keep: Keep,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    **asked: Any,
) -> OwnForecast:
    """Find the balls of a sample of candidates and scale up what they hold.

    The further arguments are those of :func:`protocover._balls.ordered_members`.
    """
    n_candidates = row_count(Z)
    chosen = np.sort(rng.choice(n_candidates, min(_CANDIDATES, n_candidates), replace=False))
    count = keep(chosen)

    def counted(members: OrderedMembers) -> tuple[int, int, int]:
        return len(members.point), *count(members)

    some = _safe_indexing(Z, chosen)
    balls = ordered_members(dissimilarity, X, some, counted, n_jobs=n_jobs, **asked)
    counts = np.sum([(0, 0, 0), *balls], axis=0) * (n_candidates / max(1, len(chosen)))
    memberships, n_balls, kept = counts.tolist()
    # Distances by matrix products are those with an index, and their pairs have bounds.
    bounded = hasattr(dissimilarity, "nearest_index")
    halved = Z is X and traits_of(dissimilarity).symmetric
    held = upper_bytes(memberships, bounded=bounded) if halved else 0.0
    strips = thread_count(n_jobs) * _strip_bytes(memberships, n_candidates)
    finding = held + strips + kept * _FOUND_PER_KEPT + n_balls * _FOUND_PER_BALL
    solving = kept * BYTES_PER_KEPT + n_balls * _BYTES_PER_BALL
    return OwnForecast(
        memberships=memberships,
        kept=kept,
        n_bytes=fixed_bytes(Z, n_jobs) + max(finding, solving),
    )


def _strip_bytes(memberships: float, n_candidates: int) -> float:
    """Memory that a thread takes to sort members."""
    of_a_ball = memberships / max(1, n_candidates)
    members = of_a_ball * min(strip_width(of_a_ball), n_candidates)
    return _BYTES_IN_STRIP * members + _BYTES_IN_BLOCK * min(BLOCK_MEMBERS, members)
