"""What the command samples of a large table, said with the option that avoids it."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from .console import Console

# Pairs of samples and candidates, those of 100,000 samples that are all candidates.
_MOST_PAIRS = 10**10


def choose_candidates(options: Namespace, n_samples: int, console: Console) -> Any:
    """Return what may become a prototype: what was asked for, all, or a number to draw."""
    if options.candidates is not None:
        return options.candidates
    n_drawn = _MOST_PAIRS // max(1, n_samples)
    if n_samples <= n_drawn:
        return "train"
    console.note(
        f"{n_drawn:,} of the {n_samples:,} cases are drawn as candidates for prototypes; "
        "--candidates train takes all."
    )
    return n_drawn


def announce_search_sample(options: Namespace, n_samples: int, console: Console) -> None:
    """Say that settings are tried on a sample, unless the search says so itself."""
    most = options.max_search_samples
    if most is not None and n_samples > most and not console.verbose:
        console.note(
            f"Searching on a stratified sample of {most:,} of the {n_samples:,} cases and fitting "
            "on all; --max-search-samples all searches on all."
        )
