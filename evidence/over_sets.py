"""Two methods over many data sets, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from experiments.statistics import signed_ranks


@dataclass(frozen=True)
class Gaps:
    """By how much a method is above another on each set."""

    by_set: dict[str, float]

    @property
    def mean(self) -> float:
        """The mean over sets."""
        return float(np.mean(list(self.by_set.values())))

    @property
    def p(self) -> float:
        """Of Wilcoxon's signed ranks over sets."""
        return signed_ranks(list(self.by_set.values()))

    def above(self, least: float = 0.0) -> list[str]:
        """List the sets on which the method is above the other by more than `least`."""
        # The largest gap first.
        found = [name for name, gap in self.by_set.items() if round(gap, 9) > least]
        return sorted(found, key=lambda name: -self.by_set[name])

    def below(self, least: float = 0.0) -> list[str]:
        """List the sets on which it is below by more than `least`."""
        return Gaps({name: -gap for name, gap in self.by_set.items()}).above(least)


def gaps(ours: dict[str, float], theirs: dict[str, float]) -> Gaps:
    """Subtract set by set."""
    return Gaps({name: ours[name] - theirs[name] for name in ours})
