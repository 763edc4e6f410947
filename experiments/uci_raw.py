"""Whether the paper's UCI table (section 5.4) rests on standardised features.

1-NN has no parameter, so that its errors on the splits of the UCI experiment, with features
standardised and as they are, can be held against the paper's.
"""

from __future__ import annotations

from typing import Any

from .baselines.codebook import Codebook
from .datasets import UCI_NAMES
from .parts import Parts
from .uci import split

KINDS = ("standardised", "raw")


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors with both kinds of features, split by split."""
    names = ("wine",) if quick else UCI_NAMES
    n_splits = 2 if quick else 50
    sets = {name: parts.keep(run_set, name=name, n_splits=n_splits) for name in names}
    return {"n_splits": n_splits, "sets": sets}


def run_set(name: str, n_splits: int) -> dict[str, Any]:
    """Test 1-NN on many splits of one set, with features standardised and as they are."""
    told: dict[str, Any] = {kind: [] for kind in KINDS}
    for seed in range(n_splits):
        for kind in KINDS:
            X, y, X_test, y_test = split(name, seed, standardized=kind == "standardised")
            told[kind].append(Codebook(X, y).error(X_test, y_test))
    return told
