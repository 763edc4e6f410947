"""Samples and candidates in chunks that the workers hold, from checked Dask collections."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from .._cover import snap_to, weight_grid
from .._resources import row_count
from .._selection.parameters import (
    check_largest_weight,
    class_factors,
    default_adaptive_cost,
    default_prototype_cost,
)
from .._selection.training import check_label_values, join_labels
from ..candidates._gather import draw_stratified, is_number, is_train
from ..candidates._pool import Pool, stack_rows
from ..data._points import check_points

# Bytes of a given array in one task.
_PART_BYTES = 4_000_000

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chunk:
    """The points of positive weight in one chunk, as a worker holds them."""

    points: Any  # rows, checked
    codes: Indices  # class numbers
    weights: Floats  # on the grid of all points
    rows: Indices  # row of each point in the chunk as it was given
    plain: Floats | None = None  # the weights before those of the classes, if there are any


@dataclass(frozen=True, eq=False)
class ChunkedPoints:
    """All points: futures of their chunks, and what the driver needs to know of them."""

    # In the order of the rows. Lost ones are computed anew from the collections.
    chunks: list[Any]
    starts: Indices  # number of each chunk's first row as given
    extent: int  # how many rows were given
    classes: NDArray[Any]  # labels, sorted
    counts: Indices  # points of each class in each chunk, shape (n_chunks, n_classes)
    weighted: bool  # whether weights were given; if not, all are 1
    default_cost: float  # of a prototype, as in the plain classifier
    default_adaptive_cost: float  # the same with radii of their own

    @property
    def class_count(self) -> Indices:
        """How many points each class has."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def bounds(self) -> Indices:
        """Where each chunk's points begin and end in the numbering of all points."""
        return np.concatenate(([0], np.cumsum(self.counts.sum(axis=1))))

    def __len__(self) -> int:
        return int(self.counts.sum())


def as_queries(X: Any) -> Any:
    """Return a dask array or data frame as an array in chunks of whole rows of any length."""
    if hasattr(X, "to_dask_array"):
        return X.to_dask_array()
    if not isinstance(X, da.Array):
        raise _not_dask(X, "X")
    _check_columns(X, "X")
    return X


def as_rows(X: Any, client: Any, *, name: str = "X") -> Any:
    """Return a dask array or data frame as an array in chunks of whole rows, of known lengths."""
    X = _as_array(X, client, name)
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got shape {X.shape}")
    _check_columns(X, name)
    return X


def as_values(y: Any, client: Any, *, like: Any, name: str) -> Any:
    """Return one value a row of `like`, cut where that is cut."""
    y = _as_array(y, client, name)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {y.shape}")
    if y.shape[0] != like.shape[0]:
        raise ValueError(
            f"X and {name} must have as many rows, got {like.shape[0]} and {y.shape[0]}"
        )
    return y.rechunk((like.chunks[0],))


