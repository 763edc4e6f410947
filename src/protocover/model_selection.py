"""Which point of a cross-validated grid to take: the best, or the simplest within reach of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["RULES", "choose"]

RULES = ("1se", "best")


def choose(
    scores: NDArray[np.float64],
    n_prototypes: NDArray[np.float64],
    *,
    rule: str,
    max_prototypes: int | None = None,
) -> int:
    """Return the number of the setting to take.

    Parameters
    ----------
    scores : ndarray of float, shape (n_settings, n_splits)
        Held-out scores, the larger the better.
    n_prototypes : ndarray of float, shape (n_settings,)
        Mean number of prototypes.
    rule : {"1se", "best"}
        ``"best"`` takes the highest mean score, ``"1se"`` the fewest prototypes among
        the settings whose mean score is within one standard error of the best (paper,
        section 5.4). Ties go to fewer prototypes, or to the higher score.
    max_prototypes : int or None
        Only settings with at most so many prototypes are considered.
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {rule!r}")
    mean = scores.mean(axis=1)
    allowed = np.isfinite(mean)
    if not allowed.any():
        raise ValueError("no setting could be scored: every mean score is NaN or infinite")
    if max_prototypes is not None:
        allowed &= n_prototypes <= max_prototypes
        if not allowed.any():
            raise ValueError(
                f"no setting has at most {max_prototypes} prototypes, the fewest are "
                f"{n_prototypes.min():g}; allow larger radii or higher prototype_costs"
            )
    settings = np.flatnonzero(allowed)
    best = settings[np.lexsort((n_prototypes[settings], -mean[settings]))[0]]
    if rule == "best":
        return int(best)
    n_splits = scores.shape[1]
    error = scores[best].std(ddof=1) / np.sqrt(n_splits) if n_splits > 1 else 0.0
    within = settings[mean[settings] >= mean[best] - error]
    return int(within[np.lexsort((-mean[within], n_prototypes[within]))[0]])
