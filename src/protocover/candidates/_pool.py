"""A pool of candidates from one source, and the pools of points that exist already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils import _safe_indexing, check_array

from .._resources import row_count
from ..data._frames import frame_package, stack_frames


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates from one source.

    Parameters
    ----------
    points : rows
        In the form of the training points.
    source : str
        Where they come from: "train", "unlabeled", "given", "kmeans", "hull", ...
    rows : ndarray of int, shape (n_candidates,)
        Row of each candidate in its source; -1 where it is synthetic.
    extent : int
        How many rows that source has, of which some may have been left out.
    """

    points: Any
    source: str
    rows: NDArray[np.intp]
    extent: int

    @classmethod
    def synthetic(cls, points: Any, source: str) -> Pool:
        """Return a pool of synthetic candidates."""
        return cls(points, source, np.full(len(points), -1), len(points))

    def __len__(self) -> int:
        return len(self.rows)


def given_pool(Z: Any, *, like: Any, source: str) -> Pool:
    """Return the user's own rows `Z`, brought into the form of the training points `like`."""
    if issparse(like):
        Z = csr_array(check_array(Z, accept_sparse="csr", input_name=source, dtype=like.dtype))
    elif isinstance(like, np.ndarray) and like.ndim == 2 and like.dtype.kind in "fi":
        Z = check_array(Z, input_name=source, dtype=[np.float64, np.float32])
    if hasattr(like, "shape") and hasattr(Z, "shape") and like.shape[1:] != Z.shape[1:]:
        raise ValueError(
            f"{source} candidates must have {like.shape[1]} features as X has, got {Z.shape[1]}"
        )
    n = row_count(Z)
    return Pool(Z, source, np.arange(n), n)


def numbers(pools: Sequence[Pool]) -> NDArray[np.intp]:
    """Give the candidates of all pools their numbers, skipping those of rows left out."""
    offset = np.cumsum([0] + [pool.extent for pool in pools])
    return np.concatenate(
        [
            start + np.where(pool.rows < 0, np.arange(len(pool)), pool.rows)
            for start, pool in zip(offset, pools, strict=False)
        ]
    )


def training_rows(pools: Sequence[Pool]) -> NDArray[np.intp]:
    """Return the row of `X` that each candidate of all pools is, -1 if it is not one."""
    return np.concatenate(
        [pool.rows if pool.source == "train" else np.full(len(pool), -1) for pool in pools]
    )


def source_names(pools: Sequence[Pool]) -> NDArray[np.str_]:
    """Source of each candidate of all pools."""
    return np.repeat([pool.source for pool in pools], [len(pool) for pool in pools])


def take(pools: Sequence[Pool], chosen: NDArray[np.intp]) -> Any:
    """Take candidates, numbered through all pools, in the order of `chosen`."""
    if len(pools) == 1:
        return _safe_indexing(pools[0].points, chosen)
    offset = np.cumsum([0] + [len(pool) for pool in pools])
    pool_of = np.searchsorted(offset, chosen, side="right") - 1
    parts = [
        _safe_indexing(pool.points, chosen[pool_of == k] - offset[k])
        for k, pool in enumerate(pools)
    ]
    back = np.argsort(np.argsort(pool_of, kind="stable"), kind="stable")
    return _safe_indexing(stack_rows(parts), back)


def stack_rows(parts: list[Any]) -> Any:
    """Put rows, in whatever form points have, under one another."""
    if any(issparse(part) for part in parts):
        return vstack([csr_array(part) for part in parts], format="csr")
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    if check_one_kind(parts) is not None:
        return stack_frames(parts)
    return [example for part in parts for example in part]


def check_one_kind(parts: Sequence[Any]) -> str | None:
    """Return the package that all parts are frames of, None if none is; refuse a mixture."""
    packages = {frame_package(part) for part in parts}
    if len(packages) > 1:
        kinds = [f"{frame_package(part) or 'no'} frame ({type(part).__name__})" for part in parts]
        raise ValueError(
            "points and candidates in data frames must all be of one kind to be put together, "
            f"got {', '.join(kinds)}; convert them to that of X"
        )
    return packages.pop() if packages else None