def read_points(
    client: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    dissimilarity: Any,
    *,
    class_weight: Any = None,
) -> ChunkedPoints:
    """Encode labels, bring weights to the grid of all points, and have workers hold the chunks.

    `X`, `y` and `sample_weight`, which may be None, come from :func:`as_rows` and
    :func:`as_values`; the dissimilarity, which need not be fitted, says how to check points.
    """
    rows = [part for (part,) in X.to_delayed()]
    labels = list(y.to_delayed())
    weights = [None] * len(rows) if sample_weight is None else list(sample_weight.to_delayed())
    scans = client.gather(
        client.compute([delayed(_scan)(*pair) for pair in zip(labels, weights, strict=True)])
    )
    classes = np.unique(join_labels(found for found, _ in scans if len(found)))
    check_classification_targets(classes)
    largest = max(found for _, found in scans)
    check_largest_weight(largest)
    grid = weight_grid(largest, X.shape[0])
    read = partial(_read, classes=classes, grid=grid, dissimilarity=dissimilarity)
    if class_weight is not None:
        held = zip(labels, weights, strict=True)
        asked = [delayed(_weights_of_classes)(*pair, classes=classes, grid=grid) for pair in held]
        by_class = np.array(client.gather(client.compute(asked)))
        factors = class_factors(class_weight, by_class[:, 0].sum(axis=0), classes)
        largest = float((by_class[:, 1].max(axis=0) * factors).max())
        check_largest_weight(largest)
        read = partial(read, factors=factors, fine=weight_grid(largest, X.shape[0]))
    parts = zip(rows, labels, weights, X.chunks[0], strict=True)
    chunks = client.compute([delayed(read, pure=True)(*part) for part in parts])
    told = client.gather(client.map(_tell, chunks, n_classes=len(classes)))
    counts, totals, smallest, whole = zip(*told, strict=True)
    empty = np.flatnonzero(np.sum(counts, axis=0) == 0)
    if len(empty):
        raise ValueError(
            "every class needs a point of positive sample_weight, got none for "
            f"{classes[empty].tolist()}; drop those points from X and y instead"
        )
    return ChunkedPoints(
        chunks=chunks,
        starts=np.cumsum([0, *X.chunks[0][:-1]]),
        extent=X.shape[0],
        classes=classes,
        counts=np.array(counts),
        weighted=sample_weight is not None or class_weight is not None,
        default_cost=default_prototype_cost(math.fsum(totals), min(smallest), whole=all(whole)),
        default_adaptive_cost=default_adaptive_cost(
            math.fsum(totals), int(np.sum(counts)), whole=all(whole)
        ),
    )


def take_points(client: Any, held: Any, numbers: Indices) -> Chunk:
    """Fetch points by their numbers among all that `held` has in chunks, with rows as given."""
    bounds = held.bounds
    chunk_of = np.searchsorted(bounds, numbers, side="right") - 1
    # Even of no points at all the form is asked for, of some chunk.
    asked = np.unique(chunk_of) if len(numbers) else [0]
    parts = client.gather(
        [
            client.submit(take, held.chunks[k], numbers[chunk_of == k] - bounds[k], held.starts[k])
            for k in asked
        ]
    )
    found = Chunk(
        stack_rows([part.points for part in parts]),
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.rows for part in parts]),
    )
    return take(found, np.argsort(np.argsort(chunk_of, kind="stable"), kind="stable"))


def take(chunk: Chunk, picks: Indices, start: int = 0) -> Chunk:
    """Take points of a chunk whose first row is number `start`."""
    rows = chunk.rows[picks] + start
    return Chunk(chunk.points[picks], chunk.codes[picks], chunk.weights[picks], rows)


def _as_array(values: Any, client: Any, name: str) -> Any:
    """Return a dask array of known lengths, made of a data frame or series where it is one."""
    if isinstance(values, da.Array):
        # Rows of chunks of unknown length could not be numbered.
        if any(math.isnan(length) for lengths in values.chunks for length in lengths):
            raise ValueError(
                f"{name} must have chunks of known length, got {values.chunks}; call "
                f"{name}.compute_chunk_sizes() first"
            )
        return values
    if hasattr(values, "to_dask_array") and hasattr(values, "map_partitions"):
        lengths = client.compute(values.map_partitions(len)).result()
        with warnings.catch_warnings():
            # Labels that are strings become objects, as they should.
            warnings.filterwarnings("ignore", "Dask currently has limited support")
            return values.to_dask_array(lengths=tuple(lengths))
    raise _not_dask(values, name)


def _not_dask(values: Any, name: str) -> TypeError:
    """Return the error for something that is no collection of Dask."""
    return TypeError(
        f"{name} must be a dask array or data frame, got {type(values).__name__}; PVMClassifier "
        "and BallCover take what is in memory"
    )


