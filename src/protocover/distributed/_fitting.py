"""The steps of a fit on a cluster, and the parameters that they follow, each checked once."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._balls import nearest_in_groups, traits_of
from .._balls.forecast import estimate_memberships
from .._balls.nearest import find_nearest
from .._estimators.fitting import Terms
from .._estimators.model import CoverModel
from .._selection.parameters import (
    check_adaptive_radii,
    check_eps,
    check_max_prototypes,
    check_min_per_class,
    check_outlier_label,
    check_parameter,
    check_prototype_cost,
)
from .._selection.radii import (
    SAMPLE_SIZE,
    propose_eps,
    proposed_quantile,
    sample_rows,
    weighted_quantile,
)
from .._selection.selection import Selection
from .._selection.training import Training
from ..dissimilarity import KernelDistance, Metric, TangentDistance, resolve_metric
from ._adaptive_radii import chunk_members, gather_rules, reduce_own
from ._blocks import (
    BlockCover,
    chunk_cover,
    count_blocks,
    gather_block,
    keep_blocks,
    pick_block,
    reduce_block,
)
from ._chunks import Candidates, Chunk, ChunkedPoints, take_points
from ._cluster import Cluster, as_task, describe_cluster, find_client
from ._selection import check_selection, choose_tiers, refuse_rounds, select_on_cluster

# Points from which a dissimilarity learns; where there are fewer it learns from all.
_SAMPLE = 20_000

# These learn a few numbers (variances, a covariance, a background) that a sample tells as well.
_FROM_SAMPLE = (KernelDistance, Metric, TangentDistance)

# Rows of a chunk at a time, where the dissimilarity has two directions.
_ROWS = 4096

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Job:
    """Whose workers are used, and parameters that mean the same whatever the data are."""

    client: Any
    cluster: Cluster
    dissimilarity: Any  # fitted once there is a sample to learn from
    eps: float | None  # the largest allowed with radii of their own; None for a proposal
    adaptive_radii: bool
    closed: bool
    cross_class: bool
    selection: str

    @classmethod
    def of(cls, classifier: Any) -> Self:
        """Check the parameters of a classifier, and that its cluster is there."""
        own = check_adaptive_radii(classifier.radii)
        eps, closed = (
            check_eps(classifier.eps, own=own),
            check_parameter("closed_ball", classifier.closed_ball),
        )
        check_selection(classifier.selection, adaptive_radii=own)
        dissimilarity = _resolve(classifier.metric, classifier.metric_params)
        client = find_client(classifier.client)
        cluster = describe_cluster(client)
        cross_class = check_parameter("cross_class", classifier.cross_class)
        return cls(
            client, cluster, dissimilarity, eps, own, closed, cross_class, classifier.selection
        )

    def learn(self, points: ChunkedPoints, rng: np.random.Generator) -> Chunk:
        """Fit the dissimilarity to a sample of the points, and return that."""
        sample = take_points(self.client, points, sample_rows(len(points), _SAMPLE, rng))
        self.dissimilarity.fit(sample.points)
        return sample

    def radius(self, points: ChunkedPoints, sample: Chunk, rng: np.random.Generator) -> float:
        """Return the radius, or the largest allowed, given or proposed."""
        if self.eps is not None:
            return self.eps
        return _propose_eps(
            self.client,
            points,
            self.dissimilarity,
            rng=rng,
            sample=sample,
            quantile=proposed_quantile(own=self.adaptive_radii),
        )

    def density(self, sample: Chunk, eps: float, rng: np.random.Generator) -> float:
        """Return the share of pairs that lie within the radius, as far as a sample tells."""
        few = sample.points
        expected = estimate_memberships(self.dissimilarity, few, few, eps=eps, rng=rng)
        return expected.memberships / expected.n_pairs

    def build(
        self,
        points: ChunkedPoints,
        candidates: Candidates,
        terms: Terms,
        *,
        eps: float,
        density: float,
        folder: str | None,
    ) -> BlockCover:
        """Build the cover in as many blocks as the cluster wants of one of this density."""
        n_blocks = count_blocks(
            len(points),
            len(candidates),
            len(points.classes),
            memberships=density * len(points) * len(candidates),
            cluster=self.cluster,
            adaptive_radii=self.adaptive_radii,
        )
        return build_cover(
            self.client,
            points,
            candidates,
            self.dissimilarity,
            adaptive_radii=self.adaptive_radii,
            eps=eps,
            closed=self.closed,
            prototype_cost=terms.prototype_cost,
            cross_class=self.cross_class,
            n_blocks=n_blocks,
            folder=folder,
        )

    def select(self, points: ChunkedPoints, cover: BlockCover, terms: Terms) -> Selection:
        """Select for all classes within the budget, those that are large in rounds."""
        memberships = cover.memberships.sum(axis=0)
        in_rounds = choose_tiers(
            self.selection,
            memberships,
            cluster=self.cluster,
            adaptive_radii=self.adaptive_radii,
        )
        if self.adaptive_radii:
            refuse_rounds(points.classes, memberships, in_rounds, cluster=self.cluster)
        return select_on_cluster(self.client, points, cover, terms, in_rounds=in_rounds)

    def keep(
        self,
        selection: Selection,
        points: ChunkedPoints,
        candidates: Candidates,
        terms: Terms,
        *,
        eps: float,
    ) -> CoverModel:
        """Return what a model keeps of a selection."""
        return CoverModel.of_pools(
            selection,
            [candidates.fetch(self.client, selection.candidates)],
            np.arange(len(selection.candidates)),  # only the chosen were fetched, in order
            classes=points.classes,
            class_count=points.class_count,
            eps=eps,
            prototype_cost=terms.prototype_cost,
            outlier_label=terms.outlier_label,
            dissimilarity=self.dissimilarity,
        )


def terms_of(classifier: Any, points: ChunkedPoints) -> Terms:
    """Check the parameters of a classifier whose meaning depends on its training points."""
    own = check_adaptive_radii(classifier.radii)
    cost = check_prototype_cost(classifier.prototype_cost, np.ones(1), own=own)
    if isinstance(classifier.prototype_cost, str):
        cost = points.default_adaptive_cost if own else points.default_cost
    budget = check_max_prototypes(classifier.max_prototypes, points.classes)
    label = check_outlier_label(classifier.outlier_label, points.classes, points.class_count)
    least = check_min_per_class(classifier.min_per_class, budget, len(points.classes))
    return Terms(cost, budget, label, least, points.classes)


def _resolve(metric: Any, params: dict[str, Any] | None) -> Any:
    """Return an unfitted dissimilarity, if a sample of the points is enough to fit it on."""
    dissimilarity = resolve_metric(metric, params)
    if traits_of(dissimilarity).precomputed:
        raise ValueError(
            "a table of values between points is not supported on Dask; pass the points and "
            "a metric, use PVMClassifier on the table, or DaskBallCover.fit_pairs on a pair list"
        )
    if traits_of(dissimilarity).stateless or isinstance(dissimilarity, _FROM_SAMPLE):
        return dissimilarity
    raise ValueError(
        f"{type(dissimilarity).__name__} needs all training points at once and is not supported "
        "on Dask; use a metric by name, a function of two points, KernelDistance, "
        "TangentDistance or an object whose attribute stateless is true"
    )


def _propose_eps(
    client: Any,
    points: ChunkedPoints,
    dissimilarity: Any,
    *,
    rng: np.random.Generator,
    sample: Chunk,
    quantile: float,
) -> float:
    """Return the radius that ``eps="auto"`` stands for, as `propose_eps` of one machine does.

    With several classes it is that of all points, to the last bit and with the same draws: a
    thousand points are held against every chunk. With one class it is taken from `sample`.
    """
    if len(points.classes) == 1:
        few = Training(
            sample.points, sample.codes, sample.weights, points.classes, dissimilarity, []
        )
        return propose_eps(few, rng=rng, n_jobs=1, quantile=quantile)
    queries = take_points(client, points, sample_rows(len(points), SAMPLE_SIZE, rng))
    asked = as_task(client, queries.points)
    n_classes = len(points.classes)
    found = client.gather(
        [
            client.submit(_nearest_by_class, chunk, asked, dissimilarity, n_classes=n_classes)
            for chunk in points.chunks
        ]
    )
    rival = np.partition(np.min(found, axis=0), 1, axis=1)[:, 1]
    return weighted_quantile(rival[rival > 0.0], queries.weights[rival > 0.0], quantile)


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
        table = dissimilarity.pairwise(points[start : start + _ROWS], queries)
        part = np.clip(bounds - start, 0, len(table))
        np.minimum(nearest, nearest_in_groups(table.T, part)[1], out=nearest)
    return nearest


def build_cover(
    client: Any,
    points: ChunkedPoints,
    candidates: Candidates,
    dissimilarity: Any,
    *,
    adaptive_radii: bool,
    eps: float,
    closed: bool,
    prototype_cost: float,
    cross_class: bool,
    n_blocks: int,
    folder: str | None,
) -> BlockCover:
    """Build the neighbourhoods of all candidates, block by block, reducing complete blocks.

    Every task is a pure function of its inputs, and workers have no state: what a lost worker
    held is computed again from the collections, or read again from `folder`.
    """
    ball: dict[str, Any] = {"eps": eps, "closed": closed}
    n_classes = len(points.classes)
    rules: Any = None
    if adaptive_radii:
        rules = gather_rules(client, points, **ball, prototype_cost=prototype_cost)
    reduced = []
    for b in range(n_blocks):
        # Earlier blocks go first, so they are reduced before others are begun.
        submit = partial(client.submit, priority=-b)
        picks = [
            submit(pick_block, chunk, first, b, n_blocks, cross_class=cross_class)
            for chunk, first in zip(candidates.chunks, candidates.bounds.tolist(), strict=False)
        ]
        block = submit(gather_block, picks)
        if adaptive_radii:
            parts = [
                submit(chunk_members, chunk, block, dissimilarity, first=first, **ball)
                for chunk, first in zip(points.chunks, points.bounds.tolist(), strict=False)
            ]
            reduced.append(submit(reduce_own, block, parts, rules))
        else:
            parts = [
                submit(chunk_cover, chunk, block, dissimilarity, n_classes=n_classes, **ball)
                for chunk in points.chunks
            ]
            reduced.append(submit(reduce_block, block, parts, prototype_cost=prototype_cost))
    return keep_blocks(client, reduced, folder, adaptive_radii=adaptive_radii)


@contextmanager
def folder_for_blocks(client: Any, cache_dir: Any) -> Iterator[str | None]:
    """Name a new folder within `cache_dir` and have a worker remove it in the end."""
    if cache_dir is None:
        yield None
        return
    folder = str(Path(cache_dir) / f"protocover-{uuid.uuid4().hex}")
    try:
        yield folder
    finally:
        if client.status == "running":
            client.submit(shutil.rmtree, folder, ignore_errors=True, pure=False).result()
