"""Data sets in pairs of a kind: one of each pair to choose on, the other to confirm on.

The pairs are those of evidence/sets.py. Sets that are not at hand (PROTOCOVER_DATA) are left
out, with a word.
"""

from __future__ import annotations

from evidence.sets import MOST_ROWS, DataSet, fashion, load_sets, names_of_halves

__all__ = ["MOST_ROWS", "DataSet", "fashion", "halves"]


def halves(most: int = MOST_ROWS) -> dict[str, dict[str, DataSet]]:
    """Load the sets of the tuning half and of the confirming one."""
    return {half: load_sets(names, most) for half, names in names_of_halves().items()}