def _check_columns(X: Any, name: str) -> None:
    """Refuse rows that are cut into several chunks."""
    if X.ndim == 2 and X.numblocks[1] > 1:
        raise ValueError(
            f"{name} must have all columns in one chunk, got {X.numblocks[1]} chunks of columns; "
            f"use {name}.rechunk({{1: -1}})"
        )


def _scan(y: Any, weights: Any) -> tuple[NDArray[Any], float]:
    """Find the labels of a chunk and its largest weight."""
    check_label_values(np.asarray(y))
    labels = np.unique(np.asarray(y))
    if weights is None:
        return labels, 1.0
    values = np.asarray(weights, dtype=np.float64)
    if not (np.isfinite(values) & (values >= 0.0)).all():
        raise ValueError(
            "sample_weight must hold finite numbers not below 0, got "
            f"{values[~(values >= 0.0) | np.isinf(values)][0]:g}; use 0 to leave a point out"
        )
    return labels, float(values.max(initial=0.0))


def _weights_of_classes(y: Any, weights: Any, *, classes: NDArray[Any], grid: float) -> Floats:
    """Return the total, on the grid, and the largest weight of each class in a chunk."""
    codes = np.searchsorted(classes, np.asarray(y))
    values = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(values) != len(codes):  # which reading the chunk refuses
        values = np.resize(values, len(codes))
    largest = np.zeros(len(classes))
    np.maximum.at(largest, codes, values)
    totals = np.bincount(codes, snap_to(grid, values), minlength=len(classes))
    return np.array([totals, largest])


def check_length(rows: Any, declared: int, name: str) -> None:
    """Refuse a chunk that does not have as many rows as its collection says."""
    if row_count(rows) != declared:
        raise ValueError(
            f"{name} must have chunks as long as it declares, got a chunk of {row_count(rows)} "
            f"rows that was declared with {declared}; pass chunks= to the map_blocks that made "
            f"it, or call {name}.compute_chunk_sizes()"
        )


def _read(
    X: Any,
    y: Any,
    weights: Any,
    length: int,
    *,
    classes: NDArray[Any],
    grid: float,
    dissimilarity: Any,
    factors: Floats | None = None,
    fine: float = 1.0,
) -> Chunk:
    """Check a chunk and leave out its points of weight zero.

    Weights are brought to `grid`; those that are multiplied by the `factors` of their classes
    to the grid `fine`.
    """
    check_length(X, length, "X")
    check_length(y, length, "y")
    if weights is not None:
        check_length(weights, length, "sample_weight")
    codes = np.searchsorted(classes, np.asarray(y))
    points = check_points(X, dissimilarity) if row_count(X) else X
    if weights is None and factors is None:
        return Chunk(points, codes, np.ones(len(codes)), np.arange(len(codes)))
    given = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    plain = snapped = snap_to(grid, given)
    if factors is not None:
        snapped = snap_to(fine, given * factors[codes])
    rows = np.flatnonzero(snapped > 0.0)
    kept = None if factors is None else plain[rows]
    return Chunk(points[rows], codes[rows], snapped[rows], rows, kept)


def _tell(chunk: Chunk, *, n_classes: int) -> tuple[Indices, float, float, bool]:
    """Count the points of each class; sum their weights, exactly, and say of what kind."""
    weights = chunk.weights if chunk.plain is None else chunk.plain
    return (
        np.bincount(chunk.codes, minlength=n_classes),
        float(weights.sum()),
        float(weights.min(initial=np.inf)),
        bool((weights == np.floor(weights)).all()),
    )


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

    def rows(self, client: Any) -> Indices:
        """Return the row of each candidate in its source."""
        parts = client.gather(client.map(_rows, self.chunks))
        return np.concatenate(
            [part + start for part, start in zip(parts, self.starts.tolist(), strict=True)]
        )

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


def _rows(chunk: Chunk) -> Indices:
    """Return the rows of a chunk as they were given."""
    return chunk.rows
