"""The default radius, found on the cluster: the one that a single machine would take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..balls import traits_of
from ..balls.nearest import find_nearest, nearest_in_groups
from ..selection.radius import SAMPLE_SIZE, draw_rows, propose_eps, weighted_quantile
from ..selection.training import Training
from .chunks import Chunk, ChunkedPoints, take_points
from .cluster import as_task

__all__ = ["propose_eps_on_cluster"]

_ROWS = 4096

Floats = NDArray[np.float64]


def propose_eps_on_cluster(
    client: Any,
    points: ChunkedPoints,
    dissimilarity: Any,
    *,
    rng: np.random.Generator,
    sample: Chunk,
) -> float:
    """Return the radius that ``eps="auto"`` stands for, as `propose_eps` of one machine does.

    With several classes it is that of all points, to the last bit and with the same draws: a
    thousand points are held against every chunk. With one class it is taken from `sample`.
    """
    if len(points.classes) == 1:
        few = Training(
            sample.points, sample.codes, sample.weights, points.classes, dissimilarity, []
        )
        return propose_eps(few, rng=rng, n_jobs=1)
    queries = take_points(client, points, draw_rows(len(points), SAMPLE_SIZE, rng))
    asked = as_task(client, queries.points)
    n_classes = len(points.classes)
    found = client.gather(
        [
            client.submit(_nearest_by_class, chunk, asked, dissimilarity, n_classes=n_classes)
            for chunk in points.chunks
        ]
    )
    rival = np.partition(np.min(found, axis=0), 1, axis=1)[:, 1]
    return weighted_quantile(rival[rival > 0.0], queries.weights[rival > 0.0], 0.5)


def _nearest_by_class(chunk: Chunk, queries: Any, dissimilarity: Any, *, n_classes: int) -> Floats:
    """Distance of each query from the nearest point of each class in a chunk; inf if none."""
    order = np.argsort(chunk.codes, kind="stable")
    points = chunk.points[order]
    bounds = np.searchsorted(chunk.codes[order], np.arange(n_classes + 1))
    nearest = np.full((queries.shape[0], n_classes), np.inf)
    if len(order) == 0:
        return nearest
    if traits_of(dissimilarity).symmetric:
        return find_nearest(dissimilarity, queries, points, bounds=bounds, n_jobs=1)[1]
    for start in range(0, len(order), _ROWS):
        table = dissimilarity.cross(points[start : start + _ROWS], queries)
        part = np.clip(bounds - start, 0, len(table))
        np.minimum(nearest, nearest_in_groups(table.T, part)[1], out=nearest)
    return nearest
