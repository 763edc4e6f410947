"""Sets won and lost: differences in the folds of each set, judged by the corrected test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from experiments.statistics import corrected_resampled_t, signed_ranks

LEVEL = 0.05
# A set is cut into.
N_FOLDS = 10


@dataclass(frozen=True)
class Verdict:
    """Sets with less and with more error, those of them that are clear, and p over the sets."""

    won: int
    lost: int
    clearly_won: int
    clearly_lost: int
    p: float

    @classmethod
    def of(cls, gaps: Sequence[np.ndarray]) -> Verdict:
        """Judge differences of errors, an array of all folds for each set."""
        mean = np.round([gap.mean() for gap in gaps], 9)
        clear = np.array([fold_p(gap) < LEVEL for gap in gaps])
        less, more = mean < 0.0, mean > 0.0
        counts = (int(some.sum()) for some in (less, more, clear & less, clear & more))
        return cls(*counts, p=signed_ranks(mean))

    def __str__(self) -> str:
        return f"{self.won} : {self.lost} ({self.clearly_won} : {self.clearly_lost})"


def fold_p(gap: np.ndarray) -> float:
    """Return the p of differences in the folds of repeated cross-validation."""
    return corrected_resampled_t(gap, N_FOLDS - 1, 1)


def shown_p(p: float) -> str:
    """Return a p with three decimals, or its order of magnitude."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"
