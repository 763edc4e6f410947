"""Pools of candidates: one for each source that ``candidates=`` names, or rows drawn by class."""

from __future__ import annotations

import logging
from numbers import Integral, Real
from os import PathLike
from typing import Any, NoReturn, Protocol, runtime_checkable

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _get_feature_names

from .._balls import traits_of
from .._exceptions import warn_caller
from .._typing import Indices, Mask
from ..data._frames import in_memory
from ..data._points import check_points
from ._hull import HullCandidates
from ._kmeans import KMeansCandidates
from ._pool import Pool, check_one_kind, given_pool

logger = logging.getLogger(__name__)


@runtime_checkable
class CandidateGenerator(Protocol):
    """What makes candidates from the labelled points."""

    def generate(self, X: Any, y: Indices, rng: np.random.Generator) -> Pool: ...


_NAMED: dict[str, Any] = {"kmeans": KMeansCandidates, "hull": HullCandidates}


def gather_candidates(
    candidates: Any,
    X: Any,
    y: Indices,
    *,
    dissimilarity: Any,
    rows: Indices,
    extent: int,
    rng: np.random.Generator,
    unlabeled: Any = None,
    verbose: int = 0,
) -> list[Pool]:
    """Make the pools of candidates: those asked for, in their order, or a table's columns.

    Parameters
    ----------
    candidates : str, number, array, generator, or list of these
        ``"train"`` for the training points, a whole number or a share of them to draw,
        ``"kmeans"`` or ``"hull"`` for those generators with their defaults, a generator
        object, or an array of rows.
    X, y : training points and their class numbers
        Passed on to the generators.
    dissimilarity : object
        What the points are compared with. It may say that `X` is a table.
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
    if traits_of(dissimilarity).precomputed:
        if unlabeled is not None:
            _refuse_with_table()
        return [_columns(candidates, y, rng, rows=rows, shape=(extent, X.shape[1]))]
    pools = []
    standing = _standing(dissimilarity, X)
    for one in listed(candidates):
        if is_train(one) and standing is None:
            pools.append(Pool(X, "train", rows, extent))
        elif is_train(one) or is_number(one):
            drawn = np.arange(len(rows)) if is_train(one) else draw_stratified(one, y, rng)
            drawn = drawn if standing is None else drawn[standing[drawn]]
            points = X if len(drawn) == len(rows) else _safe_indexing(X, drawn)
            pools.append(Pool(points, "train", rows[drawn], extent))
        else:
            pools.append(_make(one, X, y, rng, verbose))
    if isinstance(unlabeled, PathLike):  # a file of sequences
        unlabeled = check_points(unlabeled, dissimilarity)
    if unlabeled is not None:
        pools.append(given_pool(unlabeled, like=X, source="unlabeled"))
    check_one_kind([pool.points for pool in pools])
    return pools


def _standing(dissimilarity: Any, X: Any) -> Mask | None:
    """Return a mask of the samples that may be candidates, None if all may."""
    if not hasattr(dissimilarity, "candidate_mask"):
        return None
    standing = np.asarray(dissimilarity.candidate_mask(X), dtype=bool)
    if standing.all():
        return None
    if not standing.any():
        logger.warning("no row has values enough to stand for others; all are candidates")
        return None
    logger.info("%d rows have too few values to be candidates", np.count_nonzero(~standing))
    return standing


def listed(candidates: Any) -> list[Any]:
    """Return what is asked for as a list with one entry for each pool."""
    asked = list(candidates) if isinstance(candidates, list | tuple) else [candidates]
    if not asked:
        raise ValueError("candidates must name at least one source, got an empty list")
    return asked


def is_train(candidates: Any) -> bool:
    """Whether the training points themselves are asked for."""
    return isinstance(candidates, str) and candidates == "train"


def _columns(
    candidates: Any,
    y: Indices,
    rng: np.random.Generator,
    *,
    rows: Indices,
    shape: tuple[int, int],
) -> Pool:
    """Return the columns of a table that are candidates: all, or of a square one a sample.

    Of a square table those of the points that were left out are left out.
    """
    square = shape[0] == shape[1]
    if is_number(candidates) and square:
        rows = rows[draw_stratified(candidates, y, rng)]
    elif not is_train(candidates):
        _refuse_with_table()
    columns = rows if square else np.arange(shape[1])
    return Pool(columns, "train" if square else "given", columns, shape[1])


def _refuse_with_table() -> NoReturn:
    """Raise the error for candidates beside the columns of a table."""
    raise ValueError(
        "precomputed dissimilarities have the candidates as their columns; leave "
        "candidates='train', or a number or share of the points of a square table, and "
        "unlabeled=None"
    )


def _make(candidates: Any, X: Any, y: Indices, rng: np.random.Generator, verbose: int) -> Pool:
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


def is_number(candidates: Any) -> bool:
    """Whether `candidates` is a number or a share of the training points to draw."""
    return isinstance(candidates, Real) and not isinstance(candidates, bool | np.bool_)


def draw_stratified(
    size: int | float, y: Indices, rng: np.random.Generator, *, at_least: int = 1
) -> Indices:
    """Draw rows without repetition, of each class in proportion and `at_least` a few.

    Every class gets one row, and as many of the `at_least` as it has and `size` allows.

    `size` is a whole number of rows, all of them if there are fewer, or a share between 0 and
    1; `y` are class numbers. The row numbers rise.
    """
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    n = _total(size, len(y), len(labels))
    if n == len(y):
        return np.arange(n)
    shares = _shares(n, counts, np.minimum(counts, max(1, min(at_least, n // len(labels)))))
    drawn = [
        rng.choice(np.flatnonzero(codes == k), share, replace=False)
        for k, share in enumerate(shares.tolist())
    ]
    return np.sort(np.concatenate(drawn))


def _total(size: int | float, n_points: int, n_classes: int) -> int:
    """Return how many rows to draw in all."""
    if isinstance(size, Integral) and int(size) >= n_classes:
        return min(int(size), n_points)
    if not isinstance(size, Integral) and 0.0 < float(size) < 1.0:
        return max(n_classes, round(float(size) * n_points))
    raise ValueError(
        "candidates must be a whole number not below the number of classes "
        f"({n_classes}) or a share between 0 and 1, got {size!r}; 'train' takes all points"
    )


def _shares(n: int, counts: Indices, least: Indices) -> Indices:
    """Share `n` out in proportion to `counts`, by largest remainder and at least `least`."""
    rare = n * counts < least * counts.sum()
    rest = max(0, n - int(least[rare].sum()))
    quota = np.where(rare, least, rest * counts / max(1, int(counts[~rare].sum())))
    shares = np.maximum(least, np.floor(quota).astype(np.intp))
    while shares.sum() < n:
        shares[np.where(shares < counts, quota - shares, -np.inf).argmax()] += 1
    while shares.sum() > n:
        shares[np.where(shares > least, shares - quota, -np.inf).argmax()] -= 1
    return np.asarray(shares)


def check_candidate_names(X: Any, candidates: Any, unlabeled: Any = None) -> None:
    """Refuse candidates in a data frame whose columns are not those of X, in that order."""
    names = _get_feature_names(in_memory(X))
    asked = candidates if isinstance(candidates, list | tuple) else [candidates]
    for rows in asked:
        _check_names("candidates", rows, names)
    _check_names("unlabeled", unlabeled, names)


def _check_names(parameter: str, rows: Any, names: Any) -> None:
    """Check one set of rows as scikit-learn checks those of queries."""
    if len(getattr(rows, "shape", ())) != 2:
        return
    own = _get_feature_names(in_memory(rows, name=parameter))
    if own is None and names is not None:
        warn_caller(f"{parameter} does not have valid feature names, but X has feature names")
    elif names is None and own is not None:
        warn_caller(f"{parameter} has feature names, but X has none")
    elif own is not None and not np.array_equal(own, names):
        new = sorted(set(own) - set(names))
        missing = sorted(set(names) - set(own))
        found = f"not in X: {', '.join(new) or 'none'}; missing: {', '.join(missing) or 'none'}"
        raise ValueError(
            f"The feature names of {parameter} should match those of X and be in the same order; "
            + (found if new or missing else f"X has {', '.join(names)}, got {', '.join(own)}")
        )
