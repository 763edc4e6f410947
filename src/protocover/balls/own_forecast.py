"""What radii of their own will take, memory and time, estimated from some of the balls.

How many memberships are kept depends on the classes: beyond the last ball that can pay for
itself nothing is. So the balls of a few candidates are found and what is kept of them, and
what it took, is scaled up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ..exceptions import CoverMemoryWarning, warn_caller
from ..resources import available_memory, row_count, say, thread_count
from .forecast import fixed_bytes, in_bytes
from .halves import half_bytes
from .ordered import BLOCK_MEMBERS, MOST_COLUMNS, STRIP_MEMBERS, OrderedMembers, ordered_members
from .traits import Dissimilarity, DistanceSearch, Indices, map_if_faster, traits_of

__all__ = ["BYTES_PER_KEPT", "OwnForecast", "foretell_own", "measure_own"]

# What a membership that is kept and what a ball take where problems are written down and
# solved, and before that where strips have found them.
BYTES_PER_KEPT, _BYTES_PER_BALL = 22, 170
_FOUND_PER_KEPT, _FOUND_PER_BALL = 4, 56
# What a member takes in a thread while it is put in order and walked along.
_BYTES_IN_STRIP, _BYTES_IN_BLOCK = 60, 60
# The greedy, in seconds of processor time.
_SECONDS_PER_KEPT = 100e-9
_SAMPLE = 64

# Tells of some members how many balls of theirs are kept, and how many memberships.
Keep = Callable[[OrderedMembers], tuple[int, int]]


@dataclass(frozen=True)
class OwnForecast:
    """What finding the balls with radii of their own, and the greedy, is expected to take.

    Parameters
    ----------
    memberships : float
        Expected number of (point, candidate) pairs within the largest radius allowed.
    kept : float
        Of these, those in balls that may be worth choosing.
    n_bytes : float
        Memory at the peak.
    seconds : float
        Processor time.
    """

    memberships: float
    kept: float
    n_bytes: float
    seconds: float


def foretell_own(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    keep: Keep,
    *,
    eps: float,
    closed: bool,
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: int,
) -> None:
    """Say what it will take when `verbose` is above 0, and warn where it will not fit.

    Where all pairs would fit and nothing is to be said, nothing is sampled.
    """
    available, n_pairs = available_memory(), row_count(X) * row_count(Z)
    fits = available is None or n_pairs * BYTES_PER_KEPT <= available
    if fits and verbose <= 0:
        return
    forecast = measure_own(
        dissimilarity, X, Z, keep, eps=eps, closed=closed, rng=rng, n_jobs=n_jobs
    )
    limit = f"up to {eps:.4g}" if np.isfinite(eps) else "without a limit"
    say(
        f"radii of their own, {limit}: {row_count(X)} points x {row_count(Z)} candidates, about "
        f"{forecast.memberships:.2g} memberships of which {forecast.kept:.2g} are kept, "
        f"{in_bytes(forecast.n_bytes)} and {forecast.seconds:.2g} s of processor time on "
        f"{thread_count(n_jobs)} threads",
        verbose,
    )
    if available is not None and forecast.n_bytes > available:
        warn_caller(
            f"radii of their own, {limit}, are expected to keep {forecast.kept:.2g} memberships "
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
    eps: float,
    closed: bool,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> OwnForecast:
    """Find the balls of a sample of candidates and scale up what it took."""

    def count(some: Indices) -> tuple[Any, float]:
        start = time.process_time()
        balls = ordered_members(
            dissimilarity,
            X,
            _safe_indexing(Z, np.sort(some)),
            lambda members: (len(members.point), *keep(members)),
            eps=eps,
            closed=closed,
            n_jobs=n_jobs,
        )
        return np.sum([(0, 0, 0), *balls], axis=0), time.process_time() - start

    n_candidates = row_count(Z)
    chosen = rng.choice(n_candidates, min(2 * _SAMPLE, n_candidates), replace=False)
    # What the second half of the sample adds is the time without making points ready.
    first = len(chosen) // 2
    _, before = count(chosen[:first])
    counts, seconds = count(chosen)
    memberships, n_balls, kept = (counts * (n_candidates / max(1, len(chosen)))).tolist()
    each = max(0.0, seconds - before) / max(1, len(chosen) - first)
    halves = Z is X and traits_of(dissimilarity).symmetric
    quick = isinstance(map_if_faster(dissimilarity, X, Z)[0], DistanceSearch)
    held = half_bytes(memberships, quick=quick) * halves
    strips = thread_count(n_jobs) * _strip_bytes(memberships, n_candidates)
    finding = held + strips + kept * _FOUND_PER_KEPT + n_balls * _FOUND_PER_BALL
    solving = kept * BYTES_PER_KEPT + n_balls * _BYTES_PER_BALL
    return OwnForecast(
        memberships=memberships,
        kept=kept,
        n_bytes=fixed_bytes(Z, n_jobs) + max(finding, solving),
        seconds=seconds + each * (n_candidates - len(chosen)) + kept * _SECONDS_PER_KEPT,
    )


def _strip_bytes(memberships: float, n_candidates: int) -> float:
    """Memory that a thread takes to put members in order and walk along them."""
    widest = memberships / n_candidates * min(MOST_COLUMNS, n_candidates)
    return _BYTES_IN_STRIP * min(STRIP_MEMBERS, widest) + _BYTES_IN_BLOCK * min(
        BLOCK_MEMBERS, widest
    )
