"""Where candidates come from, and how to fetch the few that are chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from ..candidates import Pool, draw_stratified, is_number, is_train, stack_rows
from .chunks import Chunk, ChunkedPoints, as_rows, take_points
from .cluster import as_task
from .cover import Candidates

__all__ = ["find_source"]

# Bytes of a given array in one task.
_PART_BYTES = 4_000_000

Indices = NDArray[np.intp]
Fetch = Callable[[Indices], Pool]


def find_source(
    client: Any,
    candidates: Any,
    points: ChunkedPoints,
    *,
    n_features: int,
    rng: np.random.Generator,
) -> tuple[Candidates, Fetch]:
    """Return the candidates that are asked for, and a function that fetches some by number."""
    if is_train(candidates):
        return _training(client, points, None)
    if is_number(candidates):
        # The draw of the plain classifier needs the classes of all points in one place.
        codes = np.concatenate(client.gather(client.map(_codes, points.chunks)))
        return _training(client, points, draw_stratified(candidates, codes, rng))
    if isinstance(candidates, da.Array | np.ndarray):
        return _given(client, candidates, n_features)
    raise ValueError(
        "candidates must be 'train', a number, or a NumPy or Dask array of rows, got "
        f"{candidates!r}; generators need all points in one memory: run them on a sample and "
        "pass what they make"
    )


def _training(
    client: Any, points: ChunkedPoints, drawn: Indices | None
) -> tuple[Candidates, Fetch]:
    """Take training points as candidates: those `drawn`, or all of them."""

    def fetch(numbers: Indices) -> Pool:
        chosen = numbers if drawn is None else drawn[numbers]
        rows, _, given = take_points(client, points, chosen)
        return Pool(rows, "train", given, points.extent)

    if drawn is None:
        return Candidates(points.chunks, points.bounds), fetch
    cuts = np.searchsorted(drawn, points.bounds)
    parts = [
        client.submit(_take, chunk, drawn[start:stop] - first)
        for chunk, first, start, stop in zip(
            points.chunks, points.bounds, cuts[:-1], cuts[1:], strict=False
        )
    ]
    return Candidates(parts, cuts), fetch


def _given(client: Any, Z: Any, n_features: int) -> tuple[Candidates, Fetch]:
    """Take the rows of an array as candidates."""
    if isinstance(Z, np.ndarray):
        Z = check_array(Z, input_name="candidates", dtype=[np.float64, np.float32])
        step = max(1, _PART_BYTES // max(1, Z[:1].nbytes))
        parts = [as_task(client, Z[start : start + step]) for start in range(0, len(Z), step)]
        sizes = [min(step, len(Z) - start) for start in range(0, len(Z), step)]
    else:
        Z = as_rows(Z, client, name="candidates")
        raw = client.compute([part for (part,) in Z.to_delayed()])
        parts, sizes = client.map(_checked, raw), list(Z.chunks[0])
    if Z.shape[1] != n_features:
        raise ValueError(
            f"given candidates must have {n_features} features as X has, got {Z.shape[1]}"
        )
    bounds = np.cumsum([0, *sizes])

    def fetch(numbers: Indices) -> Pool:
        part_of = np.searchsorted(bounds, numbers, side="right") - 1
        order = np.argsort(part_of, kind="stable")
        asked = [
            client.submit(_take, parts[p], numbers[part_of == p] - bounds[p])
            for p in (np.unique(part_of) if len(numbers) else [0])
        ]
        rows = stack_rows(client.gather(asked))[np.argsort(order, kind="stable")]
        return Pool(rows, "given", numbers, Z.shape[0])

    return Candidates(parts, bounds), fetch


def _checked(rows: Any) -> Any:
    """Check candidates as training points are checked."""
    if rows.shape[0] == 0:
        return rows
    return check_array(rows, input_name="candidates", dtype=[np.float64, np.float32])


def _codes(chunk: Chunk) -> Indices:
    """Return the class numbers of a chunk, narrow for the way to the driver."""
    return chunk.codes.astype(np.min_scalar_type(int(chunk.codes.max(initial=0))))


def _take(rows: Any, numbers: Indices) -> Any:
    """Take rows, or points of a chunk, by number."""
    return (rows.points if isinstance(rows, Chunk) else rows)[numbers]
