"""Where candidates come from, and how to fetch the few that are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.utils import check_array

from ..candidates._gather import draw_stratified, is_number, is_train
from ..candidates._pool import Pool
from ._chunks import Chunk, ChunkedPoints, as_rows, check_length, take, take_points

# Bytes of a given array in one task.
_PART_BYTES = 4_000_000

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Candidates:
    """What may become a prototype, in chunks that the workers hold."""

    chunks: list[Any]  # futures, in the order of the candidates' numbers
    bounds: Indices  # chunk k holds the numbers from bounds[k] to before bounds[k + 1]
    starts: Indices  # number of each chunk's first row in its source
    source: str
    extent: int  # how many rows the source has

    def __len__(self) -> int:
        return int(self.bounds[-1])

    def fetch(self, client: Any, numbers: Indices) -> Pool:
        """Bring some candidates to the driver."""
        found = take_points(client, self, numbers)
        return Pool(found.points, self.source, found.rows, self.extent)


def find_source(
    client: Any,
    candidates: Any,
    points: ChunkedPoints,
    *,
    n_features: int,
    rng: np.random.Generator,
) -> Candidates:
    """Return the candidates that are asked for."""
    if is_train(candidates):
        return Candidates(points.chunks, points.bounds, points.starts, "train", points.extent)
    if is_number(candidates):
        # The draw of the plain classifier needs the classes of all points in one place.
        codes = np.concatenate(client.gather(client.map(_codes, points.chunks)))
        return _drawn(client, points, draw_stratified(candidates, codes, rng))
    if isinstance(candidates, da.Array | np.ndarray):
        return _given(client, candidates, n_features)
    raise ValueError(
        "candidates must be 'train', a number, or a NumPy or Dask array of rows, got "
        f"{candidates!r}; generators need all points in one memory: run them on a sample and "
        "pass what they make"
    )


def _drawn(client: Any, points: ChunkedPoints, drawn: Indices) -> Candidates:
    """Take some training points as candidates."""
    cuts = np.searchsorted(drawn, points.bounds)
    parts = [
        client.submit(take, chunk, drawn[start:stop] - first)
        for chunk, first, start, stop in zip(
            points.chunks, points.bounds, cuts[:-1], cuts[1:], strict=False
        )
    ]
    return Candidates(parts, cuts, points.starts, "train", points.extent)


def _given(client: Any, Z: Any, n_features: int) -> Candidates:
    """Take the rows of an array as candidates."""
    if isinstance(Z, np.ndarray):
        Z = check_array(Z, input_name="candidates", dtype=[np.float64, np.float32])
        step = max(1, _PART_BYTES // max(1, Z[:1].nbytes))
        Z = da.from_array(Z, chunks=(step, -1))  # type: ignore[no-untyped-call]
    Z = as_rows(Z, client, name="candidates")
    if Z.shape[1] != n_features:
        raise ValueError(
            f"given candidates must have {n_features} features as X has, got {Z.shape[1]}"
        )
    rows = [part for (part,) in Z.to_delayed()]
    read = delayed(_as_chunk, pure=True)
    parts = client.compute([read(*part) for part in zip(rows, Z.chunks[0], strict=True)])
    bounds = np.cumsum([0, *Z.chunks[0]])
    return Candidates(parts, bounds, bounds[:-1], "given", Z.shape[0])


def _as_chunk(rows: Any, length: int) -> Chunk:
    """Check candidates as training points are checked; their class and weight nobody asks."""
    check_length(rows, length, "candidates")
    n = rows.shape[0]
    if n:
        rows = check_array(rows, input_name="candidates", dtype=[np.float64, np.float32])
    return Chunk(rows, np.full(n, -1, dtype=np.intp), np.ones(n), np.arange(n))


def _codes(chunk: Chunk) -> Indices:
    """Return the class numbers of a chunk, narrow for the way to the driver."""
    return chunk.codes.astype(np.min_scalar_type(int(chunk.codes.max(initial=0))))
