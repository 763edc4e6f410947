"""Data sets in pairs of a kind: one of each pair to choose on, the other to confirm on.

The pairs, and which of each is which, stand before anything is measured. Sets that are
not at hand (PROTOCOVER_DATA) are left out, with a word.
"""

from __future__ import annotations

import numpy as np
from evidence.sets import MOST_ROWS, DataSet, fashion, load_sets

__all__ = ["MOST_ROWS", "DataSet", "fashion", "halves"]

PAIRS = [
    ("iris", "wine"),
    ("breast cancer", "diabetes"),
    ("glass", "vowel"),
    ("heart", "liver"),
    ("digits", "USPS"),
    ("Fashion-MNIST", "proteins"),
    ("moons", "circles"),
    ("xor", "chessboard"),
    ("blobs, 10 classes", "blobs, 40 classes"),
    ("mixture, 3 classes in 2-d", "mixture, 8 classes in 5-d"),
    ("20 % label noise", "200 x 1000"),
    ("5 % rare class", "blobs of 3, 12 and 85 %"),
    ("12 classes of 3 clusters", "spiral of 5 arms"),
]


def halves(most: int = MOST_ROWS) -> dict[str, dict[str, DataSet]]:
    """Load the sets of the tuning half and of the confirming one."""
    coins = np.random.default_rng(15).integers(2, size=len(PAIRS))
    tuning = [pair[coin] for pair, coin in zip(PAIRS, coins, strict=True)]
    confirming = [pair[1 - coin] for pair, coin in zip(PAIRS, coins, strict=True)]
    return {"tuning": load_sets(tuning, most), "confirming": load_sets(confirming, most)}
