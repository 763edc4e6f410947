"""The choice of prototypes from rows on disk: the radius from a sample, the cover from all."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..candidates import draw_stratified, is_number, is_train
from ..estimators import PVMClassifier, PVMClassifierCV
from ..report.quality import assess, read_path
from ..report.summary import ErrorEstimate, PathSummary
from .cases import Cases
from .console import Console
from .errors import UsageError
from .metrics import Distance
from .models import build_model, classifier_of, fit_model

__all__ = ["Radius", "check_candidates", "choose_prototypes"]

# Cases to search for the radius in.
_SAMPLE = 5_000
# Candidates unless they are asked for: so many, or fewer where balls hold much, but not too few.
# The bytes are fixed, not a share of the memory that there is, so that the result is, too.
_CANDIDATES, _FEWEST = 20_000, 500
_COVER_BYTES = 1 << 30
_MEMBERSHIP_BYTES = 13


@dataclass(frozen=True)
class Radius:
    """A radius and, where it was found in a sample, what was found there.

    Parameters
    ----------
    eps : float
        The radius.
    n_sampled : int or None
        Size of the sample, None for a radius that was given.
    error : ErrorEstimate or None
        Cross-validated, on the sample.
    path : PathSummary or None
        Error against radius, on the sample.
    """

    eps: float
    n_sampled: int | None = None
    error: ErrorEstimate | None = None
    path: PathSummary | None = None


def choose_prototypes(
    X: NDArray[np.float64],
    y: NDArray[Any],
    distance: Distance,
    options: Namespace,
    console: Console,
) -> tuple[PVMClassifier, Radius]:
    """Fit a classifier to rows on disk, which are scaled already.

    Returns
    -------
    classifier : PVMClassifier
        Fitted on all rows.
    radius : Radius
        That of `options`, or found in a sample.
    """
    distance = replace(distance, scaled=False)
    if options.eps not in (None, "auto") and len(options.eps) == 1:
        radius = Radius(options.eps[0])
    else:
        radius = _find_radius(X, y, distance, options, console)
    candidates = options.candidates
    if candidates is None:
        candidates = _propose_candidates(X, radius.eps, distance.metric, options.seed, console)
    chosen = Namespace(**{**vars(options), "eps": [radius.eps], "candidates": candidates})
    model = build_model(chosen, distance, Cases(None, y, np.arange(len(y)), ""), console)
    return fit_model(model, chosen, X, y), radius


def _find_radius(
    X: NDArray[np.float64],
    y: NDArray[Any],
    distance: Distance,
    options: Namespace,
    console: Console,
) -> Radius:
    """Search for the radius in a sample of the rows, all of them candidates."""
    classes, codes = np.unique(y, return_inverse=True)
    size = max(_SAMPLE, len(classes))
    rows = draw_stratified(size, codes, np.random.default_rng(options.seed))
    console.note(f"Finding the radius with {len(rows)} of them, drawn from each class ...")
    costs = options.prototype_cost
    if costs is not None:
        # A ball holds so many fewer cases in a sample; a prototype must cost as much less.
        costs = [cost * len(rows) / len(y) for cost in costs]
    given = {"candidates": "train", "solver": "greedy", "time_limit": None}
    sampled = Namespace(**{**vars(options), **given, "prototype_cost": costs})
    cases = Cases(X[rows], y[rows], rows, "")
    search = build_model(sampled, distance, cases, console).fit(cases.X, cases.y)
    found = classifier_of(search)
    if not isinstance(search, PVMClassifierCV):
        return Radius(float(found.eps_), len(rows))
    coverage = found.coverage(cases.X, cases.y)
    quality = assess(found, search, cases.X, cases.y, coverage=coverage, held_out=None)
    return Radius(float(found.eps_), len(rows), quality.error, read_path(search))


def _propose_candidates(
    X: NDArray[np.float64], eps: float, metric: str, seed: int, console: Console
) -> int | str:
    """Return how many cases may become prototypes so that the cover stays small, or "train"."""
    rows = np.random.default_rng(seed).integers(len(X), size=2 * _FEWEST)
    pairs = cdist(X[rows[:_FEWEST]], X[rows[_FEWEST:]], metric)
    in_a_ball = max(1.0, float((pairs < eps).mean()) * len(X))
    affordable = int(_COVER_BYTES / (_MEMBERSHIP_BYTES * in_a_ball))
    size = max(_FEWEST, min(_CANDIDATES, affordable))
    if size >= len(X):
        return "train"
    console.note(
        f"{size} of them, drawn by chance, may become prototypes; --candidates N for another "
        "number, or train for all."
    )
    return size


def check_candidates(asked: Any) -> None:
    """Refuse candidates that are no rows of the file."""
    if asked is not None and not is_train(asked) and not is_number(asked):
        raise UsageError(
            "--stream goes with --candidates train, a number or a share of the cases, got "
            f"{asked if isinstance(asked, str) else ','.join(map(str, asked))}"
        )
