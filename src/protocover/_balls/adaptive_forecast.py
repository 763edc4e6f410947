"""The memory that per-prototype radii will take, estimated from the balls of some candidates.

How many memberships are kept depends on the classes: beyond the last ball that can pay for
itself nothing is. So the balls of a few candidates are found, and what is kept of them is
scaled up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._exceptions import CoverMemoryWarning, warn_caller
from .._resources import available_memory, row_count, thread_count
from .._typing import Indices
from .forecast import fixed_bytes
from .halves import half_bytes
from .ordered import BLOCK_MEMBERS, OrderedMembers, ordered_members, strip_width
from .traits import Dissimilarity, DistanceSearch, traits_of

# What a membership that is kept and what a ball take where problems are written down and
# solved, and before that where strips have found them.
BYTES_PER_KEPT, _BYTES_PER_BALL = 22, 170
_FOUND_PER_KEPT, _FOUND_PER_BALL = 4, 56
# What a member takes in a thread while it is put in order and walked along.
_BYTES_IN_STRIP, _BYTES_IN_BLOCK = 60, 60
_SAMPLE = 128

# Given the candidates that are sampled, returns a function of members of their balls, counted
# among these, that tells how many balls are kept, and how many memberships.
Keep = Callable[[Indices], Callable[[OrderedMembers], tuple[int, int]]]


@dataclass(frozen=True)
class OwnForecast:
    """What finding the balls with per-prototype radii, and the greedy, is expected to take.

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
    chosen = np.sort(rng.choice(n_candidates, min(_SAMPLE, n_candidates), replace=False))
    count = keep(chosen)

    def counted(members: OrderedMembers) -> tuple[int, int, int]:
        return len(members.point), *count(members)

    some = _safe_indexing(Z, chosen)
    balls = ordered_members(dissimilarity, X, some, counted, n_jobs=n_jobs, **asked)
    counts = np.sum([(0, 0, 0), *balls], axis=0) * (n_candidates / max(1, len(chosen)))
    memberships, n_balls, kept = counts.tolist()
    halves = Z is X and traits_of(dissimilarity).symmetric
    held = half_bytes(memberships, quick=isinstance(dissimilarity, DistanceSearch)) * halves
    strips = thread_count(n_jobs) * _strip_bytes(memberships, n_candidates)
    finding = held + strips + kept * _FOUND_PER_KEPT + n_balls * _FOUND_PER_BALL
    solving = kept * BYTES_PER_KEPT + n_balls * _BYTES_PER_BALL
    return OwnForecast(
        memberships=memberships,
        kept=kept,
        n_bytes=fixed_bytes(Z, n_jobs) + max(finding, solving),
    )


def _strip_bytes(memberships: float, n_candidates: int) -> float:
    """Memory that a thread takes to put members in order and walk along them."""
    of_a_ball = memberships / max(1, n_candidates)
    members = of_a_ball * min(strip_width(of_a_ball), n_candidates)
    return _BYTES_IN_STRIP * members + _BYTES_IN_BLOCK * min(BLOCK_MEMBERS, members)
