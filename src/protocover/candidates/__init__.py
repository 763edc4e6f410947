"""Candidates: what may become a prototype (paper, section 4.2).

Whatever is passed as ``candidates=`` becomes a list of pools, one for each source. A
generator is an object with ``generate(X, y, rng)`` that returns a :class:`Pool`; one with a
true ``shows_progress`` also takes the keyword ``verbose``.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .hull import HullCandidates
from .kmeans import KMeansCandidates
from .names import check_candidate_names
from .pool import (
    Pool,
    check_one_kind,
    column_pool,
    given_pool,
    numbers,
    source_names,
    source_rows,
    stack_rows,
    take,
    training_pool,
)
from .sample import draw_stratified, is_number

__all__ = [
    "CandidateGenerator",
    "HullCandidates",
    "KMeansCandidates",
    "Pool",
    "check_candidate_names",
    "column_pool",
    "draw_stratified",
    "gather_candidates",
    "is_number",
    "is_train",
    "listed",
    "numbers",
    "source_names",
    "source_rows",
    "stack_rows",
    "take",
]


@runtime_checkable
class CandidateGenerator(Protocol):
    """What makes candidates from the labelled points."""

    def generate(self, X: Any, y: NDArray[np.intp], rng: np.random.Generator) -> Pool: ...


_NAMED: dict[str, Any] = {"kmeans": KMeansCandidates, "hull": HullCandidates}


def gather_candidates(
    candidates: Any,
    X: Any,
    y: NDArray[np.intp],
    *,
    rows: NDArray[np.intp],
    extent: int,
    rng: np.random.Generator,
    unlabeled: Any = None,
    verbose: int = 0,
) -> list[Pool]:
    """Make the pools of candidates that `candidates` asks for, in its order.

    Parameters
    ----------
    candidates : str, number, array, generator, or list of these
        ``"train"`` for the training points, a whole number or a share of them to draw,
        ``"kmeans"`` or ``"hull"`` for those generators with their defaults, a generator
        object, or an array of rows.
    X, y : training points and their class numbers
        Passed on to the generators.
    rows : ndarray of int, shape (n_points,)
        Row number of each point in the training data as the user gave it.
    extent : int
        How many rows that had.
    rng : numpy.random.Generator
        Source of randomness for the generators.
    unlabeled : rows or None
        Further candidates of unknown class, put last.
    verbose : int, default=0
        Passed on to generators that show their progress.
    """
    pools = []
    for one in listed(candidates):
        if is_train(one):
            pools.append(training_pool(X, rows, extent))
        elif is_number(one):
            drawn = draw_stratified(one, y, rng)
            everything = len(drawn) == len(rows)
            points = X if everything else _safe_indexing(X, drawn)
            pools.append(training_pool(points, rows[drawn], extent))
        else:
            pools.append(_make(one, X, y, rng, verbose))
    if unlabeled is not None:
        pools.append(given_pool(unlabeled, like=X, source="unlabeled"))
    check_one_kind([pool.points for pool in pools])
    return pools


def listed(candidates: Any) -> list[Any]:
    """Return what is asked for as a list with one entry for each pool."""
    asked = list(candidates) if isinstance(candidates, list | tuple) else [candidates]
    if not asked:
        raise ValueError("candidates must name at least one source, got an empty list")
    return asked


def is_train(candidates: Any) -> bool:
    """Whether the training points themselves are asked for."""
    return isinstance(candidates, str) and candidates == "train"


def _make(
    candidates: Any, X: Any, y: NDArray[np.intp], rng: np.random.Generator, verbose: int
) -> Pool:
    """Make the pool of one source other than the training points."""
    if isinstance(candidates, str):
        if candidates not in _NAMED:
            known = ", ".join(repr(name) for name in ["train", *_NAMED])
            raise ValueError(
                f"candidates must be {known}, a number, an array, a generator or a list of "
                f"these, got {candidates!r}"
            )
        candidates = _NAMED[candidates]()
    if isinstance(candidates, CandidateGenerator):
        if getattr(candidates, "shows_progress", False):
            return candidates.generate(X, y, rng, verbose=verbose)  # type: ignore[call-arg]
        return candidates.generate(X, y, rng)
    if hasattr(candidates, "shape"):
        return given_pool(candidates, like=X, source="given")
    raise ValueError(
        "candidates must be a name, a number or share of points, an array, an object with "
        f"generate(X, y, rng) or a list of these, got {candidates!r}"
    )
